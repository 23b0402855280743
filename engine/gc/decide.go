package gc

import (
	"slices"
	"time"

	"rewind/objstore"
	"rewind/refs"
)

// decideAsked is decide. Where a person asked for more to go than the settings say, it also counts what only the grace
// keeps (Young).
func (g *gcPlan) decideAsked(r retention) {
	would := 0
	if r.newest > 0 || r.older > 0 {
		ripe := r
		ripe.grace = 0
		g.decide(ripe)
		would = g.Removed + g.Safety
	}
	g.decide(r)
	g.Young = max(would-g.Removed-g.Safety, 0)
}

// decide applies the policy to the log, and marks the checkpoints that stay and what of the operations goes.
func (g *gcPlan) decide(r retention) {
	g.Removed, g.Safety, g.Kept = 0, 0, 0
	log, of := g.entries()
	for i := range g.steps {
		g.steps[i].keep = false
	}
	keep := r.keeps(log)
	for n, l := range log {
		o := &g.ops[of[n]]
		switch {
		case l.names && keep[n]:
			for _, id := range g.named[of[n]] {
				if at, ok := g.byID[id]; ok {
					g.steps[at].keep = true
				}
			}
		case l.names:
			o.flags |= opDropNames
		case l.conversation && !keep[n]:
			o.flags |= opDropTalk
		case !l.conversation:
			s := &g.steps[o.step]
			s.keep = s.keep || keep[n]
		}
	}
	g.keepEnds()
	g.findRewrites()
}

// entries are what the policy is asked about, and the operation of each. That anything of these goes is forgotten.
func (g *gcPlan) entries() (log []logged, of []int32) {
	present := g.present()
	for i := range g.ops {
		o := &g.ops[i]
		o.flags &^= opDrop
		l := logged{
			session: g.sessions.of[o.session], age: g.clock.age[i], wall: g.clock.wall[i],
			day: o.time / (24 * time.Hour).Milliseconds(), pinned: int32(i) >= present,
		}
		if o.step >= 0 && (o.kind == refs.KindCheckpoint || o.kind == refs.KindSafety) {
			s := &g.steps[o.step]
			c := l
			c.step, c.safety, c.saved, c.turnEnd, c.pinned = !s.safety, s.safety, s.saved, s.turnEnd, l.pinned || s.pinned
			log, of = append(log, c), append(of, int32(i))
		}
		if o.flags&opNames != 0 {
			c := l
			c.names = true
			log, of = append(log, c), append(of, int32(i))
		}
		if o.flags&opTalk != 0 {
			c := l
			c.conversation, c.marker = true, o.flags&opMarker != 0
			log, of = append(log, c), append(of, int32(i))
		}
	}
	return log, of
}

// keepEnds keeps steps that cannot be merged into the next one: where a restore has moved the head between the two, the
// difference across both is not what the steps changed. What one session changed and another's restore took back would
// be put down to nobody.
func (g *gcPlan) keepEnds() {
	var next *stepFacts
	moved := false
	for i := len(g.ops) - 1; i >= 0; i-- {
		o := &g.ops[i]
		if o.kind != refs.KindCheckpoint || o.step < 0 {
			moved = moved || o.kind.IsRestore()
			continue
		}
		s := &g.steps[o.step]
		if moved && next != nil && next.base != s.tree {
			s.keep = true
		}
		next, moved = s, false
	}
}

// findRewrites marks what of each operation goes, once the checkpoints are decided.
func (g *gcPlan) findRewrites() {
	for i := range g.ops {
		o := &g.ops[i]
		gone := o.step >= 0 && !g.steps[o.step].keep
		switch {
		case o.kind == refs.KindCheckpoint && gone:
			g.Removed++
		case o.kind == refs.KindSafety && gone:
			g.Safety++
		case o.step >= 0 && (o.kind == refs.KindCheckpoint || o.kind == refs.KindSafety):
			g.Kept++
			o.flags &^= opDropTalk // the checkpoint has the transcript, too
		}
		if gone {
			o.flags |= opDropStep
		}
		if o.flags&opDropNames != 0 && !slices.ContainsFunc(g.named[int32(i)], g.goes) {
			o.flags &^= opDropNames // all checkpoints that it names stay
		}
	}
}

// goes reports whether a checkpoint goes.
func (g *gcPlan) goes(id objstore.ID) bool {
	i, ok := g.byID[id]
	return ok && !g.steps[i].keep
}
