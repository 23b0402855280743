package layertest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "bring testdata/ratchet.txt down to the code; it never goes up")

// The limits of the ratchet. What was above them on the day of the ratchet is in a list, which only gets shorter.
const (
	maxCyclomatic  = 15  // of a function, as gocyclo counts
	maxConnectives = 2   // of && and || in a line: name the halves
	maxColumns     = 120 // of a line, a tab as 4
	maxWords       = 40  // of a sentence in a document or a comment
)

// walkers are the rooms that may walk the log; the others ask for rows (docs/decisions/134-turns-are-rows.md). What
// still walked it on the day of the rule is in the list.
var walkers = []string{"engine/ledger/", "engine/oplog/", "engine/fsck/", "engine/enginetest/", "refs/"}

// ratchetFile has a line an exception: the rule, the file or file:function, and the number today. The number is the
// function's cyclomatic complexity, how many lines or sentences of the file are above the limit, or how many walks over
// the log the file has; 1 for a test that stands inside a room of the engine. For such a test all packages between the
// room and enginetest are compiled once more, some twenty.
const ratchetFile = "testdata/ratchet.txt"

// TestRatchet holds the code to the limits, but for what the list has. An exception that got better is to be brought
// down in the list as well: `go test ./internal/layertest -run TestRatchet -update` does that. It adds and enlarges
// nothing.
func TestRatchet(t *testing.T) {
	listed := readRatchet(t)
	found := measureModule(t, root(t))
	for name, text := range documents(t, root(t)) {
		if !strings.HasPrefix(name, "docs/decisions/") && name != "docs/api-fields.md" {
			count(found, "words "+name, longSentences(text))
		}
	}
	if len(found) == 0 && len(listed) > 0 {
		t.Fatal("nothing is above the limits: the measures see nothing")
	}
	worse, better := compareRatchet(listed, found)
	report(t, worse)
	if !*update {
		report(t, better)
		return
	}
	if len(worse) == 0 {
		writeRatchet(t, found)
	}
}

// compareRatchet holds what was found against the list.
func compareRatchet(listed, found map[string]int) (worse, better []string) {
	for what, n := range found {
		switch was, known := listed[what]; {
		case !known:
			worse = append(worse, fmt.Sprintf("%s: %d: above the limit, and the list of exceptions gets no longer", what, n))
		case n > was:
			worse = append(worse, fmt.Sprintf("%s: %d, and was %d", what, n, was))
		}
	}
	for what, was := range listed {
		if n := found[what]; n < was {
			better = append(better, fmt.Sprintf("%s: %d, and the list has %d: run this test with -update", what, n, was))
		}
	}
	return sorted(worse), sorted(better)
}

// measureModule measures every file of Go but generated ones. Tests count for columns alone: a test is read from top
// to bottom, and a table of cases with its checks is one function.
func measureModule(t *testing.T, dir string) map[string]int {
	found := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (skipDirs[d.Name()] || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return measure(found, filepath.ToSlash(rel), src)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// measure adds what is above the limits in one file.
func measure(found map[string]int, name string, src []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil || ast.IsGenerated(f) {
		return err
	}
	line := func(p token.Pos) int { return fset.Position(p).Line }
	add := func(rule string, n int) { count(found, rule+" "+name, n) }
	add("columns", longLines(string(src), rawLines(f, line)))
	if strings.HasSuffix(name, "_test.go") {
		if strings.HasPrefix(name, "engine/") && !strings.HasSuffix(f.Name.Name, "_test") {
			add("inside", 1)
		}
		return nil
	}
	add("connectives", crowdedLines(f, line))
	long := 0
	for _, c := range f.Comments {
		long += longSentences(c.Text())
	}
	add("words", long)
	if !slices.ContainsFunc(walkers, func(room string) bool { return strings.HasPrefix(name, room) }) {
		add("walks", walks(f))
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && cyclomatic(fn) > maxCyclomatic {
			found["cyclomatic "+name+":"+funcName(fn)] = cyclomatic(fn)
		}
	}
	return nil
}

// count adds n cases of a rule; none are no exception.
func count(found map[string]int, what string, n int) {
	if n > 0 {
		found[what] = n
	}
}

// rawLines are the lines with a raw string, which cannot be broken.
func rawLines(f *ast.File, line func(token.Pos) int) map[int]bool {
	raw := map[int]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "`") {
			for i := range strings.Count(lit.Value, "\n") + 1 {
				raw[line(lit.Pos())+i] = true
			}
		}
		return true
	})
	return raw
}

// longLines counts the lines that are too long and that could be broken: no raw string, no URL.
func longLines(src string, raw map[int]bool) (n int) {
	at := 0
	for text := range strings.Lines(src) {
		at++
		text = strings.TrimSuffix(text, "\n")
		columns := utf8.RuneCountInString(text) + 3*strings.Count(text, "\t")
		if columns > maxColumns && !raw[at] && !strings.Contains(text, "://") {
			n++
		}
	}
	return n
}

// crowdedLines counts the lines with too many connectives.
func crowdedLines(f *ast.File, line func(token.Pos) int) (n int) {
	in := map[int]int{}
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && connects(b) {
			in[line(b.OpPos)]++
		}
		return true
	})
	for _, connectives := range in {
		if connectives > maxConnectives {
			n++
		}
	}
	return n
}

// walks counts the calls that walk the log.
func walks(f *ast.File) (n int) {
	ast.Inspect(f, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if fn, ok := call.Fun.(*ast.SelectorExpr); ok && isWalk(fn) {
			n++
		}
		return true
	})
	return n
}

// isWalk reports whether a method walks the log: of refs.Store, or Made or NewestMade of the log.
func isWalk(fn *ast.SelectorExpr) bool {
	switch of, _ := fn.X.(*ast.SelectorExpr); {
	case of == nil:
		return false
	case fn.Sel.Name == "Made", fn.Sel.Name == "NewestMade":
		return strings.EqualFold(of.Sel.Name, "log")
	default:
		return of.Sel.Name == "Refs" && slices.Contains([]string{"Newest", "NewestOf", "Since"}, fn.Sel.Name)
	}
}

func connects(b *ast.BinaryExpr) bool { return b.Op == token.LAND || b.Op == token.LOR }

// cyclomatic is the complexity of a function with the literals in it: 1, and 1 for each if, for, case and connective.
func cyclomatic(fn *ast.FuncDecl) int {
	sum := 1
	ast.Inspect(fn, func(n ast.Node) bool {
		counts := false
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			counts = true
		case *ast.CaseClause:
			counts = n.List != nil
		case *ast.CommClause:
			counts = n.Comm != nil
		case *ast.BinaryExpr:
			counts = connects(n)
		}
		if counts {
			sum++
		}
		return true
	})
	return sum
}

// funcName is the name of a function, after its receiver's type.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	receiver := ""
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && receiver == "" {
			receiver = id.Name
		}
		return true
	})
	return receiver + "." + fn.Name.Name
}

func readRatchet(t *testing.T) map[string]int {
	raw, err := os.ReadFile(ratchetFile)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		var rule, what string
		var n int
		if _, err := fmt.Sscan(line, &rule, &what, &n); err != nil {
			t.Fatalf("%s: %q: %v", ratchetFile, line, err)
		}
		listed[rule+" "+what] = n
	}
	return listed
}

func writeRatchet(t *testing.T, found map[string]int) {
	var lines []string
	for what, n := range found {
		lines = append(lines, fmt.Sprintf("%s %d\n", what, n))
	}
	slices.Sort(lines)
	if err := os.WriteFile(ratchetFile, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMeasures: each limit finds what is above it, and nothing else.
func TestMeasures(t *testing.T) {
	long := strings.Repeat("x", maxColumns)
	const eight = "if a && b { }\nif a || b { }\nif a { }\nif a { }\nfor a { }\nfor range a { }\n" // adds 8
	for _, c := range []struct {
		name, text, want string
	}{
		{"a.go", "package p\n\n// " + long + "\n", "map[columns a.go:1]"},
		{"a_test.go", "package p\n\nvar x = \"" + long + "\"\n//\t" + long + "\n", "map[columns a_test.go:2]"},
		{"a.go", "package p\n\n//\t" + long[6:] + "\n// " + strings.Repeat("ü", 118) + "\n", "map[columns a.go:1]"},
		{"a.go", "package p\n\n// https://" + long + "\nvar x = `\n" + long + "\n`\n", "map[]"},
		{"a.go", "// Code generated by a test. DO NOT EDIT.\n\npackage p\n\n// " + long + "\n", "map[]"},
		{"a.go", "package p\n\nvar x = a && b || c\nvar y = \"&& || &&\" // a && b && c && d\n", "map[]"},
		{"a.go", "package p\n\nvar x = a && b || c && d\nvar y = a && b &&\n c && d\n", "map[connectives a.go:1]"},
		{"a_test.go", "package p\n\nvar x = a && b || c && d\n", "map[]"},
		{"engine/p/a_test.go", "package p\n", "map[inside engine/p/a_test.go:1]"},
		{"engine/p/a_test.go", "package p_test\n", "map[]"},
		{"a.go", "package p\n\nfunc f() { " + eight + "switch { case a: case b: default: }\ng(func() { if a { }\nif a { }\n" +
			"select { case <-c: case <-d: default: } }) }\n", "map[]"}, // 15
		{"a.go", "package p\n\nfunc (r *T[K]) f() { " + eight + eight + "}\n", "map[cyclomatic a.go:T.f:17]"},
		{"a_test.go", "package p\n\nfunc f() { " + eight + eight + "}\n", "map[]"},
		{
			"engine/a.go", "package p\n\nvar x = r.log.Refs.Newest(0, f)\nvar y = l.Made(f)\nvar z = a.Newest(f)\n",
			"map[walks engine/a.go:1]",
		},
		{"engine/a.go", "package p\n\nvar x = e.Log.Refs.Since(1, g(e.log.Made(f)))\n", "map[walks engine/a.go:2]"},
		{"engine/ledger/a.go", "package p\n\nvar x = r.log.Refs.Newest(0, f)\n", "map[]"},
	} {
		found := map[string]int{}
		if err := measure(found, c.name, []byte(c.text)); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if got := fmt.Sprint(found); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestCompareRatchet: an exception that is new, grew, shrank or went is each said.
func TestCompareRatchet(t *testing.T) {
	worse, better := compareRatchet(
		map[string]int{"same": 3, "grew": 3, "shrank": 3, "went": 3},
		map[string]int{"same": 3, "grew": 4, "shrank": 2, "new": 1},
	)
	for _, c := range []struct {
		got  []string
		want []string
	}{{worse, []string{"grew", "new"}}, {better, []string{"shrank", "went"}}} {
		var names []string
		for _, line := range c.got {
			name, _, _ := strings.Cut(line, ":")
			names = append(names, name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
