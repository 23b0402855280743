package transcript

import (
	"errors"
	"fmt"
	"io"

	"rewind/internal/jsonscan"
)

// Error says what is wrong with a session file, and where.
type Error struct {
	Name  string // the file's
	Line  int    // from 1; 0: no line in particular
	Cause error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Cause)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Cause)
}

func (e *Error) Unwrap() error { return e.Cause }

// Read gives fn the records of src from the byte at from on, which must be a record's first; Line counts from there. A
// record is valid until fn returns. An error of fn ends the reading and is returned as it is; every other error is an
// *Error.
//
// What is no JSON object is a Broken record, not an error. A last line without a newline is no record: it is still
// being written; unless src.Ended says that nobody writes any more, and it is a whole one. What was read so may go on
// with its newline: from may be the byte behind it.
func Read(agent Agent, src Source, from int64, fn func(*Record) error) error {
	d, err := dialectOf(agent, src)
	if err != nil {
		return err
	}
	return d.lines(src, from, newLine(maxText, false), func(l *line) error { return fn(&l.Record) })
}

// readLines gives fn every line that ends with a newline.
func readLines(src Source, from int64, p parser, l *line, fn func(*line) error) error {
	s := scanner(src, from)
	if endless(src, from) {
		s.Line()
		s.EndLine()
	}
	for n := 1; s.Line(); n++ {
		l.begin(s.Offset(), n)
		err := p.parse(s, l)
		if err == nil && !s.AtEnd() {
			err = s.Fail("more than one value")
		}
		if errors.Is(err, errMarks) {
			return &Error{Name: src.Name, Line: n, Cause: err}
		}
		if err != nil {
			l.broke(err)
		}
		if !s.EndLine() && (!src.Ended || l.Kind == Broken || s.Err() != nil) {
			break
		}
		l.Size = s.Offset() - l.Offset
		l.Text = l.says.String()
		if err := fn(l); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return &Error{Name: src.Name, Cause: err}
	}
	return nil
}

// endless says whether the byte at from is the newline of a record that ends in front of it.
func endless(src Source, from int64) bool {
	var two [2]byte
	if from <= 0 || from >= src.Size {
		return false
	}
	n, _ := src.ReadAt(two[:], from-1) // what cannot be read fails when it is read in earnest
	return n == len(two) && two[0] != '\n' && two[1] == '\n'
}

// scanner reads src from the byte at from on. A small file gets a small buffer.
func scanner(src Source, from int64) *jsonscan.Scanner {
	size := max(src.Size-from, 0)
	return jsonscan.New(io.NewSectionReader(src, from, size), int(min(size+1, bufferSize)), from)
}
