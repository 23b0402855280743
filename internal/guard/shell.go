package guard

import "strings"

// A word of a command line, quotes taken off. Quoted words are no operators and no assignments.
type word struct {
	text   string
	op     bool // an operator that ends a command, or a redirection
	quoted bool
}

// split cuts a script into words, as far as that can be done without running it. What stands in $(...), `...` and (...)
// is cut in the same way, in place: a command in it begins anew.
func split(script string) []word {
	s := splitter{script: script}
	for ; s.at < len(s.script); s.at++ {
		s.take(s.script[s.at])
	}
	s.end()
	return s.words
}

// splitter is a script that is being cut, at a place. It takes what follows at that place along where it belongs to it.
type splitter struct {
	script string
	at     int
	words  []word
	text   strings.Builder // of the word that is being read
	have   bool            // a word is being read; it may be empty
	quoted bool
}

func (s *splitter) take(c byte) {
	switch c {
	case ' ', '\t', '\r':
		s.end()
	case '\n', ';', '&', '|', '(', ')', '`':
		s.operator(string(c))
	case '>', '<':
		s.redirection(c)
	case '#':
		s.comment(c)
	case '\\':
		if !s.more() {
			return
		}
		if s.at++; s.script[s.at] != '\n' {
			s.write(s.script[s.at])
		}
	case '\'':
		s.inSingleQuotes()
	case '"':
		s.inQuotes()
	case '$':
		if s.more() && s.next() == '(' {
			s.operator("(")
			s.at++
			return
		}
		s.write(c)
	default:
		s.write(c)
	}
}

// comment passes a comment; within a word c begins none.
func (s *splitter) comment(c byte) {
	if s.have {
		s.write(c)
		return
	}
	for s.more() && s.next() != '\n' {
		s.at++
	}
}

func (s *splitter) inSingleQuotes() {
	s.have, s.quoted = true, true
	for s.at++; s.at < len(s.script) && s.script[s.at] != '\''; s.at++ {
		s.write(s.script[s.at])
	}
}

func (s *splitter) more() bool { return s.at+1 < len(s.script) }

func (s *splitter) next() byte { return s.script[s.at+1] }

func (s *splitter) write(c byte) {
	s.text.WriteByte(c)
	s.have = true
}

// end ends the word that is being read.
func (s *splitter) end() {
	if s.have {
		s.words = append(s.words, word{text: s.text.String(), quoted: s.quoted})
	}
	s.text.Reset()
	s.have, s.quoted = false, false
}

func (s *splitter) operator(op string) {
	s.end()
	s.words = append(s.words, word{text: op, op: true})
}

// redirection takes an operator that begins with c, and for "<<" the text that it means away.
func (s *splitter) redirection(c byte) {
	if !s.quoted && isDigits(s.text.String()) { // 2>
		s.text.Reset()
		s.have = false
	}
	s.end()
	op := string(c)
	for s.more() && goesOn(c, s.next()) {
		s.at++
		op += string(s.script[s.at])
	}
	s.operator(op)
	if op == "<<" {
		s.script = s.script[:s.at+1] + withoutHereText(s.script[s.at+1:])
	}
}

// goesOn reports whether next belongs to the redirection that begins with c.
func goesOn(c, next byte) bool {
	always := next == c || next == '|'
	return always || next == '&' && c == '>'
}

// inQuotes takes a string in double quotes.
func (s *splitter) inQuotes() {
	s.have, s.quoted = true, true
	for s.at++; s.at < len(s.script) && s.script[s.at] != '"'; s.at++ {
		c := s.script[s.at]
		switch {
		case c == '\\' && s.more() && strings.IndexByte("\"\\$`\n", s.next()) >= 0:
			s.at++
			s.text.WriteByte(s.script[s.at])
		case c == '`', c == '$' && s.more() && s.next() == '(':
			// A command in a string: its words are looked at as a script of its own.
			n := closing(s.script[s.at:])
			s.words = append(s.words, word{text: ";", op: true})
			s.words = append(s.words, split(strings.Trim(s.script[s.at:s.at+n], "$()`"))...)
			s.words = append(s.words, word{text: ";", op: true})
			s.at += n - 1
		default:
			s.text.WriteByte(c)
		}
	}
}

// withoutHereText takes the lines of a here-document out of the script that goes on behind its <<.
func withoutHereText(rest string) string {
	line, text, _ := strings.Cut(rest, "\n")
	end := strings.TrimLeft(strings.TrimPrefix(line, "-"), " \t")
	if i := strings.IndexAny(end, " \t;|&<>)"); i >= 0 {
		end = end[:i]
	}
	end = strings.Trim(end, `'"\`)
	if end == "" {
		return rest
	}
	kept := line
	in := true
	for l := range strings.Lines(text) {
		if !in {
			kept += l
		} else if strings.TrimSpace(l) == end {
			in = false
			kept += "\n"
		}
	}
	return kept
}

// closing gives the length of $(...) or `...` at the beginning of s.
func closing(s string) int {
	if s[0] == '`' {
		if i := strings.IndexByte(s[1:], '`'); i >= 0 {
			return i + 2
		}
		return len(s)
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isRedirection tells whether an operator names a file behind it; into, that the file is written.
func isRedirection(op string) (is, into bool) {
	into = strings.HasPrefix(op, ">")
	return into || oneOf(op, "<", "<<", "<<<"), into
}
