package engine

import (
	"cmp"
	"slices"
	"strings"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// enterGoes writes into the journal of a restore whose conversation goes on from it.
func (e *Engine) enterGoes(goes string, j *journal) error {
	if goes == j.Session {
		return nil
	}
	j.Goes = goes
	return e.db.RaiseFormat(formatOwners)
}

// successor is the session whose conversation goes on from a restore: the one that it makes, cuts, gives back or finds to end there. Where it leaves the
// conversation alone it is the one that went on until then, if the restore is about that one, else the restore's own.
func (e *Engine) successor(r *restore, t *conversationPlan) (string, error) {
	if r.conversation.CodeOnly || len(r.opt.paths) > 0 || r.env.Home == "" {
		return e.stillOf(r.session)
	}
	if t == nil && r.kind == refs.KindUndoRestore {
		at, err := e.positionBefore(r.undoes)
		return at.Session, err
	}
	if t == nil || t.conversation.Mode == ConversationNone || t.conversation.Session == "" {
		goes, err := e.stillOf(r.session)
		if s := e.sessions[goes]; err == nil && t != nil && s != nil && slices.Contains(t.conversation.Removed, s.Transcript) {
			goes = r.session // nobody had used it, and it goes
		}
		return goes, err
	}
	return t.conversation.Session, nil
}

// stillOf is the session that goes on when a restore moves a session's cursor, and no conversation.
func (e *Engine) stillOf(session string) (string, error) {
	at, err := e.position()
	if session == at.Line {
		session = at.Session
	}
	return session, err
}

// leaving are the records that change with a restore: the sessions of the family that it is about are left, and the one that goes on from it is not. Of another
// agent's, that happened to be heard of last, nothing is said, nor of another branch in which a turn is under way: its agent goes on, whatever this one does.
// e.mu is held, and the restore is not in the log yet.
func (e *Engine) leaving(j *journal) ([]*Session, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	at, err := e.position()
	if err != nil {
		return nil, err
	}
	goes := cmp.Or(j.Goes, j.Session)
	family := e.family(goes)
	if j.Made != nil && j.Made.Name == goes {
		family = e.family(j.Made.Fork.Session)
	}
	var out []*Session
	for _, name := range []string{goes, j.Session, at.Session} {
		s, left := e.sessions[name], name != goes
		if j.Moved != nil && j.Moved.Name == name {
			s = j.Moved
		}
		if s == nil || s.Left == left || left && e.family(name) != family || slices.ContainsFunc(out, func(o *Session) bool { return o.Name == name }) {
			continue
		}
		if left && name != j.Session && e.inTurn(s) {
			continue
		}
		c := *s
		if c.Left = left; left { // its turn is over for the person; a call that runs is told of until its end is heard
			c.Busy, c.Calls = false, slices.DeleteFunc(slices.Clone(s.Calls), func(k Call) bool { return k.ID == turnCall })
		}
		out = append(out, &c)
	}
	if len(out) > 0 {
		err = e.db.RaiseFormat(formatOwners)
	}
	return out, err
}

// beside is what a restore moves beside its session's own cursor.
func (e *Engine) beside(j *journal, own []refs.Change) ([]refs.Change, error) {
	cursors, err := e.cursorsBeside(j)
	if err != nil {
		return nil, err
	}
	var tips []refs.Change
	switch j.Kind {
	case refs.KindUndo:
		tips, err = e.tipOfUndo(j)
	case refs.KindUndoRestore:
		tips, err = e.tipsBack(j, slices.Concat(own, cursors))
	}
	return append(cursors, tips...), err
}

// tipOfUndo has the branch of an undo end where the undo came from, if that is not on it: where a checkout has gone to another line's step. Redo leads back there.
func (e *Engine) tipOfUndo(j *journal) ([]refs.Change, error) {
	tip := refs.Session(j.Session)
	now, err := e.refs.ID(tip)
	if err != nil || now.IsZero() || j.Before.IsZero() || j.Before == j.After || e.leadsTo(j.Before, now) {
		return nil, err
	}
	judge, err := e.judge(j.Session)
	if err != nil {
		return nil, err
	}
	from, err := e.checkpoint(j.Before)
	if err == nil {
		from, err = judge.onBranch(from)
	}
	if err != nil || from.ID != j.Before { // the undo went along the session's own branch
		return nil, err
	}
	return []refs.Change{{Name: tip, Old: now, New: j.Before}}, nil
}

// cursorsBeside are the cursors that a restore moves beside its session's: of the session that goes on from it, which stands there, too, and for an undo-restore of
// those that the restore had moved. What was moved again since stays.
func (e *Engine) cursorsBeside(j *journal) ([]refs.Change, error) {
	goes := cmp.Or(j.Goes, j.Session)
	var out []refs.Change
	if j.Kind == refs.KindUndoRestore {
		op, err := e.refs.Operation(j.Undoes)
		if err != nil {
			return nil, err
		}
		for _, c := range op.Changes {
			if !strings.HasPrefix(string(c.Name), refs.Cursors) || c.Name == refs.Cursor(j.Session) || c.Old.IsZero() {
				continue
			}
			now, err := e.refs.ID(c.Name)
			if err != nil {
				return nil, err
			}
			if now == c.New {
				out = append(out, refs.Change{Name: c.Name, Old: c.New, New: c.Old})
			}
		}
		before, err := e.positionBefore(j.Undoes)
		if err != nil {
			return nil, err
		}
		if before.Session == goes && goes != j.Session && !j.ContextOnly {
			name := refs.Cursor(goes)
			out = slices.DeleteFunc(out, func(c refs.Change) bool { return c.Name == name })
			was, err := e.standBefore(name, goes, j.Undoes)
			if err != nil {
				return nil, err
			}
			now, err := e.refs.ID(name)
			if err == nil && !was.IsZero() && now != was {
				out = append(out, refs.Change{Name: name, Old: now, New: was})
			}
			return out, err
		}
		if before.Session == goes {
			return out, nil
		}
	}
	cursor := refs.Cursor(goes)
	if goes == j.Session || goes == j.Made.name() || j.After.IsZero() || slices.ContainsFunc(out, func(c refs.Change) bool { return c.Name == cursor }) {
		return out, nil
	}
	now, err := e.refs.ID(cursor)
	if err == nil && now != j.After {
		out = append(out, refs.Change{Name: cursor, Old: now, New: j.After})
	}
	return out, err
}

// tipsBack are the branches that an undo-restore goes back to together with the cursors that it moves: where a step has been made since
// on another branch, redo would lead from here to that one. Steps of it stay in the log.
func (e *Engine) tipsBack(j *journal, cursors []refs.Change) ([]refs.Change, error) {
	var out []refs.Change
	for _, c := range cursors {
		session, ok := strings.CutPrefix(string(c.Name), refs.Cursors)
		if !ok || c.New.IsZero() {
			continue
		}
		tip := refs.Session(session)
		now, err := e.refs.ID(tip)
		if err != nil || now.IsZero() || e.leadsTo(c.New, now) {
			if err != nil {
				return nil, err
			}
			continue
		}
		was, err := e.standBefore(tip, session, j.Undoes)
		if err != nil {
			return nil, err
		}
		if !e.leadsTo(c.New, was) {
			was = c.New
		}
		out = append(out, refs.Change{Name: tip, Old: now, New: was})
	}
	return out, nil
}

// leadsTo reports whether a checkpoint is a step's, or lies before it on its line. A line that cannot be read on leads nowhere.
func (e *Engine) leadsTo(id, tip objstore.ID) bool {
	if id == tip || tip.IsZero() {
		return id == tip
	}
	at, err := e.checkpoint(id)
	for err == nil && tip != id {
		var cp *Checkpoint
		if cp, err = e.checkpoint(tip); err != nil || cp.Seq <= at.Seq || len(cp.Parents) == 0 {
			return false
		}
		tip = cp.Parents[0]
	}
	return err == nil
}

// standBefore is where a session's cursor, or its branch, stood before an operation; zero: that is not known any more.
func (e *Engine) standBefore(name refs.Name, session string, seq uint64) (at objstore.ID, err error) {
	if seq <= 1 {
		return at, nil
	}
	err = e.refs.Newest(seq-1, func(op *refs.Operation) error {
		for _, c := range op.Changes {
			if c.Name == name {
				at = c.New
				return kv.ErrStop
			}
		}
		switch {
		case op.Session != session:
		case op.Kind == refs.KindCheckpoint:
			at = op.Checkpoint
			return kv.ErrStop
		case op.Kind == refs.KindThinned && op.Cause.Event != EventSafety:
			return kv.ErrStop // gc has removed it
		}
		return nil
	})
	return at, err
}

// changed gives the records that change with the end of the restore, which is operation seq: those that are left or gone on with, and those of its own.
func (j *journal) changed(seq uint64, left []*Session, set func(*Session) error) error {
	for _, s := range left {
		if j.Moved != nil && j.Moved.Name == s.Name {
			j.Moved = s
			continue
		}
		if err := set(s); err != nil {
			return err
		}
	}
	return j.sessions(seq, set)
}

// holder is the session that turn n is looked for in when nobody names one: the current one, or while no agent has gone on with a fork that has fewer turns, the one
// that it was forked from.
func (e *Engine) holder(session string, n uint64) string {
	for range maxFamily {
		s, err := e.storedSession(session)
		if err != nil || s == nil || s.Fork == nil || s.Event != "" || n <= s.Turn {
			break
		}
		session = s.Fork.Session
	}
	return session
}

// orHolder gives for "" the session whose turn n is meant.
func (e *Engine) orHolder(session string, n uint64) (string, error) {
	if session != "" {
		return session, nil
	}
	current, err := e.orCurrent("")
	return e.holder(current, n), err
}

// alike is a fork that ends where a moment of a session does, and that nobody has used, the one that the restore is about before others; nil: there is none. It may
// be a fork of another one of the family, which has that turn from the same session.
func (e *Engine) alike(r *restore, p *point, s *Session) (*Session, error) {
	var list []*Session
	for _, f := range e.sessions {
		if f.Fork != nil && f.Event == "" && !f.Fork.Transcript.IsZero() && !f.Fork.Clone && f.Fork.Message != "" && e.family(f.Name) == e.family(s.Name) && !gone(f) {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	_, _, _, cut, err := e.cutPoint(p, false)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b *Session) int {
		switch r.session {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return cmp.Compare(b.Began, a.Began)
	})
	for _, f := range list {
		if !e.sameEnd(f, s, cut) {
			continue
		}
		if _, ok, err := e.unused(r.env.folders(), refs.File{Path: f.Transcript, To: f.Fork.Transcript}, nil); err == nil && ok {
			return f, nil
		}
	}
	return nil, nil
}

// sameEnd reports whether a fork was made to end where a cut of a session of its family does.
func (e *Engine) sameEnd(f, s *Session, cut transcript.Cut) bool {
	if f.Fork.Session == s.Name {
		return cut.Turn == f.Fork.Turn && cut.LastMessage == f.Fork.Message
	}
	a, n := e.turnOf(f.Name, uint64(f.Fork.Turn))
	b, m := e.turnOf(s.Name, uint64(cut.Turn))
	if a != b || n != m || n == 0 {
		return false
	}
	c, err := e.conversation(f, f.Fork.Transcript)
	return err == nil && c.Messages == cut.Messages
}
