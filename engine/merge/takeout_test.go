package merge_test

import (
	"strings"
	"testing"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/engine/purge"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/refs"
)

// What a session did behind a target is taken out, and what others did there stays; paths that are not asked for, or
// must not be set, are left alone, and those that are so already are not told.
func TestTakeOut(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1\n2\n3\n4\n5\n")
	p.Write("h", "1\n")
	p.Write("same", "1\n")
	p.Write("again", "1\n")
	p.Save("base")
	a, b := p.Agent("a"), p.Agent("b")
	for _, k := range []*enginetest.Agent{a, b} {
		k.Start()
		k.Prompt("go")
	}
	target := p.Get(a.Run("0", func() { p.Write("f", "0\n2\n3\n4\n5\n") }))
	a.Run("1", func() {
		p.Write("f", "A\n2\n3\n4\n5\n")
		p.Write("h", "a\n")
		p.Write("d/g", "a")
	})
	a.Run("2", func() { p.Write("same", "2\n"); p.Remove("again") })
	a.Run("3", func() { p.Write("again", "1\n") }) // as it was: what others do to it stays
	b.Run("4", func() {
		p.Write("f", "A\n2\nB\n4\n5\n")
		p.Write("h", "b\n")
		p.Write("same", "1\n")
		p.Remove("again")
	})
	any := func(string) bool { return true }
	but := func(no string) func(string) bool { return func(path string) bool { return path != no } }
	conflict := "h: 644 <<<<<<< worktree\nb\n=======\n1\n>>>>>>> target\n"
	for name, c := range map[string]struct {
		w         where
		prefer    textdiff.Side
		set, said string
	}{
		"all": {
			where{From: any, To: any},
			textdiff.Neither,
			"d: -; d/g: -; f: 644 0\n2\nB\n4\n5\n; " + conflict, "d/g applied; f merged; h conflict text",
		},
		"theirs": {
			where{From: any, To: any},
			textdiff.Theirs,
			"d: -; d/g: -; f: 644 0\n2\nB\n4\n5\n; h: 644 1\n", "d/g applied; f merged; h settled text",
		},
		"not all of it": {
			where{From: but("h"), To: any},
			textdiff.Neither,
			"d: -; d/g: -; f: 644 0\n2\nB\n4\n5\n", "d/g applied; f merged",
		},
		"not there": {
			where{From: any, To: but("f")},
			textdiff.Neither,
			"d: -; d/g: -; " + conflict, "d/g applied; h conflict text",
		},
	} {
		set, said := takenOut(p, a.Name(), target, c.w, c.prefer)
		if set != c.set || said != c.said {
			t.Errorf("%s: %q, %q; want %q, %q", name, set, said, c.set, c.said)
		}
	}
}

// where are the paths from which something is taken out, and those that may be set.
type where struct{ From, To func(path string) bool }

func takenOut(
	p *enginetest.Project, session string, target *model.Checkpoint, w where, prefer textdiff.Side,
) (set, said string) {
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	c, err := p.E.Worktree.Capture(enginetest.Bg, root, capture.Options{})
	p.Must(err)
	defer c.Discard()
	g := authorship.Going{Session: session, Way: authorship.ByStep}
	away, err := p.E.Merger.Behind(c, g, target, w.From)
	p.Must(err)
	m, err := p.E.Merger.TakeOut(c, away, w.To, merge.Options{Prefer: prefer})
	p.Must(err)
	var sets, says []string
	for _, step := range m.Steps() {
		sets = append(sets, step.Path+": "+shown(p, c, step.New))
	}
	for _, v := range m.List {
		says = append(says, strings.TrimSpace(string(v.Path)+" "+string(v.Verdict)+" "+string(v.Reason)))
	}
	return strings.Join(sets, "; "), strings.Join(says, "; ")
}

// What a change would bring, or has to be compared with, and is not kept any more is a conflict.
func TestGone(t *testing.T) {
	theirs := merge.Options{Prefer: textdiff.Theirs}
	for _, c := range []struct {
		name             string
		base, change, is state
		gone, set, said  string
	}{
		{"what it becomes", state{"f": "1\n"}, state{"f": "2\n"}, state{"f": "1\n"}, "2\n", "", "f conflict gone"},
		{"what was added", state{"g": ""}, state{"g": "", "f": "2\n"}, state{"g": ""}, "2\n", "", "f conflict gone"},
		{"what is preferred", state{"f": "1\n"}, state{"f": "2\n"}, state{"g": ""}, "2\n", "", "f conflict gone"},
		{
			"beside permissions",
			state{"f": "1\n"},
			state{"f": "2\n"},
			state{"f": "700 1\n"},
			"2\n", "", "f conflict gone",
		},
		{
			"what is merged",
			state{"f": "1\n2\n3\n"},
			state{"f": "1\n2\nC\n"},
			state{"f": "A\n2\n3\n"},
			"1\n2\nC\n", "", "f conflict gone",
		},
		{
			"what both come from",
			state{"f": "1\n2\n3\n"},
			state{"f": "1\n2\nC\n"},
			state{"f": "A\n2\n3\n"},
			"1\n2\n3\n", "", "f conflict gone",
		},
		{
			"what it was, and nothing needs",
			state{"f": "1\n"},
			state{"f": "600 1\n"},
			state{"f": "3\n"},
			"1\n", "f: 600 3\n", "f applied",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			c.base.lay(p)
			p.Save("base")
			c.change.lay(p)
			change := p.Save("change")
			c.is.lay(p)
			p.Save("is")
			p.Purge(purge.Options{Blobs: []string{objstore.Sum(objstore.Blob, []byte(c.gone)).String()}})
			set, said, err := brought(p, merge.Ask{Change: change.ID.String()}, theirs)
			p.Must(err)
			if got := strings.Join(set, "; "); got != c.set {
				t.Errorf("set %q, want %q", got, c.set)
			}
			if got := strings.Join(said, "; "); got != c.said {
				t.Errorf("said %q, want %q", got, c.said)
			}
		})
	}
}

// Of a database that another worktree has lent, files that were not asked for are brought as well where the whole is
// preferred.
func TestLendDatabase(t *testing.T) {
	const db = "SQLite format 3\x00"
	p := enginetest.NewProject(t)
	state{"l.db": db + "1", "l.db-wal": "1"}.lay(p)
	p.Save("first")
	q := p.Beside(t.TempDir())
	defer q.Close()
	state{"l.db": db + "2", "l.db-wal": "2"}.lay(q)
	q.Save("second")
	ch, err := q.E.Merger.Lend(enginetest.Bg, merge.Ask{Change: "@"})
	p.Must(err)
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	p.Must(p.E.Merger.Borrow(ch, model.Manual))
	set, said, err := into(p, ch, merge.Options{Prefer: textdiff.Theirs, Only: refs.PathSet{"l.db"}})
	p.Must(err)
	enginetest.Equal(t, "set", set, []string{"l.db: 644 " + db + "2", "l.db-wal: 644 2"})
	enginetest.Equal(t, "said", said, []string{"l.db settled binary", "l.db-wal settled binary"})
}

// How a change is called, and which checkpoint it comes from.
func TestNames(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1\n")
	first := p.Save("first")
	a, b := p.Agent("a"), p.Agent("b")
	var edits []*model.Checkpoint
	for i, k := range []*enginetest.Agent{a, b} {
		k.Start()
		k.Prompt("go")
		edits = append(edits, p.Get(k.Run("1", func() { p.Write("f", strings.Repeat("x", i+2)) })))
		k.Stop()
	}
	p.Write("f", "last")
	last := p.Save("two\nlines")
	of := func(k *enginetest.Agent) model.SessionChoice { return model.SessionChoice{Session: k.Name()} }
	for _, c := range []struct {
		ask  merge.Ask
		name string
		of   *model.Checkpoint
	}{
		{merge.Ask{Change: "turn:1", Session: of(a)}, "turn:1@a", edits[0]},
		{merge.Ask{Change: "turn:1", Session: of(b)}, "turn:1@b", edits[1]},
		{merge.Ask{Change: "turn:1@" + a.Name(), Session: of(b)}, "turn:1@a", edits[0]},
		{merge.Ask{Change: edits[0].ID.String()}, edits[0].ID.String()[:7], edits[0]},
		{merge.Ask{Change: last.ID.String()}, `"two lines"`, last},
		{
			merge.Ask{Change: first.ID.String() + ".." + edits[0].ID.String()},
			`"first"..` + edits[0].ID.String()[:7], edits[0],
		},
		{merge.Ask{Of: b.Name()}, "session " + b.Name(), edits[1]},
	} {
		ch := asked(p, c.ask)
		if ch.Name != c.name || ch.Of.ID != c.of.ID || ch.Lent != nil {
			t.Errorf("%+v: %s of %s, want %s of %s", c.ask, ch.Name, ch.Of.ID.Short(), c.name, c.of.ID.Short())
		}
	}
}

func asked(p *enginetest.Project, ask merge.Ask) *merge.Change {
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	ch, err := p.E.Merger.ChangeOf(enginetest.Bg, ask)
	p.Must(err)
	return ch
}
