package layertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this module.
const module = "rewind"

// root returns the directory of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// load lists the packages with go list and reads the files that are not tests,
// those for other operating systems too.
func load(t *testing.T, root string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,CgoFiles,IgnoredGoFiles", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l struct {
			ImportPath, Dir                   string
			GoFiles, CgoFiles, IgnoredGoFiles []string
		}
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		p := pkg{
			path:    strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, module), "/"),
			imports: map[string][]string{},
			calls:   map[string][]string{},
		}
		for _, name := range slices.Concat(l.GoFiles, l.CgoFiles, l.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			full := filepath.Join(l.Dir, name)
			rel, err := filepath.Rel(root, full)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), full, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.read(filepath.ToSlash(rel), f)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// read adds what a file imports, and which functions of imported packages and
// methods of fields it mentions, called or passed on.
func (p *pkg) read(file string, f *ast.File) {
	names := map[string]string{} // name in this file to import path
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it
		}
		p.imports[path] = append(p.imports[path], file)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				p.inits = append(p.inits, file)
			}
		case *ast.SelectorExpr:
			of := ""
			switch x := n.X.(type) {
			case *ast.Ident:
				of = names[x.Name]
			case *ast.SelectorExpr:
				of = x.Sel.Name
			}
			if f := of + "." + n.Sel.Name; of != "" && !slices.Contains(p.calls[f], file) {
				p.calls[f] = append(p.calls[f], file)
			}
		}
		return true
	})
}
