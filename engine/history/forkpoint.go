package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// A fork point is where a session branched off: the turn that it has in common with the one that it was made of, and
// the code at the end of that turn. A fork that rewind made has its checkpoint from the beginning. Of one that an agent
// made it is looked for, and stored once that turn is over: from then on nothing moves it.

// forkedAt is the checkpoint where a fork branched off: the one that it was made at, or the end of the last turn that
// both sessions have.
func (h *forkReader) forkedAt(n naming.Name) (*model.Checkpoint, error) {
	name, l, err := h.forkOf(n)
	if err != nil {
		return nil, err
	}
	cp, _, err := h.forkCode(name, l, n.String())
	return cp, err
}

// forkOf is the session of "fork:x" and its lineage.
func (h *forkReader) forkOf(n naming.Name) (session string, l *model.Lineage, err error) {
	if session, err = h.sessions.FindSession(n.Text); err != nil {
		return "", nil, err
	}
	if l, err = h.lineage(session); err == nil && l == nil {
		err = &value.OpError{
			Op: "checkpoint", Subject: n.String(), Typed: true,
			Err: fmt.Errorf("%w: session %s is no fork", model.ErrNotFound, session),
		}
	}
	return session, l, err
}

// forkCode is the checkpoint of a fork point, which name is; rests says that it stays that one. A
// *model.NoForkCodeError where no code was captured there, or it is gone.
func (h *forkReader) forkCode(
	session string, l *model.Lineage, name string,
) (cp *model.Checkpoint, rests bool, err error) {
	none := func(format string, args ...any) error {
		return &model.NoForkCodeError{Name: name, Session: session, Why: fmt.Sprintf(format, args...)}
	}
	cp, gone, err := h.namedBy(l, name)
	if err != nil || cp != nil {
		return cp, err == nil, err
	}
	if l.Both < 0 || !l.Resolved() {
		return nil, false, none("how much of %s it has is not known", l.Session)
	}
	turns, at, err := h.partedAt(session, l)
	if err != nil {
		return nil, false, err
	}
	m, err := turns.endOf(at.turn)
	switch {
	case err != nil:
		return nil, false, err
	case m != nil && m.Removed, m == nil && gone:
		return nil, false, none("gc has removed it")
	case m == nil || m.Code.IsZero():
		return nil, false, none("%s", h.whyNoCode(at))
	}
	over, err := turns.over(at.turn)
	if err != nil {
		return nil, false, err
	}
	cp, err = h.log.Checkpoint(m.Code)
	return cp, !gone && over, err
}

// partedAt is the turn behind which a fork went on by itself, and the turns of the session that took it.
func (h *forkReader) partedAt(session string, l *model.Lineage) (*turnLog, turnAt, error) {
	at, err := taken(session, uint64(l.Both), h.log.StoredSession, h.readTurns)
	if err != nil {
		return nil, at, err
	}
	if at.session == session { // a circle of lineages
		at = turnAt{session: l.Session, turn: uint64(l.Turn)}
	}
	turns, err := h.readTurns(at)
	return turns, at, err
}

// namedBy is the checkpoint that a lineage names; nil: it names none, or one that gc has removed.
func (h *forkReader) namedBy(l *model.Lineage, name string) (cp *model.Checkpoint, gone bool, err error) {
	id, err := objstore.ParseID(l.Checkpoint)
	if err != nil {
		return nil, false, nil //nolint:nilerr // it names none
	}
	cp, err = h.inLog(name, id)
	if errors.Is(err, model.ErrNotFound) || errors.Is(err, objstore.ErrNotFound) {
		return nil, true, nil
	}
	return cp, false, err
}

// whyNoCode is, for people, why nothing of the code was captured at the end of a turn.
func (h *forkReader) whyNoCode(at turnAt) string {
	switch s, err := h.log.StoredSession(at.session); {
	case err != nil || s == nil:
		return fmt.Sprintf("%s is not known here", at.session)
	case s.Imported:
		return fmt.Sprintf("%s was imported: the code of that time was not captured", at.session)
	}
	return fmt.Sprintf("no code was captured at turn %d of %s", at.turn, at.session)
}

// forkPoint is all that is known of a session's fork point; nil: it is no fork. Of an agent's fork it stores which
// checkpoint it is, where that is new. The log's lock is held and the records are loaded.
func (h *forkReader) forkPoint(ctx context.Context, session string) *model.Lineage {
	s := h.log.Session(session)
	if s == nil || s.Fork == nil {
		return nil
	}
	return h.completed(ctx, session, *s.Fork)
}

// completed is forkPoint of a lineage.
func (h *forkReader) completed(ctx context.Context, session string, l model.Lineage) *model.Lineage {
	p, _ := h.point(ctx, session, l) // it says itself why its code is not known
	return p
}

// mayPass reports whether an error says nothing of what is asked for: the next time there may be none.
func mayPass(err error) bool {
	var none *model.NoForkCodeError
	said := errors.As(err, &none) || errors.Is(err, model.ErrNotFound)
	return err != nil && !said && !model.IsUnreadable(err)
}

// point is completed, with the error where the code may only not be known for now.
func (h *forkReader) point(ctx context.Context, session string, l model.Lineage) (*model.Lineage, error) {
	l.Child, l.Depth = session, h.depth(l.Session)+1
	if l.How == "" && l.Kind != model.ByAgent {
		l.How = value.FoundMade
	}
	cp, rests, err := h.forkCode(session, &l, "fork:"+session)
	if err != nil {
		l.Checkpoint, l.NoCode = "", value.Text(err.Error())
		var none *model.NoForkCodeError
		if errors.As(err, &none) {
			l.NoCode = value.Text(none.Why)
		}
		if !mayPass(err) {
			err = nil
		}
		return &l, err // with the commit of then, where it was noted
	}
	noted := l.Checkpoint
	l.At(cp)
	if rests && noted == "" && h.log.CheckWhole() == nil && h.log.Damage() == nil {
		_ = h.conversations.PlaceOrigin(ctx, session, cp) // else it is looked for again
	}
	if note, err := h.log.Note(cp); err == nil {
		l.NoGit = value.Texts(model.GitUnread(note))
	}
	return &l, nil
}

// depth is how many forks lie between a session and the one that its family begins with. The records are loaded.
func (h *forkReader) depth(session string) int {
	met := map[string]bool{}
	for s := h.log.Session(session); s != nil && s.Fork != nil && !met[s.Name]; s = h.log.Session(s.Fork.Session) {
		met[s.Name] = true
	}
	return len(met)
}

// ForkPoint is the fork point that a name stands for, fork:x; nil: it is another name.
func (h *forkReader) ForkPoint(ctx context.Context, name string) (*model.Lineage, error) {
	n, err := ParseName(name)
	if err != nil || n.Kind != naming.Fork || n.Back > 0 {
		return nil, err
	}
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	session, err := h.sessions.FindSession(n.Text)
	if err != nil {
		return nil, err
	}
	return h.forkPoint(ctx, session), nil
}

// ForkPoints are those of all sessions that are forks and are there, in the order of Forks. The log's lock, which the
// caller does not hold, is let go after each.
func (h *forkReader) ForkPoints(ctx context.Context) (list []model.Lineage, err error) {
	forks, err := h.allForks()
	for _, session := range forks {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		release := h.log.Hold()
		if l := h.forkPoint(ctx, session); l != nil {
			list = append(list, *l)
		}
		release()
	}
	return list, err
}

// allForks are the names of the sessions that are forks and are there.
func (h *forkReader) allForks() (names []string, err error) {
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	for _, s := range h.log.ListSessions() {
		if s.Fork != nil && !h.Unseen(&s) && !model.Gone(s.Standing, sessions.FileMissing(&s)) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// A person can go another way within one session, in the agent itself: the turns that they left stay in its file
// (transcript.Branches). Such a branch is named by the turn that it ends with, turn:n@session, which is a name of the
// end of its code and conversation anyway.

// wayName is the name of a branch within a session.
func wayName(session string, w *transcript.Branch) string {
	return fmt.Sprintf("turn:%d@%s", w.Last(), session)
}

// ways are the branches within a session, as far as its file is known; of one that goes on in another worktree none.
func (h *forkReader) ways(s *model.Session) []transcript.Branch {
	k := h.known.of(s.Name)
	if k == nil || !h.log.Config.Detects() || h.sessions.Elsewhere(s) != "" {
		return nil
	}
	return k.Branches
}

// wayPoint is the fork point of a branch within a session, and the checkpoint that it ends with; nil: no code of that
// was captured. The error says that code may only not be known for now.
func (h *forkReader) wayPoint(s *model.Session, ways []transcript.Branch, w *transcript.Branch) (
	l *model.Lineage, tip *model.Checkpoint, failed error,
) {
	l = &model.Lineage{Lineage: value.Lineage{
		Session: s.Name, Message: w.Message, Time: w.Left, Kind: model.ByAgent, How: value.FoundRecord, Child: wayName(s.Name, w),
		Depth: h.depth(s.Name) + 1,
	}}
	if w.How == transcript.BackByParent {
		l.How = value.FoundParent
	}
	for at := w; at.Within > 0; l.Depth++ {
		at = &ways[at.Within-1]
	}
	l.Share(w.After, nil)
	end := func(n int) (*model.Checkpoint, error) {
		at := h.turnAt(s.Name, uint64(n), h.readTurns)
		cp, err := h.endOfTurn(at)
		if mayPass(err) {
			failed = err
		}
		if errors.Is(err, model.ErrNotFound) {
			err = errors.New(h.whyNoCode(at))
		}
		return cp, err
	}
	cp, err := end(w.After)
	if err != nil {
		l.NoCode = value.Text(err.Error())
	} else {
		l.At(cp)
		if note, err := h.log.Note(cp); err == nil {
			l.NoGit = value.Texts(model.GitUnread(note))
		}
	}
	if tip, err = end(w.Last()); err == nil {
		return l, tip, failed
	}
	if unread := failed != nil || model.IsUnreadable(err); unread && l.NoCode == "" {
		l.NoCode = value.Text(fmt.Sprintf("its end cannot be read: %v", err))
	}
	return l, nil, failed
}

// ForkEnds returns the checkpoints that gc keeps for the existing forks: where they branched off, and where branches
// within sessions part and end, if code was captured there. It fails if that cannot be read: then nothing counts as
// gone. The caller does not hold the log's lock. The lock is released after each session, and while a changed file is
// read.
func (h *forkReader) ForkEnds(ctx context.Context) (ids []objstore.ID, err error) {
	forks, err := h.allForks()
	if err != nil {
		return nil, err
	}
	for _, session := range forks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if ids, err = h.forkEnd(ctx, session, ids); err != nil {
			return nil, err
		}
	}
	return h.wayEnds(ctx, ids)
}

// forkEnd adds the checkpoint of a session's fork point, as it is noted and as it is found. It takes the log's lock.
func (h *forkReader) forkEnd(ctx context.Context, session string, ids []objstore.ID) ([]objstore.ID, error) {
	defer h.log.Hold()()
	s := h.log.Session(session)
	if s == nil || s.Fork == nil {
		return ids, nil
	}
	l, err := h.point(ctx, session, *s.Fork)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{s.Fork.Checkpoint, l.Checkpoint} {
		if id, err := objstore.ParseID(name); err == nil { // else none was captured
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// wayEnds adds the checkpoints at which branches within sessions part and end.
func (h *forkReader) wayEnds(ctx context.Context, ids []objstore.ID) ([]objstore.ID, error) {
	list, err := h.withWays()
	if err == nil {
		err = h.readAll(ctx, list)
	}
	for i := range list {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		release := h.log.Hold()
		ways := h.ways(&list[i].Session)
		for k := range ways {
			l, tip, failed := h.wayPoint(&list[i].Session, ways, &ways[k])
			err = cmp.Or(err, failed)
			if id, err := objstore.ParseID(l.Checkpoint); err == nil { // else none was captured
				ids = append(ids, id)
			}
			if tip != nil {
				ids = append(ids, tip.ID)
			}
		}
		release()
	}
	return ids, err
}

// withWays are the sessions within which there may be branches.
func (h *forkReader) withWays() (list []model.SessionInfo, err error) {
	defer h.log.Hold()()
	if err = h.log.LoadSessions(); err == nil {
		err = h.loadKnown()
	}
	if err != nil || !h.log.Config.Detects() {
		return nil, err
	}
	for _, s := range h.log.ListSessions() {
		if s.LaneOf == "" && !s.Imported && !h.Unseen(&s) && h.sessions.Elsewhere(&s) == "" &&
			!model.Gone(s.Standing, sessions.FileMissing(&s)) {
			list = append(list, model.SessionInfo{Session: s})
		}
	}
	return list, nil
}

// wayInfo is a branch within a session as a list of forks has it.
func (h *forkReader) wayInfo(
	of *model.SessionInfo, ways []transcript.Branch, w *transcript.Branch, before []model.Lineage,
) model.ForkInfo {
	l, tip, _ := h.wayPoint(&of.Session, ways, w)
	f := model.ForkInfo{SessionInfo: *of, Branch: l.Child, Own: len(w.Turns), Lineage: append([]model.Lineage{*l}, before...)}
	f.Title, f.Fork, f.Turns, f.Messages, f.Bytes, f.Current, f.Newest = w.Summary, l, len(w.Turns), 0, 0, false, ""
	if tip != nil {
		f.Newest = tip.ID.String()
	}
	return f
}

// Way is the branch within a session that a name stands for, with the session's whole name; "": it is another name.
func (h *forkReader) Way(ctx context.Context, name string) (string, error) {
	n, err := ParseName(name)
	if err != nil || !n.IsTurn() || n.Session == "" || n.Before {
		return "", nil //nolint:nilerr // it may be a title
	}
	session, err := h.sessions.FindSession(n.Session)
	if err != nil {
		return "", err
	}
	if _, err := h.sessionList(ctx, func(s *model.SessionInfo) bool { return s.Name == session }); err != nil {
		return "", err
	}
	ways := h.ways(h.log.Session(session))
	for i := range ways {
		if uint64(ways[i].Last()) == n.Turn {
			return wayName(session, &ways[i]), nil
		}
	}
	return "", &value.OpError{
		Op: "session", Subject: name, Typed: true,
		Err: fmt.Errorf("%w: no branch within %s ends with turn %d", model.ErrNotFound, session, n.Turn),
	}
}

// kin is what sessions are called, and how many were forked at a turn of one.
type kin struct {
	rewrites uint64 // of the log, when it was told
	titles   map[string]string
	forks    map[aForked]int
}

// aForked is a turn of a session, as that one counts.
type aForked struct {
	session string
	turn    uint64
}

// Kin returns a function that says what the session of a turn is called, if that is known without its file, and how
// many sessions were forked at the turn. Deleted sessions do not count. Lists wait for nobody: while somebody is at the
// project the function gives its last answer.
func (h *forkReader) Kin() (func(session string, turn uint64) (title string, forks int), error) {
	k, err := h.kinNow()
	if err != nil {
		return nil, err
	}
	return func(session string, turn uint64) (string, int) {
		return k.titles[session], k.forks[aForked{session, turn}]
	}, nil
}

func (h *forkReader) kinNow() (*kin, error) {
	if !h.log.TryLock() {
		if k := h.lastKin.Load(); k != nil && k.rewrites == h.log.Rewrites() { // else something was purged since, perhaps a title
			return k, nil
		}
		return &kin{}, nil
	}
	defer h.log.Unlock()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	if err := h.loadKnown(); err != nil {
		return nil, err
	}
	k := &kin{rewrites: h.log.Rewrites(), titles: map[string]string{}, forks: map[aForked]int{}}
	for name, s := range h.log.EachSession() {
		k.titles[name] = s.Title
		if known := h.known.of(name); known != nil && known.Title != "" {
			k.titles[name] = known.Title
		}
		if s.Fork != nil && s.Fork.Turn > 0 && s.Standing != value.Deleted {
			k.forks[aForked{s.Fork.Session, uint64(s.Fork.Turn)}]++
		}
	}
	h.lastKin.Store(k)
	return k, nil
}
