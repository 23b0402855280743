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
func split(script string) (words []word) {
	var b strings.Builder
	have, quoted := false, false
	end := func() {
		if have {
			words = append(words, word{text: b.String(), quoted: quoted})
		}
		b.Reset()
		have, quoted = false, false
	}
	operator := func(s string) {
		end()
		words = append(words, word{text: s, op: true})
	}
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch c {
		case ' ', '\t', '\r':
			end()
		case '\n', ';', '&', '|', '(', ')', '`':
			operator(string(c))
		case '>', '<':
			if have && !quoted && isDigits(b.String()) { // 2>
				b.Reset()
				have = false
			}
			end()
			op := string(c)
			for i+1 < len(script) && (script[i+1] == c || script[i+1] == '|' || script[i+1] == '&' && c == '>') {
				i++
				op += string(script[i])
			}
			operator(op)
			if op == "<<" {
				script = script[:i+1] + withoutHereText(script[i+1:])
			}
		case '#':
			if have {
				b.WriteByte(c)
				continue
			}
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
		case '\\':
			if i+1 < len(script) {
				if i++; script[i] == '\n' {
					continue
				}
				b.WriteByte(script[i])
				have = true
			}
		case '\'':
			have, quoted = true, true
			for i++; i < len(script) && script[i] != '\''; i++ {
				b.WriteByte(script[i])
			}
		case '"':
			have, quoted = true, true
			for i++; i < len(script) && script[i] != '"'; i++ {
				switch {
				case script[i] == '\\' && i+1 < len(script) && strings.IndexByte("\"\\$`\n", script[i+1]) >= 0:
					i++
					b.WriteByte(script[i])
				case script[i] == '`' || script[i] == '$' && i+1 < len(script) && script[i+1] == '(':
					// A command in a string: its words are looked at as a script of its own.
					n := closing(script[i:])
					words = append(words, word{text: ";", op: true})
					words = append(words, split(strings.Trim(script[i:i+n], "$()`"))...)
					words = append(words, word{text: ";", op: true})
					i += n - 1
				default:
					b.WriteByte(script[i])
				}
			}
		case '$':
			if i+1 < len(script) && script[i+1] == '(' {
				operator("(")
				i++
				continue
			}
			b.WriteByte(c)
			have = true
		default:
			b.WriteByte(c)
			have = true
		}
	}
	end()
	return words
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
	return strings.HasPrefix(op, ">") || op == "<" || op == "<<" || op == "<<<", strings.HasPrefix(op, ">")
}
