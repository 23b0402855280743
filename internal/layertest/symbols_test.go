package layertest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// symbols are the names that the packages declare, by the last part of a package's path: two packages of the same name
// count as one.
type symbols struct {
	in  map[string]map[string]bool // package to names: of the package, methods, fields, and tests
	of  map[string]map[string]bool // type to its methods and fields
	on  map[string]map[string]bool // type to the types that it embeds, whose methods and fields it has
	all map[string]bool            // functions, methods and types of all packages
}

// TestDocumentsNameSymbols: what a document names in backquotes as a name of ours is in the code: `package.Name`,
// `Type.Name`, `Name(` and the names of tests. A document of a decision may speak of what is no more.
func TestDocumentsNameSymbols(t *testing.T) {
	dir := root(t)
	s := readSymbols(t, dir)
	seen := 0
	for name, text := range documents(t, dir) {
		n, bad := s.check(name, text)
		seen += n
		report(t, bad)
	}
	if seen < 50 {
		t.Errorf("the documents name only %d symbols", seen)
	}
}

var (
	spanRE   = regexp.MustCompile("`[^`\n]+`")
	symbolRE = regexp.MustCompile(`^(\w+)\.(\w+)(?:\.(\w+))?(?:\(.*)?$`)
	callRE   = regexp.MustCompile(`^(\w*[A-Z]\w*)\(`)
	testRE   = regexp.MustCompile(`^((?:Test|Fuzz|Benchmark)[A-Z0-9]\w*)(\*|<\w+>)?$`)
)

// check gives how many names of ours a document has, and those that do not exist.
func (s *symbols) check(name, text string) (seen int, bad []string) {
	for _, span := range spanRE.FindAllString(text, -1) {
		span = strings.Trim(span, "`")
		known, ours := s.has(span)
		if !ours {
			continue
		}
		seen++
		if !known {
			bad = append(bad, name+": names "+span+", which is not in the code")
		}
	}
	return seen, bad
}

// has reports whether the code has what a span names. ours: the span is a name of ours.
func (s *symbols) has(span string) (known, ours bool) {
	if m := testRE.FindStringSubmatch(span); m != nil {
		return s.all[m[1]] || m[2] != "" && s.hasPrefix(m[1]), true
	}
	if m := callRE.FindStringSubmatch(span); m != nil {
		return s.all[m[1]], true
	}
	m := symbolRE.FindStringSubmatch(span)
	if m == nil {
		return false, false
	}
	if names := s.in[m[1]]; names != nil && ast.IsExported(m[2]) {
		return names[m[2]] && (m[3] == "" || names[m[3]]), true
	}
	return s.member(m[1], m[2], map[string]bool{}), ast.IsExported(m[1]) && ast.IsExported(m[2])
}

// member reports whether a type has a method or a field, or embeds one that has.
func (s *symbols) member(of, name string, seen map[string]bool) bool {
	if s.of[of][name] {
		return true
	}
	seen[of] = true // types of two packages may have one name
	for on := range s.on[of] {
		if !seen[on] && s.member(on, name, seen) {
			return true
		}
	}
	return false
}

// hasPrefix reports whether the code has a name that begins so: a document may name tests as `TestName*` or
// `TestName<Agent>`.
func (s *symbols) hasPrefix(prefix string) bool {
	for name := range s.all {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func newSymbols() *symbols {
	return &symbols{
		map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]bool{},
	}
}

// readSymbols reads the declarations of all files of Go, tests too.
func readSymbols(t *testing.T, dir string) *symbols {
	s := newSymbols()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (skipDirs[d.Name()] || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.read(path.Base(filepath.ToSlash(filepath.Dir(file))), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *symbols) read(pkg string, f *ast.File) {
	add := func(to map[string]map[string]bool, key, name string) {
		if to[key] == nil {
			to[key] = map[string]bool{}
		}
		to[key][name] = true
	}
	declare := func(name string) {
		add(s.in, pkg, name)
		s.all[name] = true
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			declare(fn.Name.Name)
			if typ, _, isMethod := strings.Cut(funcName(fn), "."); isMethod {
				add(s.of, typ, fn.Name.Name)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			declare(n.Name.Name)
			ast.Inspect(n.Type, func(in ast.Node) bool {
				if field, ok := in.(*ast.Field); ok {
					if on, ok := embedded(field); ok {
						add(s.on, n.Name.Name, on)
					}
					for _, id := range field.Names {
						add(s.of, n.Name.Name, id.Name)
						add(s.in, pkg, id.Name)
					}
				}
				return true
			})
		case *ast.ValueSpec:
			for _, id := range n.Names {
				declare(id.Name)
			}
		}
		return true
	})
}

// embedded is the name of the type that a field embeds.
func embedded(f *ast.Field) (string, bool) {
	of := f.Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if id, ok := of.(*ast.Ident); ok && len(f.Names) == 0 {
		return id.Name, true
	}
	return "", false
}

// TestSymbols: each form of a name is found, and one that is not in the code is a breach.
func TestSymbols(t *testing.T) {
	const code = "package kv\ntype DB struct{ Dir string; *lower }\ntype lower struct{ Deep int }\n" +
		"func (d *DB) Close() {}\nfunc Open() {}\nfunc TestOpen() {}\n"
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	s := newSymbols()
	s.read("kv", f)
	for _, c := range []struct {
		text      string
		seen, bad int
	}{
		{"`kv.Open`, `kv.DB.Dir`, `DB.Close`, `kv.Open(ctx)`, `Open(x)`, `TestOpen`, `TestOp<Agent>`, `TestO*`", 8, 0},
		{"`DB.Deep`", 1, 0},
		{"`kv.Shut`, `DB.Shut`, `Shut()`, `TestShut`, `FuzzOpen`, `TestShut*`, `Store.Close`, `kv.DB.Shut`", 8, 8},
		{"`os.Open`, `kv.go`, `README.md`, `gc.keep`, `print()`, kv.Shut, `Makefile`", 0, 0},
	} {
		if seen, bad := s.check("a.md", c.text); seen != c.seen || len(bad) != c.bad {
			t.Errorf("%s: %d seen, %q; want %d and %d", c.text, seen, bad, c.seen, c.bad)
		}
	}
}
