package torture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Test is a test of the matrix: it proves a promise, or is in a row, by its name.
type Test struct {
	Package  string // below the module: engine, cmd/rewind
	Name     string
	Row      string // T1 to T20; empty: in none
	Promises []int
}

// ID is how sizes name the test.
func (t Test) ID() string { return t.Package + "." + t.Name }

var (
	rowRE     = regexp.MustCompile(`T0?(\d{1,2})`)
	promiseRE = regexp.MustCompile(`P(?:romise)?(\d{1,2})`)
)

// numbers reads the row and the promises in the name of a test.
func numbers(name string) (row string, promises []int) {
	name = strings.TrimPrefix(name, "Test")
	for _, digits := range after(rowRE, name) {
		if _, ok := RowOf("T" + digits); ok && row == "" {
			row = "T" + digits
		}
	}
	for _, digits := range after(promiseRE, name) {
		if n, err := strconv.Atoi(digits); err == nil && n > 0 {
			promises = append(promises, n)
		}
	}
	return row, promises
}

// after gives the digits behind each match that begins a word and is no part of an acronym.
func after(re *regexp.Regexp, name string) (list []string) {
	for _, m := range re.FindAllStringSubmatchIndex(name, -1) {
		if m[0] == 0 || name[m[0]-1] < 'A' || name[m[0]-1] > 'Z' {
			list = append(list, name[m[2]:m[3]])
		}
	}
	return list
}

// Tests lists the tests of the matrix below the directory of the module, by row and name.
func Tests(root string) ([]Test, error) {
	var list []Test
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "acceptance"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			t := Test{Package: filepath.ToSlash(rel), Name: fn.Name.Name}
			if t.Row, t.Promises = numbers(t.Name); t.Row != "" || t.Promises != nil {
				list = append(list, t)
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b Test) int {
		if a.Row != b.Row {
			return rowNumber(a.Row) - rowNumber(b.Row)
		}
		return strings.Compare(a.ID(), b.ID())
	})
	return list, err
}

// rowNumber orders rows; what is in none comes last.
func rowNumber(row string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(row, "T"))
	if err != nil {
		return len(Rows) + 1
	}
	return n
}
