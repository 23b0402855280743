package find

import (
	"context"
	"iter"

	"rewind/objstore"
	"rewind/tree"
)

// A trail is the way of a file back through the states that had it, also under other names. For one goroutine.
type trail struct {
	r     *reading // for names
	texts *reading // for contents, of which each is verified by who takes its hop
	t     *timeline
	steps []step
	// where it begins: a step, and the file in its state
	at   int
	path string
	e    *tree.Entry

	changed map[string]map[int]*tree.Entry // by path: the steps that changed it, each with what it was; nil: no file
	byTree  map[objstore.ID][]int          // steps by their states, ascending; nil: nobody has asked
}

// A hop is one step back.
type hop struct {
	at    int // the step
	path  string
	e     *tree.Entry            // the file after it
	was   *tree.Entry            // and before it; nil: it was not there, and the trail ends
	name  string                 // its name before
	prior int                    // the step before; none: nobody knows one that had that state, and the trail ends
	then  func() ([]byte, error) // its content before, where it differs; to be called in the order of the hops
}

// hops goes back along the trail to its end, or to the first error.
func (l *trail) hops(ctx context.Context) iter.Seq2[hop, error] {
	return func(yield func(hop, error) bool) {
		at, path, e := l.at, l.path, l.e
		for {
			h := hop{at: at, path: path, e: e, prior: none}
			err := ctx.Err()
			if err == nil {
				err = l.back(&h)
			}
			if err == nil && h.was != nil && h.was.ID != e.ID {
				h.then = l.texts.begin(h.name, h.was)
			}
			done := !yield(h, err) || err != nil
			if done || h.was == nil || h.prior == none {
				return
			}
			at, path, e = h.prior, h.name, h.was
		}
	}
}

// back says where a hop goes.
func (l *trail) back(h *hop) (err error) {
	if h.was, h.name, err = l.before(h.at, h.path, h.e); err != nil || h.was == nil {
		return err
	}
	h.prior, err = l.stepBefore(h.at, l.steps[h.at].before, h.name, h.was)
	return err
}

// before gives the file in the state before a step, and its name there; nil: it was not there.
func (l *trail) before(at int, path string, e *tree.Entry) (*tree.Entry, string, error) {
	if l.changed[path] == nil {
		if l.changed == nil {
			l.changed = map[string]map[int]*tree.Entry{}
		}
		l.changed[path] = l.t.former(path)
	}
	was, changed := l.changed[path][at]
	s := &l.steps[at]
	switch {
	case !changed:
		return e, path, nil
	case was != nil:
		return was, path, nil
	case s.before.IsZero():
		return nil, "", nil
	}
	from, err := l.r.origins(s.before, s.tree, []tree.Change{{Path: path, New: e}})
	if err != nil {
		return nil, "", err
	}
	if ch, ok := from[path]; ok && !l.r.secret(ch.Path) {
		return ch.Old, ch.Path, nil
	}
	return nil, "", nil
}

// stepBefore gives the step whose state is the one before step at, or at least has that file as it was; none: there is
// no such step.
func (l *trail) stepBefore(at int, state objstore.ID, path string, e *tree.Entry) (int, error) {
	if s := l.steps[at]; s.follows && int(s.parent) < at {
		return int(s.parent), nil
	}
	if l.byTree == nil {
		l.byTree = map[objstore.ID][]int{}
		for i := range l.steps {
			l.byTree[l.steps[i].tree] = append(l.byTree[l.steps[i].tree], i)
		}
	}
	same := l.byTree[state]
	for i := len(same) - 1; i >= 0; i-- {
		if same[i] < at {
			return same[i], nil
		}
	}
	for i := at - 1; i >= 0; i-- {
		had, err := l.r.trees.at(l.steps[i].tree, path)
		if err != nil {
			return none, err
		}
		if fileID(had) == e.ID {
			return i, nil
		}
	}
	return none, nil
}
