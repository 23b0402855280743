package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/objstore"
	"rewind/refs"
)

// Resolve finds the checkpoint that a name stands for; what names there are is naming's to say. Errors: ErrNotFound, ErrUsage,
// *TooShortError, *objstore.AmbiguousError, *SeveralSessionsError.
func (e *Engine) Resolve(name string) (*Checkpoint, error) { return e.resolveIn("", name) }

// parseName reads a name; the error is ErrUsage.
func parseName(name string) (naming.Name, error) {
	n, err := naming.Parse(name)
	if err != nil {
		err = fmt.Errorf("engine: checkpoint %q: %w: %w", name, ErrUsage, err)
	}
	return n, err
}

// Named gives a name that stands for the same whoever asks: where it means something else in each session, that of w is put into it. A
// turn is asked about when several sessions are at work and nothing says which one is meant; "@" is then that of the session that was
// moved last.
func (e *Engine) Named(w Whose, name string) (string, error) {
	if w.Session == "" && name == "" {
		return name, nil
	}
	n, err := parseName(cmp.Or(name, "@"))
	if err != nil || !n.OfSession() && w.Session == "" || n.Kind == naming.Current && w.Session == "" {
		return name, err
	}
	session, err := e.session(w)
	if err != nil || !n.OfSession() {
		return name, err
	}
	if w.Session == "" {
		session = e.holder(session, n.Turn)
	}
	whose, steps := fmt.Sprintf("turn:%d@%s", n.Turn, session), n.String()[len(n.Base):]
	if n.Kind == naming.Current {
		cp, err := e.base(session, n)
		if err != nil {
			return name, err
		}
		whose, steps = cp.ID.String(), fmt.Sprintf("~%d", n.Back)
	}
	return whose + steps, nil
}

// resolveIn is Resolve for a session other than the current one; "" is the current one.
func (e *Engine) resolveIn(session, name string) (*Checkpoint, error) {
	n, err := parseName(name)
	if err != nil {
		return nil, err
	}
	return e.find(session, n)
}

// find is resolveIn for a name that has been read.
func (e *Engine) find(session string, n naming.Name) (*Checkpoint, error) {
	cp, err := e.base(session, n)
	for i := 0; err == nil && i < n.Back; i++ {
		if len(cp.Parents) == 0 {
			return nil, fmt.Errorf("engine: checkpoint %q: %w: only %d steps lie before %q", n, ErrNotFound, i, n.Base)
		}
		cp, err = e.checkpoint(cp.Parents[0])
	}
	return cp, err
}

// base resolves a name without its steps back.
func (e *Engine) base(session string, n naming.Name) (*Checkpoint, error) {
	none := func(why string) error { return fmt.Errorf("engine: checkpoint %q: %w%s", n, ErrNotFound, why) }
	switch n.Kind {
	case naming.Current:
		session, err := e.orCurrent(session)
		if err != nil {
			return nil, err
		}
		cp, err := e.current(session)
		if err == nil && cp == nil {
			err = none("")
		}
		return cp, err
	case naming.Time:
		t, err := naming.ParseTime(n.Text, e.now())
		if err != nil {
			return nil, fmt.Errorf("engine: checkpoint %q: %w: %w", n, ErrUsage, err)
		}
		return e.at(n.String(), t)
	case naming.Session:
		session, err := e.findSession(n.Text)
		if err != nil {
			return nil, err
		}
		id, err := e.newestOf(session)
		if err != nil {
			return nil, err
		}
		if id.IsZero() {
			return nil, none(": the session has none")
		}
		return e.checkpoint(id)
	case naming.Fork:
		return e.forkedAt(n)
	case naming.Turn:
		return e.turn(session, n)
	}
	return e.word(n)
}

// word finds the checkpoint whose id begins so, or that a tag names. A tag that was made when it could still look like an id hides none.
func (e *Engine) word(n naming.Name) (*Checkpoint, error) {
	if id, err := objstore.ParseID(n.Text); err == nil { // needs nothing else of the store to be sound
		if ok, err := e.objs.Has(objstore.Checkpoint, id); err == nil && ok {
			return e.inLog(n.String(), id)
		}
	}
	tagged := objstore.Zero
	if tag := refs.Tag(n.Text); tag.Check() == nil {
		var err error
		if tagged, err = e.refs.ID(tag); err != nil {
			return nil, err
		}
	}
	id, err := e.objs.Resolve(objstore.Checkpoint, strings.ToLower(n.Text))
	none := errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrBadID)
	switch {
	case none && !tagged.IsZero():
		return e.checkpoint(tagged)
	case none && n.Digits() && len(n.Text) < naming.MinDigits:
		return nil, e.tooShort(n)
	case none:
		return nil, fmt.Errorf("engine: checkpoint %q: %w", n, ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("engine: checkpoint %q: %w", n, err)
	}
	if !tagged.IsZero() && tagged != id {
		const text = "%q is how the id of a checkpoint begins, which is taken; a tag of that name is on %s: 'rewind tag --delete %s' takes it away"
		e.Notice(fmt.Sprintf(text, n.Text, tagged.Short(), n.Text))
	}
	return e.inLog(n.String(), id)
}

// tooShort says of digits that are too few for an id whose ids begin so.
func (e *Engine) tooShort(n naming.Name) error {
	short := &TooShortError{Name: n.String()}
	err := e.made(func(op *refs.Operation) error {
		if !strings.HasPrefix(op.Checkpoint.String(), strings.ToLower(n.Text)) {
			return nil
		}
		if len(short.Begin) == maxBegin {
			short.More = true
			return kv.ErrStop
		}
		id, err := e.objs.ShortID(objstore.Checkpoint, op.Checkpoint)
		short.Begin = append(short.Begin, id)
		return err
	})
	if err != nil {
		return err
	}
	return short
}

// maxBegin is how many ids are named that begin with digits that are too few.
const maxBegin = 5

// forkedAt is where a session branched off: the checkpoint that it was made at, or the end of the last turn that it has in common with
// the other.
func (e *Engine) forkedAt(n naming.Name) (*Checkpoint, error) {
	name, l, err := e.forkOf(n)
	if err != nil {
		return nil, err
	}
	if id, err := objstore.ParseID(l.Checkpoint); err == nil {
		cp, err := e.inLog(n.String(), id)
		if err == nil || !errors.Is(err, ErrNotFound) && !errors.Is(err, objstore.ErrNotFound) {
			return cp, err
		}
	}
	if l.Turn < 0 {
		return nil, fmt.Errorf("engine: checkpoint %q: %w: what %s has in common with %s is not known", n, ErrNotFound, name, l.Session)
	}
	return e.turn(l.Session, naming.Name{Kind: naming.Turn, Turn: l.of(uint64(l.Turn))})
}

// forkOf is the session of "fork:x", and where it comes from.
func (e *Engine) forkOf(n naming.Name) (session string, l *Lineage, err error) {
	if session, err = e.findSession(n.Text); err != nil {
		return "", nil, err
	}
	if l, err = e.lineage(session); err == nil && l == nil {
		err = fmt.Errorf("engine: checkpoint %q: %w: session %s is no fork", n, ErrNotFound, session)
	}
	return session, l, err
}

// lineage is where a session was forked from; nil: it was not.
func (e *Engine) lineage(session string) (*Lineage, error) {
	s, err := e.storedSession(session)
	if s == nil || err != nil {
		return nil, err
	}
	return s.Fork, nil
}

// inLog reads a checkpoint that was named by its id, unless gc has taken it out of the log: what it refers to may go at any moment.
func (e *Engine) inLog(name string, id objstore.ID) (*Checkpoint, error) {
	cp, err := e.checkpoint(id)
	if err != nil || e.grafts.Load() == graftsNone {
		return cp, err
	}
	op, err := e.refs.Operation(cp.Seq)
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, refs.ErrNotFound) {
		return cp, nil //nolint:nilerr // the log is damaged, and the checkpoint is not
	}
	if err != nil || op.Kind == refs.KindThinned {
		return nil, fmt.Errorf("engine: checkpoint %q: %w: gc has removed it", name, ErrNotFound)
	}
	return cp, nil
}

// at is the newest step that was taken at t or before it.
func (e *Engine) at(name string, t time.Time) (*Checkpoint, error) {
	var id objstore.ID
	thinned := false // a newer one was there
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		thinned = thinned || op.Kind == refs.KindThinned && op.Time <= t.UnixMilli() && op.Cause.Event != EventSafety
		if op.Kind == refs.KindCheckpoint && op.Time <= t.UnixMilli() {
			id = op.Checkpoint
			return kv.ErrStop
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if id.IsZero() {
		return nil, fmt.Errorf("engine: checkpoint %q: %w: none is that old", name, ErrNotFound)
	}
	if thinned {
		e.Notice(fmt.Sprintf("gc has removed the checkpoint of %q: this is the one before it that is still there", name))
	}
	return e.checkpoint(id)
}
