package history

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// Resolve is the checkpoint that a name stands for; package naming has the grammar of names. Errors: model.ErrNotFound,
// model.ErrUsage, *model.TooShortError, *objstore.AmbiguousError, *sessions.SeveralSessionsError.
func (h *nameReader) Resolve(name string) (*model.Checkpoint, error) { return h.ResolveIn("", name) }

// ParseName parses a name; the error is a model.ErrUsage.
func ParseName(name string) (naming.Name, error) {
	n, err := naming.Parse(name)
	if err != nil {
		err = &value.OpError{Op: "checkpoint", Subject: name, Typed: true, Err: model.Usagef("%w", err)}
	}
	return n, err
}

// Named is a name that means the same for every session: the session of w is put into a name that depends on one. Where
// several sessions are at work and w does not say which, a turn is an error, and "@" is that of the session whose
// cursor was moved last.
func (h *nameReader) Named(w model.SessionChoice, name string) (string, error) {
	if w.Session == "" && name == "" {
		return name, nil
	}
	n, err := ParseName(cmp.Or(name, "@"))
	if err != nil || !n.OfSession() && w.Session == "" || n.Kind == naming.Current && w.Session == "" {
		return name, err
	}
	session, err := h.meant(w, n)
	if err != nil || !n.OfSession() {
		return name, err
	}
	whose, steps := fmt.Sprintf("turn:%d@%s", n.Turn, session), n.String()[len(n.Base):]
	if n.Before {
		whose = fmt.Sprintf("before:%d@%s", n.Turn+1, session)
	}
	if n.Kind == naming.Current {
		cp, err := h.base(session, n)
		if err != nil {
			return name, err
		}
		whose, steps = cp.ID.String(), fmt.Sprintf("~%d", n.Back)
	}
	return whose + steps, nil
}

// meant is the session that a request is about which has this name in it.
func (h *nameReader) meant(w model.SessionChoice, n naming.Name) (string, error) {
	if n.Kind == naming.Turn {
		return h.sessions.OfTurn(w, n.Turn)
	}
	return h.sessions.Session(w)
}

// ResolveIn is Resolve with the session that counts as the current one; "": the project's.
func (h *nameReader) ResolveIn(session, name string) (*model.Checkpoint, error) {
	n, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	return h.find(session, n)
}

// find is ResolveIn for a parsed name.
func (h *nameReader) find(session string, n naming.Name) (*model.Checkpoint, error) {
	cp, err := h.base(session, n)
	for i := 0; err == nil && i < n.Back; i++ {
		if len(cp.Parents) == 0 {
			return nil, &value.OpError{
				Op: "checkpoint", Subject: n.String(), Typed: true,
				Err: fmt.Errorf("%w: only %d steps lie before %q", model.ErrNotFound, i, n.Base),
			}
		}
		cp, err = h.log.Checkpoint(cp.Parents[0])
	}
	return cp, err
}

// base is the checkpoint of a name without its steps back.
func (h *nameReader) base(session string, n naming.Name) (*model.Checkpoint, error) {
	none := func(why string) error {
		return &value.OpError{Op: "checkpoint", Subject: n.String(), Typed: true, Err: fmt.Errorf("%w%s", model.ErrNotFound, why)}
	}
	switch n.Kind {
	case naming.Current:
		session, err := h.sessions.OrCurrent(session)
		if err != nil {
			return nil, err
		}
		cp, err := h.sessions.Current(session)
		if err == nil && cp == nil {
			err = none("")
		}
		return cp, err
	case naming.Time:
		t, err := naming.ParseTime(n.Text, h.log.Now())
		if err != nil {
			return nil, &value.OpError{Op: "checkpoint", Subject: n.String(), Typed: true, Err: model.Usagef("%w", err)}
		}
		return h.at(n.String(), t)
	case naming.Session:
		session, err := h.sessions.FindSession(n.Text)
		if err != nil {
			return nil, err
		}
		id, err := h.NewestOf(session)
		if err != nil {
			return nil, err
		}
		if id.IsZero() {
			return nil, none(": the session has none")
		}
		return h.log.Checkpoint(id)
	case naming.Fork:
		return h.forkedAt(n)
	case naming.Turn:
		return h.turn(session, n)
	}
	cp, err := h.word(n)
	if errors.Is(err, model.ErrNotFound) {
		err = h.orSession(n, err)
	}
	return cp, err
}

// orSession is a *model.IsSessionError where a name that no checkpoint has is a session's; else err.
func (h *nameReader) orSession(n naming.Name, err error) error {
	session, none := h.sessions.FindSession(n.Text)
	if none != nil || session == model.Manual {
		return err
	}
	all, lost := h.sessions.SessionNames()
	if lost != nil {
		return err
	}
	return &model.IsSessionError{Name: n.String(), Session: session, Short: sessions.ShortOf(session, all)}
}

// word is the checkpoint whose id begins with the name, or that a tag names. An id comes before a tag that looks like
// one.
func (h *nameReader) word(n naming.Name) (*model.Checkpoint, error) {
	if id, err := objstore.ParseID(n.Text); err == nil { // a whole id is found in a damaged store, too
		if ok, err := h.log.Objs.Has(objstore.Checkpoint, id); err == nil && ok {
			return h.inLog(n.String(), id)
		}
	}
	tagged, err := h.tagged(n.Text)
	if err != nil {
		return nil, err
	}
	id, err := h.log.Objs.Resolve(objstore.Checkpoint, strings.ToLower(n.Text))
	none := errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrBadID)
	switch {
	case none && !tagged.IsZero():
		return h.log.Checkpoint(tagged)
	case none:
		return h.noWord(n)
	case err != nil:
		return nil, &value.OpError{Op: "checkpoint", Subject: n.String(), Typed: true, Err: err}
	}
	if !tagged.IsZero() && tagged != id {
		const text = "%q is how the id of a checkpoint begins, which is taken; a tag of that name is on %s: 'rewind tag --delete %s' " +
			"takes it away"
		h.log.Notice(fmt.Sprintf(text, n.Text, tagged.Short(), n.Text))
	}
	return h.inLog(n.String(), id)
}

// tagged is the checkpoint of a tag; zero: there is none of that name.
func (h *nameReader) tagged(name string) (objstore.ID, error) {
	tag := refs.Tag(name)
	if tag.Check() != nil {
		return objstore.Zero, nil
	}
	return h.log.Refs.ID(tag)
}

// noWord is what a word names that is neither a tag nor how an id begins: where the worktree stood at a commit, or
// nothing.
func (h *nameReader) noWord(n naming.Name) (*model.Checkpoint, error) {
	switch {
	case n.Digits() && len(n.Text) < naming.MinDigits:
		return nil, h.tooShort(n)
	case n.Digits() && len(n.Text) >= naming.MinCommit:
		return h.stoodOn(n)
	}
	return nil, &value.OpError{Op: "checkpoint", Subject: n.String(), Typed: true, Err: model.ErrNotFound}
}

// stoodOn returns the checkpoint with the state of the commit whose hash begins with the name. If there is none, it
// returns the newest one taken while the user's repository was on that commit; a notice says if work lies on top. Names
// of commits are looked at last: the whole log is read for one.
func (h *nameReader) stoodOn(n naming.Name) (*model.Checkpoint, error) {
	want := strings.ToLower(n.Text)
	var s stood
	read := h.log.Checkpoints()
	err := h.log.Made(func(op *refs.Operation) error {
		if op.Kind == refs.KindSafety {
			return nil
		}
		if cp, err := read(op.Checkpoint); err == nil { // what is damaged names nothing
			s.take(cp, strings.HasPrefix(cp.Git.Commit, want))
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(s.commits) > 1:
		return nil, &value.OpError{Op: "checkpoint", Subject: n.String(), Typed: true, Err: &model.CommitsError{Commits: s.commits}}
	case s.newest == nil:
		err := fmt.Errorf("%w: no id begins so, and none stood on such a git commit", model.ErrNotFound)
		return nil, &value.OpError{Op: "checkpoint", Subject: n.String(), Typed: true, Err: err}
	}
	cp, word := s.was(h.log.Objs, h.log.Project.Root)
	if word != "" {
		h.log.Notice(word)
	}
	return h.inLog(n.String(), cp.ID)
}

// tooShort is a *model.TooShortError with the ids of checkpoints that begin with the digits of a name.
func (h *nameReader) tooShort(n naming.Name) error {
	short := &model.TooShortError{Name: n.String()}
	err := h.log.Made(func(op *refs.Operation) error {
		if !strings.HasPrefix(op.Checkpoint.String(), strings.ToLower(n.Text)) {
			return nil
		}
		if len(short.Begin) == MaxBegin {
			short.More = true
			return kv.ErrStop
		}
		id, err := h.log.Objs.ShortID(objstore.Checkpoint, op.Checkpoint)
		short.Begin = append(short.Begin, id)
		return err
	})
	if err != nil {
		return err
	}
	return short
}

// MaxBegin is how many ids a *model.TooShortError names.
const MaxBegin = 5

// lineage is the lineage of a session; nil: it is no fork.
func (h *talkReader) lineage(session string) (*model.Lineage, error) {
	s, err := h.log.StoredSession(session)
	if s == nil || err != nil {
		return nil, err
	}
	return s.Fork, nil
}

// inLog reads a checkpoint that was named by its id. One that gc has taken out of the log is an error, since its
// objects may go at any moment.
func (h *talkReader) inLog(name string, id objstore.ID) (*model.Checkpoint, error) {
	cp, err := h.log.Checkpoint(id)
	if err != nil || h.log.NoSquashes() {
		return cp, err
	}
	op, err := h.log.Refs.Operation(cp.Seq)
	if err != nil && !errors.Is(err, model.ErrNotFound) && !errors.Is(err, refs.ErrNotFound) {
		return cp, nil //nolint:nilerr // the log is damaged, the checkpoint is not
	}
	if err != nil || op.Kind == refs.KindThinned {
		return nil, &value.OpError{
			Op: "checkpoint", Subject: name, Typed: true,
			Err: fmt.Errorf("%w: gc has removed it", model.ErrNotFound),
		}
	}
	return cp, nil
}

// at is the newest step from time t or before; where none is that old the oldest, which is said.
func (h *nameReader) at(name string, t time.Time) (*model.Checkpoint, error) {
	var id, oldest objstore.ID
	thinned := false // gc has removed a newer one
	err := h.log.Refs.Newest(0, func(op *refs.Operation) error {
		thinned = thinned || op.Kind == refs.KindThinned && op.Time <= t.UnixMilli() && op.Cause.Event != model.EventSafety
		if op.Kind != refs.KindCheckpoint {
			return nil
		}
		if oldest = op.Checkpoint; op.Time <= t.UnixMilli() {
			id = op.Checkpoint
			return kv.ErrStop
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case oldest.IsZero():
		return nil, &value.OpError{Op: "checkpoint", Subject: name, Typed: true, Err: model.ErrNotFound}
	case id.IsZero():
		h.log.Notice(fmt.Sprintf("no checkpoint is as old as %q: this is the oldest", name))
		return h.log.Checkpoint(oldest)
	case thinned:
		h.log.Notice(fmt.Sprintf("gc has removed the checkpoint of %q: this is the one before it that is still there", name))
	}
	return h.log.Checkpoint(id)
}
