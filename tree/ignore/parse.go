package ignore

import (
	"bytes"
	"strings"
)

// kind says how a rule is compared.
type kind byte

const (
	kindName      kind = iota // the name is lit
	kindSuffix                // the name ends with lit
	kindGlob                  // the name matches glob
	kindPath                  // the path is lit
	kindPathGlob              // the path matches glob, in which a star does not match a slash
	firstPathKind = kindPath
	anyDepth      = -1
	utf8BOM       = "\xef\xbb\xbf"
	globSpecial   = "*?[\\"
)

// rule is one line, compiled.
type rule struct {
	Rule
	kind    kind
	negate  bool // !: what matches is not ignored
	dirOnly bool // a slash at the end
	lit     string
	glob    glob
	prefix  string // path kinds: what every matching path begins with
	slashes int    // path kinds: slashes in every matching path, or anyDepth
}

func (r *rule) isPath() bool { return r.kind >= firstPathKind }

// parse reads a rules file as git does: a byte order mark at the very start is skipped; a line ends at \n or \r\n and
// at a NUL; empty lines and those that begin with # say nothing. Lines that can match no name give no rule.
func parse(f File, fold bool) []*rule {
	if len(f.Data) > maxFile {
		return nil
	}
	data := string(bytes.TrimPrefix(f.Data, []byte(utf8BOM)))
	var rules []*rule
	for n := 1; data != ""; n++ {
		line, rest, _ := strings.Cut(data, "\n")
		data = rest
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		if i := strings.IndexByte(line, 0); i >= 0 {
			line = line[:i]
		}
		if r := compile(trimBlanks(line), fold); r != nil {
			r.File, r.Line = f.Path, n
			rules = append(rules, r)
		}
	}
	return rules
}

// trimBlanks removes the spaces at the end, but not one that a backslash escapes. Tabs stay.
func trimBlanks(s string) string {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	if end == len(s) {
		return s
	}
	escapes := 0
	for escapes < end && s[end-1-escapes] == '\\' {
		escapes++
	}
	if escapes%2 == 1 {
		end++
	}
	return s[:end]
}

// compile gives the rule of a line, or nil when it can match no name.
func compile(line string, fold bool) *rule {
	r := &rule{Rule: Rule{Pattern: line}}
	p := line
	if strings.HasPrefix(p, "!") {
		r.negate, p = true, p[1:]
	}
	if strings.HasSuffix(p, "/") {
		r.dirOnly, p = true, p[:len(p)-1]
	}
	if p == "" {
		return nil
	}
	if !strings.Contains(p, "/") {
		return r.compileName(p, fold)
	}
	return r.compilePath(strings.TrimPrefix(p, "/"), fold)
}

func (r *rule) compileName(p string, fold bool) *rule {
	switch {
	case !strings.ContainsAny(p, globSpecial):
		r.kind, r.lit = kindName, p
		return r
	case p[0] == '*' && !strings.ContainsAny(p[1:], globSpecial):
		r.kind, r.lit = kindSuffix, p[1:]
		return r
	}
	g, ok := compileGlob(p, fold, false)
	if !ok {
		return nil
	}
	r.kind, r.glob = kindGlob, g
	if lit, ok := g.literal(); ok && !fold {
		r.kind, r.lit = kindName, lit
	}
	return r
}

func (r *rule) compilePath(p string, fold bool) *rule {
	if p == "" {
		return nil
	}
	r.kind, r.lit, r.prefix = kindPath, p, p
	if i := strings.IndexAny(p, globSpecial); i >= 0 {
		g, ok := compileGlob(p, fold, true)
		if !ok {
			return nil
		}
		r.kind, r.lit, r.prefix, r.glob, r.slashes = kindPathGlob, "", p[:i], g, g.slashes()
		if lit, ok := g.literal(); ok && !fold {
			r.kind, r.lit, r.prefix = kindPath, lit, lit
		}
		return r
	}
	r.slashes = strings.Count(p, "/")
	return r
}

// match reports whether the rule matches name in the directory dir ("" or "a/b/"), depth levels below the one that
// holds the rules file.
func (r *rule) match(dir string, depth int, name string, fold bool) bool {
	switch r.kind {
	case kindName:
		return same(r.lit, name, fold)
	case kindSuffix:
		return len(r.lit) <= len(name) && same(r.lit, name[len(name)-len(r.lit):], fold)
	case kindGlob:
		return r.glob.match(text{"", name})
	}
	if r.slashes != depth && r.slashes != anyDepth {
		return false
	}
	if r.kind == kindPath {
		return len(r.lit) == len(dir)+len(name) && same(r.lit[len(dir):], name, fold) && same(r.lit[:len(dir)], dir, fold)
	}
	return r.begins(dir, fold) && r.glob.match(text{dir, name})
}

// tail is the last byte of every name that the rule matches, where there is one such; without folding.
func (r *rule) tail() byte {
	if r.lit != "" {
		return r.lit[len(r.lit)-1]
	}
	if n := len(r.glob.prog); n > 0 && r.glob.prog[n-1].op == opByte {
		return r.glob.prog[n-1].b
	}
	return 0
}

// reaches reports whether the rule can match anything in the directory dir or below.
func (r *rule) reaches(dir string, depth int, fold bool) bool {
	if !r.isPath() {
		return true
	}
	return (r.slashes == anyDepth || r.slashes >= depth) && r.begins(dir, fold)
}

// begins reports whether dir and the rule's literal prefix agree as far as both go.
func (r *rule) begins(dir string, fold bool) bool {
	n := min(len(dir), len(r.prefix))
	return same(dir[:n], r.prefix[:n], fold)
}

// same compares two strings; folding looks at ASCII letters only.
func same(a, b string, fold bool) bool {
	if !fold {
		return a == b
	}
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
