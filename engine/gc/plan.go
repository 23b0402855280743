package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/engine/ledger"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// gcPlan is what gc would take out of the log. It is made without a lock, of the log up to an operation; later
// operations stay as they are.
type gcPlan struct {
	e        *Collector
	read     *gcReader
	oldest   uint64 // the first operation of the log
	ops      []opFacts
	steps    []stepFacts // checkpoints, oldest first
	byID     map[objstore.ID]int32
	named    map[int32][]objstore.ID // by operation: the checkpoints that it names besides its own
	sessions numbered
	by       numbered // lists of sessions, joined by model.BySeparator
	clock    *clock
	squashes map[objstore.ID]*model.Squash

	checked uint64 // recheck has looked at the operations up to this one

	Removed, Safety, Kept int // steps and safety checkpoints that go; checkpoints that stay
	Young                 int // those of Kept that a person asked to go and that are too young
}

// opFacts is what is known of an operation: 32 bytes, for there may be millions.
type opFacts struct {
	time    int64
	session int32
	step    int32 // index in steps; negative: the operation has no checkpoint
	turn    uint32
	kind    refs.Kind
	event   byte
	flags   opFlags
}

type opFlags uint16

const (
	opTalk   opFlags = 1 << iota // it names a transcript
	opMarker                     // its transcript is that of a turn's beginning or end
	opNames                      // it names checkpoints besides its own
	// What the plan takes out.
	opDropStep
	opDropNames
	opDropTalk
)

const opDrop = opDropStep | opDropNames | opDropTalk

// stepFacts is what is known of a checkpoint.
type stepFacts struct {
	id, tree, base objstore.ID // base: the tree that its changes are counted from
	op             int32
	parent         int32 // index in steps; negative: none
	by             int32
	merged         uint64
	counts         model.Counts // Added, Modified, Deleted
	safety, saved  bool
	owned          bool // some of its paths have other authors
	undo           bool // the unsaved changes that an undo saved
	turnEnd        bool
	pinned, keep   bool
}

// numbered gives strings numbers, from 0.
type numbered struct {
	of   []string
	byIt map[string]int32
}

func (n *numbered) number(s string) int32 {
	if i, ok := n.byIt[s]; ok {
		return i
	}
	if n.byIt == nil {
		n.byIt = map[string]int32{}
	}
	i := int32(len(n.of))
	n.of, n.byIt[s] = append(n.of, s), i
	return i
}

// planGC reads the log, and pins what is needed now.
func (co *Collector) planGC(p *pacer, read *gcReader) (*gcPlan, error) {
	g := &gcPlan{e: co, read: read, byID: map[objstore.ID]int32{}, named: map[int32][]objstore.ID{}}
	if err := g.readLog(p); err != nil {
		return nil, err
	}
	times := make([]int64, len(g.ops))
	for i := range g.ops {
		times[i] = g.ops[i].time
	}
	g.clock = newClock(co.log.Now(), times)
	if err := g.findTurns(); err != nil {
		return nil, err
	}
	return g, g.pinAll(p.ctx)
}

// readLog reads the operations and the checkpoints that they made.
func (g *gcPlan) readLog(p *pacer) error {
	var of []objstore.ID // the checkpoint of each operation, newest first
	var parents []objstore.ID
	err := g.e.log.Refs.Newest(0, func(op *refs.Operation) error {
		if g.oldest > 0 && op.Seq != g.oldest-1 {
			return fmt.Errorf("gc: %w: operations %d to %d are missing", kv.ErrCorrupt, op.Seq+1, g.oldest-1)
		}
		g.oldest = op.Seq
		f := opFacts{
			time: op.Time, session: g.sessions.number(op.Session), step: -1, turn: uint32(op.Turn), kind: op.Kind,
			event: eventKindOf(op.Cause.Event),
		}
		if !op.Transcript.IsZero() {
			f.flags |= opTalk
		}
		made := op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety
		if ids := namedBy(op); len(ids) > 0 {
			f.flags |= opNames
			g.named[int32(len(g.ops))] = ids
		}
		if made {
			cp, err := g.read.checkpoint(op.Checkpoint)
			var lost *objstore.GoneError
			if errors.As(err, &lost) { // a lost checkpoint leads nowhere
				g.ops, of = append(g.ops, f), append(of, objstore.ID{})
				return nil
			}
			if err != nil {
				return err
			}
			before := cp.Base
			s := stepFacts{
				id: cp.ID, tree: cp.Tree, base: before, op: int32(len(g.ops)), parent: -1, merged: cp.Merged,
				safety: op.Kind == refs.KindSafety,
			}
			s.by = g.by.number(strings.Join(cp.By, model.BySeparator))
			s.undo, s.owned = cp.Cause.Event == model.EventUndo, len(cp.Owned) > 0
			s.saved = cp.Cause.Event == model.EventSave || s.undo
			s.counts = model.Counts{Added: cp.Counts.Added, Modified: cp.Counts.Modified, Deleted: cp.Counts.Deleted}
			if !cp.Conversation.Transcript.IsZero() {
				f.flags |= opTalk
			}
			f.event = eventKindOf(cp.Cause.Event)
			g.steps = append(g.steps, s)
			parents = append(parents, cp.Parent())
		}
		g.ops = append(g.ops, f)
		of = append(of, op.Checkpoint)
		return p.pause(p.ctx)
	})
	if err != nil {
		return err
	}
	g.turnAround(of, parents)
	return nil
}

// turnAround puts what was read, newest first, into the order of the log, and links steps to operations and parents.
func (g *gcPlan) turnAround(of, parents []objstore.ID) {
	slices.Reverse(g.ops)
	slices.Reverse(g.steps)
	slices.Reverse(of)
	slices.Reverse(parents)
	last := int32(len(g.ops)) - 1
	for i := range g.steps {
		s := &g.steps[i]
		s.op = last - s.op
		g.byID[s.id] = int32(i)
	}
	named := make(map[int32][]objstore.ID, len(g.named))
	for i, ids := range g.named {
		named[last-i] = g.withParents(ids)
	}
	g.named = named
	for i := range g.steps {
		if at, ok := g.byID[parents[i]]; ok {
			g.steps[i].parent = at
			if g.steps[i].base.IsZero() {
				g.steps[i].base = g.steps[at].tree
			}
		}
	}
	for i := range g.ops {
		g.ops[i].step = -1
		if at, ok := g.byID[of[i]]; ok {
			g.ops[i].step = at
		}
	}
}

// withParents adds to checkpoints what those name that no operation made: a state that a restore made of another one
// (what --merge takes out of it) is named by the restore alone, and names that one.
func (g *gcPlan) withParents(ids []objstore.ID) []objstore.ID {
	all := ids
	for _, id := range ids {
		if _, made := g.byID[id]; made {
			continue
		}
		if cp, err := g.read.checkpoint(id); err == nil { // else it is gone, and names nothing
			all = append(all, cp.Parents...)
		}
	}
	return all
}

// namedBy lists the checkpoints that an operation names besides the one it made or found.
func namedBy(op *refs.Operation) (ids []objstore.ID) {
	if op.Kind != refs.KindCheckpoint && op.Kind != refs.KindSafety && op.Kind != refs.KindEvent {
		ids = append(ids, op.Checkpoint) // of a fork: where it begins
	}
	for _, c := range op.Changes {
		ids = append(ids, c.Old, c.New)
	}
	if r := op.Restore; r != nil {
		ids = append(ids, r.Target, r.Safety)
	}
	ids = slices.DeleteFunc(ids, func(id objstore.ID) bool { return id.IsZero() || op.Kind == refs.KindCheckpoint && id == op.Checkpoint })
	return ids
}

// findTurns finds where turns end, and the newest state that an event of each turn found.
func (g *gcPlan) findTurns() error {
	type turn struct {
		session int32
		turn    uint32
	}
	ended := map[turn]bool{}
	heard := map[turn]opFlags{} // of each turn, the kinds of events met whose transcript counts
	starts := map[turn]int32{}
	first := map[int32]int32{}
	for i := int32(len(g.ops)) - 1; i >= 0; i-- {
		o := &g.ops[i]
		if o.kind != refs.KindCheckpoint && o.kind != refs.KindEvent && o.kind != refs.KindThinned {
			if o.flags&opTalk != 0 {
				o.flags |= opMarker // the transcript of a fork or an import
			}
			continue
		}
		t := turn{session: o.session, turn: o.turn}
		isStep := o.step >= 0 && o.event != eventScan
		if isStep && !(o.kind == refs.KindCheckpoint && g.steps[o.step].saved) {
			if !ended[t] {
				ended[t], g.steps[o.step].turnEnd = true, true
			}
			if o.turn > 0 {
				first[o.session] = o.step
			}
		}
		if o.flags&opTalk != 0 {
			if seen := opFlags(1) << o.event; heard[t]&seen == 0 {
				heard[t] |= seen
				o.flags |= opMarker
			}
			starts[t] = i
		}
	}
	for _, i := range starts {
		g.ops[i].flags |= opMarker
	}
	for _, s := range first {
		g.steps[s].turnEnd = true // the end of turn 0
	}
	return g.e.ledger.Each(func(_ string, t *ledger.Turn) error {
		for _, seq := range []uint64{t.Code, t.Made} {
			if at := seq - g.oldest; seq >= g.oldest && at < uint64(len(g.ops)) && g.ops[at].step >= 0 {
				g.steps[g.ops[at].step].turnEnd = true
			}
		}
		return nil
	})
}

// The kinds of events by the end of a conversation that their transcript is.
const (
	eventOther = iota
	eventScan
	eventStart
)

// eventKindOf is the kind of an event by its word.
func eventKindOf(word string) byte {
	switch word {
	case model.EventScan:
		return eventScan
	case model.EventWords[hooks.SessionStart]:
		return eventStart
	}
	return eventOther
}

// end is the operation after the newest one of the plan.
func (g *gcPlan) end() uint64 { return g.oldest + uint64(len(g.ops)) }

// pin keeps a checkpoint whatever the policy says.
func (g *gcPlan) pin(id objstore.ID) {
	if i, ok := g.byID[id]; ok {
		g.steps[i].pinned = true
	}
}

// pinAll pins all checkpoints that are needed now: those that refs name, the fork points of existing forks, the ends
// and fork points of branches within sessions, and those of an unfinished restore. It also pins all from the newest
// step on that no undo made, since the head follows from those.
func (g *gcPlan) pinAll(ctx context.Context) error {
	all, err := g.e.log.Refs.List("")
	if err != nil {
		return err
	}
	for _, r := range all {
		g.pin(r.ID)
	}
	ends, err := g.e.history.ForkEnds(ctx)
	if err != nil {
		return err
	}
	for _, id := range ends {
		g.pin(id)
	}
	j, err := g.e.log.ReadJournal()
	if err != nil {
		return err
	}
	if j != nil {
		for _, id := range []objstore.ID{j.Target, j.Safety, j.Before, j.After} {
			g.pin(id)
		}
	}
	for i := len(g.steps) - 1; i >= 0; i-- {
		s := &g.steps[i]
		s.pinned = true
		if !s.safety && !s.undo {
			break
		}
	}
	return nil
}

// present is the index of the operation from which on all are needed to know the head.
func (g *gcPlan) present() int32 {
	for i := len(g.steps) - 1; i >= 0; i-- {
		if s := &g.steps[i]; !s.safety && !s.undo {
			return s.op
		}
	}
	return 0
}

// idle reports whether the plan takes nothing out.
func (g *gcPlan) idle() bool {
	return !slices.ContainsFunc(g.ops, func(o opFacts) bool { return o.flags&opDrop != 0 })
}

// ErrReplan is returned when the log has come to need what was to go: the plan is made anew.
var ErrReplan = errors.New("the log has come to need what was to go")

// rewritten changes op to what it is after the plan; changed: it was something else.
func (g *gcPlan) rewritten(op *refs.Operation) (changed bool, err error) {
	if op.Seq >= g.end() {
		return false, nil
	}
	f := g.ops[op.Seq-g.oldest].flags
	if f&opDropStep != 0 {
		switch op.Kind {
		case refs.KindCheckpoint, refs.KindSafety:
			cp, err := g.read.checkpoint(op.Checkpoint)
			if err != nil {
				return false, err
			}
			*op = refs.Operation{
				Seq: op.Seq, Time: op.Time, Kind: refs.KindThinned, Session: op.Session, Turn: op.Turn,
				Cause: refs.Cause{Event: cp.Cause.Event}, Transcript: cp.Conversation.Transcript, Message: op.Message,
			}
		default:
			op.Checkpoint = objstore.ID{}
		}
		changed = true
	}
	if f&opDropNames != 0 && (len(op.Changes) > 0 || op.Restore != nil) {
		op.Changes, op.Restore, changed = nil, nil, true
	}
	if f&opDropTalk != 0 && !op.Transcript.IsZero() {
		op.Transcript, changed = objstore.ID{}, true
	}
	op.Thinned = op.Thinned || changed
	return changed, nil
}
