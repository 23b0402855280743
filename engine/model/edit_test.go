package model_test

import (
	"reflect"
	"strings"
	"testing"

	"rewind/engine/model"
	"rewind/refs"
	"rewind/tree"
)

// What an edit is in an operation and in a session record reads back as it was; records of before had paths outside of
// the project alone.
func TestEditsReadBack(t *testing.T) {
	list := []model.Edit{
		{Path: "/etc/x"}, {Path: ".env", Reason: tree.ReasonSecret}, {Path: "a\nb \"c\"", Reason: tree.ReasonSize},
	}
	op := &refs.Operation{
		Kind: refs.KindEvent, Cause: refs.Cause{Event: "post-tool-use"}, Message: model.JoinEdits(list),
	}
	again, err := refs.DecodeOperation(1, op.Encode())
	if err != nil || !reflect.DeepEqual(model.EditsOf(again), list) {
		t.Errorf("%q %v", model.EditsOf(again), err)
	}
	for _, other := range []refs.Operation{
		{Kind: refs.KindEvent, Cause: refs.Cause{Event: "prompt"}, Message: "/etc/x"},
		{Kind: refs.KindTag, Cause: refs.Cause{Event: "post-tool-use"}, Message: "/etc/x"},
		{Kind: refs.KindCheckpoint, Cause: refs.Cause{Event: "post-tool-use"}},
		{Kind: refs.KindCheckpoint, Cause: refs.Cause{Event: "post-tool-use"}, Message: "?unknown"},
	} {
		if got := model.EditsOf(&other); got != nil {
			t.Errorf("%+v: %v", other, got)
		}
	}
	s := &model.Session{Uncaptured: []string{"/old"}}
	s.Edited(list)
	s.Edited(list[:1])
	want := []model.Edit{{Path: "/old"}, list[1], list[2], list[0]}
	if got := s.Edits(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	for i := range 40 {
		s.Edited([]model.Edit{{Path: "/" + strings.Repeat("x", i+1)}})
	}
	if n := len(s.Edits()); n != 16 || s.Edits()[15].Path != "/"+strings.Repeat("x", 40) {
		t.Errorf("%d are kept", n)
	}
}

// A named path is captured, whatever the note says of a directory above it; what its own lines say counts.
func TestCoveringNamed(t *testing.T) {
	note := []tree.Skip{
		{Path: "a", Reason: tree.ReasonIgnored},
		tree.NamedSkip("a/b"),
		tree.NamedSkip("a/c"),
		{Path: "a/c", Reason: tree.ReasonSize},
		{Path: "u", Reason: tree.ReasonUnreadable},
		tree.NamedSkip("u/x"),
	}
	for path, want := range map[string]byte{"a/b": 0, "a/c": 'z', "a/d": 'i', "a/b/x": 'i', "u/x": 'u', "v": 0} {
		if s, ok := model.Covering(note, path); ok != (want != 0) || ok && s.Reason != want {
			t.Errorf("%s: %+v %v", path, s, ok)
		}
	}
}
