package ignoretest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// gen makes rule sets and paths that lie close to their patterns.
type gen struct {
	*rand.Rand
	git string // its version, where that matters
}

// Random makes a repository of rule sets, each in a directory of its own, or of one set at the root (alone). git is the
// output of "git version": older ones are not asked about rules that they get wrong.
func Random(r *rand.Rand, git string, size int, alone bool) *Repo {
	return gen{r, git}.repo(size, alone)
}

// Avoid is a rules file without the lines that this version of git gets wrong.
func Avoid(git, file string) string { return gen{git: git}.avoid(file) }

// avoid empties the lines that git before 2.52 gets wrong: it took a literal and two stars inside one name, foo**/bar,
// for foo and **/bar, so that foobar matched. gitignore(5) says such stars are one star.
func (g gen) avoid(file string) string {
	if !g.before252() {
		return file
	}
	lines := strings.Split(file, "\n")
	for i, l := range lines {
		p := strings.TrimPrefix(strings.TrimPrefix(l, "\xef\xbb\xbf"), "!")
		p = strings.TrimPrefix(strings.TrimSuffix(strings.TrimRight(p, "\r "), "/"), "/")
		at := strings.IndexAny(p, `*?[\`)
		behind := at > 0 && p[at-1] != '/' // the first that is no plain byte
		if behind && strings.HasPrefix(p[at:], "**") && strings.Contains(l, "/") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

func (g gen) before252() bool {
	var major, minor int
	_, err := fmt.Sscanf(g.git, "git version %d.%d", &major, &minor)
	if err != nil {
		return false
	}
	return major < 2 || major == 2 && minor < 52
}

var genNames = []string{
	"a", "b", "ab", "abc", "A", "aB", "foo", "bar", "foo.o", "x.o", "a.b.c", "-", "!", "!a", "#", "#a", " ", "a ", " a",
	"\\", "a\\",
	"*", "**",
	"?", "[", "]", "[a]", "a-b", "^", ".x", "\xff", "a\xfe", "é", "日本", "a\nb", "a\rb", "a\r", "\t", "~", "zzzzzz", "0",
	"9.log", "a:b",
	":", "{a}", "$x",
	"build", "node_modules", "a\vb", "\x7f", "\xef\xbb\xbfa",
}

func (g gen) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g gen) chance(p float64) bool { return g.Float64() < p }

func (g gen) name() string {
	if g.chance(0.7) {
		return genNames[g.IntN(14)]
	}
	return genNames[g.IntN(len(genNames))]
}

func (g gen) repo(size int, alone bool) *Repo {
	r := &Repo{Alone: alone, Fold: g.chance(0.2)}
	n := size
	if alone {
		n = 1
	}
	for range n {
		r.Sets = append(r.Sets, g.set())
	}
	var near []string
	for _, s := range r.Sets {
		near = append(near, s.Paths...)
	}
	r.Excludes, r.Info = g.base(near, alone), g.base(near, alone)
	if !alone {
		// The sets' own directories are not ignored, so that each set is asked for more than its first level.
		r.Root = g.base(near, alone) + "\n!/s[0-9]*\n"
	}
	return r
}

// base is a rules file above the sets: few lines, as each speaks of every set.
func (g gen) base(near []string, alone bool) string {
	var b strings.Builder
	for range g.IntN(4) {
		l := g.line(near)
		if !alone && strings.Contains(strings.TrimSuffix(l, "/"), "/") && g.chance(0.7) {
			l = g.pick("s*/", "/s[0-9]*/", "**/", "s?/**/", "/s1*/") + strings.TrimPrefix(l, "/")
		}
		b.WriteString(l)
		b.WriteString(g.pick("\n", "\n", "\n", "\r\n"))
	}
	return g.avoid(b.String())
}

func (g gen) set() Set {
	s := Set{Files: map[string]string{}}
	seen := map[string]bool{}
	add := func(p string, dir bool) {
		if !seen[p] {
			seen[p] = true
			s.Paths = append(s.Paths, p)
			if dir {
				s.Dirs = append(s.Dirs, p)
			}
		}
	}
	dirs := []string{""}
	for range 2 + g.IntN(5) {
		d := dirs[g.IntN(len(dirs))]
		if d != "" {
			d += "/"
		}
		d += g.name()
		add(d, true)
		dirs = append(dirs, d)
	}
	for range 4 + g.IntN(6) {
		d := dirs[g.IntN(len(dirs))]
		if d != "" {
			d += "/"
		}
		add(d+g.name(), false)
	}
	s.Files[""] = g.file(s.Paths)
	for _, d := range dirs {
		if d == "" || !g.chance(0.3) {
			continue
		}
		var below []string
		for _, p := range s.Paths {
			if rest, ok := strings.CutPrefix(p, d+"/"); ok {
				below = append(below, rest)
			}
		}
		s.Files[d] = g.file(below)
	}
	return s
}

func (g gen) file(near []string) string {
	var b strings.Builder
	if g.chance(0.03) {
		b.WriteString("\xef\xbb\xbf")
	}
	n := 1 + g.IntN(6)
	for i := range n {
		b.WriteString(g.line(near))
		if i < n-1 || g.chance(0.8) {
			b.WriteString(g.pick("\n", "\n", "\n", "\n", "\n", "\n", "\r\n", "\n\n", " \n", "\t\n", "\r\r\n"))
		}
	}
	return g.avoid(b.String())
}

// line is a rule: mostly made from a path by wild cards and damage, sometimes free.
func (g gen) line(near []string) string {
	var p string
	switch {
	case len(near) > 0 && g.chance(0.75):
		p = near[g.IntN(len(near))]
		parts := strings.Split(p, "/")
		switch g.IntN(5) {
		case 0:
			p = parts[g.IntN(len(parts))]
		case 1:
			p = strings.Join(parts[g.IntN(len(parts)):], "/")
		case 2:
			parts[g.IntN(len(parts))] = g.pick("*", "**", "***", "?", "*a*", "[^/]", "**a", "a**", "\\**", "**\\")
			p = strings.Join(parts, "/")
		}
		p = g.wild(p)
	case g.chance(0.1):
		return g.pick("", "#", "# a", "!", "/", "//", "!/", "\\", "\\\\", " ", "\\ ", "a\\ ", "a\\\\ ", "\\#a", "\\!a",
			"!!a", "!\\!a", "!#a", "#!a", "**", "/**", "**/", "*/", "/*", "*/*",
			"/**/", "***/", "**/**", "*", "?", "[", "]", "[]", "[!]", "a\x00b", "\x00", "\r", "a/\\", "a\\/b", "**\\/b",
			"a/**\\/b", "/",
			".", "..", "./a", "a/.", "a//b", "[]-a]", "[!]-a]", "[]a]")
	default:
		p = g.free()
	}
	if g.chance(0.25) {
		p = "!" + p
	}
	if g.chance(0.2) {
		i := strings.LastIndexByte(p, '!') + 1
		p = p[:i] + g.pick("/", "**/", "*/", "/**/") + p[i:]
	}
	if g.chance(0.25) {
		p += g.pick("/", "/", "/", "/*", "/**", "*", "/**/", "//", " ", "\\ ", "\\", "  ")
	}
	return strings.ReplaceAll(p, "\n", g.pick("\n", "?", "*"))
}

// wild replaces bytes of a path by something that might match them.
func (g gen) wild(p string) string {
	var b strings.Builder
	rate := g.pick("0", "1", "3")[0] - '0'
	for i := range len(p) {
		c := p[i]
		if g.IntN(10) >= int(rate) {
			b.WriteByte(c)
			continue
		}
		b.WriteString(g.instead(c))
	}
	return b.String()
}

// instead is what might match a byte.
func (g gen) instead(c byte) string {
	switch g.IntN(14) {
	case 0, 1:
		return "?"
	case 2, 3:
		return "*"
	case 4:
		return "**"
	case 5:
		return string([]byte{'\\', c})
	case 6:
		return string([]byte{'[', c, ']'})
	case 7:
		return g.class()
	case 8:
		return g.pick("/**/", "**/", "/**", "/")
	case 9:
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		return string([]byte{c})
	case 10: // left out
		return ""
	case 11:
		return string([]byte{'*', c, '*'})
	case 12:
		return string([]byte{'[', c, '-', c, ']'})
	}
	return string([]byte{c, '*'})
}

func (g gen) class() string {
	return g.pick("[a-z]", "[A-Z]", "[!a]", "[^a]", "[!a-c]", "[]]", "[!]]", "[]-a]", "[a-]", "[-a]", "[--0]", "[\\]]",
		"[\\a-c]", "[a-\\c]", "[[:alpha:]]", "[[:upper:]]", "[[:lower:]]",
		"[[:digit:]x]", "[![:space:]]", "[[:foo:]]", "[[:alpha:]", "[[:]", "[[::]]", "[[:a]", "[[:alnum:]-z]", "[a/b]",
		"[!/]", "[a-c-e]",
		"[c-a]", "[[:punct:]]", "[[:xdigit:]]", "[[:graph:]]",
		"[[:print:]]", "[[:cntrl:]]", "[[:blank:]]", "[\\", "[a", "[!", "[\xfe-\xff]", "[A]", "[B-b]", "[[a]", "[a-z",
		"[*]", "[?]",
		"[!-a]", "[^^]", "[[:alpha:][:digit:]]", "[\\\\]", "[a\\-c]")
}

func (g gen) free() string {
	var b strings.Builder
	for range 1 + g.IntN(6) {
		switch g.IntN(9) {
		case 0:
			b.WriteString("*")
		case 1:
			b.WriteString("**")
		case 2:
			b.WriteString("/")
		case 3:
			b.WriteString("?")
		case 4:
			b.WriteString(g.class())
		case 5:
			b.WriteString("\\")
		default:
			b.WriteString(g.name())
		}
	}
	return b.String()
}
