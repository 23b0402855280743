package model_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/objstore"
)

// set gives every field of v another value than its zero.
func set(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Kind() { //nolint:exhaustive // no field has another kind
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			set(t, v.Index(i), n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMilli(int64(*n))))
			return
		}
		for i := range v.NumField() {
			set(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a field is a %s", v.Kind())
	}
}

// TestPacked: a checkpoint is the same after it was kept, whichever of its fields are set.
func TestPacked(t *testing.T) {
	var whole model.Checkpoint
	n := 0
	set(t, reflect.ValueOf(&whole).Elem(), &n)
	cases := map[string]model.Checkpoint{"all": whole, "none": {Time: time.UnixMilli(1)}}
	for i := range reflect.TypeOf(whole).NumField() {
		cp := model.Checkpoint{Time: time.UnixMilli(1)}
		reflect.ValueOf(&cp).Elem().Field(i).Set(reflect.ValueOf(whole).Field(i))
		cases["only "+reflect.TypeOf(whole).Field(i).Name] = cp
	}
	for parents := range 4 {
		cp := whole
		cp.Parents = make([]objstore.ID, parents)
		for i := range cp.Parents {
			cp.Parents[i][0] = byte(i + 1)
		}
		if parents == 0 {
			cp.Parents = nil
		}
		cases[fmt.Sprint(parents, " parents")] = cp
	}
	for what, cp := range cases {
		var r model.Packer
		want := cp
		p := r.Pack(&cp)
		cp.Session, cp.Cause.Turn, cp.Seq = "its caller's", 99, 99 // may change its fields
		got := p.Checkpoint(cp.ID)
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v\nis %+v", what, want, got)
			continue
		}
		got.Parents = append(got.Parents, objstore.ID{1})
		got.By, got.Session = nil, ""
		if again := p.Checkpoint(cp.ID); !reflect.DeepEqual(*again, want) {
			t.Errorf("%s: %+v\nis then %+v", what, want, again)
		}
	}
}

// of is a checkpoint of a session's turn, as most are.
func stepOf(session, turn, step int) *model.Checkpoint {
	name := fmt.Sprintf("claude/%08d-1111-4222-8333-444455556666", session)
	id := objstore.Sum(objstore.Checkpoint, fmt.Append(nil, session, turn, step))
	return &model.Checkpoint{
		ID: id, Seq: uint64(1000*session + 10*turn + step), Time: time.UnixMilli(1), Session: name, Tree: id,
		Parents: []objstore.ID{id}, By: []string{name}, Git: model.GitHead{Branch: "main"},
		Cause: model.Cause{
			Event: "post-tool-use", Tool: "Bash", Call: fmt.Sprint("toolu_", session, turn, step), Turn: uint64(turn),
			Prompt: fmt.Sprintf("turn %d of branch %d: make it a little better than it was", turn, session),
		},
		Conversation: model.TranscriptEnd{
			Transcript: id, Last: "00000000-1111-4222-8333-444455556666", Generation: 1,
			Path: "/home/a/.claude/projects/-home-a-src-notes/" + name + ".jsonl",
		},
	}
}

// TestPackedBytes: 10,000 checkpoints of 1,000 sessions take at most 7 MiB, and of one session 5 MiB: with all that is
// theirs alone they would take more than twice as much.
func TestPackedBytes(t *testing.T) {
	for sessions, most := range map[int]int{1000: 7 << 20, 1: 5 << 20} {
		var r model.Packer
		sum, alone := 0, 0
		for session := range sessions {
			for n := range 10_000 / sessions {
				cp := stepOf(session, n/5, n%5)
				sum += r.Pack(cp).Bytes()
				alone += new(model.Packer).Pack(cp).Bytes()
			}
		}
		if sum > most || sum > alone/2 {
			t.Errorf("10,000 of %d sessions take %d bytes of %d", sessions, sum, alone)
		}
	}
}

// TestPackedForgets: what is forgotten is shared no more.
func TestPackedForgets(t *testing.T) {
	var r model.Packer
	first := r.Pack(stepOf(1, 1, 1)).Bytes()
	if next := r.Pack(stepOf(1, 1, 2)).Bytes(); next >= first {
		t.Errorf("the next one takes %d bytes, the first %d", next, first)
	}
	r.Forget()
	if again := r.Pack(stepOf(1, 1, 3)).Bytes(); again != first {
		t.Errorf("then one takes %d bytes, the first %d", again, first)
	}
}
