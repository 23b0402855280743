package transcript

import (
	"errors"
	"time"

	"rewind/internal/jsonscan"
)

// errMarks ends a fork: a record has more places to rewrite than are kept.
var errMarks = errors.New("names too many ids")

// newLine makes a line that keeps text of at most text bytes, and marks if it is for a fork.
func newLine(text int, marking bool) *line {
	l := &line{marking: marking}
	l.says.Limit = text
	return l
}

// begin empties l for the record at offset.
func (l *line) begin(offset int64, number int) {
	calls, results, marks, again := l.Calls[:0], l.Results[:0], l.marks[:0], l.Again[:0]
	*l = line{says: l.says, word: l.word, marking: l.marking}
	l.Offset, l.Line = offset, number
	l.Calls, l.Results, l.marks, l.Again = calls, results, marks, again
	l.says.Reset()
}

// broke makes l a record that is no JSON.
func (l *line) broke(err error) {
	l.begin(l.Offset, l.Line)
	l.Kind, l.Err = Broken, err
}

// text reads a string of at most limit bytes; "" for another kind of value, and cut says whether there was more.
func (l *line) text(s *jsonscan.Scanner, limit int) (text string, cut bool, err error) {
	if s.Next() != '"' {
		return "", false, s.Skip()
	}
	l.word.Reset()
	l.word.Limit = limit
	if err := s.Str(&l.word); err != nil {
		return "", false, err
	}
	return l.word.String(), l.word.Cut, nil
}

// str reads a string into field, cut to limit bytes; another kind of value empties it.
func (l *line) str(s *jsonscan.Scanner, field *string, limit int) (err error) {
	*field, _, err = l.text(s, limit)
	return err
}

// id reads an id into field, which may be nil, and marks its place with role; role 0 marks nothing. What is no string or too long is no id.
func (l *line) id(s *jsonscan.Scanner, field *string, role int) error {
	s.Next()
	start := s.Offset()
	id, cut, err := l.text(s, maxID)
	if err != nil {
		return err
	}
	if cut {
		id = ""
	}
	if field != nil {
		*field = id
	}
	return l.mark(s, role, start, id)
}

// value skips any value and marks its place with role.
func (l *line) value(s *jsonscan.Scanner, role int) error {
	s.Next()
	start := s.Offset()
	if err := s.Skip(); err != nil {
		return err
	}
	return l.mark(s, role, start, "")
}

// mark notes the place from start up to where s is.
func (l *line) mark(s *jsonscan.Scanner, role int, start int64, old string) error {
	if !l.marking || role == 0 {
		return nil
	}
	if len(l.marks) == maxMarks {
		return errMarks
	}
	l.marks = append(l.marks, mark{role: role, start: start, end: s.Offset(), old: old})
	return nil
}

// time reads an RFC 3339 time into field; what is none leaves it as it is.
func (l *line) time(s *jsonscan.Scanner, field *time.Time) error {
	text, _, err := l.text(s, maxWord)
	if err != nil {
		return err
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		*field = t
	}
	return nil
}

// flag reads whether the value is true.
func (l *line) flag(s *jsonscan.Scanner, field *bool) error {
	*field = s.Next() == 't'
	return s.Skip()
}

// say appends a string to what the record says, each on lines of its own; another kind of value says nothing.
func (l *line) say(s *jsonscan.Scanner) error {
	if s.Next() != '"' {
		return s.Skip()
	}
	if len(l.says.B) > 0 {
		l.says.Add([]byte{'\n'})
	}
	return s.Str(&l.says)
}

// sayText appends a text of ours to what the record says.
func (l *line) sayText(text string) {
	if len(l.says.B) > 0 {
		l.says.Add([]byte{'\n'})
	}
	l.says.Add([]byte(text))
}

// call notes that the record calls a tool.
func (l *line) call(c Call) {
	if len(l.Calls) < maxCalls {
		l.Calls = append(l.Calls, c)
	}
}

// result notes that the record answers a call.
func (l *line) result(id string) {
	if id != "" && len(l.Results) < maxCalls {
		l.Results = append(l.Results, id)
	}
}

// targets are the arguments of tools that say what a call is about, the best first.
var targets = []string{
	"file_path", "path", "notebook_path", "absolute_path", "dir_path", "command", "cmd", "pattern", "query", "url", "description", "prompt",
}

// arguments reads what a tool is called with, and returns what that is about, in one line.
func (l *line) arguments(s *jsonscan.Scanner) (string, error) {
	if s.Next() == '"' {
		text, _, err := l.text(s, maxTarget)
		return oneLine(text, maxTarget), err
	}
	if s.Next() != '{' {
		return "", s.Skip()
	}
	best, found := len(targets), ""
	err := s.Object(func(key []byte) error {
		for i, name := range targets[:best] {
			if name != string(key) {
				continue
			}
			text, _, err := l.text(s, maxTarget)
			if line := oneLine(text, maxTarget); line != "" {
				best, found = i, line
			}
			return err
		}
		return s.Skip()
	})
	return found, err
}
