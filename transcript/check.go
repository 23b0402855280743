package transcript

import (
	"errors"
	"fmt"
	"slices"
)

// Check says whether a session file, a fork, can be gone on with as the session id: every record is JSON, the ids in it that name the session
// are id, there is a prompt, and every call has its result, behind it. An error is an *Error.
func Check(agent Agent, src Source, id string) error {
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
	case len(c.live) == 0:
		return &Error{Name: src.Name, Cause: ErrEmpty}
	case len(c.c.Pending) > 0:
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
		if c.d.session != 0 && m.role == c.d.session && m.old != "" && m.old != c.id {
			return c.refuse(l, fmt.Errorf("names session %q, not %q", m.old, c.id))
		}
	}
	for _, call := range l.Calls {
		if line, ok := c.early[call.ID]; ok && !l.Side {
			return c.refuse(l, fmt.Errorf("calls %q, which line %d has answered before", call.ID, line))
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
