package engine

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// suffix is how many steps back a name asks for: "~3", or a "-" for each step after "@".
var suffix = regexp.MustCompile(`^(.*?)(?:~([0-9]{1,9})|(-+))$`)

// Resolve finds the checkpoint that a name stands for: a unique prefix of an id, "@" for the current one, "@-" and
// "@~3" for steps before it ("~3" follows any name), "@{3m ago}" and "@{2026-11-20 10:00}" for the newest at that
// time, "session:<name>" for the newest of a session, "turn:<n>" for the end of a turn of the current session, or a tag. Errors: ErrNotFound, ErrUsage, *objstore.AmbiguousError.
func (e *Engine) Resolve(name string) (*Checkpoint, error) { return e.resolveIn("", name) }

// ofSession reports whether a name means something else in another session.
func ofSession(name string) bool {
	return strings.HasPrefix(name, "turn:") || strings.HasPrefix(name, "@") && !strings.HasPrefix(name, "@{")
}

// resolveIn is Resolve for a session other than the current one; "" is the current one.
func (e *Engine) resolveIn(session, name string) (*Checkpoint, error) {
	cp, err := e.base(session, name)
	if !errors.Is(err, ErrNotFound) {
		return cp, err
	}
	m := suffix.FindStringSubmatch(name)
	if m == nil || (m[3] != "" && m[1] != "@") {
		return nil, err
	}
	back := len(m[3])
	if m[2] != "" {
		back, _ = strconv.Atoi(m[2])
	}
	cp, err = e.base(session, m[1])
	for i := 0; err == nil && i < back; i++ {
		if len(cp.Parents) == 0 {
			return nil, fmt.Errorf("engine: checkpoint %q: %w: only %d steps lie before %q", name, ErrNotFound, i, m[1])
		}
		cp, err = e.checkpoint(cp.Parents[0])
	}
	return cp, err
}

// base resolves a name without a suffix.
func (e *Engine) base(session, name string) (*Checkpoint, error) {
	none := func(why string) error { return fmt.Errorf("engine: checkpoint %q: %w%s", name, ErrNotFound, why) }
	byRef := func(n refs.Name) (*Checkpoint, error) {
		if n.Check() != nil {
			return nil, none("")
		}
		id, err := e.refs.ID(n)
		if err != nil {
			return nil, err
		}
		if id.IsZero() {
			return nil, none("")
		}
		return e.checkpoint(id)
	}
	switch {
	case name == "":
		return nil, fmt.Errorf("engine: checkpoint: %w: no name given", ErrUsage)
	case name == "@":
		session, err := e.orCurrent(session)
		if err != nil {
			return nil, err
		}
		cp, err := e.current(session)
		if err == nil && cp == nil {
			err = none("")
		}
		return cp, err
	case strings.HasPrefix(name, "@{") && strings.HasSuffix(name, "}"):
		t, err := parseTime(name[2:len(name)-1], e.now())
		if err != nil {
			return nil, fmt.Errorf("engine: checkpoint %q: %w: %w", name, ErrUsage, err)
		}
		return e.at(name, t)
	case strings.HasPrefix(name, "session:"):
		session, err := e.findSession(name[len("session:"):])
		if err != nil {
			return nil, err
		}
		return byRef(refs.Session(session))
	case strings.HasPrefix(name, "turn:"):
		return e.turn(session, name)
	}
	if id, err := objstore.ParseID(name); err == nil { // needs nothing else of the store to be sound
		if ok, err := e.objs.Has(objstore.Checkpoint, id); err == nil && ok {
			return e.inLog(name, id)
		}
	}
	if cp, err := byRef(refs.Tag(name)); !errors.Is(err, ErrNotFound) {
		return cp, err
	}
	id, err := e.objs.Resolve(objstore.Checkpoint, strings.ToLower(name))
	if errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrBadID) {
		return nil, none("")
	}
	if err != nil {
		return nil, fmt.Errorf("engine: checkpoint %q: %w", name, err)
	}
	return e.inLog(name, id)
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

var ago = regexp.MustCompile(`^([0-9]{1,6}) ?(s|sec|secs|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?) ago$`)

// parseTime reads "3m ago", "2 hours ago", "10:00" (the last time it was 10:00), a date, a date with time, or RFC 3339; local time.
func parseTime(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if m := ago.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[m[2][0]]
		if time.Duration(n) > math.MaxInt64/unit {
			return time.Time{}, nil // before everything
		}
		return now.Add(-time.Duration(n) * unit), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, err := time.ParseInLocation("15:04", s, now.Location()); err == nil {
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as \"3m ago\" or \"2026-11-20 10:00\"", s)
}
