package find

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"rewind/engine/model"
)

// Pattern is what is searched for in a line: an expression of RE2.
type Pattern struct {
	Text       string
	Fixed      bool // Text is a text, no expression
	IgnoreCase bool
	Word       bool // only what no letter, digit or underscore stands beside
}

// A matcher finds lines. A nil one is none.
type matcher struct {
	re    *regexp.Regexp
	fixed []byte // every match has this in it; nil: nothing is known
	whole bool   // what has fixed in it matches
}

// compile reads the pattern; nil: it is empty. The error is model.ErrUsage.
func (p Pattern) compile() (*matcher, error) {
	if p.Text == "" {
		return nil, nil
	}
	expr := p.Text
	if p.Fixed {
		expr = regexp.QuoteMeta(expr)
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w: %w", p.Text, model.ErrUsage, err)
	}
	m := &matcher{}
	if !p.IgnoreCase {
		m.fixed, m.whole = required(parsed.Simplify())
		m.whole = m.whole && !p.Word
	}
	if p.Word {
		expr = `(?:^|\W)(?:` + expr + `)(?:\W|$)`
	}
	if p.IgnoreCase {
		expr = `(?i)` + expr
	}
	if m.re, err = regexp.Compile(expr); err != nil {
		return nil, fmt.Errorf("pattern %q: %w: %w", p.Text, model.ErrUsage, err)
	}
	return m, nil
}

// required gives the longest text that every match of an expression has in it; whole: nothing else is asked of a match.
func required(e *syntax.Regexp) (text []byte, whole bool) {
	switch e.Op {
	case syntax.OpLiteral:
		if e.Flags&syntax.FoldCase == 0 {
			return []byte(string(e.Rune)), !slices.Contains(e.Rune, '\n')
		}
	case syntax.OpCapture:
		return required(e.Sub[0])
	case syntax.OpPlus:
		text, _ = required(e.Sub[0])
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			if t, _ := required(sub); len(t) > len(text) {
				text = t
			}
		}
	}
	return text, false
}

// lines calls fn for each line of a content that matches, with its number from 1 and without its line feed, until fn
// returns false.
func (m *matcher) lines(content []byte, fn func(n int, line []byte) bool) {
	n, at := 1, 0
	for at < len(content) {
		if m.fixed != nil {
			i := bytes.Index(content[at:], m.fixed)
			if i < 0 {
				return
			}
			start := at + bytes.LastIndexByte(content[at:at+i], '\n') + 1
			n += bytes.Count(content[at:start], newline)
			at = start
		}
		end := len(content)
		if i := bytes.IndexByte(content[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := content[at:end]
		if (m.whole && m.fixed != nil || m.re.Match(line)) && !fn(n, line) {
			return
		}
		at, n = end+1, n+1
	}
}

// in reports whether some line of a content matches.
func (m *matcher) in(content []byte) (found bool) {
	m.lines(content, func(int, []byte) bool {
		found = true
		return false
	})
	return found
}

var newline = []byte{'\n'}

func quoted(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = strconv.Quote(s)
	}
	return strings.Join(q, ", ")
}

// cutLine splits a content behind its first line, which is given without its line feed.
func cutLine(content []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(content, newline)
	return line, rest
}
