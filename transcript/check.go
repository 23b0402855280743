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

// checkFork is Check for what WriteFork has made of src. A clone need not have a prompt that is still there, and may
// end with a call that the agent answers itself, as the source does. An error names the source and its line: the fork
// is not there any more when somebody reads it.
func checkFork(agent Agent, fork, src Source, f Fork) error {
	return ofSource(check(agent, fork, f.ID, f.Clone), agent, src, f)
}

// WriteCheckedFork is WriteFork and checkFork at once, on two processors; name is of the fork's file. An error of the
// check may come before all is written. A document is held in memory.
func WriteCheckedFork(w io.Writer, agent Agent, src Source, f Fork, name string) error {
	if IsDocument(agent, src) {
		var b bytes.Buffer
		if err := WriteFork(io.MultiWriter(&b, w), agent, src, f); err != nil {
			return err
		}
		return checkFork(agent, Source{ReaderAt: bytes.NewReader(b.Bytes()), Size: int64(b.Len()), Name: name}, src, f)
	}
	r, to := io.Pipe()
	checked := make(chan error, 1)
	go func() {
		err := check(agent, Source{ReaderAt: &forward{r: r}, Size: unknownSize, Name: name}, f.ID, f.Clone)
		r.CloseWithError(err) // nil: what is written on goes nowhere, of which there is nothing
		checked <- err
	}()
	err := WriteFork(io.MultiWriter(to, w), agent, src, f)
	to.CloseWithError(err)
	if wrong := <-checked; wrong != nil && (err == nil || errors.Is(err, wrong)) {
		return ofSource(wrong, agent, src, f)
	}
	return err
}

// unknownSize is above that of any source.
const unknownSize = 1 << 62

// forward reads what is read once, from the beginning to the end.
type forward struct {
	r    io.Reader
	next int64
}

// ReadAt implements io.ReaderAt for what follows what was read before.
func (f *forward) ReadAt(p []byte, off int64) (int, error) {
	if off != f.next {
		return 0, fmt.Errorf("read at %d, behind %d", off, f.next)
	}
	n, err := io.ReadFull(f.r, p)
	f.next += int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// ofSource is an error about a fork, as one about the source that it was made of.
func ofSource(err error, agent Agent, src Source, f Fork) error {
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
	case c.c.End < sizeOf(src) && d.read == nil:
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

// sizeOf is the size of a source that was read to its end.
func sizeOf(src Source) int64 {
	if f, ok := src.ReaderAt.(*forward); ok {
		return f.next
	}
	return src.Size
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
