package bisect

import (
	"fmt"

	"rewind/engine/history"
)

// Answer is what a session has found.
type Answer struct {
	Bad      *history.Listed  // the oldest that fails, of those newer than Good; nil: none does
	Good     *history.Listed  // the newest that passes; nil: none does
	Suspects []history.Listed // between them, skipped: each of them may be the first that fails
	Tried    []history.Listed // where none passes: those that were tried and fail, the newest first
	Assumed  []string
}

// result says where a session stands.
func (b *Bisector) result(session string, r *record) (*Result, error) {
	c := choose(r.verdicts(), r.Order)
	res := &Result{Session: session, End: c.end, Left: c.left, Links: r.Links}
	listed := func(at int) (*history.Listed, error) {
		cp, err := b.log.Checkpoint(r.Line[at].Checkpoint)
		if err != nil {
			return nil, err
		}
		l, err := b.history.Listing(cp)
		return &l, err
	}
	var err error
	switch {
	case c.ask >= 0:
		res.Dir, res.Asks, res.Mounts = b.treeDir(session), questions(c.left), r.Mounted
		if c.good == len(r.Line) && r.Order == fromEnds {
			res.Asks++ // the end, too
			res.Seeks = c.ask > 0 && fails(r.verdicts())
		}
		res.Test, err = listed(c.ask)
		return res, err
	case len(r.Line) == 0:
		res.Wants = Bad
		return res, nil
	case r.Order == byHand && c.good == len(r.Line) && c.bad < len(r.Line)-1:
		res.Wants = Good
		return res, nil
	}
	res.Answer, err = b.answer(r, c, listed)
	return res, err
}

func (b *Bisector) answer(r *record, c choice, listed func(int) (*history.Listed, error)) (a *Answer, err error) {
	a = &Answer{Assumed: r.Assumed}
	if c.bad >= 0 {
		if a.Bad, err = listed(c.bad); err != nil {
			return nil, err
		}
	}
	if c.good < len(r.Line) {
		if a.Good, err = listed(c.good); err != nil {
			return nil, err
		}
	}
	for i := 0; i <= c.bad && a.Good == nil; i++ {
		if r.Line[i].As != Bad {
			continue
		}
		l, err := listed(i)
		if err != nil {
			return nil, err
		}
		a.Tried = append(a.Tried, *l)
	}
	for i := c.bad + 1; i < c.good && a.Good != nil; i++ {
		l, err := listed(i)
		if err != nil {
			return nil, err
		}
		a.Suspects = append(a.Suspects, *l)
	}
	a.Assumed = append(a.Assumed, r.assumptions(c)...)
	return a, nil
}

// assumptions are what an answer rests on without having been tried.
func (r *record) assumptions(c choice) (list []string) {
	if c.good < len(r.Line) && c.bad < 0 && c.good > 0 {
		list = append(list, r.Line[0].Checkpoint.Short()+" could not be told, and is taken to fail")
	}
	older := 0
	for i := c.good + 1; i < len(r.Line); i++ {
		if r.Line[i].As == Bad {
			older++
		}
	}
	if older > 0 {
		list = append(list, fmt.Sprintf("the history is not monotone: it fails at %d older, too, and passes at %s after that; this is "+
			"the newest change from passing to failing", older, r.Line[c.good].Checkpoint.Short()))
	}
	untried := 0
	for i := range max(c.bad, 0) {
		if r.Line[i].As == "" {
			untried++
		}
	}
	if untried > 0 && c.good < len(r.Line) && r.Order == fromNewer {
		list = append(list, fmt.Sprintf("it fails at what is newer and was not tried: %d of %d", untried, c.bad))
	}
	return list
}
