package transcript

import (
	"bufio"
	"bytes"
	"io"
)

// splice replaces the bytes [start, end) of the source; of an empty span, it puts something between two bytes.
type splice struct {
	start, end int64
	with       string
}

// output writes a new file out of pieces of a source and of new bytes. Its memory does not depend on the pieces' length.
type output struct {
	src   Source
	w     *bufio.Writer
	buf   []byte
	lines bool // every piece is a line: one that has no newline, as the last one of a file may, gets it
	tail  byte // the newest byte
	seek  *seeker
}

func newOutput(w io.Writer, src Source) *output {
	return &output{src: src, w: bufio.NewWriterSize(w, 64<<10), buf: make([]byte, 64<<10)}
}

// copy writes the source's bytes [start, end) with splices, which are in order and do not overlap.
func (o *output) copy(start, end int64, splices ...splice) error {
	if o.seek != nil {
		o.seek.begins(start)
	}
	for _, sp := range splices {
		if err := o.plain(start, sp.start); err != nil {
			return err
		}
		if err := o.write(sp.with); err != nil {
			return err
		}
		start = sp.end
	}
	if err := o.plain(start, end); err != nil || !o.lines || o.tail == '\n' {
		return err
	}
	return o.write("\n")
}

// plain copies the source's bytes [start, end).
func (o *output) plain(start, end int64) error {
	for start < end {
		p := o.buf[:min(int64(len(o.buf)), end-start)]
		n, err := o.src.ReadAt(p, start)
		if n < len(p) {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return &Error{Name: o.src.Name, Cause: err}
		}
		if err := o.put(p); err != nil {
			return err
		}
		start += int64(n)
	}
	return nil
}

func (o *output) write(s string) error { return o.put([]byte(s)) }

func (o *output) put(p []byte) error {
	if len(p) > 0 {
		o.tail = p[len(p)-1]
	}
	if o.seek != nil {
		o.seek.lines += bytes.Count(p, []byte{'\n'})
	}
	_, err := o.w.Write(p)
	return err
}

// seeker finds the piece of the source that a line of the output is made of.
type seeker struct {
	line  int   // from 1
	lines int   // that are written
	at    int64 // where the piece begins; -1: not found yet
}

// begins takes the beginning of the next piece.
func (s *seeker) begins(start int64) {
	if s.at < 0 && s.lines == s.line-1 {
		s.at = start
	}
}
