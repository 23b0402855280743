package merge_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// state is a worktree: the text of each file by path. "->x" is a link, "dir" a directory; "700 " before it are
// permissions.
type state map[string]string

// lay makes the worktree hold a state, and nothing else.
func (s state) lay(p *enginetest.Project) {
	list, err := os.ReadDir(p.Root)
	p.Must(err)
	for _, e := range list {
		if e.Name() != ".agent" {
			p.Remove(e.Name())
		}
	}
	for path, text := range s {
		p.Must(os.MkdirAll(filepath.Dir(p.Path(path)), 0o755))
		perm, dir := os.FileMode(0o644), os.FileMode(0o755)
		if rest, ok := strings.CutPrefix(text, "700 "); ok {
			text, perm, dir = rest, 0o700, 0o700
		}
		if rest, ok := strings.CutPrefix(text, "600 "); ok {
			text, perm = rest, 0o600
		}
		switch to, link := strings.CutPrefix(text, "->"); {
		case link:
			p.Must(os.Symlink(to, p.Path(path)))
		case text == "dir":
			p.Must(os.MkdirAll(p.Path(path), dir))
			p.Must(os.Chmod(p.Path(path), dir))
		default:
			p.Must(os.WriteFile(p.Path(path), []byte(text), perm))
		}
	}
}

// shown is what a path becomes, written as in a state.
func shown(p *enginetest.Project, c *capture.Capture, ent *tree.Entry) string {
	switch {
	case ent == nil:
		return "-"
	case ent.Type == tree.TypeDir:
		return fmt.Sprintf("%o dir", ent.Perm)
	}
	text, err := c.Get.Get(objstore.Blob, ent.ID)
	p.Must(err)
	if ent.Type == tree.TypeSymlink {
		return "->" + string(text)
	}
	if int64(len(text)) != ent.Size {
		p.T.Fatalf("size %d, the content has %d", ent.Size, len(text))
	}
	return fmt.Sprintf("%o %s", ent.Perm, text)
}

// brought gives what a change makes of the worktree as it is: what is set, and what is said of each path.
func brought(p *enginetest.Project, ask merge.Ask, o merge.Options) (set, said []string, err error) {
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	ch, err := p.E.Merger.ChangeOf(enginetest.Bg, ask)
	if err != nil {
		return nil, nil, err
	}
	return into(p, ch, o)
}

// into brings a change into the worktree as it is. The log's lock is held.
func into(p *enginetest.Project, ch *merge.Change, o merge.Options) (set, said []string, err error) {
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	c, err := p.E.Worktree.Capture(enginetest.Bg, root, capture.Options{})
	p.Must(err)
	defer c.Discard()
	m, err := p.E.Merger.Into(c, ch, o)
	if err != nil {
		return nil, nil, err
	}
	for _, step := range m.Steps() {
		set = append(set, step.Path+": "+shown(p, c, step.New))
	}
	for _, v := range m.List {
		line := fmt.Sprintf("%s %s", v.Path, v.Verdict)
		if v.Reason != "" {
			line += " " + string(v.Reason)
		}
		if v.Places != 0 {
			line += fmt.Sprintf(" at %d", v.Places)
		}
		if v.Was != "" {
			line += " was " + string(v.Was)
		}
		said = append(said, line)
	}
	return set, said, nil
}

// TestInto: what a change makes of a worktree, by what the change did, what is there, and how it is asked for.
func TestInto(t *testing.T) {
	ours, theirs := merge.Options{Prefer: textdiff.Ours}, merge.Options{Prefer: textdiff.Theirs}
	reverse := merge.Options{Reverse: true}
	only := func(paths ...string) merge.Options { return merge.Options{Only: refs.PathSet(paths)} }
	big := strings.Repeat("x", textdiff.MaxBytes+1)
	const db = "SQLite format 3\x00"
	for _, c := range []struct {
		name             string
		base, change, is state
		o                merge.Options
		set, said        string
	}{
		{"applied", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "1\n", "g": ""}, merge.Options{}, "f: 644 2\n", "f applied"},
		{"already", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "2\n"}, merge.Options{}, "", "f already"},
		{"taken back", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "2\n"}, reverse, "f: 644 1\n", "f applied"},
		{"added", state{"g": ""}, state{"g": "", "f": "1\n"}, state{"g": ""}, merge.Options{}, "f: 644 1\n", "f applied"},
		{"added, taken back", state{"g": ""}, state{"g": "", "f": "1\n"}, state{"g": "", "f": "1\n"}, reverse, "f: -", "f applied"},
		{"removed", state{"f": "1\n", "g": ""}, state{"g": ""}, state{"f": "1\n"}, merge.Options{}, "f: -", "f applied"},
		{
			"some paths",
			state{"f": "1\n", "d/g": "1\n"},
			state{"f": "2\n", "d/g": "2\n"},
			state{"f": "1\n", "d/g": "1\n"},
			only("d"),
			"d/g: 644 2\n", "d/g applied",
		},
		{
			"merged",
			state{"f": "1\n2\n3\n"},
			state{"f": "1\n2\nC\n"},
			state{"f": "A\n2\n3\n"},
			merge.Options{},
			"f: 644 A\n2\nC\n", "f merged",
		},
		{
			"merged, and it is there",
			state{"f": "1\n2\n3\n"},
			state{"f": "1\n2\nC\n"},
			state{"f": "A\n2\nC\n"},
			merge.Options{},
			"", "f already",
		},
		{
			"conflict",
			state{"f": "1\n"},
			state{"f": "2\n"},
			state{"f": "3\n"},
			merge.Options{},
			"f: 644 <<<<<<< worktree\n3\n=======\n2\n>>>>>>> change\n", "f conflict text at 1",
		},
		{"conflict, ours", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "3\n"}, ours, "", "f settled text at 1"},
		{"conflict, theirs", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "3\n"}, theirs, "f: 644 2\n", "f settled text at 1"},
		{
			"both added",
			state{"g": ""},
			state{"g": "", "f": "2\n"},
			state{"f": "3\n"},
			merge.Options{},
			"f: 644 <<<<<<< worktree\n3\n=======\n2\n>>>>>>> change\n", "f conflict added at 1",
		},
		{"binary", state{"f": "\x001"}, state{"f": "\x002"}, state{"f": "\x003"}, merge.Options{}, "", "f conflict binary"},
		{"binary, ours", state{"f": "\x001"}, state{"f": "\x002"}, state{"f": "\x003"}, ours, "", "f settled binary"},
		{"binary, theirs", state{"f": "\x001"}, state{"f": "\x002"}, state{"f": "\x003"}, theirs, "f: 644 \x002", "f settled binary"},
		{"too large", state{"f": "1"}, state{"f": big}, state{"f": "3"}, merge.Options{}, "", "f conflict too_large"},
		{"too large, theirs", state{"f": big}, state{"f": "2"}, state{"f": "3"}, theirs, "f: 644 2", "f settled too_large"},
		{"deleted here", state{"f": "1\n"}, state{"f": "2\n"}, state{"g": ""}, merge.Options{}, "", "f conflict deleted"},
		{"deleted here, theirs", state{"f": "1\n"}, state{"f": "2\n"}, state{"g": ""}, theirs, "f: 644 2\n", "f settled deleted"},
		{"deleted here, ours", state{"f": "1\n"}, state{"f": "2\n"}, state{"g": ""}, ours, "", "f settled deleted"},
		{"deleted there", state{"f": "1\n", "g": ""}, state{"g": ""}, state{"f": "3\n"}, merge.Options{}, "", "f conflict modified"},
		{"deleted there, theirs", state{"f": "1\n", "g": ""}, state{"g": ""}, state{"f": "3\n"}, theirs, "f: -", "f settled modified"},
		{"both deleted", state{"f": "1\n", "g": ""}, state{"g": ""}, state{"g": ""}, merge.Options{}, "", "f already"},
		{"moved here", state{"f": "one\n"}, state{"f": "two\n"}, state{"h": "one\n"}, merge.Options{}, "h: 644 two\n", "h applied was f"},
		{"link", state{"f": "->a"}, state{"f": "->b"}, state{"f": "->a"}, merge.Options{}, "f: ->b", "f applied"},
		{"links", state{"f": "->a"}, state{"f": "->b"}, state{"f": "->c"}, merge.Options{}, "", "f conflict link"},
		{"links, theirs", state{"f": "->a"}, state{"f": "->b"}, state{"f": "->c"}, theirs, "f: ->b", "f settled link"},
		{"another type here", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "->c"}, merge.Options{}, "", "f conflict type"},
		{"another type there", state{"f": "1\n"}, state{"f": "->c"}, state{"f": "2\n"}, merge.Options{}, "", "f conflict type"},
		{"another type before", state{"f": "->a"}, state{"f": "1\n"}, state{"f": "2\n"}, merge.Options{}, "", "f conflict type"},
		{"a directory here", state{"f": "1\n"}, state{"f": "2\n"}, state{"f/x": ""}, theirs, "", "f conflict type"},
		{
			"a directory there",
			state{"f": "1\n"},
			state{"f/x": ""},
			state{"f": "1\n"},
			theirs, "f: 755 dir; f/x: 644 ",
			"f applied; f/x applied",
		},
		{
			"a directory there, and another file here",
			state{"f": "1\n"},
			state{"f/x": ""},
			state{"f": "2\n"},
			theirs, "",
			"f conflict type; f/x conflict blocked",
		},
		{
			"a file instead of a directory",
			state{"d/a": "1\n", "d/e/b": "2\n"},
			state{"d": "3\n"},
			state{"d/a": "1\n", "d/e/b": "2\n"},
			merge.Options{},
			"d: 644 3\n; d/a: -; d/e: -; d/e/b: -",
			"d applied; d/a applied; d/e/b applied",
		},
		{
			"a file instead of a directory that has more now",
			state{"d/a": "1\n"},
			state{"d": "3\n"},
			state{"d/a": "1\n", "d/mine": "2\n"},
			merge.Options{},
			"d/a: -", "d conflict type; d/a applied",
		},
		{
			"a directory moved away for a file",
			state{"d/a": "1\n"},
			state{"d": "3\n", "e/a": "1\n"},
			state{"d": "3\n", "e/a": "1\n"},
			reverse,
			"d: 755 dir; d/a: 644 1\n; e: -; e/a: -",
			"d applied; d/a applied; e/a applied",
		},
		{
			"a directory moved away for a file that was changed since",
			state{"d/a": "1\n"},
			state{"d": "3\n", "e/a": "1\n"},
			state{"d": "mine\n", "e/a": "1\n"},
			reverse, "",
			"d conflict type; d/a conflict blocked; e/a conflict moved",
		},
		{
			"a file moved into a directory of its name, which has more now",
			state{"d": "1\n"},
			state{"d/a": "1\n"},
			state{"d/a": "1\n", "d/mine": "2\n"},
			reverse, "",
			"d conflict type; d/a conflict moved",
		},
		{"a directory here, nothing there", state{"f": "1\n", "g": ""}, state{"g": ""}, state{"f/x": ""}, theirs, "", "f conflict type"},
		{
			"a directory there, nothing here",
			state{"f": "1\n"},
			state{"f/x": "1"},
			state{"g": ""},
			merge.Options{},
			"f: 755 dir; f/x: 644 1", "f conflict type; f/x applied",
		},

		{"permissions", state{"f": "1\n"}, state{"f": "700 1\n"}, state{"f": "3\n"}, merge.Options{}, "f: 700 3\n", "f applied"},
		{"permissions here", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "700 1\n"}, merge.Options{}, "f: 700 2\n", "f applied"},
		{
			"permissions of both",
			state{"f": "1\n"},
			state{"f": "600 2\n"},
			state{"f": "700 1\n"},
			merge.Options{},
			"f: 700 2\n", "f conflict mode",
		},
		{
			"permissions of both, ours",
			state{"f": "1\n"},
			state{"f": "600 2\n"},
			state{"f": "700 1\n"},
			ours,
			"f: 700 2\n", "f settled mode",
		},
		{
			"permissions of both, theirs",
			state{"f": "1\n"},
			state{"f": "600 2\n"},
			state{"f": "700 1\n"},
			theirs,
			"f: 600 2\n", "f settled mode",
		},
		{
			"permissions and text",
			state{"f": "1\n"},
			state{"f": "600 2\n"},
			state{"f": "700 3\n"},
			ours, "",
			"f settled text at 1",
		},
		{
			"the same permissions", state{"f": "1\n"}, state{"f": "700 1\n"}, state{"f": "700 3\n"}, merge.Options{}, "", "f already",
		},

		{"a directory", state{"g": ""}, state{"g": "", "d": "700 dir"}, state{"g": ""}, merge.Options{}, "d: 700 dir", ""},
		{"a directory that is there", state{"g": ""}, state{"g": "", "d": "700 dir"}, state{"d": "dir"}, merge.Options{}, "", ""},
		{
			"a directory with a file",
			state{"g": ""},
			state{"d/e": "700 dir", "d/e/f": "1\n", "g": ""},
			state{"g": ""},
			merge.Options{},
			"d: 755 dir; d/e: 700 dir; d/e/f: 644 1\n", "d/e/f applied",
		},
		{
			"a file in a directory that is gone",
			state{"d/f": "1\n", "d/g": "1"},
			state{"d/f": "2\n", "d/g": "1"},
			state{"g": ""},
			theirs,
			"d: 755 dir; d/f: 644 2\n", "d/f settled deleted",
		},
		{
			"a directory goes",
			state{"d/e/f": "1\n", "g": ""},
			state{"g": ""},
			state{"d/e/f": "1\n"},
			merge.Options{},
			"d: -; d/e: -; d/e/f: -", "d/e/f applied",
		},
		{"an empty directory goes", state{"d": "dir", "g": ""}, state{"g": ""}, state{"d": "dir"}, merge.Options{}, "d: -", ""},
		{
			"a directory with more in it stays",
			state{"d/f": "1\n", "g": ""},
			state{"g": ""},
			state{"d/f": "1\n", "d/x": ""},
			merge.Options{},
			"d/f: -", "d/f applied",
		},
		{
			"a directory's permissions",
			state{"d/f": ""},
			state{"d": "700 dir", "d/f": ""},
			state{"d/f": "", "d/g": ""},
			merge.Options{},
			"d: 700 dir", "",
		},
		{
			"a directory's permissions are there",
			state{"d/f": ""},
			state{"d": "700 dir", "d/f": ""},
			state{"d": "700 dir", "d/f": ""},
			merge.Options{},
			"", "",
		},
		{
			"blocked",
			state{"g": ""},
			state{"g": "", "d/f": "1\n"},
			state{"d": "file"},
			theirs, "",
			"d/f conflict blocked",
		},
		{
			"ignored here",
			state{"g": ""},
			state{"g": "", "f": "1\n"},
			state{"f": "mine", ".gitignore": "f\n"},
			theirs, "",
			"f conflict uncaptured",
		},
		{
			"in an ignored directory",
			state{"g": ""},
			state{"g": "", "d/f": "1\n"},
			state{"d/x": "mine", ".gitignore": "d\n"},
			merge.Options{},
			"d: 755 dir; d/f: 644 1\n", "d/f applied",
		},
		{
			"a database",
			state{"l.db": db + "1", "l.db-wal": "1"},
			state{"l.db": db + "2", "l.db-wal": "2"},
			state{"l.db": db + "1", "l.db-wal": "1"},
			merge.Options{},
			"l.db: 644 " + db + "2; l.db-wal: 644 2", "l.db applied; l.db-wal applied",
		},
		{
			"a database and its log, of which one changed",
			state{"l.db": db + "1", "l.db-wal": "1"},
			state{"l.db": db + "2", "l.db-wal": "2"},
			state{"l.db": db + "1", "l.db-wal": "\x003"},
			merge.Options{},
			"", "l.db conflict binary; l.db-wal conflict binary",
		},
		{
			"a database that would get another log",
			state{"l.db": db + "1", "l.db-wal": "1"},
			state{"l.db": db + "2", "l.db-wal": "1"},
			state{"l.db": db + "1", "l.db-wal": "3"},
			merge.Options{},
			"", "l.db conflict binary",
		},
		{
			"a database that would get another log, theirs",
			state{"l.db": db + "1", "l.db-wal": "1"},
			state{"l.db": db + "2", "l.db-wal": "1"},
			state{"l.db": db + "1", "l.db-wal": "3"},
			theirs,
			"l.db: 644 " + db + "2; l.db-wal: 644 1", "l.db settled binary; l.db-wal settled binary",
		},
		{
			"a database whose log goes",
			state{"l.db": db + "1", "l.db-wal": "1"},
			state{"l.db": db + "2"},
			state{"l.db": db + "1", "l.db-wal": "1"},
			merge.Options{},
			"l.db: 644 " + db + "2; l.db-wal: -", "l.db applied; l.db-wal applied",
		},
		{
			"a database without a log",
			state{"l.db": db + "1"},
			state{"l.db": db + "2"},
			state{"l.db": db + "1", "f": ""},
			merge.Options{},
			"l.db: 644 " + db + "2", "l.db applied",
		},
		{
			"a database that gets a log there and another one here",
			state{"l.db": db + "1"},
			state{"l.db": db + "2", "l.db-wal": "\x002"},
			state{"l.db": db + "1", "l.db-wal": "\x003"},
			merge.Options{},
			"", "l.db conflict binary; l.db-wal conflict binary",
		},
		{
			"what only has such a name",
			state{"l-wal": "1", "l": "1"},
			state{"l-wal": "2", "l": "2"},
			state{"l-wal": "1", "l": "\x003"},
			merge.Options{},
			"l-wal: 644 2", "l conflict binary; l-wal applied",
		},
		{
			"below an ignored file",
			state{"g": ""},
			state{"g": "", "d/f": "1\n"},
			state{"d": "mine", ".gitignore": "d\n"},
			merge.Options{},
			"", "d/f conflict uncaptured",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			c.base.lay(p)
			p.Save("base")
			c.change.lay(p)
			change := p.Save("change")
			c.is.lay(p)
			for _, ask := range []merge.Ask{{Change: change.ID.String()}, {Change: "@-.." + change.ID.String()}} {
				set, said, err := brought(p, ask, c.o)
				p.Must(err)
				if got := strings.Join(set, "; "); got != c.set {
					t.Errorf("%s: set\n%q, want\n%q", ask.Change, got, c.set)
				}
				if got := strings.Join(said, "; "); got != c.said {
					t.Errorf("%s: said\n%q, want\n%q", ask.Change, got, c.said)
				}
			}
		})
	}
}

// What a worktree lends is brought with its contents; the checkpoint that it is of is one of here.
func TestLend(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1\n")
	first := p.Save("first")
	q := p.Beside(t.TempDir())
	defer q.Close()
	q.Write("f", "2\n")
	q.Write("d/g", "only there")
	second := q.Save("second")
	ch, err := q.E.Merger.Lend(enginetest.Bg, merge.Ask{Change: "@"})
	p.Must(err)
	if want := `"second" in ` + q.Root; ch.Name != want || ch.Lent.ID != second.ID {
		t.Errorf("%s of %s, want %s", ch.Name, ch.Lent.ID.Short(), want)
	}
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	p.Must(p.E.Merger.Borrow(ch, model.Manual))
	if ch.Of.ID != first.ID || ch.Lent.ID != second.ID {
		t.Errorf("it is of %s, and there of %s", ch.Of.ID.Short(), ch.Lent.ID.Short())
	}
	set, said, err := into(p, ch, merge.Options{})
	p.Must(err)
	enginetest.Equal(t, "set", set, []string{"d: 755 dir", "d/g: 644 only there", "f: 644 2\n"})
	enginetest.Equal(t, "said", said, []string{"d/g applied", "f applied"})
	if _, err := q.E.Merger.Lend(enginetest.Bg, merge.Ask{Change: "none"}); !strings.Contains(fmt.Sprint(err), q.Root) {
		t.Errorf("what is not there: %v", err)
	}
}

// A session's work is what all of its steps did, the oldest first; another one's at the same file stays. Taken back it
// goes the other way.
func TestOfASession(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1\n2\n3\n4\n5\n")
	p.Save("base")
	a, b := p.Agent("a"), p.Agent("b")
	for _, k := range []*enginetest.Agent{a, b} {
		k.Start()
		k.Prompt("go")
	}
	a.Run("1", func() { p.Write("f", "A\n2\n3\n4\n5\n") })
	b.Run("2", func() { p.Write("f", "A\n2\nB\n4\n5\n") })
	a.Run("3", func() { p.Write("f", "A\n2\nB\n4\nAA\n"); p.Write("g", "a's") })
	a.Run("4", func() { p.Write("f", "A again\n2\nB\n4\nAA\n") })
	for _, c := range []struct {
		of        string
		o         merge.Options
		set, said []string
	}{
		{a.Name(), merge.Options{Reverse: true}, []string{"f: 644 1\n2\nB\n4\n5\n", "g: -"}, []string{"f merged", "g applied"}},
		{b.Name(), merge.Options{Reverse: true}, []string{"f: 644 A again\n2\n3\n4\nAA\n"}, []string{"f merged"}},
		{
			a.Name(),
			merge.Options{Reverse: true, Only: refs.PathSet{"g"}},
			[]string{"g: -"},
			[]string{"g applied"},
		},
		{b.Name(), merge.Options{}, nil, []string{"f already"}},
	} {
		set, said, err := brought(p, merge.Ask{Of: c.of}, c.o)
		p.Must(err)
		if !slices.Equal(set, c.set) || !slices.Equal(said, c.said) {
			t.Errorf("%s %+v: %q, %q; want %q, %q", c.of, c.o, set, said, c.set, c.said)
		}
	}
}

// What is no change is refused.
func TestChangeOfRefuses(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1\n")
	p.Save("first")
	p.Write("f", "2\n")
	p.Save("second")
	a := p.Agent("a")
	a.Start()
	for _, c := range []struct {
		ask  merge.Ask
		want string
	}{
		{merge.Ask{Change: "@-"}, "first state"},
		{merge.Ask{Change: "..@"}, "a range names two"},
		{merge.Ask{Change: "@.."}, "a range names two"},
		{merge.Ask{Change: "none..@"}, "none"},
		{merge.Ask{Change: "@..none"}, "none"},
		{merge.Ask{Change: "none"}, "none"},
		{merge.Ask{Of: "nobody"}, "nobody"},
		{merge.Ask{Of: a.Name()}, "no checkpoint says"},
	} {
		if _, _, err := brought(p, c.ask, merge.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.ask, err, c.want)
		}
	}
	if _, _, err := brought(p, merge.Ask{Of: a.Name()}, merge.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a session that wrote nothing: %v", err)
	}
	var usage *value.OpError
	if _, _, err := brought(p, merge.Ask{Change: "@-"}, merge.Options{}); !errors.As(err, &usage) || usage.Subject != `"first"` {
		t.Errorf("the first state: %v", err)
	}
	for _, id := range []string{"b", "c"} {
		b := p.Agent(id)
		b.Start()
		b.Prompt("go")
		b.Run(id, func() { p.Write(id, id) })
	}
	for _, change := range []string{"turn:1", "before:1", "turn:1~1", "@..turn:1"} {
		if _, _, err := brought(p, merge.Ask{Change: change}, merge.Options{}); !errors.Is(err, model.ErrWhichSession) {
			t.Errorf("%s with two sessions at work: %v", change, err)
		}
	}
}
