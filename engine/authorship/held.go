package authorship

import (
	"rewind/refs"
	"rewind/tree"
)

// held finds, in a walk from the newest operation on, changes that a restore of some paths has set. Such a restore does
// not move the head. So the next step, or a search for unsaved changes, finds these paths once more; they are nobody's
// call. That is the restore's change alone.
type held struct {
	tell visitor
	of   *refs.Operation // the step that found them; nil: they are unsaved
	list map[string]heldChange
}

type heldChange struct {
	tree.Change
	judged
}

func holding(tell visitor) *held { return &held{tell: tell, list: map[string]heldChange{}} }

// visit takes in the changes of a path, the newest first. It reports a change, or holds it until an older one shows the
// owner: a restore of some paths that has set the same, or anything else.
func (h *held) visit(op *refs.Operation, ch tree.Change, d judged) {
	step := op == nil || op.Kind == refs.KindCheckpoint
	if step && op != h.of {
		h.end()
		h.of = op
	}
	if step && d.byNobody() {
		h.list[ch.Path] = heldChange{ch, d}
		return
	}
	limited := !step && op.Kind.IsRestore() && len(op.Restore.Paths) > 0
	if is, known := h.list[ch.Path]; known && limited && tree.Same(is.New, ch.New) {
		delete(h.list, ch.Path)
	}
	h.release(ch.Path)
	h.tell(op, ch, d)
}

// release tells of what is held at a path.
func (h *held) release(path string) {
	if c, known := h.list[path]; known {
		delete(h.list, path)
		h.tell(h.of, c.Change, c.judged)
	}
}

// end tells of all that is held.
func (h *held) end() {
	for path := range h.list {
		h.release(path)
	}
}
