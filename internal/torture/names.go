package torture

import (
	"cmp"
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

// isSkipped reports whether a directory has no tests of a whole run.
func isSkipped(dir string) bool {
	return strings.HasPrefix(dir, ".") || dir == "testdata" || dir == "acceptance"
}

// worksIn are those of one file.
func worksIn(pkg string, f *ast.File) (list []Work) {
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
			if w, ok := workOf(pkg, fn.Name.Name); ok {
				list = append(list, w)
			}
		}
	}
	return list
}

// Works lists everything that a whole run does, by row: what is in the sources below the directory of the module, then
// the faults, then the packages.
func Works(root string) ([]Work, error) {
	var list []Work
	var packages []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && isSkipped(d.Name()):
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
		pkg := filepath.ToSlash(rel)
		if !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
		list = append(list, worksIn(pkg, f)...)
		return nil
	})
	slices.SortFunc(list, func(a, b Work) int {
		return cmp.Or(rowNumber(a.Row)-rowNumber(b.Row), int(a.Kind-b.Kind), strings.Compare(a.ID(), b.ID()))
	})
	for _, f := range Faults {
		list = append(list, Work{Kind: Broken, Package: f.Package, Name: f.Name, Row: "bugs"})
	}
	for _, pkg := range packages {
		list = append(list, Work{Kind: Rest, Package: pkg, Name: "rest", Row: "rest"})
	}
	return list, err
}

// workOf tells from the name of a function of a package's tests what it is: a test that has a row or a promise, or a
// target of fuzzing.
func workOf(pkg, name string) (Work, bool) {
	w := Work{Package: pkg, Name: name}
	switch {
	case strings.HasPrefix(name, "Fuzz"):
		w.Kind, w.Row = Fuzz, "T15"
		if slices.Contains(formats, w.ID()) {
			w.Row = "fuzz"
		}
		w.Size = fuzzSize(w)
		return w, true
	case strings.HasPrefix(name, "Test"):
		w.Row, w.Promises = numbers(name)
		w.Size, _ = sizeOf(w.ID())
		return w, w.Row != "" || w.Promises != nil
	}
	return w, false
}

// rowNumber orders rows; what is in none comes last.
func rowNumber(row string) int {
	if i := slices.IndexFunc(Rows, func(r Row) bool { return r.Name == row }); i >= 0 {
		return i
	}
	return len(Rows)
}
