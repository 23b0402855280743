package history

import (
	"cmp"
	"strings"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// BranchNamed returns the session whose branch a name stands for. "-" is the session where the project was before the
// present one. Other names are those of FindSession, with or without "session:" or "fork:" in front. The log's lock is
// held. Errors: model.ErrNotFound, *sessions.SeveralSessionsError.
func (h *nameReader) BranchNamed(name string) (string, error) {
	if name == "-" {
		return h.previousBranch()
	}
	for _, form := range []string{"session:", "fork:"} {
		name = strings.TrimPrefix(name, form)
	}
	return h.sessions.FindSession(name)
}

// Whereabouts says where what a name stands for goes on: a checkpoint, or a session, by its id or title. known: this
// log has it; root is that of the worktree in which the session goes on, if that is another one. Names that mean
// something in each worktree are known in all. The log's lock is not held.
func (h *nameReader) Whereabouts(name string) (root string, known bool) {
	defer h.log.Hold()()
	n, err := ParseName(name)
	if h.log.LoadSessions() != nil {
		return "", true
	}
	of := ""
	switch {
	case err == nil && (n.OfSession() || n.Kind == naming.Time):
		return "", true
	case err == nil && (n.Kind == naming.Session || n.Kind == naming.Fork):
		of, err = h.sessions.FindSession(n.Text)
	case err == nil && n.Kind == naming.Turn:
		of, err = h.sessions.FindSession(n.Session)
	default:
		if err == nil {
			if _, err := h.find("", n); err == nil {
				return "", true
			}
		}
		of, err = h.BranchNamed(name)
	}
	if s := h.log.Session(of); err == nil && s != nil {
		return h.sessions.Elsewhere(s), true
	}
	return "", false
}

// previousBranch is BranchNamed of "-".
func (h *nameReader) previousBranch() (string, error) {
	session, err := h.sessions.Previous(func(s *model.Session) bool { return !h.Unseen(s) })
	if err == nil && session == "" {
		err = &value.OpError{Op: "switch", Subject: "-", Typed: true, Err: model.ErrNoBranchBefore}
	}
	return session, err
}

// titled are the sessions that a title stands for: those whose title is that, or where none is and it need not be
// whole, begins so, or has it in it. Case does not matter. The log's lock may be held or not.
func (h *talkReader) titled(title string, whole bool) (found []string, err error) {
	fold := func(title string) string { return strings.ToLower(strings.TrimSpace(model.OneLine(title))) }
	want := fold(title)
	if want == "" {
		return nil, nil
	}
	best := 0
	err = h.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, v []byte) error {
		s, err := model.DecodeSession(string(k[1:]), v)
		if err != nil || s.LaneOf != "" || h.Unseen(s) {
			return nil //nolint:nilerr // one that cannot be read begins anew
		}
		has, fits := fold(h.titleNow(s)), 0
		switch {
		case has == want:
			fits = 3
		case whole:
		case strings.HasPrefix(has, want):
			fits = 2
		case strings.Contains(has, want):
			fits = 1
		}
		if fits > best {
			best, found = fits, nil
		}
		if fits == best && fits > 0 {
			found = append(found, s.Name)
		}
		return nil
	})
	return found, err
}

// titleNow is a session's title as its file has it now; of a long one as it was when it was read last. The log's lock
// may be held or not.
func (h *talkReader) titleNow(s *model.Session) string {
	if s.Agent == transcript.Codex && s.Title != "" || !model.Understood(s.Agent) {
		return s.Title
	}
	known := h.known.of(s.Name)
	if known == nil {
		_ = h.log.DB.View(model.KnownKey(s.Name), func(raw []byte) (err error) { // else it is read again
			known, err = model.DecodeKnown(raw)
			return err
		})
	}
	at, err := sessions.StatSession(s)
	switch {
	case err == nil && s.Cursor.Base == 0 && at.Size() < longTalk:
		if stamp := osfile.StampOf(at); stamp != (osfile.Stamp{}) && known.Is(s.Transcript, stamp, objstore.ID{}) {
			break
		}
		if now, err := h.readKnown(s); err == nil {
			known = now
		}
	case known == nil && !s.Cursor.Transcript.IsZero():
		if c, err := h.Conversation(s, s.Cursor.Transcript); err == nil {
			return cmp.Or(c.Title, s.Title)
		}
	}
	if known == nil {
		return s.Title
	}
	return cmp.Or(known.Title, s.Title)
}

// Tip returns the newest state of a session: the tip of its branch. If the end of its last turn is newer, it returns
// that checkpoint, which may be another session's: this one has only talked since. Where its file was cut in place it
// is the cursor, and of a fork that nobody has used the step at which one stood on it last. Nil: no code was captured.
// The log's lock is held, the records are loaded, and the conversation is caught up with.
func (h *nameReader) Tip(session string) (*model.Checkpoint, error) {
	s := h.log.Session(session)
	tip, err := h.NewestOf(session)
	if err != nil {
		return nil, err
	}
	cursor, err := h.log.Refs.ID(refs.Cursor(session))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
	case unusedAt(s, tip) && !cursor.IsZero():
		return h.log.Checkpoint(cursor)
	case tip.IsZero() || s.Imported:
		return h.endOfSession(session)
	}
	at, err := h.tipOrCut(s, tip)
	if err != nil || at.IsZero() {
		return nil, err
	}
	cp, err := h.log.Checkpoint(at)
	if cut := at != tip; err != nil || s == nil || cut {
		return cp, err
	}
	return h.talkedSince(s, cp, cursor)
}

// talkedSince is the end of a session's last turn where that is newer than cp, the tip of its branch; else cp. A
// restore may have gone back to an older step before it talked, and nobody has come back to the tip since.
func (h *nameReader) talkedSince(
	s *model.Session, cp *model.Checkpoint, cursor objstore.ID,
) (*model.Checkpoint, error) {
	end, err := h.endOfSession(s.Name)
	if err != nil || end == nil {
		return cp, err
	}
	back := cp.Session == s.Name && cp.Cause.Turn < s.Turn && cursor == end.ID
	if end.Seq < cp.Seq && !back {
		return cp, nil
	}
	return end, nil
}

// unusedAt reports whether a session is a fork that nobody has used, nor saved anything on. tip is that of its branch.
func unusedAt(s *model.Session, tip objstore.ID) bool {
	made := s.Fork != nil && s.Event == "" && !s.Imported
	return made && (tip.IsZero() || tip.String() == s.Fork.Checkpoint)
}

// tipOrCut is the tip of a session's branch, or its cursor where the conversation does not go on from the tip's any
// more: the file was cut.
func (h *nameReader) tipOrCut(s *model.Session, tip objstore.ID) (objstore.ID, error) {
	cp, err := h.cutBefore(s, tip)
	if err != nil || cp == nil {
		return tip, err
	}
	at, err := h.log.Refs.ID(refs.Cursor(s.Name))
	if err == nil && at.IsZero() {
		at = tip
	}
	return at, err
}

// CutOff is the moment of the newest step of a session whose file was cut to before that, and not gone on with; nil: it
// was not. The log's lock is held, the records are loaded, and the conversation is caught up with.
func (h *nameReader) CutOff(session string) (*Moment, error) {
	tip, err := h.NewestOf(session)
	if err != nil {
		return nil, err
	}
	cp, err := h.cutBefore(h.log.Session(session), tip)
	if err != nil || cp == nil {
		return nil, err
	}
	return h.MomentOf(cp)
}

// cutBefore is the checkpoint tip, a session's newest step, if the session's conversation does not go on from that
// one's any more; else nil.
func (h *turnReader) cutBefore(s *model.Session, tip objstore.ID) (*model.Checkpoint, error) {
	if s == nil || tip.IsZero() || s.Cursor.Transcript.IsZero() {
		return nil, nil
	}
	cp, err := h.log.Checkpoint(tip)
	if err != nil || cp.Session != s.Name || cp.Conversation.Transcript.IsZero() {
		return nil, err
	}
	if on, err := h.GoesOn(s.Cursor.Transcript, cp.Conversation.Transcript); err != nil || on {
		return nil, err
	}
	return cp, nil
}
