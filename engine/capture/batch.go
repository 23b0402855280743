package capture

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"rewind/engine/conversation"
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// batch is a batch of events on its way into the log: one capture of the worktree, taken after all of them had come,
// and one commit. If it fails nothing of it is kept, in memory neither.
type batch struct {
	wt       *Worktree
	events   []*Pending
	sessions map[string]*model.Session // records as they are after the batch
	ids      map[uint64]*Handled       // answers to this batch's events, by event id
	was      oplog.Head
	state    objstore.ID // the checkpoint whose tree the worktree has; zero: none
	named    naming      // the files that calls name and rules leave out
	traced   []string    // sessions whose origin was looked for
	apart    bool        // the checkpoint is of another turn than the event that found it, which is recorded by itself
}

// repeated reports whether an event is recorded already or stands in this batch twice, and answers it.
func (in *batch) repeated(a *Pending) bool {
	if cp, ok := in.wt.seen.Ids[a.Options.ID]; ok {
		a.res = Handled{Recorded: true, Checkpoint: cp}
		return true
	}
	if in.ids[a.Options.ID] != nil {
		a.res = Handled{Recorded: true}
		return true
	}
	in.ids[a.Options.ID] = &a.res
	return false
}

// dropRefused takes the calls that a person did not allow out of the sessions of which an event that closes calls has
// come.
func (in *batch) dropRefused() {
	for _, a := range in.events {
		switch a.Event.Kind { //nolint:exhaustive // the others leave calls open, or are of one
		case hooks.Prompt, hooks.Stop, hooks.SessionStart, hooks.SessionEnd:
			in.wt.sessions.DropRefused(a.Name)
		}
	}
}

func (in *batch) run(ctx context.Context) error {
	e := in.wt
	was, err := e.log.Head()
	if err != nil {
		return err
	}
	in.was, in.state = was, was.Checkpoint
	root, err := e.log.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	in.dropRefused()
	in.readNames()
	c, err := e.Capture(ctx, root, Options{hasty: true})
	if err != nil {
		return err
	}
	if c, err = in.withNamed(ctx, root, c); err != nil {
		return err
	}
	if err := in.store(ctx, c); err != nil {
		c.Discard()
		e.conversations.ForgetOrigins(in.traced)
		return err
	}
	c.committed()
	for _, a := range in.events {
		if a.Act.Ends {
			e.TurnEnded = a.Name
		}
	}
	for _, a := range in.events {
		a.res.Elsewhere = in.elsewhere(a, c)
		e.seen.Add(a.Options.ID, a.res.Checkpoint)
	}
	return nil
}

// store puts everything into one batch and commits it.
func (in *batch) store(ctx context.Context, c *Capture) error {
	e, noted := in.wt, c.note
	if err := c.FlushCache(); err != nil {
		return err
	}
	same, err := e.same(in.was, c)
	if err != nil {
		return err
	}
	if err := in.view(c); err != nil {
		return err
	}
	if same = same && len(in.named.fresh) == 0; same {
		c.note = in.was.Note // contents are the same: the newest checkpoint's note stays
	}
	var lead *Pending
	var other *model.Session // whose step it is, if no event of it is in the batch
	var cp *model.Checkpoint
	if !same {
		by, owned, err := e.attribute(c, c.before(in.was), in.openCalls())
		if err != nil {
			return err
		}
		lead = in.cause((&model.Checkpoint{By: by, Owned: owned}).Authors())
		if other = e.lineOf(lead.Name, by, owned); other != nil {
			in.apart = true
			cp, err = e.found(c, other)
		} else {
			cp, err = in.checkpoint(c, lead)
		}
		if err != nil {
			return err
		}
		cp.By, cp.Owned = by, owned
	}
	if lead == nil {
		if lead, err = in.standing(); err != nil {
			return err
		}
		if lead != nil {
			if cp, err = in.checkpoint(c, lead); err != nil {
				return err
			}
		}
	}
	for _, a := range in.events {
		s := in.session(a)
		in.lane(a)
		a.Event.Transcript = in.wt.conversations.FileOf(s, a.Event.Transcript)
		apply(s, a, e.log.Now())
		in.tail(c, s)
		a.turn, a.prompt = s.Turn, s.Prompt // its file may have told which turns it has from another session
	}
	if other != nil && lead.Act.Ends && lead.Event.Name == model.EventQuiet {
		lead.at = in.was.Checkpoint // the turn had ended before
	}
	if cp != nil && other == nil {
		s := in.session(lead)
		cp.Cause.Turn, cp.Cause.Prompt, cp.Conversation = lead.turn, lead.prompt, s.Cursor.TranscriptEnd
		if before := in.turnBefore(lead, cp); before != nil {
			cp.Cause.Turn, cp.Cause.Prompt, cp.Conversation = before.Turn, before.Prompt, before.Cursor.TranscriptEnd
			cp.Cause.Event, cp.Cause.Tool, cp.Cause.Call, in.apart = eventInterrupted, "", "", true
		}
		ended := !same && lead.Act.Ends
		if ended && lead.Event.Name == model.EventQuiet && !cp.ChangedBy(lead.Name) {
			cp.Cause.Event, in.apart = model.EventScan, true // changed by a person after the turn fell silent
			lead.at = in.was.Checkpoint
		}
		if err := in.fold(c, cp, s, lead, same); err != nil {
			return err
		}
	}
	if cp != nil {
		cp.Late = lead.Options.Late != nil && lead.Options.Late()
	}
	return in.commit(ctx, c, cp, lead, oplog.StoredNote{Skips: c.Res.Skips, Id: noted})
}

// commit commits a capture, with its checkpoint, if it makes one, and the operations of the batch.
func (in *batch) commit(
	ctx context.Context, c *Capture, cp *model.Checkpoint, lead *Pending, noted oplog.StoredNote,
) error {
	change := in.wt.log.BeginWith(c.Tx)
	for _, s := range in.sessions {
		change.SetSession(s)
	}
	change.SetNote(noted)
	_, err := change.CommitAll(ctx, kv.Written, func(seq uint64) ([]refs.Operation, []refs.Update, error) {
		if err := c.checkRoot(); err != nil {
			return nil, nil, err
		}
		ops, updates, err := in.operations(c, cp, lead, seq)
		head := oplog.Head{Tree: c.Res.Root, Note: c.note, Checkpoint: in.state}
		if cp == nil {
			head.Laid = in.was.Laid
		}
		change.SetHead(head)
		return ops, updates, err
	})
	return err
}

// standing returns the first event in the batch that needs a checkpoint because a restore kept others' changes and no
// checkpoint has the resulting state. It is an event of a turn, which may end there, or the first of a fork, which
// begins there. nil: no such event, or a checkpoint has the state.
func (in *batch) standing() (*Pending, error) {
	if !in.state.IsZero() || in.was.Tree.IsZero() {
		return nil, nil
	}
	for _, a := range in.events {
		if ledger.WordOf(model.EventWords[a.Event.Kind]) != ledger.Aside {
			return a, nil
		}
		if at, begins, err := in.begins(a.Name); err != nil || begins && !at.IsZero() {
			return a, err
		}
	}
	return nil, nil
}

// session is the record of the event's session that the batch changes: a copy, or a new one.
func (in *batch) session(a *Pending) *model.Session {
	if s := in.sessions[a.Name]; s != nil {
		return s
	}
	s := &model.Session{Name: a.Name, First: in.wt.log.Now()}
	if old := in.wt.log.Session(a.Name); old != nil {
		c := *old
		c.Calls, c.Imported = slices.Clone(old.Calls), false
		s = &c
	} else {
		s.Turn, s.Fork = a.turns, a.from
	}
	in.sessions[a.Name] = s
	return s
}

// tail captures what the session file has grown by. An error does not fail the event: it is noted in the record.
func (in *batch) tail(c *Capture, s *model.Session) {
	err := in.wt.conversations.Tail(c.Tx, s, conversation.HookRead)
	if errors.Is(err, conversation.ErrLater) || errors.Is(err, conversation.ErrMoving) {
		return // FollowUp captures it
	}
	s.Problem = conversation.Problem(err)
	if in.wt.conversations.OriginInHook(c.Tx, s) {
		in.traced = append(in.traced, s.Name)
	}
}

// turnBefore is the session's record before the event, if the checkpoint belongs to the turn before the prompt that
// finds it: what an interrupted call had done. nil: it belongs to the event's own turn.
func (in *batch) turnBefore(lead *Pending, cp *model.Checkpoint) *model.Session {
	old := in.wt.log.Session(lead.Name)
	noTurnBefore := !lead.Act.Begins || old == nil || old.Turn == 0
	if noTurnBefore || len(old.Calls) == 0 || !cp.ChangedBy(lead.Name) {
		return nil
	}
	return old
}

// cause is the event that the checkpoint is put down to: the end of a call by one of its authors, else the first event
// of an author, else the first event.
func (in *batch) cause(by []string) *Pending {
	for _, ends := range []bool{true, false} {
		for _, a := range in.events {
			if slices.Contains(by, a.Name) && (!ends || a.Act.Closes) {
				return a
			}
		}
	}
	return in.events[0]
}

// lineOf is the session whose step a capture is instead of that which found it: another agent's call was at work, and
// it alone. nil: the step is that of who found it.
func (wt *Worktree) lineOf(finder string, by []string, owned []model.Owned) *model.Session {
	authors := (&model.Checkpoint{By: by, Owned: owned}).Authors()
	if len(authors) == 0 || slices.Contains(authors, finder) {
		return nil
	}
	for _, name := range authors {
		if s := wt.log.Session(name); s != nil && s.Turn > 0 {
			return s
		}
	}
	return nil
}

// found is the step of a session that another one's event has found.
func (wt *Worktree) found(c *Capture, s *model.Session) (*model.Checkpoint, error) {
	cur, err := wt.sessions.Current(s.Name)
	if err != nil {
		return nil, err
	}
	cause := model.Cause{Event: model.EventScan, Turn: s.Turn, Prompt: s.Prompt}
	cause.Tool, cause.Call = during(s.Calls)
	cp, err := wt.newCheckpoint(c, s.Name, cur, cause)
	if err == nil { // a step of its own only if the call changes nothing more
		cp.Conversation, cp.Minor = s.Cursor.TranscriptEnd, true
	}
	return cp, err
}

func (in *batch) checkpoint(c *Capture, lead *Pending) (*model.Checkpoint, error) {
	cur, err := in.wt.sessions.Current(lead.Name)
	if err != nil {
		return nil, err
	}
	cause := model.Cause{
		Event: model.WordOf(&lead.Event), Tool: lead.Event.Tool.Name,
		Call: lead.Event.Tool.Call,
	}
	return in.wt.newCheckpoint(c, lead.Name, cur, cause)
}

// fold decides whether lists leave the checkpoint out. same: it changes nothing. The first one of a session is listed,
// since undo leads to it and no further.
func (in *batch) fold(c *Capture, cp *model.Checkpoint, s *model.Session, lead *Pending, same bool) error {
	_, begins, err := in.begins(cp.Session)
	if err != nil {
		return err
	}
	if same || c.before(in.was) == c.Res.Root { // nothing but what came into view
		cp.Minor = !begins
		return nil
	}
	most, since := lead.Options.Tier.Runtime.Significance.MinChangeSize, in.wt.log.Since(s.Shown)
	// How much changed is worked out from the contents only where it decides.
	decides := !hooks.Minor(since, most, lead.Event.Kind, lead.Options.Tier) && s.Folded < most
	changed, err := in.changedBytes(c, most, decides)
	if err != nil {
		return err
	}
	s.Folded += changed
	small := !in.asked(cp.Session) || hooks.Minor(since, s.Folded, lead.Event.Kind, lead.Options.Tier)
	cp.Minor = !begins && small && !cp.Persons() // a person's change is a step
	if !cp.Minor {
		s.Shown, s.Folded = in.wt.log.Now().Truncate(time.Millisecond), 0
	}
	return nil
}

// begins reports whether a session has still no place of its own: no cursor, or only the one that a fork gave it, from
// which nothing was heard. at is the cursor.
func (in *batch) begins(session string) (at objstore.ID, begins bool, err error) {
	at, err = in.wt.log.Refs.ID(refs.Cursor(session))
	if err != nil || at.IsZero() {
		return at, err == nil, err
	}
	s := in.wt.log.Session(session)
	isFork := s != nil && s.Fork != nil && !refs.KindOf(s.Fork.Kind).IsRestore()
	begins = isFork && s.Event == "" && s.Fork.Checkpoint == at.String()
	if begins { // undo or a save may have moved the cursor and back
		tip, err := in.wt.log.Refs.ID(refs.Session(session))
		return at, err == nil && tip == at, err
	}
	return at, false, nil
}

// asked reports whether the project's tier registers a hook for one of the session's events. Agents' hooks are those of
// the widest tier of all projects: what this project's tier would not have sent is captured, and folded.
func (in *batch) asked(session string) bool {
	return slices.ContainsFunc(in.events, func(a *Pending) bool {
		return a.Name == session &&
			a.Options.Tier.Asks(a.Event.Agent, a.Event.Kind)
	})
}

// operations are the batch's operations and updates: the checkpoint's, then one for each event that made none. The
// session records are set in the transaction.
func (in *batch) operations(c *Capture, cp *model.Checkpoint, lead *Pending, seq uint64) (ops []refs.Operation, updates []refs.Update,
	err error,
) {
	e := in.wt
	if cp != nil {
		if err := e.log.PutCheckpoint(c.Tx, cp, seq); err != nil {
			return nil, nil, err
		}
		op, moved, err := e.Advance(cp)
		if err != nil {
			return nil, nil, err
		}
		op.Time, op.Session, op.Checkpoint = cp.Time.UnixMilli(), cp.Session, cp.ID
		if !in.apart {
			op.EventID, op.Message = lead.Options.ID, model.JoinEdits(lead.edits)
		}
		ops, updates = append(ops, op), append(updates, moved...)
		in.state = cp.ID
		lead.res = Handled{Recorded: true, Checkpoint: cp.ID, New: true, Late: cp.Late, Turn: lead.turn}
	}
	// sessions with a cursor; those whose transcript an operation of the batch names
	placed, told := map[string]bool{}, map[string]bool{}
	if cp != nil {
		placed[cp.Session], told[cp.Session] = true, !in.apart
	}
	for _, a := range in.events {
		if a == lead && !in.apart {
			continue
		}
		said := in.sessions[a.Name].Cursor.Transcript
		if old := e.log.Session(a.Name); told[a.Name] || old != nil && old.Cursor.Transcript == said {
			said = objstore.ID{}
		}
		told[a.Name] = true
		op := refs.Operation{
			Kind: refs.KindEvent, Time: e.log.Now().UnixMilli(), Session: a.Name, Checkpoint: cmp.Or(a.at, in.state),
			Turn:       a.turn,
			EventID:    a.Options.ID,
			Message:    model.JoinEdits(a.edits),
			Transcript: said,
			Cause: refs.Cause{
				Event: model.WordOf(&a.Event), Tool: a.Event.Tool.Name,
				Call: a.Event.Tool.Call,
			},
		}
		if a.Act.Begins {
			op.Message = a.Event.Prompt // the only place of the prompt if the turn is killed
		}
		// A session begins where the worktree stands at its first event, whatever other sessions do from then on.
		if !placed[a.Name] {
			placed[a.Name] = true
			at, begins, err := in.begins(a.Name)
			if err != nil {
				return nil, nil, err
			}
			if begins && !in.state.IsZero() {
				op.Changes = []refs.Change{
					{Name: refs.Session(a.Name), Old: at, New: in.state},
					{Name: refs.Cursor(a.Name), Old: at, New: in.state},
				}
				updates = append(updates, conversation.UpdatesOf(op.Changes)...)
			}
		}
		ops = append(ops, op)
		if a != lead {
			a.res = Handled{Recorded: true, Checkpoint: in.state, Turn: a.turn}
		}
	}
	for _, s := range in.sessions {
		if s.Began == 0 {
			s.Began = seq
		}
	}
	return ops, updates, nil
}

// changedBytes counts the bytes by which the capture differs from the state before, up to about most. Of two versions
// of a file it counts what lies between their common beginning and end; without read at least the difference of their
// sizes.
func (in *batch) changedBytes(c *Capture, most int64, read bool) (int64, error) {
	n := int64(0)
	err := c.Changes(c.before(in.was), func(ch tree.Change) error {
		if n >= most {
			return nil
		}
		switch {
		case model.IsFile(ch.Old) && model.IsFile(ch.New):
			d, err := distance(c.Get, ch.Old, ch.New, most, read)
			if err != nil {
				return err
			}
			n += d
		case model.IsFile(ch.New):
			n += max(ch.New.Size, 1)
		case model.IsFile(ch.Old):
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
