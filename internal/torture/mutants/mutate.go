package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A mutant is a source file with one fault: the bytes from start to end are replaced by text.
type mutant struct {
	file       string // its name in the directory of the package
	line       int
	kind       string
	start, end int
	text       string
	switched   // where the mutant is chosen, if the program has several
}

// mutantsOf returns all mutants of a source file, in the order of their places. Some of them do not compile.
func mutantsOf(name string, src []byte) ([]mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	c := collector{name: name, src: src, file: fset.File(f.Pos())}
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			c.above = c.above[:len(c.above)-1]
			return true
		}
		c.above = append(c.above, n)
		c.visit(n)
		return true
	})
	slices.SortStableFunc(c.list, func(a, b mutant) int { return a.start - b.start })
	return c.list, nil
}

type collector struct {
	name  string
	src   []byte
	file  *token.File
	above []ast.Node // the node that is visited, and those that it is in, the outermost first
	list  []mutant
}

// add notes a mutant that has text for what lies from one place to another.
func (c *collector) add(kind string, from, to token.Pos, text string) {
	n, as := switchable(c.above)
	at := switched{c.file.Offset(n.Pos()), c.file.Offset(n.End()), as}
	c.list = append(c.list, mutant{c.name, c.file.Line(from), kind, c.file.Offset(from), c.file.Offset(to), text, at})
}

// textOf is the source of a node.
func (c *collector) textOf(n ast.Node) string {
	return string(c.src[c.file.Offset(n.Pos()):c.file.Offset(n.End())])
}

func (c *collector) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		c.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			c.add("negation", n.OpPos, n.X.Pos(), "")
		}
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			c.add("call", n.Pos(), n.End(), "")
		}
	case *ast.BasicLit:
		c.constant(n)
	case *ast.IfStmt:
		if n.Else == nil && len(n.Body.List) > 0 {
			if last, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt); ok {
				c.add("return", last.Pos(), last.End(), "")
			}
		}
	}
}

var neighbours = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
}

var connectives = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}

func (c *collector) binary(n *ast.BinaryExpr) {
	end := n.OpPos + token.Pos(len(n.Op.String()))
	if other, ok := neighbours[n.Op]; ok {
		c.add("comparison", n.OpPos, end, other.String())
	}
	if other, ok := connectives[n.Op]; ok {
		c.add("connective", n.OpPos, end, other.String())
		c.add("operand", n.Pos(), n.End(), c.textOf(n.X))
		c.add("operand", n.Pos(), n.End(), c.textOf(n.Y))
	}
}

// constant adds the neighbours of a decimal integer. Masks and modes, which are written otherwise, have none.
func (c *collector) constant(n *ast.BasicLit) {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != token.INT || err != nil || strconv.Itoa(i) != n.Value {
		return
	}
	c.add("constant", n.Pos(), n.End(), strconv.Itoa(i+1))
	if i > 0 {
		c.add("constant", n.Pos(), n.End(), strconv.Itoa(i-1))
	}
}

// apply returns the source with the fault.
func (m mutant) apply(src []byte) []byte {
	return slices.Concat(src[:m.start], []byte(m.text), src[m.end:])
}

// diff shows the lines that change, as diff -u does.
func (m mutant) diff(src []byte) string {
	from, to := bytes.LastIndexByte(src[:m.start], '\n')+1, len(src)
	if i := bytes.IndexByte(src[m.end:], '\n'); i >= 0 {
		to = m.end + i
	}
	var out strings.Builder
	marked := func(mark, text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, " \t\n"); line != "" {
				out.WriteString(mark + line + "\n")
			}
		}
	}
	marked("-", string(src[from:to]))
	marked("+", string(src[from:m.start])+m.text+string(src[m.end:to]))
	return out.String()
}
