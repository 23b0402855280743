package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// Programs with several mutants have one of them at a time: the one whose number is in the environment variable chosen.
const chosen = "REWIND_MUTANT"

// chooser is a file more in the package.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var mutantOn__, _ = strconv.Atoi(os.Getenv("` + chosen + `"))
`

// switched is the part of a source that a program with several mutants has twice.
type switched struct {
	from, to int
	as       string // its type; "": it is a statement, which is left out or not
}

// switchable is the innermost expression of a known type, of the node that has the fault and those above it, with all
// that a connective joins it to, since || joins less than && does. as is its type; "" is a statement's.
func switchable(above []ast.Node) (n ast.Node, as string) {
	n = above[len(above)-1]
	switch last := n.(type) {
	case *ast.IfStmt: // its last return
		return last.Body.List[len(last.Body.List)-1], ""
	case *ast.ExprStmt:
		return n, ""
	}
	as = "int"
	for _, up := range slices.Backward(above) {
		switch up := up.(type) {
		case ast.Stmt:
			return n, as
		case *ast.UnaryExpr:
			if as == "int" && up.Op == token.NOT {
				n, as = up, "bool"
			}
		case *ast.BinaryExpr:
			if as == "int" && neighbours[up.Op] != 0 || connectives[up.Op] != 0 {
				n, as = up, "bool"
			}
		default:
			if as == "bool" {
				return n, as
			}
		}
	}
	return n, as
}

// fits reports whether the part can be there twice: lines keep their numbers, so that statements and comments must not
// be among several, and recover works in the function alone that is deferred.
func (s switched) fits(src []byte) bool {
	part := src[s.from:s.to]
	lines := bytes.ContainsRune(part, '\n') && (bytes.ContainsAny(part, "{`") || bytes.Contains(part, []byte("//")))
	return s.as == "" || !lines && !bytes.Contains(part, []byte("recover("))
}

// together returns a source with the mutants of it, by their numbers.
func together(src []byte, mutants map[int]mutant) []byte {
	groups := map[switched][]int{}
	for n, m := range mutants {
		groups[m.switched] = append(groups[m.switched], n)
	}
	outerFirst := func(a, b switched) int { return cmp.Or(a.from-b.from, b.to-a.to) }
	parts := slices.SortedFunc(maps.Keys(groups), outerFirst)
	var render func(from, to int, in []switched) string
	render = func(from, to int, in []switched) string {
		var out strings.Builder
		for len(in) > 0 {
			part, inner := in[0], in[1:]
			n := slices.IndexFunc(inner, func(s switched) bool { return s.from >= part.to })
			if n < 0 {
				n = len(inner)
			}
			out.Write(src[from:part.from])
			text := render(part.from, part.to, inner[:n])
			for _, i := range slices.Sorted(slices.Values(groups[part])) {
				text = part.choice(src, text, i, mutants[i])
			}
			out.WriteString(text)
			from, in = part.to, inner[n:]
		}
		out.Write(src[from:to])
		return out.String()
	}
	return []byte(render(0, len(src), parts))
}

// choice is a part with one more mutant, whose number is n.
func (s switched) choice(src []byte, text string, n int, m mutant) string {
	if s.as == "" {
		return fmt.Sprintf("if mutantOn__ != %d { %s }", n, text)
	}
	other := slices.Concat(src[s.from:m.start], []byte(m.text), src[m.end:s.to])
	other = bytes.ReplaceAll(other, []byte("\n"), []byte(" "))
	return fmt.Sprintf("func() %s { if mutantOn__ == %d { return %s }; return %s }()", s.as, n, other, text)
}
