package compare

import (
	"cmp"
	"errors"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
)

// Result is how two branches differ.
type Result struct {
	Ancestor *history.Listed // the newest state that both go on from; nil: there is none
	Forked   bool            // it was found through forks: one side, or both, come from the session that it is in
	NoFork   string          // why forks did not lead to it, where they should have; "": nothing is wrong
	Sides    [2]Side
	Overlaps []value.Overlap // paths that both changed, in the order of a walk
	apart    map[string]int  // of them, how many lines A and B differ in; absent: as if nothing was the same
	get      objstore.Getter // the objects of both sides
}

type reader = func(objstore.ID) (*model.Checkpoint, error)

// ancestor fills in the newest state that both sides go on from. Forks may lead from one side's session to the other's,
// or from both to a third one. Then the search begins at the two places in that session where they left it. Other files
// in a fork's worktree when it began are the fork's.
func (res *Result) ancestor() error {
	a, whyA, err := res.Sides[0].way()
	if err != nil {
		return err
	}
	b, whyB, err := res.Sides[1].way()
	if err != nil {
		return err
	}
	from, to, forked := res.Sides[0].Tip.Checkpoint, res.Sides[1].Tip.Checkpoint, false
	i, j := meet(a, b)
	if i >= 0 {
		from, to, forked = a[i].at, b[j].at, i+j > 0
	} else {
		res.NoFork = cmp.Or(whyA, whyB)
	}
	cp, err := newestCommon(res.reader(), from, to)
	if err != nil || cp == nil {
		return err
	}
	in := res.Sides[0].in
	if has, err := in.log.Objs.Has(objstore.Checkpoint, cp.ID); err != nil || !has {
		in = res.Sides[1].in // gc has removed it in the other worktree
	}
	l, err := in.history.Listing(cp)
	res.Ancestor, res.Forked = &l, forked
	return err
}

// reader reads the checkpoints of both sides. Two worktrees of a family have those that the younger one began with in
// common, under the same ids and numbers; one that gc has removed in the first is read in the second.
func (res *Result) reader() reader {
	read := res.Sides[0].in.log.Checkpoints()
	if res.Sides[1].in == res.Sides[0].in {
		return read
	}
	other := res.Sides[1].in.log.Checkpoints()
	return func(id objstore.ID) (*model.Checkpoint, error) {
		cp, err := read(id)
		if errors.Is(err, objstore.ErrNotFound) {
			return other(id)
		}
		return cp, err
	}
}

// place is how far a branch has come along the line of a session that it goes on from.
type place struct {
	session string
	at      *model.Checkpoint
}

// way is the side's own session, then the one that it was forked from, and so on; why says what it could not be
// followed over.
func (s *Side) way() (list []place, why string, err error) {
	c, session, at := s.in, s.Session, s.Tip.Checkpoint
	for range conversation.MaxForks {
		if slices.ContainsFunc(list, func(p place) bool { return p.session == session }) {
			break // a circle of lineages
		}
		list = append(list, place{session, at})
		rec, err := c.log.StoredSession(session)
		if err != nil {
			return nil, "", err
		}
		if rec == nil || rec.Fork == nil {
			break
		}
		fork, err := c.history.Resolve("fork:" + session)
		var none *model.NoForkCodeError
		if errors.As(err, &none) {
			return list, none.Error(), nil
		}
		if err != nil {
			return nil, "", err
		}
		if fork.Seq < at.Seq { // else it is a state of before the fork
			at = fork
		}
		session = rec.Fork.Session
	}
	return list, "", nil
}

// meet is where two ways come to the same session first; -1: nowhere.
func meet(a, b []place) (i, j int) {
	for i := range a {
		if j := slices.IndexFunc(b, func(p place) bool { return p.session == a[i].session }); j >= 0 {
			return i, j
		}
	}
	return -1, -1
}

// newestCommon is the newest checkpoint that both a and b are, or descend from; nil: none is. What is before a
// checkpoint has a lower number, so that none is read before all that descend from it were.
func newestCommon(read reader, a, b *model.Checkpoint) (*model.Checkpoint, error) {
	const fromA, fromB = 1, 2
	marks := map[objstore.ID]byte{a.ID: fromA}
	open := []*model.Checkpoint{a}
	if b.ID != a.ID {
		open = append(open, b)
	}
	marks[b.ID] |= fromB
	for len(open) > 0 {
		newest := 0
		for i := range open {
			if open[i].Seq > open[newest].Seq {
				newest = i
			}
		}
		cp := open[newest]
		open = slices.Delete(open, newest, newest+1)
		if marks[cp.ID] == fromA|fromB {
			return cp, nil
		}
		for _, id := range cp.Parents {
			met := marks[id] != 0
			marks[id] |= marks[cp.ID]
			if met {
				continue
			}
			before, err := read(id)
			if err != nil {
				return nil, err
			}
			if before.Seq < cp.Seq { // else a record that somebody made
				open = append(open, before)
			}
		}
	}
	return nil, nil //nolint:nilnil // they have nothing in common
}
