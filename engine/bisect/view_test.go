package bisect_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/bisect"
	"rewind/engine/enginetest"
	"rewind/internal/treecopy"
)

// viewed is a project with directories that no checkpoint has, in two states.
func viewed(t *testing.T) *enginetest.Project {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "/build\n/node_modules\n/big\n")
	p.Write("n", "1")
	p.Write("build/out", "built")
	p.Write("node_modules/dep/index.js", "dep")
	p.Write("big/a", strings.Repeat("x", 1<<16))
	p.Must(os.Symlink(p.Path("build"), p.Path("node_modules/abs")))
	p.Must(os.Chmod(p.Path("node_modules/dep"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(p.Path("node_modules/dep"), 0o700) })
	p.Save("one")
	p.Write("n", "2")
	p.Save("two")
	return p
}

// copies is a Clone for file systems that have no reflinks.
func copies(to, from *os.File) error {
	_, err := io.Copy(to, from)
	return err
}

func noReflinks(*os.File, *os.File) error { return treecopy.ErrNoReflink }

// TestT27Promise20Ways: each way in which a directory that no checkpoint has can be in the scratch directory, and that
// nothing which is done there reaches the project's.
func TestT27Promise20Ways(t *testing.T) {
	gid := os.Getegid()
	for _, tt := range []struct {
		name    string
		reflink treecopy.Clone
		mounts  bisect.Mounts
		limits  *[2]treecopy.Size
		want    map[string]string // how, or a part of why it is not there
	}{
		{
			"reflinks", copies,
			bisect.Mounts{Overlay: true, Group: gid},
			nil,
			map[string]string{"build": "reflink", "node_modules": "reflink", "big": "reflink"},
		},
		{
			"overlay", noReflinks,
			bisect.Mounts{Overlay: true, ReadOnly: true, Own: true, Group: gid},
			nil,
			map[string]string{"build": "overlay", "node_modules": "overlay", "big": "overlay"},
		},
		{
			"another group's files", noReflinks,
			bisect.Mounts{Overlay: true, ReadOnly: true, Own: true, Group: gid + 1},
			nil,
			map[string]string{"build": "group", "node_modules": "read-only", "big": "group"},
		},
		{
			"read-only mounts", noReflinks,
			bisect.Mounts{ReadOnly: true, Group: gid},
			nil,
			map[string]string{"build": "privately", "node_modules": "read-only", "big": "privately"},
		},
		{
			"neither", noReflinks,
			bisect.Mounts{Group: gid},
			nil,
			map[string]string{"build": "privately", "node_modules": "copy", "big": "privately"},
		},
		{
			"too many for reflinks", copies,
			bisect.Mounts{Group: gid},
			&[2]treecopy.Size{{Entries: 4}, {}},
			map[string]string{"build": "reflink", "node_modules": "copy", "big": "reflink"},
		},
		{
			"too large to copy", noReflinks,
			bisect.Mounts{Group: gid},
			&[2]treecopy.Size{{Entries: 100}, {Bytes: 2}},
			map[string]string{"build": "privately", "node_modules": "too large", "big": "privately"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer bisect.SetReflink(tt.reflink)()
			if tt.limits != nil {
				defer bisect.SetLimits(tt.limits[0], tt.limits[1])()
			}
			p := viewed(t)
			before := enginetest.List(t, p.Root)
			r, err := p.E.Bisector.Start(enginetest.Bg, bisect.Options{Bad: "@", Mounts: tt.mounts}, nil)
			p.Must(err)
			mounted := fmt.Sprint(r.Mounts)
			for _, l := range r.Links {
				want := tt.want[l.Path]
				if string(l.How) != want && (l.Why == "" || !strings.Contains(l.Why, want)) {
					t.Errorf("%s: %+v, want %q", l.Path, l, want)
				}
				if at := l.How == "overlay" || l.How == "read-only"; at != strings.Contains(mounted, l.Path) {
					t.Errorf("%s is %+v, mounts are %v", l.Path, l, r.Mounts)
				}
				there := filepath.Join(r.Dir, l.Path)
				if _, err := os.Lstat(there); (err == nil) != (l.How == "copy" || l.How == "reflink" || l.How == "read-only") {
					t.Errorf("%s: %+v, and there is %v", l.Path, l, err)
				}
				vandalise(t, there)
			}
			r, err = p.E.Bisector.Mark(enginetest.Bg, r.Session, bisect.Said{As: bisect.Bad}, nil)
			p.Must(err)
			if d := enginetest.List(t, p.Root).Diff(before); d != "" {
				t.Errorf("the project changed:\n%s", d)
			}
			p.Must(p.E.Bisector.Reset(r.Session))
			if d := enginetest.List(t, p.Root).Diff(before); d != "" {
				t.Errorf("its end changed the project:\n%s", d)
			}
		})
	}
}

// vandalise does to a directory of the scratch directory what a command may do.
func vandalise(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o777)
		}
		if err == nil && d.Type().IsRegular() {
			_ = os.Chmod(path, 0o666)
			if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				_, _ = f.WriteString("more")
				f.Close()
			}
		}
		return nil
	})
	abs := filepath.Join(dir, "abs")
	if to, err := os.Readlink(abs); err == nil && filepath.IsAbs(to) {
		t.Errorf("%s leads to %s", abs, to)
	}
	_ = os.RemoveAll(filepath.Join(abs, "out"))
	_ = os.RemoveAll(filepath.Join(dir, "dep"))
}

// Where a state has something at such a path itself, that is there, and nothing is mounted.
func TestViewOfAStateThatHasIt(t *testing.T) {
	defer bisect.SetReflink(noReflinks)()
	p := enginetest.NewProject(t)
	p.Write("build/out", "captured")
	p.Save("one")
	p.Write(".gitignore", "/build\n")
	p.Remove("build")
	p.Save("two")
	p.Write("build/now", "ignored")
	p.Write("n", "3")
	p.Save("three")
	o := bisect.Options{Bad: "@", Mounts: bisect.Mounts{Overlay: true, Group: os.Getegid()}}
	r, err := p.E.Bisector.Start(enginetest.Bg, o, nil)
	p.Must(err)
	if fmt.Sprint(r.Mounts) != "[build]" {
		t.Errorf("mounts %v, want build: %+v", r.Mounts, r.Links)
	}
	r, err = p.E.Bisector.Mark(enginetest.Bg, r.Session, bisect.Said{As: bisect.Bad}, nil) // the oldest, then
	p.Must(err)
	if b, err := os.ReadFile(filepath.Join(r.Dir, "build/out")); err != nil || string(b) != "captured" || len(r.Mounts) > 0 {
		t.Errorf("%q, %v, mounts %v", b, err, r.Mounts)
	}
}
