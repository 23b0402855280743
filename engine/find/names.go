package find

import (
	"regexp"
	"strings"

	"rewind/engine/model"
	"rewind/refs"
)

// names are the paths that a search is about, with all below them: those that were given, as they are and as patterns,
// and those that these had before. None given: every path is meant.
type names struct {
	given    refs.PathSet
	patterns []pattern
	had      map[string]bool // earlier names
	above    map[string]bool // the directories above those
}

// A pattern is a path with *, ? or [, as git reads them in a path: * and ? stand for any bytes, a slash among them.
type pattern struct {
	re  *regexp.Regexp
	dir string // all that matches lies in it
}

// newNames reads paths that a person gave, relative to the project's root; the error is model.ErrUsage.
func newNames(paths []string) (*names, error) {
	given, err := model.NewPathSet(paths)
	if err != nil {
		return nil, err
	}
	n := &names{given: given, had: map[string]bool{}, above: map[string]bool{}}
	for _, p := range given {
		if at := strings.IndexAny(p, `*?[\`); at >= 0 {
			n.patterns = append(n.patterns, pattern{globRegexp(p), p[:max(strings.LastIndexByte(p[:at], '/'), 0)]})
		}
	}
	return n, nil
}

// has reports whether a path is meant.
func (n *names) has(path string) bool {
	if n.given.Has(path) {
		return true
	}
	for _, p := range n.patterns {
		if p.re.MatchString(path) {
			return true
		}
	}
	return n.had[path]
}

// below reports whether something in a directory may be meant.
func (n *names) below(dir string) bool {
	if n.given.Has(dir) || n.given.HasBelow(dir) || n.above[dir] {
		return true
	}
	for _, p := range n.patterns {
		if refs.Below(dir, p.dir) || refs.Below(p.dir, dir) {
			return true
		}
	}
	return false
}

// follow adds a name that a file had before.
func (n *names) follow(path string) {
	n.had[path] = true
	for dir := path; dir != ""; n.above[dir] = true {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
	}
}

// globRegexp turns a pattern into an expression for paths that match, and for what is below those.
func globRegexp(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)^(?:`)
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		case '[':
			end := i + 2 // the first character of a class may be ]
			if end < len(glob) && (glob[i+1] == '!' || glob[i+1] == '^') {
				end++
			}
			for end < len(glob) && glob[end] != ']' {
				end++
			}
			if end >= len(glob) {
				b.WriteString(`\[`)
				continue
			}
			class := glob[i+1 : end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			class = "[" + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(class) + "]"
			if _, err := regexp.Compile(class); err != nil {
				class = regexp.QuoteMeta(glob[i : end+1])
			}
			b.WriteString(class)
			i = end
		case '\\':
			if i+1 < len(glob) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	b.WriteString(`)(?:/.*)?$`)
	re, err := regexp.Compile(b.String())
	if err != nil { // bytes that are no text: only the path as it is
		return regexp.MustCompile(`^\b\B$`)
	}
	return re
}
