package transcript

import (
	"bufio"
	"io"
)

// splice replaces the bytes [start, end) of the source; of an empty span, it puts something between two bytes.
type splice struct {
	start, end int64
	with       string
}

// output writes a new file out of pieces of a source and of new bytes. Its memory does not depend on the pieces' length.
type output struct {
	src Source
	w   *bufio.Writer
	buf []byte
}

func newOutput(w io.Writer, src Source) *output {
	return &output{src: src, w: bufio.NewWriterSize(w, 64<<10), buf: make([]byte, 64<<10)}
}

// copy writes the source's bytes [start, end) with splices, which are in order and do not overlap.
func (o *output) copy(start, end int64, splices ...splice) error {
	for _, sp := range splices {
		if err := o.plain(start, sp.start); err != nil {
			return err
		}
		if err := o.write(sp.with); err != nil {
			return err
		}
		start = sp.end
	}
	return o.plain(start, end)
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
		if _, err := o.w.Write(p); err != nil {
			return err
		}
		start += int64(n)
	}
	return nil
}

func (o *output) write(s string) error {
	_, err := o.w.WriteString(s)
	return err
}
