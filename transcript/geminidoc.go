package transcript

import (
	"errors"
	"io"

	"rewind/internal/jsonscan"
)

const geminiDoc = "document" // the type of what is around the messages

var (
	errGeminiEnd     = errors.New("no message ends there")
	errGeminiSession = errors.New("no sessionId")
	errNoObject      = errors.New("no object")
)

// readGeminiDocument gives fn what is in front of the messages, up to their bracket, and every message. A record behind
// them says the title, if that stands there. A fork reads a document that ends behind a message.
func readGeminiDocument(src Source, from int64, p parser, l *line, fn func(*line) error) error {
	s := jsonscan.New(io.NewSectionReader(src, from, src.Size-from), bufferSize, from)
	d := docReader{s: s, src: src, p: p.(*geminiParser), l: l, fn: fn}
	var err error
	if from == 0 {
		err = d.document()
	} else {
		err = d.rest()
	}
	switch {
	case d.stop != nil:
		return d.stop
	case err != nil && l.marking && d.end == src.Size:
		return nil
	case err != nil:
		return &Error{Name: src.Name, Line: d.line, Cause: err}
	}
	return nil
}

type docReader struct {
	s    *jsonscan.Scanner
	src  Source
	p    *geminiParser
	l    *line
	fn   func(*line) error
	stop error // of fn
	line int   // messages so far
	end  int64 // of the newest one
}

func (d *docReader) give() error {
	d.l.Size = d.s.Offset() - d.l.Offset
	d.l.Text = d.l.says.String()
	d.stop = d.fn(d.l)
	return d.stop
}

func (d *docReader) document() error {
	s, l, seen := d.s, d.l, false
	l.begin(0, 0)
	l.Type, l.Lead = geminiDoc, true
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "messages":
			if seen || s.Next() != '[' {
				return s.Skip()
			}
			seen = true
			return d.messages()
		case "sessionId", "startTime", "projectHash":
			return d.p.meta(s, l, string(key))
		case "summary":
			s.Next()
			start := s.Offset()
			if err := d.p.meta(s, l, "summary"); err != nil {
				return err
			}
			return l.mark(s, geminiTitle, start, "")
		}
		return s.Skip()
	})
	if err != nil {
		return err
	}
	if !s.AtEnd() {
		return s.Fail("more than one value")
	}
	if !seen {
		return errors.New("no messages")
	}
	if l.Title == "" {
		return nil
	}
	l.Open = true
	return d.give()
}

// messages reads the list of messages; the head is given in front of the first. What stands behind the list is read
// into an empty record.
func (d *docReader) messages() error {
	s, l := d.s, d.l
	open := true
	err := s.Array(func(int) error {
		if open {
			open = false
			if err := d.give(); err != nil {
				return err
			}
		}
		return d.element()
	})
	if err != nil {
		return err
	}
	l.begin(s.Offset(), d.line)
	l.Type, l.Lead = geminiDoc, true
	return nil
}

// element reads a message and gives it.
func (d *docReader) element() error {
	s, l := d.s, d.l
	d.line++
	c := s.Next()
	l.begin(s.Offset(), d.line)
	if c != '{' {
		if err := s.Skip(); err != nil {
			return err
		}
		l.broke(errNoObject)
	} else if err := d.p.parse(s, l); err != nil {
		return err
	}
	d.end = s.Offset()
	return d.give()
}

// rest reads from a message on.
func (d *docReader) rest() error {
	for {
		if err := d.element(); err != nil {
			return err
		}
		switch d.s.Next() {
		case ',':
			d.s.Prefix(",")
		case ']':
			return nil
		default:
			return d.s.Fail("wants a comma or a bracket")
		}
	}
}

// cutGeminiDocument writes the messages up to the one that ends at cut, and what stands behind all of them.
func cutGeminiDocument(w io.Writer, src Source, cut int64) error {
	last, found := int64(0), false
	err := readGeminiDocument(src, 0, newGeminiParser(), newLine(maxSummary, false), func(l *line) error {
		if end := l.Offset + l.Size; l.Type != geminiDoc {
			last, found = end, found || end == cut
		}
		return nil
	})
	out := newOutput(w, src)
	switch {
	case err != nil:
		return err
	case cut >= src.Size:
		err = out.plain(0, src.Size)
	case !found:
		return &Error{Name: src.Name, Cause: errGeminiEnd}
	default:
		if err = out.plain(0, cut); err == nil {
			err = out.plain(last, src.Size)
		}
	}
	if err != nil {
		return err
	}
	return out.w.Flush()
}
