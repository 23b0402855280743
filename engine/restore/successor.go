package restore

import (
	"cmp"
	"slices"
	"strings"

	"rewind/engine/authorship"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/sessions"
	"rewind/refs"
	"rewind/transcript"
)

// successor is the name of the successor of a restore: the session that it makes, cuts, brings back or finds to end at
// the target. Where the conversation is left alone it is the session that went on until now, if the restore is about
// its branch, else the restore's own.
func (rs *runner) successor(r *request, t *conversationPlan) (string, error) {
	if r.leavesConversation() || len(r.Paths) > 0 {
		return rs.sessions.Ongoing(r.Session)
	}
	if r.reverts != nil && (t == nil || t.conversation.Mode != model.ConversationNone) {
		at, err := rs.sessions.PositionBefore(r.Undoes)
		return at.Session, err
	}
	if t == nil || t.conversation.Mode == model.ConversationNone || t.conversation.Session == "" {
		successor, err := rs.sessions.Ongoing(r.Session)
		s := rs.log.Session(successor)
		known := err == nil && t != nil && s != nil
		if known && slices.Contains(t.conversation.Removed, s.Transcript) {
			successor = r.Session // an unused fork, which the restore removes
		}
		return successor, err
	}
	return t.conversation.Session, nil
}

// leavesConversation reports whether the conversation stays behind. What reverts a restore that left it alone leaves
// nothing behind: all of that goes back.
func (r *request) leavesConversation() bool {
	codeOnly := r.options.CodeOnly || r.options.Env.Home == ""
	if codeOnly && r.reverts != nil {
		return len(r.reverts.Restore.Files) > 0
	}
	return codeOnly
}

// leftRecords are copies of the session records whose Left changes with a restore: set for the sessions of the
// successor's family that the restore leaves, cleared for the successor. A session of another family does not change,
// nor one on another branch in the middle of a turn: its agent goes on. The log's lock is held, and the restore is not
// in the log yet.
func (rs *runner) leftRecords(j *model.Journal) ([]*model.Session, error) {
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	at, err := rs.sessions.Position()
	if err != nil {
		return nil, err
	}
	successor := cmp.Or(j.Goes, j.Session)
	family := rs.sessions.Family(successor)
	if j.Made != nil && j.Made.Name == successor {
		family = rs.sessions.Family(j.Made.Fork.Session)
	}
	names := []string{successor}
	for _, name := range []string{j.Session, at.Session} {
		if !slices.Contains(names, name) && rs.sessions.Family(name) == family {
			names = append(names, name)
		}
	}
	var out []*model.Session
	for _, name := range names {
		s, left := rs.recordOf(j, name), name != successor
		if s == nil || s.Left == left {
			continue
		}
		if other := left && name != j.Session; !other || !rs.sessions.InTurn(s) {
			out = append(out, leftRecord(s, left, j.Kind.Undoes()))
		}
	}
	return out, nil
}

// recordOf is the record that a session has after a restore; nil: none.
func (rs *runner) recordOf(j *model.Journal, name string) *model.Session {
	if j.Moved != nil && j.Moved.Name == name {
		return j.Moved
	}
	return rs.log.Session(name)
}

// leftRecord is a session's record when a restore has left it, or goes on in it. What goes on in one that was left
// begins between turns, but where an undo-restore comes back to it: its turn runs on.
func leftRecord(s *model.Session, left, undoes bool) *model.Session {
	c := *s
	if !left && !undoes {
		c.Busy, c.Calls = false, s.OpenCalls()
	}
	c.Left = left
	return &c
}

// otherRefChanges are the changes of refs that a restore makes beside own, that of its session's cursor.
func (rs *runner) otherRefChanges(j *model.Journal, own []refs.Change) ([]refs.Change, error) {
	cursors, err := rs.otherCursorChanges(j)
	if err != nil {
		return nil, err
	}
	var tips []refs.Change
	switch j.Kind {
	case refs.KindUndo:
		tips, err = rs.tipAfterUndo(j)
	case refs.KindUndoRestore:
		tips, err = rs.revertedTips(j, slices.Concat(own, cursors))
	}
	return append(cursors, tips...), err
}

// tipAfterUndo moves the session's branch to the place where an undo started, if that is not on the branch. A checkout
// had gone to a step of another line, and redo must lead back there.
func (rs *runner) tipAfterUndo(j *model.Journal) ([]refs.Change, error) {
	tip := refs.Session(j.Session)
	now, err := rs.log.Refs.ID(tip)
	if err != nil || now.IsZero() || j.Before.IsZero() || j.Before == j.After || rs.authors.LeadsTo(j.Before, now) {
		return nil, err
	}
	judge, err := rs.authors.Judge(authorship.Going{Session: j.Session, Way: authorship.ByStep})
	if err != nil {
		return nil, err
	}
	from, err := rs.log.Checkpoint(j.Before)
	if err == nil {
		from, err = judge.OnBranch(from)
	}
	if err != nil || from.ID != j.Before { // the step has its like on the session's own branch
		return nil, err
	}
	return []refs.Change{{Name: tip, Old: now, New: j.Before}}, nil
}

// otherCursorChanges are the changes of cursors beside the restore's own session: the successor's goes to the same
// checkpoint, and those that a reverted restore had moved go back.
func (rs *runner) otherCursorChanges(j *model.Journal) (out []refs.Change, err error) {
	successor := cmp.Or(j.Goes, j.Session)
	if j.Kind == refs.KindUndoRestore {
		before, err := rs.sessions.PositionBefore(j.Undoes)
		if err != nil {
			return nil, err
		}
		if out, err = rs.revertedCursors(j); err != nil || before.Session == successor {
			return out, err
		}
	}
	cursor := refs.Cursor(successor)
	known := slices.ContainsFunc(out, func(c refs.Change) bool { return c.Name == cursor })
	if known || successor == j.Session || successor == j.Made.NameOf() || j.After.IsZero() {
		return out, nil
	}
	now, err := rs.log.Refs.ID(cursor)
	if err == nil && now != j.After {
		out = append(out, refs.Change{Name: cursor, Old: now, New: j.After})
	}
	return out, err
}

// revertedCursors are the cursors that the restore which an undo-restore reverts had moved beside its session's own:
// they go back. One that was moved since stays: who did that stands there.
func (rs *runner) revertedCursors(j *model.Journal) (out []refs.Change, err error) {
	op, err := rs.log.Refs.Operation(j.Undoes)
	if err != nil {
		return nil, err
	}
	for _, c := range op.Changes {
		if !strings.HasPrefix(string(c.Name), refs.Cursors) || c.Name == refs.Cursor(j.Session) || c.Old.IsZero() {
			continue
		}
		now, err := rs.log.Refs.ID(c.Name)
		if err != nil {
			return nil, err
		}
		if now == c.New {
			out = append(out, refs.Change{Name: c.Name, Old: c.New, New: c.Old})
		}
	}
	return out, nil
}

// revertedTips are the changes of branches that go with an undo-restore's cursors. Where a step was made since on
// another branch, redo would lead from the cursor's checkpoint to that step; so the branch goes back, too. The step
// stays in the log.
func (rs *runner) revertedTips(j *model.Journal, cursors []refs.Change) ([]refs.Change, error) {
	var out []refs.Change
	for _, c := range cursors {
		session, ok := strings.CutPrefix(string(c.Name), refs.Cursors)
		if !ok || c.New.IsZero() {
			continue
		}
		tip := refs.Session(session)
		now, err := rs.log.Refs.ID(tip)
		if err != nil || now.IsZero() || rs.authors.LeadsTo(c.New, now) {
			if err != nil {
				return nil, err
			}
			continue
		}
		was, err := rs.history.RefBefore(tip, session, j.Undoes)
		if err != nil {
			return nil, err
		}
		if was == now {
			continue // no step was made since: it parted from the cursor before the restore
		}
		if !rs.authors.LeadsTo(c.New, was) {
			was = c.New
		}
		out = append(out, refs.Change{Name: tip, Old: now, New: was})
	}
	return out, nil
}

// findUnusedFork is a fork in the family of s that ends where the moment p does and that nobody has used, r's own
// session before others, then the newest; nil: none.
func (rs *talkPlanner) findUnusedFork(r *request, p *history.Moment, s *model.Session) (*model.Session, error) {
	f, _, err := rs.findUnused(r, p, s, func(f *model.Session) bool { return refs.KindOf(f.Fork.Kind).IsRestore() })
	return f, err
}

// findUnused is findUnusedFork of those forks that fit, with the cut.
func (rs *talkPlanner) findUnused(
	r *request, p *history.Moment, s *model.Session, fits func(*model.Session) bool,
) (*model.Session, transcript.Cut, error) {
	list := rs.unusedForks(r, s, fits)
	if len(list) == 0 {
		return nil, transcript.Cut{}, nil
	}
	_, _, _, cut, err := rs.findCut(p, false)
	if err != nil {
		return nil, cut, err
	}
	for _, f := range list {
		if !rs.endsAtCut(f, s, cut) {
			continue
		}
		if _, ok, err := rs.removalIfUnused(register.Folders(r.options.Env),
			refs.File{Path: f.Transcript, To: f.BeganAs()}, nil); err == nil && ok {
			return f, cut, nil
		}
	}
	return nil, cut, nil
}

// unusedForks are the forks of a session's family that fit and were never heard of: the one that is asked for first,
// then the newest.
func (rs *talkPlanner) unusedForks(r *request, s *model.Session, fits func(*model.Session) bool) []*model.Session {
	family := rs.sessions.Family(s.Name)
	var list []*model.Session
	for _, f := range rs.log.EachSession() {
		if f.Fork == nil || f.Event != "" || f.BeganAs().IsZero() {
			continue
		}
		if f.Fork.Message == "" || !fits(f) || rs.sessions.Family(f.Name) != family {
			continue
		}
		if rs.sessions.Elsewhere(f) == "" && !sessions.FileMissing(f) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *model.Session) int {
		switch r.Session {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return cmp.Compare(b.Began, a.Began)
	})
	return list
}

// endsAtCut reports whether the fork f was made to end where a cut of s, of its family, does.
func (rs *talkPlanner) endsAtCut(f, s *model.Session, cut transcript.Cut) bool {
	if f.Fork.Session == s.Name {
		return int(rs.history.Number(s, cut.Turn)) == f.Fork.Turn && cut.LastMessage == f.Fork.Message
	}
	a, n := rs.history.TurnOf(f.Name, uint64(f.Fork.Both))
	b, m := rs.history.TurnOf(s.Name, rs.history.Number(s, cut.Turn))
	if a != b || n != m || n == 0 {
		return false
	}
	c, err := rs.history.Conversation(f, f.BeganAs())
	return err == nil && c.Messages == cut.Messages
}
