package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"rewind/hooks"
	"rewind/internal/bug"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// intake is a batch of events on its way into the log: one capture of the worktree, taken after all of them had come, and one
// commit. If it fails nothing of it is there, in memory neither.
type intake struct {
	e        *Engine
	events   []*arrival
	sessions map[string]*Session // as they will be
	ids      map[uint64]*Handled // of this batch
	was      head
	state    objstore.ID // the checkpoint that holds the state now; zero: none does exactly
	lanes    bool        // there is a session's record that says whose lane it is
	apart    bool        // the checkpoint is not of its event's turn: that is recorded as an event of its own
}

// repeated answers an event that is recorded already, or stands in this batch twice.
func (in *intake) repeated(a *arrival) bool {
	if cp, ok := in.e.seen.ids[a.o.ID]; ok {
		a.res = Handled{Recorded: true, Checkpoint: cp}
		return true
	}
	if in.ids[a.o.ID] != nil {
		a.res = Handled{Recorded: true}
		return true
	}
	in.ids[a.o.ID] = &a.res
	return false
}

func (in *intake) run(ctx context.Context) error {
	e := in.e
	was, err := e.head()
	if err != nil {
		return err
	}
	in.was, in.state = was, was.checkpoint
	root, err := e.root()
	if err != nil {
		return err
	}
	defer root.Close()
	c, err := e.capture(ctx, root, captureOptions{hasty: true})
	if err != nil {
		return err
	}
	if err := in.store(ctx, c); err != nil {
		c.discard()
		return err
	}
	c.committed()
	e.noted = noted{skips: c.res.Skips, id: c.note}
	for name, s := range in.sessions {
		e.sessions[name] = s
	}
	for _, a := range in.events {
		if a.act.Ends {
			e.turnEnded = a.name
		}
	}
	e.known = &head{tree: c.res.Root, note: c.note, checkpoint: in.state}
	for _, a := range in.events {
		a.res.Elsewhere = in.elsewhere(a, c)
		e.seen.add(a.o.ID, a.res.Checkpoint)
	}
	return nil
}

// store puts everything into one batch and commits it.
func (in *intake) store(ctx context.Context, c *capture) error {
	e := in.e
	if err := c.flushCache(); err != nil {
		return err
	}
	same, err := e.same(in.was, c)
	if err != nil {
		return err
	}
	if same {
		c.note = in.was.note // the same as far as content goes; the newest checkpoint's stays the newest
	}
	var lead *arrival
	var cp *Checkpoint
	if !same {
		by, owned, err := e.whose(c, in.was.tree, in.openCalls())
		if err != nil {
			return err
		}
		lead = in.lead((&Checkpoint{By: by, Owned: owned}).Authors())
		if cp, err = in.checkpoint(c, lead); err != nil {
			return err
		}
		cp.By, cp.Owned = by, owned
	}
	if lead == nil {
		if lead = in.standing(); lead != nil {
			if cp, err = in.checkpoint(c, lead); err != nil {
				return err
			}
		}
	}
	for _, a := range in.events {
		s := in.session(a)
		in.lane(a)
		s.apply(a, e.project.Root, e.now())
		a.turn, a.prompt = s.Turn, s.Prompt
		in.follow(c, s)
	}
	if cp != nil {
		s := in.session(lead)
		cp.Cause.Turn, cp.Cause.Prompt, cp.Mark = lead.turn, lead.prompt, s.Cursor.Mark
		if before := in.turnBefore(lead, cp); before != nil {
			cp.Cause.Turn, cp.Cause.Prompt, cp.Mark = before.Turn, before.Prompt, before.Cursor.Mark
			cp.Cause.Event, cp.Cause.Tool, cp.Cause.Call, in.apart = EventInterrupted, "", "", true
		}
		if !same && lead.act.Ends && lead.ev.Name == quietStop && !cp.changedBy(lead.name) {
			cp.Cause.Event, in.apart = EventScan, true // somebody's hand, since the turn fell silent
			lead.at = in.was.checkpoint
		}
		if err := in.fold(c, cp, s, lead, same); err != nil {
			return err
		}
		cp.Late = lead.o.Late != nil && lead.o.Late()
		if len(cp.By) > 0 && bug.Is("others-owned") {
			cp.By, cp.Owned = []string{lead.name}, nil
		}
	}
	if in.lanes {
		if err := e.db.RaiseFormat(formatOwners); err != nil {
			return err
		}
	}
	_, err = e.refs.CommitAll(ctx, c.tx, kv.Written, func(seq uint64) ([]refs.Operation, []refs.Update, error) {
		return in.operations(c, cp, lead, seq)
	})
	return err
}

// standing is the first event in a turn, where a restore has left a state that no checkpoint has, since it kept what others changed. A
// turn that ends there needs one. Nil: there is none in the batch, or a checkpoint has the state.
func (in *intake) standing() *arrival {
	if !in.state.IsZero() || in.was.tree.IsZero() {
		return nil
	}
	i := slices.IndexFunc(in.events, func(a *arrival) bool { return turnWordOf(eventWords[a.ev.Kind]) != wordAside })
	if i < 0 {
		return nil
	}
	return in.events[i]
}

// session is a copy of the event's session to work on.
func (in *intake) session(a *arrival) *Session {
	if s := in.sessions[a.name]; s != nil {
		return s
	}
	s := &Session{Name: a.name, First: in.e.now()}
	if old := in.e.sessions[a.name]; old != nil {
		c := *old
		c.Calls, c.Imported = slices.Clone(old.Calls), false
		s = &c
	} else {
		s.Turn, s.Fork = a.turns, a.from
	}
	in.sessions[a.name] = s
	return s
}

// follow captures what the conversation has grown by. It never fails the event: why it cannot be captured is noted.
func (in *intake) follow(c *capture, s *Session) {
	err := in.e.follow(c.tx, s, hookRead)
	if errors.Is(err, errLater) || errors.Is(err, errMoving) {
		return // the daemon does it when the agent does not wait any more
	}
	s.Problem = problem(err)
	in.place(c, s)
}

// place looks, when a conversation is captured for the first time, for what an agent has made the session of.
func (in *intake) place(c *capture, s *Session) {
	if _, ok := in.e.origins[s.Name]; ok || !in.e.unplaced(s) {
		return
	}
	l, err := originOf(c.tx, s, in.e.knownAs, hookOrigin)
	if errors.Is(err, errLater) {
		return // the daemon does it
	}
	in.e.tried(s)
	if err == nil && l.placed() {
		s.comesFrom(l)
	}
}

// turnBefore is the session as it was in the turn that a checkpoint belongs to, if that is the one before the prompt which finds it: what a call had done
// that was interrupted without a word. nil: it is the event's own turn.
func (in *intake) turnBefore(lead *arrival, cp *Checkpoint) *Session {
	old := in.e.sessions[lead.name]
	if !lead.act.Begins || old == nil || old.Turn == 0 || len(old.Calls) == 0 || !cp.changedBy(lead.name) {
		return nil
	}
	return old
}

// lead is the event that the checkpoint is put down to: the end of a call of one that changed something, else the first event
// of one, else the first event.
func (in *intake) lead(by []string) *arrival {
	for _, ends := range []bool{true, false} {
		for _, a := range in.events {
			if slices.Contains(by, a.name) && (!ends || a.act.Closes) {
				return a
			}
		}
	}
	return in.events[0]
}

func (in *intake) checkpoint(c *capture, lead *arrival) (*Checkpoint, error) {
	cur, err := in.e.current(lead.name)
	if err != nil {
		return nil, err
	}
	cause := Cause{Event: eventWords[lead.ev.Kind], Tool: lead.ev.Tool.Name, Call: lead.ev.Tool.Call}
	return in.e.newCheckpoint(c, lead.name, cur, cause)
}

// fold decides whether lists leave the checkpoint out; same: it changes nothing. They show the one that a session begins with: undo leads back to it, and no further.
func (in *intake) fold(c *capture, cp *Checkpoint, s *Session, lead *arrival, same bool) error {
	_, begins, err := in.begins(cp.Session)
	if err != nil {
		return err
	}
	if same {
		cp.Minor = !begins
		return nil
	}
	most, since := lead.o.Tier.Runtime.Significance.MinChangeSize, in.e.since(s.Shown)
	// How much changed is worked out from the contents only where it decides.
	decides := !hooks.Minor(since, most, lead.ev.Kind, lead.o.Tier) && s.Folded < most
	changed, err := in.changedBytes(c, most, decides)
	if err != nil {
		return err
	}
	s.Folded += changed
	cp.Minor = !begins && (!in.asked(cp.Session) || hooks.Minor(since, s.Folded, lead.ev.Kind, lead.o.Tier))
	if !cp.Minor {
		s.Shown, s.Folded = in.e.now().Truncate(time.Millisecond), 0
	}
	return nil
}

// begins reports whether a session has not begun: nothing has given it a place, or only a fork that left the code where it was and of which nothing was heard
// yet. at is that place.
func (in *intake) begins(session string) (at objstore.ID, begins bool, err error) {
	at, err = in.e.refs.ID(refs.Cursor(session))
	if err != nil || at.IsZero() {
		return at, err == nil, err
	}
	s := in.e.sessions[session]
	begins = s != nil && s.Event == "" && s.Fork != nil && !refs.KindOf(s.Fork.Kind).IsRestore() && s.Fork.Checkpoint == at.String()
	if begins { // undo or a save may have moved it from there and back
		tip, err := in.e.refs.ID(refs.Session(session))
		return at, err == nil && tip == at, err
	}
	return at, false, nil
}

// asked reports whether the project's tier registers a hook for one of a session's events. The hooks that are there are those of the
// widest tier of all projects; what a narrower one would not have sent is captured all the same, and folded.
func (in *intake) asked(session string) bool {
	return slices.ContainsFunc(in.events, func(a *arrival) bool { return a.name == session && a.o.Tier.Asks(a.ev.Agent, a.ev.Kind) })
}

// operations fills the batch: the checkpoint's operation, then one for each event that made none, and the sessions' records.
func (in *intake) operations(c *capture, cp *Checkpoint, lead *arrival, seq uint64) (ops []refs.Operation, updates []refs.Update, err error) {
	e := in.e
	if cp != nil {
		if err := e.putCheckpoint(c.tx, cp, seq); err != nil {
			return nil, nil, err
		}
		op, moved, err := e.advance(cp)
		if err != nil {
			return nil, nil, err
		}
		op.Time, op.Session, op.Checkpoint = cp.Time.UnixMilli(), cp.Session, cp.ID
		if !in.apart {
			op.EventID = lead.o.ID
		}
		ops, updates = append(ops, op), append(updates, moved...)
		in.state = cp.ID
		lead.res = Handled{Recorded: true, Checkpoint: cp.ID, New: true, Late: cp.Late}
	}
	placed, told := map[string]bool{}, map[string]bool{} // sessions that have a place, and whose conversation has been told
	if cp != nil {
		placed[cp.Session], told[cp.Session] = true, !in.apart
	}
	for _, a := range in.events {
		if a == lead && !in.apart {
			continue
		}
		said := in.sessions[a.name].Cursor.Transcript
		if old := e.sessions[a.name]; told[a.name] || old != nil && old.Cursor.Transcript == said {
			said = objstore.ID{}
		}
		told[a.name] = true
		op := refs.Operation{
			Kind: refs.KindEvent, Time: e.now().UnixMilli(), Session: a.name, Checkpoint: cmp.Or(a.at, in.state), Turn: a.turn, EventID: a.o.ID,
			Transcript: said,
			Cause:      refs.Cause{Event: eventWords[a.ev.Kind], Tool: a.ev.Tool.Name, Call: a.ev.Tool.Call},
		}
		if a.act.Begins {
			op.Message = a.ev.Prompt // a turn that is killed has it nowhere else
		}
		// A session begins where the worktree stands at its first event, whatever other sessions do from then on.
		if !placed[a.name] {
			placed[a.name] = true
			at, begins, err := in.begins(a.name)
			if err != nil {
				return nil, nil, err
			}
			if begins && !in.state.IsZero() {
				op.Changes = []refs.Change{
					{Name: refs.Session(a.name), Old: at, New: in.state},
					{Name: refs.Cursor(a.name), Old: at, New: in.state},
				}
				updates = append(updates, updatesOf(op.Changes)...)
			}
		}
		ops = append(ops, op)
		if a != lead {
			a.res = Handled{Recorded: true, Checkpoint: in.state}
		}
	}
	for name, s := range in.sessions {
		if s.Began == 0 {
			s.Began = seq
		}
		if err := c.tx.Batch().Set(sessionKey(name), s.encode()); err != nil {
			return nil, nil, err
		}
	}
	return ops, updates, nil
}

// changedBytes counts the bytes by which the capture differs from the state before, up to about most; of two versions of a file it takes what lies between their
// common beginning and end, or without reading them at least by how much their lengths differ.
func (in *intake) changedBytes(c *capture, most int64, read bool) (int64, error) {
	n := int64(0)
	err := c.changes(in.was.tree, func(ch tree.Change) error {
		if n >= most {
			return nil
		}
		switch {
		case isFile(ch.Old) && isFile(ch.New):
			d, err := distance(c.get, ch.Old, ch.New, most, read)
			if err != nil {
				return err
			}
			n += d
		case isFile(ch.New):
			n += max(ch.New.Size, 1)
		case isFile(ch.Old):
			n += max(ch.Old.Size, 1)
		}
		return nil
	})
	return n, err
}

func distance(get objstore.Getter, a, b *tree.Entry, most int64, read bool) (int64, error) {
	if d := max(a.Size-b.Size, b.Size-a.Size); !read || d >= most || a.ID == b.ID || max(a.Size, b.Size) > textLimit {
		return max(d, 1), nil
	}
	x, err := get.Get(objstore.Blob, a.ID)
	if err != nil {
		return 0, err
	}
	y, err := get.Get(objstore.Blob, b.ID)
	if err != nil {
		return 0, err
	}
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return int64(max(len(x), len(y), 1)), nil
}

// textLimit is the largest file whose versions are compared byte by byte; a larger one counts as changed.
const textLimit = 1 << 20
