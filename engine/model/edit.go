package model

import (
	"slices"
	"strings"

	"rewind/hooks"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// Edit is a file that a call of an agent's edit tool changed, and that no checkpoint has as it was before the call.
type Edit struct {
	Path   string // from the project's root; of a file outside of it absolute
	Reason byte   // why, as in a note; 0: it lies outside of the project
}

// maxEdits is how many of them one event tells of.
const maxEdits = 64

// Word is the word for why the file is not captured.
func (e Edit) Word() string {
	if e.Reason == 0 {
		return value.ReasonOutside
	}
	return tree.ReasonWord(e.Reason)
}

// String is the edit as it stands in the store: an absolute path as it is, another behind the letter of its reason.
func (e Edit) String() string {
	if e.Reason == 0 {
		return e.Path
	}
	return string(e.Reason) + e.Path
}

// editOf reads what String wrote; false: it is none.
func editOf(text string) (e Edit, ok bool) {
	switch {
	case len(text) < 2:
		return e, false
	case text[0] == '/':
		return Edit{Path: text}, true
	}
	return Edit{Path: text[1:], Reason: text[0]}, tree.ReasonWord(text[0]) != ""
}

// JoinEdits is a list of edits as the message of an operation has it.
func JoinEdits(list []Edit) string {
	texts := make([]string, 0, len(list))
	for _, e := range list[:min(len(list), maxEdits)] {
		texts = append(texts, e.String())
	}
	return strings.Join(texts, "\x00")
}

// EditsOf are the edits that an operation tells of: the end of a call, whether it made a checkpoint or not, and whether
// that is still there.
func EditsOf(op *refs.Operation) (list []Edit) {
	switch op.Kind {
	case refs.KindCheckpoint, refs.KindEvent, refs.KindThinned:
	default:
		return nil
	}
	if op.Message == "" || op.Cause.Event != EventWords[hooks.AfterTool] {
		return nil
	}
	for text := range strings.SplitSeq(op.Message, "\x00") {
		if e, ok := editOf(text); ok {
			list = append(list, e)
		}
	}
	return list
}

// Edited adds edits to those that a session record tells of, the newest last.
func (s *Session) Edited(list []Edit) {
	for _, e := range list {
		text := e.String()
		s.Uncaptured = slices.DeleteFunc(slices.Clone(s.Uncaptured), func(o string) bool { return o == text })
		s.Uncaptured = append(s.Uncaptured, text)
	}
	if n := len(s.Uncaptured); n > maxUncaptured {
		s.Uncaptured = s.Uncaptured[n-maxUncaptured:]
	}
}

// Edits are those that a session record tells of, the newest last.
func (s *Session) Edits() (list []Edit) {
	for _, text := range s.Uncaptured {
		if e, ok := editOf(text); ok {
			list = append(list, e)
		}
	}
	return list
}
