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
	l := &line{marking: marking, words: &words{}}
	l.says.Limit = text
	return l
}

// begin empties l for the record at offset.
func (l *line) begin(offset int64, number int) {
	calls, results, marks, again := l.Calls[:0], l.Results[:0], l.marks[:0], l.Again[:0]
	*l = line{says: l.says, word: l.word, words: l.words, marking: l.marking}
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
	return l.words.text(l.word.B), l.word.Cut, nil
}

// words are short strings that were read lately: types come again with every record, and an id as the parent of the
// next.
type words [64]string

func (w *words) text(b []byte) string {
	if len(b) == 0 || len(b) > maxID {
		return string(b)
	}
	at := &w[(len(b)*7^int(b[0])*3^int(b[len(b)/2])*5^int(b[len(b)-1]))%len(w)]
	if *at != string(b) {
		*at = string(b)
	}
	return *at
}

// str reads a string into field, cut to limit bytes; another kind of value empties it.
func (l *line) str(s *jsonscan.Scanner, field *string, limit int) (err error) {
	*field, _, err = l.text(s, limit)
	return err
}

// id reads an id into field, which may be nil, and marks its place with role; role 0 marks nothing. What is no string
// or too long is no id.
func (l *line) id(s *jsonscan.Scanner, field *string, role int) error {
	return l.marked(s, field, role, maxID)
}

// path does so with a directory's path.
func (l *line) path(s *jsonscan.Scanner, field *string, role int) error {
	return l.marked(s, field, role, maxPath)
}

func (l *line) marked(s *jsonscan.Scanner, field *string, role, limit int) error {
	s.Next()
	start := s.Offset()
	id, cut, err := l.text(s, limit)
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
	if s.Next() != '"' {
		return s.Skip()
	}
	l.word.Reset()
	l.word.Limit = maxWord
	if err := s.Str(&l.word); err != nil {
		return err
	}
	if t, ok := parseStamp(l.word.B); ok {
		*field = t
	}
	return nil
}

// isDate reports whether every year has a day.
func isDate(month, day int) bool {
	inYear := 1 <= month && month <= 12
	return inYear && 1 <= day && day <= 28
}

func isClock(hour, minute, second int) bool { return hour < 24 && minute < 60 && second < 60 }

// parseStamp reads an RFC 3339 time; the form that all agents write, UTC with milliseconds, at a fifth of the cost.
func parseStamp(b []byte) (time.Time, bool) {
	const form = "0000-00-00T00:00:00.000Z"
	if len(b) == len(form) {
		n, ok := [7]int{}, true
		for i, k := 0, 0; i < len(form); i++ {
			switch {
			case form[i] != '0':
				ok = ok && b[i] == form[i]
				k++
			case b[i] < '0' || b[i] > '9':
				ok = false
			case k < len(n):
				n[k] = n[k]*10 + int(b[i]-'0')
			}
		}
		if ok && isDate(n[1], n[2]) && isClock(n[3], n[4], n[5]) {
			return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC), true
		}
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	return t, err == nil
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
