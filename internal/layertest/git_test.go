package layertest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitIsStartedInOnePlace: a program of ours that starts git elsewhere would run what a repository names.
func TestGitIsStartedInOnePlace(t *testing.T) {
	dir, seen := root(t), 0
	helpers := []string{"bench/", "internal/torture/"}
	for _, h := range testHelpers {
		helpers = append(helpers, h.path+"/")
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (skipDirs[d.Name()] || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return err
		}
		rel = filepath.ToSlash(rel)
		for _, h := range helpers {
			if strings.HasPrefix(rel, h) {
				return nil
			}
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !startsGit(f) {
			return nil
		}
		if seen++; !strings.HasPrefix(rel, gitPlace+"/") {
			t.Errorf("%s starts git: use %s", rel, gitPlace)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("nobody starts git: the check sees nothing")
	}
}

// startsGit reports whether a file gives "git" to a function of os/exec.
func startsGit(f *ast.File) (yes bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		of, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if in, ok := of.X.(*ast.Ident); !ok || in.Name != "exec" {
			return true
		}
		for _, arg := range call.Args {
			lit, ok := arg.(*ast.BasicLit)
			yes = yes || ok && lit.Value == `"git"`
		}
		return true
	})
	return yes
}
