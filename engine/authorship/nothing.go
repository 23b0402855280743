package authorship

import (
	"rewind/refs"
	"rewind/tree"
)

// nothing finds changes of a path that cancel out, in a walk from the newest operation on. Such changes must not keep
// the path from what is taken away of it: a file that was made and moved away keeps no path. It tells of all others.
// Along steps it keeps the path for a person who used the name then: a step is taken with what lay before it, and the
// person's, which is in none, would go with it.
type nothing struct {
	tell    visitor
	persons bool                 // what a person changed is taken away, too, where nothing keeps the path
	runs    map[string][]keeping // by path, what follows each other, the newest first
	goes    map[string]bool      // paths of which something newer is taken away
}

type keeping struct {
	op *refs.Operation
	heldChange
}

func withoutNothing(tell visitor, persons bool) *nothing {
	return &nothing{tell: tell, persons: persons, runs: map[string][]keeping{}, goes: map[string]bool{}}
}

// visit takes in a change, the newest of a path first.
func (n *nothing) visit(op *refs.Operation, ch tree.Change, d judged) {
	run := n.runs[ch.Path]
	unknown := ch.Old == nil && ch.New == nil // it was changed and changed back in what gc has merged
	keeps := d.stays != "" && !unknown
	follows := len(run) > 0 && tree.Same(run[len(run)-1].Old, ch.New)
	if !keeps || !follows {
		n.release(ch.Path)
		run = nil
	}
	switch {
	case !keeps:
		if counts := n.persons || !d.byNobody(); counts && !unknown {
			n.goes[ch.Path] = true
		}
		n.tell(op, ch, d)
	case follows && n.goes[ch.Path] && tree.Same(ch.Old, run[0].New):
		delete(n.runs, ch.Path)
	default:
		n.runs[ch.Path] = append(run, keeping{op, heldChange{ch, d}})
	}
}

// release tells of what is held at a path.
func (n *nothing) release(path string) {
	run := n.runs[path]
	delete(n.runs, path)
	for _, c := range run {
		n.tell(c.op, c.Change, c.judged)
	}
}

// end tells of all that is held.
func (n *nothing) end() {
	for path := range n.runs {
		n.release(path)
	}
}
