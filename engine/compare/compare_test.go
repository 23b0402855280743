package compare_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine"
	"rewind/engine/compare"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

func compared(p *enginetest.Project, a, b string) *engine.Compared {
	p.T.Helper()
	r, err := p.E.Compare(enginetest.Bg, nil, compare.Options{A: a, B: b}, 0)
	if err != nil {
		p.T.Fatalf("compare %s %s: %v", a, b, err)
	}
	return r
}

// exactly is a checkout of a person who wants all of a state, and no conversation.
func exactly(p *enginetest.Project, id objstore.ID) {
	p.T.Helper()
	o := restore.Options{CodeOnly: true}
	o.Exact, o.Session = true, model.SessionChoice{Session: model.Manual}
	p.Checkout(id.String(), o)
}

// TestAncestor: where no session was forked, the ancestor of any two checkpoints is the newest of all that both descend
// from, and what a side did since is what its line has behind that.
func TestAncestor(t *testing.T) {
	inProjects(t, 40, func(t *rapid.T, p *enginetest.Project, _ string) {
		p.Save("first")
		for n := range rapid.IntRange(3, 16).Draw(t, "steps") {
			write := func() { p.Write(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "path"), fmt.Sprintln(n)) }
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				write()
				p.Save("")
			case 1:
				all := made(p)
				exactly(p, all[rapid.IntRange(0, len(all)-1).Draw(t, "to")].ID)
			default:
				agent := p.Agent(rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "agent"))
				agent.Run(fmt.Sprint("call", n), write)
			}
		}
		all := made(p)
		pick := func(name string) *model.Checkpoint { return all[rapid.IntRange(0, len(all)-1).Draw(t, name)] }
		for range 6 {
			a, b := pick("A"), pick("B")
			r := compared(p, a.ID.String(), b.ID.String())
			var want *model.Checkpoint
			ofA, ofB := lineage(p, a), lineage(p, b)
			for id, cp := range ofA {
				if ofB[id] != nil && (want == nil || cp.Seq > want.Seq) {
					want = cp
				}
			}
			if (want == nil) != (r.Ancestor == nil) || want != nil && r.Ancestor.ID != want.ID {
				t.Fatalf("the ancestor of %s and %s is %v, want %v", a.ID.Short(), b.ID.Short(), r.Ancestor, want)
			}
			if want == nil {
				continue
			}
			for i, tip := range []*model.Checkpoint{a, b} {
				if n := len(ofSide(p, tip, want)); len(r.Sides[i].Steps) != n {
					t.Fatalf("side %d has %d steps, want %d", i, len(r.Sides[i].Steps), n)
				}
			}
			if other := compared(p, b.ID.String(), a.ID.String()); other.Divergence != r.Divergence {
				t.Fatalf("divergence %v, and %v the other way", r.Divergence, other.Divergence)
			}
		}
	})
}

// inProjects checks something of many projects, each in a directory of its own below dir.
func inProjects(t *testing.T, checks int, check func(t *rapid.T, p *enginetest.Project, dir string)) {
	enginetest.SetChecks(t, checks, 0)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		p := enginetest.OpenProject(t, mkdir(t, dir, "p"), mkdir(t, dir, "h"))
		defer p.Close()
		check(t, p, dir)
	})
}

func mkdir(t *rapid.T, dir, name string) string {
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// made are all checkpoints, safety checkpoints too.
func made(p *enginetest.Project) (list []*model.Checkpoint) {
	p.Must(p.E.Log.Made(func(op *refs.Operation) error {
		cp, err := p.E.Log.Checkpoint(op.Checkpoint)
		list = append(list, cp)
		return err
	}))
	return list
}

// lineage is a checkpoint and all that it descends from.
func lineage(p *enginetest.Project, cp *model.Checkpoint) map[objstore.ID]*model.Checkpoint {
	all := map[objstore.ID]*model.Checkpoint{}
	var walk func(cp *model.Checkpoint)
	walk = func(cp *model.Checkpoint) {
		all[cp.ID] = cp
		for _, id := range cp.Parents {
			before, err := p.E.Log.Checkpoint(id)
			p.Must(err)
			walk(before)
		}
	}
	walk(cp)
	return all
}

// ofSide is what a checkpoint descends from, itself too, and an older one is not and does not descend from.
func ofSide(p *enginetest.Project, cp, from *model.Checkpoint) (list []objstore.ID) {
	before := lineage(p, from)
	for id := range lineage(p, cp) {
		if before[id] == nil {
			list = append(list, id)
		}
	}
	return list
}

// TestOverlapAsGit: of two branches with random edits each path that both changed is told, and no other; texts collide
// where git merge-file has a conflict. Lines are all different, so that there is one shortest way from a text to
// another.
func TestOverlapAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	inProjects(t, 40, func(t *rapid.T, p *enginetest.Project, dir string) {
		line := 0
		unique := func() string { line++; return fmt.Sprintf("line %d\n", line) }
		base := map[string]string{}
		for _, path := range []string{"a", "b", "d/c", "d/e"} {
			for range rapid.IntRange(1, 14).Draw(t, "lines") {
				base[path] += unique()
			}
			p.Write(path, base[path])
		}
		root := p.Save("base")
		edit := func(other map[string]string) map[string]string {
			side := map[string]string{}
			for _, path := range []string{"a", "b", "d/c", "d/e", "new", "d/new"} {
				text, is := base[path]
				switch how := rapid.IntRange(0, 9).Draw(t, "how"); {
				case how == 0:
					p.Remove(path)
					continue
				case how == 1 && other[path] != "":
					text, is = other[path], true
				case how > 4 || !is && how > 2:
					lines := strings.SplitAfter(text, "\n")
					for range rapid.IntRange(1, 3).Draw(t, "edits") {
						i := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
						if rapid.Bool().Draw(t, "replace") && lines[i] != "" {
							lines[i] = unique()
						} else {
							lines = slices.Insert(lines, i, unique())
						}
					}
					text, is = strings.Join(lines, ""), true
				}
				if is {
					side[path] = text
					p.Write(path, text)
				}
			}
			return side
		}
		ours := edit(nil)
		a := p.Save("a")
		exactly(p, root.ID)
		theirs := edit(ours)
		b := p.Save("b")
		r := compared(p, a.ID.String(), b.ID.String())
		if r.Ancestor == nil || r.Ancestor.ID != root.ID && a.ID != b.ID && a.ID != root.ID && b.ID != root.ID {
			t.Fatalf("the ancestor is %v", r.Ancestor)
		}
		got := map[string]string{}
		for _, o := range r.Overlaps {
			got[string(o.Path)] = fmt.Sprint(o.Verdict, " ", o.Places)
		}
		for _, path := range []string{"a", "b", "d/c", "d/e", "new", "d/new"} {
			want, o, x, y := "", base[path], ours[path], theirs[path]
			switch {
			case x == o || y == o:
			case x == y:
				want = "same 0"
			case x == "" || y == "":
				want = "collide 0"
			default:
				if n := conflicts(t, dir, o, x, y); n > 0 {
					want = fmt.Sprint("collide ", n)
				} else {
					want = "clean 0"
				}
			}
			if got[path] != want {
				t.Fatalf("%s: %q, want %q\nbase %q\nA %q\nB %q", path, got[path], want, o, x, y)
			}
			delete(got, path)
		}
		if len(got) > 0 {
			t.Fatalf("also told: %v", got)
		}
		if d := r.Divergence; d < 0 || d > 1 || (a.Tree == b.Tree) != (d == 0) {
			t.Fatalf("divergence %v", d)
		}
	})
}

// conflicts is how many git merge-file counts.
func conflicts(t *rapid.T, dir, base, a, b string) int {
	names := []string{"A", "base", "B"}
	for i, text := range []string{a, base, b} {
		if err := os.WriteFile(filepath.Join(dir, names[i]), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "merge-file", "-p", "A", "base", "B")
	cmd.Dir = dir
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || exit != nil && exit.ExitCode() > 127 {
		t.Fatal(err)
	}
	if exit == nil {
		return 0
	}
	return exit.ExitCode()
}

// TestDivergence: the ends, and what lies between.
func TestDivergence(t *testing.T) {
	text := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	base := map[string]string{"f": text("1", "2", "3", "4", "5", "6", "7", "8"), "g": "g\n", "bin": "\x00a"}
	first := text("x", "2", "3", "4", "5", "6", "7", "8")
	for _, tt := range []struct {
		name string
		a, b map[string]string // "": the file is removed
		want float64
	}{
		{"nothing was changed", nil, nil, 0},
		{"both the same", map[string]string{"g": "x\n"}, map[string]string{"g": "x\n"}, 0},
		{"one side alone", map[string]string{"g": "x\n"}, nil, 1},
		{"other files", map[string]string{"g": "x\n"}, map[string]string{"h": "h\n"}, 1},
		{"the same place, otherwise", map[string]string{"g": "x\n"}, map[string]string{"g": "y\n"}, 0.5},
		{"other places of a file", map[string]string{"f": first}, map[string]string{"f": text("1", "2", "3", "4", "5", "6", "7", "x")}, 1},
		{"some of it", map[string]string{"f": first, "g": "x\n"}, map[string]string{"g": "x\n"}, 0.3333},
		{"no text", map[string]string{"bin": "\x00b"}, map[string]string{"bin": "\x00c"}, 1},
		{"both removed it", map[string]string{"g": ""}, map[string]string{"g": ""}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			put := func(files map[string]string) {
				for name, content := range files {
					if content == "" {
						p.Remove(name)
					} else {
						p.Write(name, content)
					}
				}
			}
			put(base)
			root := p.Save("base")
			put(tt.a)
			a := p.Save("a")
			exactly(p, root.ID)
			put(tt.b)
			b := p.Save("b")
			for _, sides := range [][2]*model.Checkpoint{{a, b}, {b, a}} {
				if d := compared(p, sides[0].ID.String(), sides[1].ID.String()).Divergence; d != tt.want {
					t.Errorf("%v, want %v", d, tt.want)
				}
			}
		})
	}
}

// TestVerdicts: what is no text, and where the two do not agree on what there is.
func TestVerdicts(t *testing.T) {
	p := enginetest.NewProject(t)
	link := func(to, name string) { p.Remove(name); p.Must(os.Symlink(to, p.Path(name))) }
	mode := func(name string, perm os.FileMode) { p.Must(os.Chmod(p.Path(name), perm)) }
	for _, name := range []string{
		"moved", "both moved", "x/under", "type", "mode", "modes", "removed", "kept", "became", "both became",
	} {
		p.Write(name, "what "+name+" has\n")
	}
	link("here", "link")
	root := p.Save("base")
	p.Must(os.Rename(p.Path("moved"), p.Path("moved to")))
	p.Must(os.Rename(p.Path("both moved"), p.Path("to a")))
	p.Remove("x", "type", "removed", "became", "both became")
	p.Write("both became/a", "a\n")
	p.Write("x", "a file\n")
	link("kept", "type")
	mode("mode", 0o600)
	mode("modes", 0o600)
	link("there", "link")
	for _, name := range []string{"added", "added mode", "file or folder", "one more"} {
		p.Write(name, "a\n")
	}
	a := p.Save("a")
	exactly(p, root.ID)
	p.Write("moved", "what moved has\nand more\n")
	p.Must(os.Rename(p.Path("both moved"), p.Path("to b")))
	p.Write("x/new", "new\n")
	p.Write("type", "changed\n")
	p.Write("mode", "changed\n")
	p.Write("removed", "changed\n")
	mode("modes", 0o640)
	link("elsewhere", "link")
	p.Write("added", "b\n")
	p.Write("added mode", "a\n")
	mode("added mode", 0o755)
	p.Write("file or folder/a", "a\n")
	p.Remove("became", "both became")
	p.Write("became/a", "a\n")
	p.Write("both became/a", "a\n")
	p.Must(os.Chmod(p.Path("both became"), 0o700))
	b := p.Save("b")
	verdicts := func(a, b *model.Checkpoint) (list []string) {
		for _, o := range compared(p, a.ID.String(), b.ID.String()).Overlaps {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", o.Path, o.Verdict, o.Reason, o.Was)))
		}
		return list
	}
	want := []string{
		"added collide added", "added mode collide mode", "became collide type", "both became collide mode",
		"both became/a same", "both moved same", "file or folder collide type", "file or folder/a collide blocked",
		"link collide link", "mode clean", "modes collide mode", "moved to clean  moved",
		"removed collide deleted", "type collide type", "x/new collide blocked",
	}
	enginetest.Equal(t, "overlaps", verdicts(a, b), want)
	want[slices.Index(want, "removed collide deleted")] = "removed collide modified"
	enginetest.Equal(t, "overlaps from the other side", verdicts(b, a), want)
}

// TestOthers: in one tree two sessions write in turns; each side names what the other wrote among its states, and what
// nobody's call did.
func TestOthers(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0\n")
	root := p.Save("base")
	one, two := p.Agent("one"), p.Agent("two")
	one.Run("c1", func() { p.Write("of one", "1\n") })
	two.Run("c2", func() { p.Write("of two", "2\n") })
	p.Write("by hand", "3\n")
	one.Run("c3", func() { p.Write("of one", "4\n") })
	r := compared(p, root.ID.String(), "session:one")
	got := []string{}
	for _, o := range r.Sides[1].Others {
		got = append(got, fmt.Sprintf("%q %q", o.By, o.Paths))
	}
	slices.Sort(got)
	if !slices.Contains(got, `"claude/two" ["of two"]`) {
		t.Errorf("others wrote %v", got)
	}
	for _, o := range r.Sides[1].Others {
		if slices.Contains(o.Paths, "of one") {
			t.Errorf("what the session wrote is told as another's: %v", got)
		}
	}
	if n := len(r.Sides[0].Changes); n != 0 || r.Ancestor.ID != root.ID {
		t.Errorf("%d changes of the side that is the ancestor", n)
	}
	if !slices.ContainsFunc(
		r.Sides[1].Others,
		func(o compare.Wrote) bool { return o.By == "" && slices.Contains(o.Paths, "by hand") },
	) {
		t.Errorf("what came from outside is not told: %v", got)
	}
}

// TestForksOfForks: through forks at any depth the ancestor is where the two ways part, by the turns that they have in
// common.
func TestForksOfForks(t *testing.T) {
	p, first := enginetest.Begun(t)
	for n := range 4 {
		first.Take(fmt.Sprint("turn ", n+1), p.Edits("f", fmt.Sprint(n+1)))
	}
	one := p.Opened(p.Fork("turn:3", restore.Options{Session: model.SessionChoice{Session: first.Name()}}).Fork)
	one.Take("fork one", p.Edits("g", "1"))
	deep := p.Opened(p.Fork("turn:4", restore.Options{Session: model.SessionChoice{Session: one.Name()}}).Fork)
	deep.Take("deep", p.Edits("h", "1"))
	early := p.Opened(p.Fork("turn:2", restore.Options{Session: model.SessionChoice{Session: one.Name()}}).Fork)
	early.Take("early", p.Edits("i", "1"))
	end := func(k *enginetest.Talker, turn int) objstore.ID {
		cp, err := p.E.History.Resolve(fmt.Sprintf("turn:%d@%s", turn, k.Name()))
		p.Must(err)
		return cp.ID
	}
	for _, tt := range []struct {
		a, b string
		want objstore.ID
	}{
		{first.Name(), one.Name(), end(first, 3)},
		{one.Name(), deep.Name(), end(one, 4)},
		{first.Name(), deep.Name(), end(first, 3)},
		{deep.Name(), early.Name(), end(first, 2)},
		{first.Name(), early.Name(), end(first, 2)},
		{"turn:1@" + first.Name(), deep.Name(), end(first, 1)},
		{"turn:1@" + deep.Name(), early.Name(), end(first, 1)},
	} {
		for _, sides := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			r := compared(p, sides[0], sides[1])
			if r.Ancestor == nil || r.Ancestor.ID != tt.want || !r.Forked || r.NoFork != "" {
				t.Errorf("%v: %+v, forked %v, %q", sides, r.Ancestor, r.Forked, r.NoFork)
			}
		}
	}
}

// TestOfAFork: a fork's place is compared with the fork's newest state, if nothing else is named.
func TestOfAFork(t *testing.T) {
	p, first := enginetest.Begun(t)
	first.Take("one", p.Edits("f", "1"))
	kid := p.Opened(p.Fork("turn:1", restore.Options{}).Fork)
	kid.Take("two", p.Edits("f", "2"))
	first.Take("three", p.Edits("g", "3"))
	r := compared(p, "fork:"+kid.Name(), "")
	if s := r.Sides[1]; s.Session != kid.Name() || !s.Whole || len(s.Steps) == 0 || len(r.Sides[0].Steps) > 0 {
		t.Errorf("%+v and %+v", r.Sides[0], s)
	}
	for _, name := range []string{"fork:" + kid.Name() + "~1", first.Name()} {
		if s := compared(p, name, "").Sides[1]; s.Session != first.Name() || s.Whole {
			t.Errorf("%s beside where one stands: %+v", name, s)
		}
	}
}

// TestNames: a word that is a session's and a checkpoint's is refused, and one that is nothing's not found.
func TestNames(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0\n")
	first := p.Save("base")
	p.Agent(first.ID.String()[:12]).Run("c", func() { p.Write("f", "1\n") })
	var both *compare.AmbiguousError
	_, err := p.E.Compare(enginetest.Bg, nil, compare.Options{A: first.ID.String()[:8]}, 0)
	if !errors.As(err, &both) {
		t.Errorf("a name of both: %v", err)
	}
	if _, err := p.E.Compare(enginetest.Bg, nil, compare.Options{A: "nothing"}, 0); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a name of nothing: %v", err)
	}
	r := compared(p, first.ID.String(), "session:"+first.ID.String()[:8])
	if r.Sides[1].Session != "claude/"+first.ID.String()[:12] || r.Divergence != 1 || len(r.Overlaps) > 0 {
		t.Errorf("%+v", r.Sides[1])
	}
	q := p.Beside(t.TempDir())
	t.Cleanup(q.Close)
	for _, tt := range []struct {
		o      compare.Options
		with   *engine.Engine
		beside bool
	}{
		{compare.Options{A: "@", B: "nothing"}, nil, false},
		{compare.Options{A: "nothing", B: "@"}, q.E, true},
		{compare.Options{A: "@", B: "nothing"}, q.E, true},
	} {
		var there *oplog.BesideError
		_, err := p.E.Compare(enginetest.Bg, tt.with, tt.o, 0)
		if !errors.Is(err, model.ErrNotFound) || errors.As(err, &there) != tt.beside {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
	var none []value.Overlap
	if r := compared(p, "@", "@"); r.Divergence != 0 || len(r.Overlaps) != len(none) {
		t.Errorf("a side with itself: %v, %v", r.Divergence, r.Overlaps)
	}
}

// TestStrangers: two states that nothing is before have nothing in common; what both have otherwise collides.
func TestStrangers(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0\n")
	p.Write("g", "0\n")
	first := p.Save("base")
	p.Write("f", "1\n")
	p.Remove("g")
	p.Write("h", "1\n")
	other := *p.Save("other")
	tx := p.E.Log.Objs.Begin()
	other.Parents, other.Base = nil, objstore.ID{}
	p.Must(p.E.Log.PutCheckpoint(tx, &other, other.Seq))
	p.Must(tx.Commit(enginetest.Bg, kv.Written))
	r := compared(p, first.ID.String(), other.ID.String())
	if r.Ancestor != nil || r.Divergence != 1 || len(r.Sides[0].Steps)+len(r.Sides[1].Changes) > 0 {
		t.Errorf("%+v", r.Result)
	}
	if len(r.Overlaps) != 1 || r.Overlaps[0].Path != "f" || r.Overlaps[0].Reason != value.ReasonAdded {
		t.Errorf("overlaps %+v", r.Overlaps)
	}
}
