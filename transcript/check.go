package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Check returns an error unless a session file, a fork, can be continued as the session id. Every record must be JSON,
// and each id that names the session must be id. There must be a prompt, and every call must have its result after it.
// An error is an *Error.
func Check(agent Agent, src Source, id string) error { return check(agent, src, id, false) }

// CheckFork is Check for what WriteFork has made of src. A clone need not have a prompt that is still there, and may
// end with a call that the agent answers itself, as the source does. An error names the source and its line: the fork
// is not there any more when somebody reads it.
func CheckFork(agent Agent, fork, src Source, f Fork) error {
	err := check(agent, fork, f.ID, f.Clone)
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	var early *earlyError
	if errors.As(err, &early) {
		early.line = sourceLine(agent, src, f, early.line)
	}
	cause := fmt.Errorf("a copy of it could not be gone on with: %w", e.Cause)
	return &Error{Name: src.Name, Line: sourceLine(agent, src, f, e.Line), Cause: cause}
}

// earlyError says that a call's result stands in front of it.
type earlyError struct {
	call string
	line int
}

func (e *earlyError) Error() string {
	return fmt.Sprintf("calls %q, which line %d has answered before", e.call, e.line)
}

// sourceLine is the line of the source that a line of its fork was made of; 0: none.
func sourceLine(agent Agent, src Source, f Fork, line int) int {
	src.Size, src.Ended = min(src.Size, f.Cut), true
	d, err := dialectOf(agent, src)
	if err != nil || line <= 0 || d.read != nil {
		return 0
	}
	out := newOutput(io.Discard, src)
	out.seek = &seeker{line: line, at: -1}
	if err := d.write(out, src, f); err != nil || out.seek.at < 0 {
		return 0
	}
	var count lineCounter
	if _, err := io.Copy(&count, io.NewSectionReader(src, 0, out.seek.at)); err != nil {
		return 0
	}
	return 1 + int(count)
}

// lineCounter counts the newlines that are written to it.
type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}

func check(agent Agent, src Source, id string, clone bool) error {
	d, err := dialectOf(agent, src)
	if err != nil {
		return err
	}
	c := checker{tracker: newTracker(agent, d), src: src, id: id, early: map[string]int{}}
	if err := d.lines(src, 0, newLine(maxSummaryText, d.session != 0), c.take); err != nil {
		return err
	}
	refuse := func(line int, why string) error { return &Error{Name: src.Name, Line: line, Cause: errors.New(why)} }
	switch {
	case c.c.End < src.Size && d.read == nil:
		return refuse(c.last+1, "a line without an end")
	case c.c.ID != id:
		return refuse(0, fmt.Sprintf("is of session %q, not %q", c.c.ID, id))
	case len(c.live) == 0 && !clone:
		return &Error{Name: src.Name, Cause: ErrEmpty}
	case len(c.c.Pending) > 0 && !(clone && d.answers):
		call := c.c.Pending[0]
		return refuse(c.last, fmt.Sprintf("call %q of %q has no result", call.ID, call.Name))
	}
	return nil
}

// checker refuses the first record that is wrong.
type checker struct {
	*tracker
	src   Source
	id    string
	last  int            // the newest line
	early map[string]int // results of calls that are not known, and their lines; the first maxOpen
}

func (c *checker) take(l *line) error {
	c.last = l.Line
	if l.Kind == Broken {
		return c.refuse(l, l.Err)
	}
	for _, m := range l.marks {
		ofSession := c.d.session != 0 && m.role == c.d.session
		if ofSession && m.old != "" && m.old != c.id {
			return c.refuse(l, fmt.Errorf("names session %q, not %q", m.old, c.id))
		}
	}
	for _, call := range l.Calls {
		if line, ok := c.early[call.ID]; ok && !l.Side {
			return c.refuse(l, &earlyError{call.ID, line})
		}
	}
	c.results(l)
	c.add(l)
	return nil
}

// results notes the results whose calls have not come yet.
func (c *checker) results(l *line) {
	if l.Side {
		return
	}
	for _, id := range l.Results {
		if !calls(l.Calls, id) && !calls(c.c.Pending, id) && len(c.early) < maxOpen {
			c.early[id] = l.Line
		}
	}
}

func calls(in []Call, id string) bool {
	return slices.ContainsFunc(in, func(c Call) bool { return c.ID == id })
}

func (c *checker) refuse(l *line, cause error) error {
	return &Error{Name: c.src.Name, Line: l.Line, Cause: cause}
}
