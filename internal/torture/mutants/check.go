package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
)

// A checker finds what the compiler would not take, in the time that the compiler needs to begin.
type checker struct {
	path    string            // of the package
	sources map[string][]byte // without a fault, by name
	files   *token.FileSet
	imports types.Importer
	numbers map[place]string // the types of integers, where the sources have them
}

type place struct {
	file   string
	offset int
}

// newChecker reads what the imports of a package and of the chooser export.
func newChecker(ctx context.Context, dir, pkg string, sources map[string][]byte) (*checker, error) {
	cmd := command(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Export", "os", "strconv", "./"+pkg)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &checker{sources: sources, files: token.NewFileSet(), numbers: map[place]string{}}
	exports := map[string]string{}
	for dec := json.NewDecoder(out); ; {
		var p struct{ ImportPath, Export string }
		if err = dec.Decode(&p); err != nil {
			break
		}
		c.path, exports[p.ImportPath] = p.ImportPath, p.Export // the package itself is the last
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return nil, fmt.Errorf("go list -export %s: %w", pkg, err)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	c.imports = importer.ForCompiler(c.files, "gc", open)
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	c.typed(nil, info)
	for e, is := range info.Types {
		if n, ok := e.(*ast.BasicLit); ok && n.Kind == token.INT {
			at := c.files.Position(n.Pos())
			c.numbers[place{at.Filename, at.Offset}] = types.TypeString(types.Default(is.Type), c.named)
		}
	}
	return c, nil
}

// named is what a package is called in the sources, if they do not say otherwise.
func (c *checker) named(p *types.Package) string {
	if p.Path() == c.path {
		return ""
	}
	return p.Name()
}

// check is where errors are in the package, with some files replaced and some more.
func (c *checker) check(replaced map[string][]byte) []token.Position { return c.typed(replaced, nil) }

func (c *checker) typed(replaced map[string][]byte, info *types.Info) (wrong []token.Position) {
	sources, list := maps.Clone(c.sources), []*ast.File{}
	maps.Copy(sources, replaced)
	for name, src := range sources {
		f, err := parser.ParseFile(c.files, name, src, parser.SkipObjectResolution)
		if err != nil {
			return []token.Position{{Filename: name}}
		}
		list = append(list, f)
	}
	note := func(err error) {
		if t, ok := errors.AsType[types.Error](err); ok {
			wrong = append(wrong, c.files.Position(t.Pos))
		}
	}
	conf := types.Config{Importer: c.imports, Error: note}
	conf.Check(c.path, c.files, list, info) //nolint:errcheck // note has it
	return wrong
}
