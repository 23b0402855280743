package history

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// BranchNamed is the session whose branch a name stands for: of "-" the one that the project stood on before the present one; else the id
// of a session, or how it begins, with "session:" or "fork:" before it or not; else a title, or where no title is the name, how one begins,
// or what one has in it. Case does not matter in titles. The log's lock is held. Errors: model.ErrNotFound,
// *sessions.SeveralSessionsError.
func (h *History) BranchNamed(ctx context.Context, name string) (string, error) {
	if name == "-" {
		return h.previousBranch()
	}
	id := name
	for _, form := range []string{"session:", "fork:"} {
		id = strings.TrimPrefix(id, form)
	}
	session, err := h.sessions.FindSession(id)
	if err == nil || id != name || !errors.Is(err, model.ErrNotFound) {
		return session, err
	}
	return h.titled(ctx, name, err)
}

// Whereabouts says where what a name stands for goes on: a checkpoint, or a session, by its id or title. known: this log has it; root is
// that
// of the worktree in which the session goes on, if that is another one. Names that mean something in each worktree are known in all. The
// log's lock is not held.
func (h *History) Whereabouts(ctx context.Context, name string) (root string, known bool) {
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
		of, err = h.BranchNamed(ctx, name)
	}
	if s := h.log.Records[of]; err == nil && s != nil {
		return h.sessions.Elsewhere(s), true
	}
	return "", false
}

// previousBranch is BranchNamed of "-".
func (h *History) previousBranch() (string, error) {
	session, err := h.sessions.Previous(func(s *model.Session) bool { return !h.Unseen(s) })
	if err == nil && session == "" {
		err = &value.OpError{Op: "switch", Subject: "-", Typed: true, Err: model.ErrNoBranchBefore}
	}
	return session, err
}

// titled is the session that a title stands for; none is the error where none does.
func (h *History) titled(ctx context.Context, name string, none error) (string, error) {
	want := strings.ToLower(strings.TrimSpace(name))
	if want == "" {
		return "", none
	}
	list, err := h.sessionList(ctx, func(s *model.Session) bool { return s.LaneOf == "" })
	if err != nil {
		return "", err
	}
	fits := []func(title string) bool{
		func(title string) bool { return title == want },
		func(title string) bool { return strings.HasPrefix(title, want) },
		func(title string) bool { return strings.Contains(title, want) },
	}
	for _, fit := range fits {
		var found []string
		for i := range list {
			if fit(strings.ToLower(strings.TrimSpace(model.OneLine(list[i].Title)))) {
				found = append(found, list[i].Name)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			slices.Sort(found)
			return "", &sessions.SeveralSessionsError{Names: found, Title: name}
		}
	}
	return "", none
}

// Tip is the newest state of a session: the tip of its branch, but where the session's file was cut in place the cursor; of a session
// without an event the end of its last turn, which may have been taken in the session that it was forked from. Nil: no code was captured.
// The log's lock is held, the records are loaded, and the conversation is caught up with.
func (h *History) Tip(session string) (*model.Checkpoint, error) {
	s := h.log.Records[session]
	tip, err := h.NewestOf(session)
	if err != nil {
		return nil, err
	}
	if s != nil && (tip.IsZero() || s.Imported) {
		return h.endOfSession(session)
	}
	if tip, err = h.tipOrCut(s, tip); err != nil || tip.IsZero() {
		return nil, err
	}
	return h.log.Checkpoint(tip)
}

// tipOrCut is the tip of a session's branch, or its cursor where the conversation does not go on from the tip's any more: the file was cut.
func (h *History) tipOrCut(s *model.Session, tip objstore.ID) (objstore.ID, error) {
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

// CutOff is the moment of the newest step of a session whose file was cut to before that, and not gone on with; nil: it was not. The log's
// lock is held, the records are loaded, and the conversation is caught up with.
func (h *History) CutOff(session string) (*Moment, error) {
	tip, err := h.NewestOf(session)
	if err != nil {
		return nil, err
	}
	cp, err := h.cutBefore(h.log.Records[session], tip)
	if err != nil || cp == nil {
		return nil, err
	}
	return h.MomentOf(cp)
}

// cutBefore is the checkpoint tip, a session's newest step, if the session's conversation does not go on from that one's any more; else
// nil.
func (h *History) cutBefore(s *model.Session, tip objstore.ID) (*model.Checkpoint, error) {
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
