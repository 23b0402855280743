package layertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forTests are packages that tests alone use, and bench, which is no part of the programs: their names need no user.
var forTests = []string{
	"bench", "engine/enginetest", "internal/acceptance", "internal/browsertest", "internal/built",
	"internal/ignoretest", "internal/kv/kvtest", "internal/layertest", "internal/ptytest", "internal/torture",
	"internal/record/recordtest", "internal/tracetest", "internal/worktreefs/faultfs", "objstore/objtest",
}

// unusedNames is the table of exceptions: a name (package.Name or package.Type.Name), a tab, the reason.
const unusedNames = "testdata/exported.txt"

// TestExportedNamesHaveUsers: what a package exports, something outside of it uses, tests not counted: a name of the
// package, a method or a field. A name that only its own package and tests use is to be lower-case; those that are not
// yet stand in a table, which only shrinks.
func TestExportedNamesHaveUsers(t *testing.T) {
	known := readUnused(t)
	for _, name := range unused(t, root(t)) {
		if _, ok := known[name]; !ok {
			t.Errorf("%s is exported, and nothing outside of its package uses it but tests: make it lower-case", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s: %s has a user by now, or is gone: take it out of the table", unusedNames, name)
	}
}

func readUnused(t *testing.T) map[string]string {
	raw, err := os.ReadFile(unusedNames)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, reason, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && reason != "" {
			known[name] = reason
		} else if name != "" {
			t.Errorf("%s: %q has no reason", unusedNames, name)
		}
	}
	return known
}

// checked is a package of the module as go list tells it.
type checked struct {
	ImportPath, Dir, Export, Name string
	GoFiles                       []string
	Module                        *struct{ Path string }
}

func listExports(t *testing.T, root string) (exports map[string]string, ours []checked) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,Name,GoFiles,Module", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports = map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p checked
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return exports, ours
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Path == module {
			ours = append(ours, p)
		}
	}
}

// usage is what the packages of the module use of each other. All types come from one importer, so that an object is
// the same for all.
type usage struct {
	used       map[types.Object]bool
	interfaces []*types.Interface
}

// unused lists the exported names without a user, sorted.
func unused(t *testing.T, root string) []string {
	exports, ours := listExports(t, root)
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	u := &usage{used: map[types.Object]bool{types.Universe.Lookup("error"): true}}
	u.addInterface(types.Universe.Lookup("error").Type())
	for _, p := range ours {
		u.read(t, fset, imp, p)
	}
	var names []string
	for _, p := range ours {
		short := strings.TrimPrefix(p.ImportPath, module+"/")
		if p.Name == "main" || slices.ContainsFunc(forTests,
			func(f string) bool { return short == f || strings.HasPrefix(short, f+"/") }) {
			continue
		}
		pkg, err := imp.Import(p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, slices.DeleteFunc(u.unusedOf(pkg, short), inTemplates(t, p.Dir))...)
	}
	slices.Sort(names)
	return names
}

// inTemplates tells fields and methods that a package's HTML templates name, and so must be exported.
func inTemplates(t *testing.T, dir string) func(name string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "html", "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, b...)
	}
	return func(name string) bool {
		last := name[strings.LastIndexByte(name, '.'):]
		return regexp.MustCompile(regexp.QuoteMeta(last) + `\b`).Match(text)
	}
}

// read takes in what the files of a package use of other packages, and which interfaces it knows.
func (u *usage) read(t *testing.T, fset *token.FileSet, imp types.Importer, p checked) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: imp}
	pkg, err := conf.Check(p.ImportPath, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range info.Uses {
		if o.Pkg() != nil && o.Pkg() != pkg {
			u.use(o)
		}
	}
	for _, tv := range info.Types {
		u.addInterface(tv.Type)
	}
	for _, dep := range pkg.Imports() {
		for _, name := range dep.Scope().Names() {
			u.addInterface(dep.Scope().Lookup(name).Type())
		}
	}
}

func (u *usage) addInterface(t types.Type) {
	if t == nil {
		return
	}
	if i, ok := t.Underlying().(*types.Interface); ok && i.NumMethods() > 0 && !slices.Contains(u.interfaces, i) {
		u.interfaces = append(u.interfaces, i)
	}
}

// use counts an object as used, and the types that its own type names: who has a value need not say the name of its
// type.
func (u *usage) use(o types.Object) {
	switch v := o.(type) {
	case *types.Var:
		o = v.Origin()
	case *types.Func:
		o = v.Origin()
	}
	if u.used[o] {
		return
	}
	u.used[o] = true
	if _, ok := o.(*types.TypeName); !ok {
		u.useTypes(o.Type())
	}
}

func (u *usage) useTypes(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		u.used[t.Origin().Obj()] = true
		for a := range t.TypeArgs().Types() {
			u.useTypes(a)
		}
	case *types.Alias:
		u.used[t.Obj()] = true
		u.useTypes(types.Unalias(t))
	case *types.Pointer:
		u.useTypes(t.Elem())
	case *types.Map:
		u.useTypes(t.Key())
		u.useTypes(t.Elem())
	case interface{ Elem() types.Type }: // slices, arrays, channels
		u.useTypes(t.Elem())
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				u.useTypes(v.Type())
			}
		}
	}
}

func (u *usage) unusedOf(pkg *types.Package, short string) (names []string) {
	report := func(o types.Object, name string) {
		if o.Exported() && !u.used[o] {
			names = append(names, fmt.Sprintf("%s.%s", short, name))
		}
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if c, ok := o.(*types.Const); !ok || !u.usesValueOf(pkg, c.Type()) {
			report(o, name)
		}
		tn, ok := o.(*types.TypeName)
		if !ok || tn.IsAlias() || !tn.Exported() {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok {
			continue
		}
		for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
			if own(pkg, named, m.Obj()) && !u.implements(named, m.Obj().Name()) {
				report(m.Obj(), name+"."+m.Obj().Name())
			}
		}
		s, ok := named.Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for i := range s.NumFields() {
			if f := s.Field(i); !f.Embedded() && s.Tag(i) == "" {
				report(f, name+"."+f.Name())
			}
		}
	}
	return names
}

// own reports whether a method is one of a type of the package, or of an unexported one that it embeds: nobody else can
// name that.
func own(pkg *types.Package, of *types.Named, method types.Object) bool {
	recv := method.Type().(*types.Signature).Recv().Type()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	n, ok := recv.(*types.Named)
	if !ok || n.Obj() == of.Obj() {
		return ok
	}
	return n.Obj().Pkg() == pkg && !n.Obj().Exported()
}

// usesValueOf reports whether a constant of a type of the package is used: then all values of the type are there for
// whoever has one.
func (u *usage) usesValueOf(pkg *types.Package, t types.Type) bool {
	if n, ok := t.(*types.Named); !ok || n.Obj().Pkg() != pkg {
		return false
	}
	return slices.ContainsFunc(pkg.Scope().Names(), func(name string) bool {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		return ok && types.Identical(c.Type(), t) && u.used[c]
	})
}

// implements reports whether a method is there since some interface asks for it, or package errors does.
func (u *usage) implements(t *types.Named, method string) bool {
	if slices.Contains([]string{"Is", "As", "Unwrap"}, method) &&
		types.Implements(types.NewPointer(t), u.interfaces[0]) {
		return true
	}
	for _, i := range u.interfaces {
		for m := range i.Methods() {
			if m.Name() == method && t.TypeParams().Len() > 0 || m.Name() == method &&
				types.Implements(types.NewPointer(t), i) {
				return true
			}
		}
	}
	return false
}
