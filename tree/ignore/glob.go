package ignore

import "strings"

// op is what one instruction of a glob consumes.
type op byte

const (
	opByte     op = iota // this byte
	opAny                // ?: any byte but a slash
	opSet                // [...]: a byte of the set, never a slash
	opStar               // *: bytes without a slash
	opDeep               // **/ : nothing, or anything that ends with a slash
	opDeepMust           // **\/ : anything that ends with a slash
	opRest               // ** at the end: anything
)

type inst struct {
	op  op
	b   byte
	set *set
}

// set is a set of bytes.
type set [8]uint32

func (s *set) add(c byte)      { s[c>>5] |= 1 << (c & 31) }
func (s *set) has(c byte) bool { return s[c>>5]&(1<<(c&31)) != 0 }

// glob is a compiled pattern.
type glob struct {
	prog  []inst
	fold  bool // text is lowered before it is compared
	least int  // bytes that every match has
}

// text is a directory and a name in it, as one string that is never built.
type text struct{ dir, name string }

func (t text) len() int { return len(t.dir) + len(t.name) }

func (t text) at(i int) byte {
	if i < len(t.dir) {
		return t.dir[i]
	}
	return t.name[i-len(t.dir)]
}

// afterSlash is the index after the first slash at or after i, or -1.
func (t text) afterSlash(i int) int {
	if i < len(t.dir) {
		if j := strings.IndexByte(t.dir[i:], '/'); j >= 0 {
			return i + j + 1
		}
	}
	return -1 // names have no slash
}

// compileGlob reads a pattern. ok is false when it is malformed: such a pattern matches nothing. With path, two or more
// stars that fill all between two slashes match any number of directories; otherwise they are one star.
func compileGlob(p string, fold, path bool) (g glob, ok bool) {
	g.fold = fold
	for i := 0; i < len(p); {
		c := p[i]
		switch c {
		case '*':
			j := i
			for j < len(p) && p[j] == '*' {
				j++
			}
			s, n := star(p, i, j, path)
			g.prog = append(g.prog, s)
			i = n
			continue
		case '?':
			g.prog = append(g.prog, inst{op: opAny})
		case '[':
			set, n, ok := class(p[i:], fold)
			if !ok {
				return glob{}, false
			}
			g.prog = append(g.prog, inst{op: opSet, set: set})
			i += n
			g.least++
			continue
		case '\\':
			if i++; i == len(p) {
				return glob{}, false
			}
			// An escaped letter is not folded: under FoldCase a capital matches nothing, in git as well.
			g.prog = append(g.prog, inst{op: opByte, b: p[i]})
		default:
			if fold {
				c = lower(c)
			}
			g.prog = append(g.prog, inst{op: opByte, b: c})
		}
		i++
		g.least++
	}
	return g, true
}

// star gives the instruction of the stars p[i:j] and the index after what it consumes.
func star(p string, i, j int, path bool) (inst, int) {
	if path && j-i >= 2 && (i == 0 || p[i-1] == '/') {
		switch rest := p[j:]; {
		case rest == "":
			return inst{op: opRest}, j
		case rest[0] == '/':
			return inst{op: opDeep}, j + 1
		case strings.HasPrefix(rest, `\/`):
			return inst{op: opDeepMust}, j + 2
		}
	}
	return inst{op: opStar}, j
}

// literal gives the only text that the glob matches, if there is but one.
func (g *glob) literal() (string, bool) {
	b := make([]byte, len(g.prog))
	for i, s := range g.prog {
		if s.op != opByte {
			return "", false
		}
		b[i] = s.b
	}
	return string(b), true
}

// slashes counts the slashes of every match, or is anyDepth.
func (g *glob) slashes() int {
	n := 0
	for _, s := range g.prog {
		switch {
		case s.op == opByte && s.b == '/':
			n++
		case s.op == opDeep || s.op == opDeepMust || s.op == opRest:
			return anyDepth
		}
	}
	return n
}

// match needs no more than two points to come back to. A star ends inside its directory, and the text after it, up to
// the next slash, is best matched as far left as possible. The part between two deep steps spans a fixed number of
// directories. Again the leftmost place leaves most to the later steps. So only the last of each has to be tried
// further: O(len(text)^2 * len(steps)).
func (g *glob) match(t text) bool {
	n := t.len()
	if g.least > n {
		return false
	}
	steps := g.prog
	p, i := 0, 0
	starP, starI := -1, 0
	deepP, deepI := -1, 0
	for {
		if p == len(steps) {
			if i == n {
				return true
			}
		} else {
			switch s := &steps[p]; s.op {
			case opStar:
				p++
				starP, starI = p, i
				continue
			case opDeep:
				p++
				deepP, deepI, starP = p, i, -1
				continue
			case opDeepMust:
				p++
				deepP, deepI, starP = p, i, -1
			case opRest:
				return true
			default:
				if i < n && s.matches(t.at(i), g.fold) {
					p++
					i++
					continue
				}
			}
		}
		switch {
		case starP >= 0 && starI < n && t.at(starI) != '/':
			starI++
			p, i = starP, starI
		case deepP >= 0:
			if deepI = t.afterSlash(deepI); deepI < 0 {
				return false
			}
			p, i, starP = deepP, deepI, -1
		default:
			return false
		}
	}
}

func (s *inst) matches(c byte, fold bool) bool {
	if fold {
		c = lower(c)
	}
	switch s.op {
	case opByte:
		return c == s.b
	case opAny:
		return c != '/'
	default:
		return s.set.has(c)
	}
}
