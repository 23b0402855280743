package restore_test

import (
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
)

// A directory that holds what stays does not go, and nothing comes in its place; one beside it, whatever it is called,
// does. Nothing comes below a file that stays.
func TestDirectoriesThatHoldWhatStays(t *testing.T) {
	t.Parallel()
	type files = map[string]string
	for name, c := range map[string]struct {
		then, now files
		unsaved   files
		ignored   string
		o         restore.Options
		want      files // "": nothing; "d": a directory
		kept      []string
	}{
		"an ignored file in a directory that the target lacks": {
			then:    files{"f": "1"},
			now:     files{"f": "2", "d/x": "x", "d/i": "ignored", "d0/x": "x", "d-/x": "x"},
			ignored: "i\n",
			want:    files{"f": "1", "d/x": "", "d/i": "ignored", "d0": "", "d-": ""},
		},
		"an ignored file where the target has a file": {
			then:    files{"f": "1", "d": "a file", "d0": "a file"},
			now:     files{"f": "2", "d/x": "x", "d/i": "ignored", "d0/x": "x"},
			ignored: "i\n",
			want:    files{"f": "1", "d/x": "", "d/i": "ignored", "d0": "a file"},
			kept:    []string{"occupied d"},
		},
		"an ignored file deeper, where the target has a file": {
			then:    files{"d": "a file", "z": "1"},
			now:     files{"d/e/i": "ignored", "d/e/x": "x", "z": "2"},
			ignored: "i\n",
			want:    files{"d/e/i": "ignored", "d/e/x": "", "z": "1"},
			kept:    []string{"occupied d"},
		},
		"a file that nobody knows, where the target has a file": {
			then: files{"d": "a file", "f": "1"}, now: files{"d/x": "x", "f": "2"}, unsaved: files{"d/new": "N"},
			o:    restore.Options{KeepMine: true},
			want: files{"d/x": "", "d/new": "N", "f": "1"},
			kept: []string{"occupied d", "session d/new"},
		},
		"a file that nobody knows, where the target has a directory": {
			then: files{"d/x": "1", "d/e/y": "1", "dx": "1", "f": "1"},
			now:  files{"dx": "2", "f": "2"}, unsaved: files{"d": "N"},
			o:    restore.Options{KeepMine: true},
			want: files{"d": "N", "dx": "1", "f": "1"},
			kept: []string{"session d", "below d/e", "below d/e/y", "below d/x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			if c.ignored != "" {
				p.Write(".gitignore", c.ignored)
			}
			lay(p, c.then)
			one := p.Save("then")
			a := p.Agent("a")
			a.Start()
			a.Prompt("go")
			a.Run("1", func() {
				for path := range c.then {
					first, _, _ := strings.Cut(path, "/")
					p.Remove(first)
				}
				lay(p, c.now)
			})
			a.Stop()
			lay(p, c.unsaved)
			c.o.Session.Session = "a"
			before := enginetest.List(t, p.Root)
			r := p.Checkout(one.ID.String(), c.o)
			enginetest.Equal(t, "kept", keptOnly(r), append([]string{}, c.kept...))
			for path, want := range c.want {
				if b, err := os.ReadFile(p.Path(path)); string(b) != want || (err == nil) != (want != "") {
					t.Errorf("%s is %q, %v; want %q", path, b, err, want)
				}
			}
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
			p.Must(err)
			p.WantTree(before)
		})
	}
}

// keptOnly are the paths that a restore kept, without directories that only hold something.
func keptOnly(r *restore.Result) []string {
	list := []string{}
	for _, k := range r.Plan.Kept {
		if k.Reason != value.KeptHolds {
			list = append(list, string(k.Reason)+" "+string(k.Path))
		}
	}
	return list
}

// A restore of some paths looks above them for what is in the way, however deep, and at nothing that it sets itself.
func TestPathsBelowWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("a/b/c/x", "1")
	p.Write("a/b/y", "1")
	p.Write("l/x", "1")
	one := p.Save("one")
	p.Remove("a/b", "l")
	p.Write("a/b", "a file")
	p.Must(os.Symlink("a", p.Path("l")))
	p.Save("two")
	for _, c := range []struct {
		paths refs.PathSet
		kept  []string
		b, l  string
	}{
		{refs.PathSet{"a/b/c/x", "l/x"}, []string{"below a/b/c", "below a/b/c/x", "below l/x"}, "a file", "a"},
		{refs.PathSet{"a/b/c"}, []string{"below a/b/c", "below a/b/c/x"}, "a file", "a"},
		{refs.PathSet{"a/b", "l/x"}, []string{"below l/x"}, "", "a"},
		{refs.PathSet{"a", "l"}, []string{}, "", ""},
	} {
		r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: c.paths}})
		enginetest.Equal(t, "kept", p.KeptNames(r), c.kept)
		b, _ := os.ReadFile(p.Path("a/b"))
		l, _ := os.Readlink(p.Path("l"))
		if string(b) != c.b || l != c.l {
			t.Errorf("%q: a/b is %q, l %q", c.paths, b, l)
		}
		if r.Operation != nil {
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
			p.Must(err)
		}
	}
}
