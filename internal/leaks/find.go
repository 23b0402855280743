package leaks

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"

	"rewind/internal/value"
)

const (
	// MaxSize is the size in bytes of the largest content that is looked at.
	MaxSize = 1 << 20
	// maxFindings is how many findings of one content are given, at most.
	maxFindings = 16

	maxBefore = 512      // bytes before a keyword in which a match may begin
	maxBehind = 4 << 10  // bytes behind a keyword
	sniffed   = 8 << 10  // bytes in which a NUL makes a content none of text
	maxAsked  = 16 << 20 // bytes that regular expressions are given of one content: hostile ones have every keyword everywhere
	maxTries  = 4096     // matches of one content that are looked at
	allowMark = "gitleaks:allow"
)

// Text reports whether a content is one to look at: text of at most MaxSize bytes.
func Text(content []byte) bool {
	return len(content) > 0 && len(content) <= MaxSize && bytes.IndexByte(content[:min(len(content), sniffed)], 0) < 0
}

// Find gives what a content has, the first of each rule, by line. The path decides too: rules and allowlists name kinds
// of files.
func (s *Scanner) Find(ctx context.Context, path string, content []byte) ([]value.Finding, error) {
	list, err := s.Matches(ctx, path, content)
	var out []value.Finding
	for _, m := range list {
		out = append(out, m.Finding)
	}
	return out, err
}

// Match is a finding with what was found, for who takes it out. It is nothing to show or to keep.
type Match struct {
	value.Finding
	Secret string
}

// Matches is Find with what was found.
func (s *Scanner) Matches(ctx context.Context, path string, content []byte) ([]Match, error) {
	if !Text(content) || pathAllowed(s.allow, path) {
		return nil, ctx.Err()
	}
	l := &search{s: s, path: path, text: string(content), near: make([][]span, len(s.rules))}
	l.keywords()
	var out []Match
	for i, r := range s.rules {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		unmatched := len(l.near[i]) == 0 || r.path != nil && !r.path.match(path)
		if unmatched || pathAllowed(r.allow, path) {
			continue
		}
		if at, secret, ok := l.ask(r, l.near[i]); ok {
			out = append(out, Match{value.Finding{Rule: r.id, Line: 1 + strings.Count(l.text[:at], "\n")}, secret})
		}
	}
	return best(out), nil
}

// best sorts by line; where a rule for one kind of token speaks of a line, what vaguer ones say of it is no news.
func best(list []Match) []Match {
	clearest := map[int]int{}
	for _, f := range list {
		if had, ok := clearest[f.Line]; !ok || vague(f.Rule) < had {
			clearest[f.Line] = vague(f.Rule)
		}
	}
	list = slices.DeleteFunc(list, func(f Match) bool { return vague(f.Rule) > clearest[f.Line] })
	slices.SortFunc(list, func(a, b Match) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Rule, b.Rule)
	})
	return list[:min(len(list), maxFindings)]
}

// vague is how little a rule says of what it found.
func vague(rule string) int {
	switch {
	case strings.HasPrefix(rule, "generic-password"), rule == "url-password", rule == "authorization-header":
		return 2
	case strings.Contains(rule, "generic"):
		return 1
	}
	return 0
}

// span is a part of a content.
type span struct{ from, to int }

// search is one content being looked at.
type search struct {
	s     *Scanner
	path  string
	text  string
	near  [][]span // by rule: where its keywords are, in order
	asked int
	tries int
}

// keywords finds where each rule is to be asked.
func (l *search) keywords() {
	var last span // around a keyword that begins at first, whose line ends at end
	first, end := 0, -1
	l.s.keywords.Walk(lower(l.text), func(ends, _, keyword int64) bool {
		if at := int(ends); at >= end || at-first > maxBefore/2 {
			last, first = l.around(at), at
			if end = strings.IndexByte(l.text[at:last.to], '\n'); end < 0 {
				end = last.to - at
			}
			end += at
		}
		w := last
		for _, r := range l.s.speaks[keyword] {
			list := l.near[r]
			if n := len(list); n > 0 && w.from <= list[n-1].to {
				list[n-1].to = max(list[n-1].to, w.to)
				list[n-1].from = min(list[n-1].from, w.from)
				continue
			}
			l.near[r] = append(list, w)
		}
		return true
	})
}

// lower is text with its ASCII letters small: of the same length, unlike what strings.ToLower gives.
func lower(text string) []byte {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// around is the line before that of at, to the end of the second behind it, or less where lines are long.
func (l *search) around(at int) span {
	w := span{from: at, to: at}
	least, most := max(0, at-maxBefore), min(len(l.text), at+maxBehind)
	for range 2 {
		i := strings.LastIndexByte(l.text[least:w.from], '\n')
		if i < 0 {
			w.from = least
			break
		}
		w.from = least + i
	}
	for range 3 {
		i := strings.IndexByte(l.text[w.to:most], '\n')
		if i < 0 {
			w.to = most
			break
		}
		w.to += i + 1
	}
	return w
}

// ask gives where the first match begins that counts, and the secret in it.
func (l *search) ask(r *rule, near []span) (at int, secret string, ok bool) {
	re := r.compile()
	if r.whole {
		near = []span{{0, len(l.text)}}
	}
	for _, w := range near {
		for w.from < w.to {
			if l.asked += w.to - w.from; l.asked > maxAsked || l.tries >= maxTries {
				return 0, "", false
			}
			part := l.text[w.from:w.to]
			m := re.FindStringIndex(part)
			if m == nil {
				break
			}
			l.tries++
			if secret, ok := l.counts(r, part[m[0]:m[1]], w.from+m[0]); ok {
				return w.from + m[0] + leading(part[m[0]:m[1]]), secret, true
			}
			l.asked -= w.to - w.from - m[1] // what is behind the match is asked again
			w.from += max(m[1], m[0]+1)
		}
	}
	return 0, "", false
}

// leading is how many newlines a match begins with.
func leading(match string) int { return len(match) - len(strings.TrimLeft(match, "\n")) }

// counts gives the secret in what a rule matched; ok is false where it is none.
func (l *search) counts(r *rule, match string, at int) (secret string, ok bool) {
	match = strings.Trim(match, "\n")
	line := l.lineOf(at, at+len(match))
	if strings.Contains(line, allowMark) {
		return "", false
	}
	secret = match
	g := r.re.FindStringSubmatch(match)
	if r.check != nil && (g == nil || !r.check(l.path, g)) {
		return "", false
	}
	if len(g) > 1 {
		if r.group > 0 {
			secret = g[r.group]
		} else if i := slices.IndexFunc(g[1:], func(s string) bool { return s != "" }); i >= 0 {
			secret = g[1+i]
		}
	}
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return "", false
	}
	return secret, !allowed(l.s.allow, l.path, match, secret, line) && !allowed(r.allow, l.path, match, secret, line)
}

// lineOf is the lines of a part, at most maxBehind bytes of what is before and behind.
func (l *search) lineOf(from, to int) string {
	least, most := max(0, from-maxBehind), min(len(l.text), to+maxBehind)
	a := least + strings.LastIndexByte(l.text[least:from], '\n') + 1
	b := strings.IndexByte(l.text[min(to, most):most], '\n')
	if b < 0 {
		return l.text[a:most]
	}
	return l.text[a : to+b]
}

// entropy is Shannon's, in bits a character.
func entropy(s string) float64 {
	counts := map[rune]int{}
	for _, c := range s {
		counts[c]++
	}
	sum := 0.0
	for _, k := range counts {
		f := float64(k) / float64(len(s))
		sum -= f * math.Log2(f)
	}
	return sum
}
