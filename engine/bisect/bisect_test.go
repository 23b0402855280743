package bisect_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/bisect"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/objstore"
	"rewind/refs"
)

// walked is a project whose states are written down as its worktree goes through them.
type walked struct {
	*enginetest.Project
	t    *rapid.T
	n    int
	way  []string                 // the states on the way to the one that is there, the oldest first
	ways map[objstore.ID][]string // to each checkpoint
	made []objstore.ID
	all  map[string]enginetest.Listing // the files of each state
}

// arrived writes down the state that is there now.
func (w *walked) arrived() {
	files := w.List()
	name := fmt.Sprint(files)
	if len(w.way) == 0 || w.way[len(w.way)-1] != name {
		w.way = append(slices.Clone(w.way), name)
	}
	w.all[name] = files
	w.record()
}

// record writes down the way to each checkpoint that is new.
func (w *walked) record() {
	w.Must(w.E.Log.Made(func(op *refs.Operation) error {
		if _, known := w.ways[op.Checkpoint]; !known {
			w.ways[op.Checkpoint] = w.way
			w.made = append(w.made, op.Checkpoint)
		}
		return nil
	}))
}

func (w *walked) List() enginetest.Listing { return enginetest.List(w.t, w.Root) }

// change makes a state that there never was.
func (w *walked) change() {
	w.n++
	path := rapid.SampledFrom([]string{"a", "b", "d/a", "d/e/f", "g"}).Draw(w.t, "path")
	switch rapid.IntRange(0, 3).Draw(w.t, "how") {
	case 0:
		_ = os.RemoveAll(w.Path(path))
	case 1:
		w.Remove("d")
		w.Write("d", "a file\n")
		w.Remove(rapid.SampledFrom([]string{"d", "a"}).Draw(w.t, "away"))
	default:
		if fi, err := os.Lstat(w.Path("d")); err == nil && !fi.IsDir() {
			w.Remove("d")
		}
		w.Write(path, fmt.Sprintln(path, w.n))
	}
	w.Write("n", fmt.Sprintln(w.n))
}

func (w *walked) step() {
	switch rapid.IntRange(0, 5).Draw(w.t, "step") {
	case 0:
		id := w.made[rapid.IntRange(0, len(w.made)-1).Draw(w.t, "to")]
		o := restore.Options{CodeOnly: true}
		o.Exact, o.Session = true, model.SessionChoice{Session: "manual"}
		w.Checkout(id.String(), o)
		w.record() // the state before
		w.way = w.ways[id]
	case 1, 2:
		agent := w.Agent(rapid.SampledFrom([]string{"one", "two"}).Draw(w.t, "agent"))
		agent.Run(fmt.Sprint("call", w.n), w.change)
	default:
		w.change()
		w.Save("")
	}
	w.arrived()
}

// vandal does to the scratch directory what a command may do.
func (w *walked) vandal(dir string) {
	path := func() string {
		p := rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/e", "d/e/f", "g", "n", "new", "d/new", "new/new"}).Draw(w.t, "there")
		return filepath.Join(dir, p)
	}
	for range rapid.IntRange(0, 3).Draw(w.t, "harm") {
		p := path()
		switch rapid.IntRange(0, 5).Draw(w.t, "what") {
		case 0:
			_ = os.RemoveAll(p)
		case 1:
			_ = os.RemoveAll(p)
			_ = os.Symlink(w.Root, p) // it leads into the project
		case 2:
			_ = os.WriteFile(p, []byte("else\n"), 0o644)
		case 3:
			if fi, err := os.Lstat(p); err == nil && fi.Mode()&os.ModeSymlink == 0 {
				_ = os.Chmod(p, 0o500)
			}
		case 4:
			_ = os.RemoveAll(p)
			_ = os.MkdirAll(filepath.Join(p, "below"), 0o755)
		case 5:
			_ = os.Rename(p, path())
		}
	}
}

// same holds that the scratch directory has the files of a state; what a command made besides may be there.
func (w *walked) same(dir, state string) {
	got := enginetest.List(w.t, dir)
	for path, what := range w.all[state] {
		if got[path] != what {
			w.t.Fatalf("%s is %q in the scratch directory, want %q", path, got[path], what)
		}
	}
}

// TestBisectEqualsReading: of histories with undone lines and other sessions the states that are asked about are those
// that the worktree went through, the scratch directory has their files whatever a command did in it, the answer is a
// change from passing to failing, of a history with one change that one, and the worktree is as it was.
func TestBisectEqualsReading(t *testing.T) {
	enginetest.SetChecks(t, 40, 0)
	rapid.Check(t, func(rt *rapid.T) {
		root, home := mkTemp(rt), mkTemp(rt)
		defer os.RemoveAll(root)
		defer os.RemoveAll(home)
		w := &walked{
			Project: enginetest.OpenProject(rt, root, home), t: rt, ways: map[objstore.ID][]string{}, all: map[string]enginetest.Listing{},
		}
		defer w.Close()
		w.Write("n", "0\n")
		w.Save("")
		w.arrived()
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			w.step()
		}
		w.ask()
	})
}

// ask bisects what is there, and holds each question and the answer against the way that was written down.
func (w *walked) ask() {
	n := len(w.way)
	truth, monotone := make([]bisect.Verdict, n), rapid.Bool().Draw(w.t, "monotone") // by position, the oldest first
	first := rapid.IntRange(0, n).Draw(w.t, "first")
	for i := range truth {
		truth[i] = bisect.Good
		if monotone && i >= first || !monotone && rapid.Bool().Draw(w.t, "bad") {
			truth[i] = bisect.Bad
		}
	}
	newer := rapid.Bool().Draw(w.t, "newer")
	r, err := w.E.Bisector.Start(enginetest.Bg, bisect.Options{Newer: newer}, nil)
	w.Must(err)
	at := func(cp *model.Checkpoint) int { return w.positionOf(cp) }
	for asked := 0; r.Answer == nil; asked++ {
		if asked > n {
			w.t.Fatalf("asked %d times about %d states", asked, n)
		}
		i := at(r.Test.Checkpoint)
		w.same(r.Dir, w.way[i])
		w.vandal(r.Dir) // which may reach the project through a link
		there := w.List()
		r, err = w.E.Bisector.Mark(enginetest.Bg, r.Session, bisect.Said{As: truth[i]}, nil)
		w.Must(err)
		if d := w.List().Diff(there); d != "" {
			w.t.Fatalf("the worktree is not as it was:\n%s", d)
		}
	}
	there := w.List()
	w.Must(w.E.Bisector.Reset(r.Session))
	if d := w.List().Diff(there); d != "" {
		w.t.Fatalf("the worktree is not as it was:\n%s", d)
	}
	if list, err := os.ReadDir(filepath.Join(w.Home.Dir, "bisect")); err == nil && len(list) > 0 {
		w.t.Fatalf("left behind: %v", list)
	}
	good, bad := -1, n
	if r.Answer.Good != nil {
		good = at(r.Answer.Good.Checkpoint)
	}
	if r.Answer.Bad != nil {
		bad = at(r.Answer.Bad.Checkpoint)
	}
	switch {
	case good >= 0 && truth[good] != bisect.Good, bad < n && truth[bad] != bisect.Bad:
		w.t.Fatalf("%d passes and %d fails, of %v", good, bad, truth)
	case good >= 0 && bad != good+1:
		w.t.Fatalf("%d passes, and %d is the next that fails", good, bad)
	case monotone && bad != first && (good >= 0 || bad > 0):
		w.t.Fatalf("%d is the first that fails, want %d of %v", bad, first, truth)
	}
}

// positionOf is where a state stands on the way, by its files.
func (w *walked) positionOf(cp *model.Checkpoint) int {
	for i := range w.way {
		if w.all[w.way[i]]["n"] == fmt.Sprintf("f 0644 %x", sha256.Sum256([]byte(w.Cat(cp, "n")))) {
			return i
		}
	}
	w.t.Fatalf("%s is not on the way", cp.ID.Short())
	return -1
}

func mkTemp(t enginetest.Fataler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bisect")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return dir
}

// TestUnsaved: the worktree as it is can be tried without an operation, and the store has it until that is over.
func TestUnsaved(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	for _, text := range []string{"1", "2"} {
		p.Write("f", enginetest.Big(text))
		p.Save(text)
	}
	p.Write("f", enginetest.Big("3"))
	was := p.E.Log.DB.LastSeq()
	r, err := p.E.Bisector.Start(enginetest.Bg, bisect.Options{Hand: true, Good: []string{"@-"}}, nil)
	p.Must(err)
	if now := p.E.Log.DB.LastSeq(); now != was || p.Cat(r.Test.Checkpoint, "f") != enginetest.Big("2") {
		t.Fatalf("operation %d, was %d; %+v", now, was, r.Test)
	}
	p.Write("f", enginetest.Big("4"))
	p.Save("4")
	p.Gc(gc.Options{Keep: 9})
	r, err = p.E.Bisector.Mark(enginetest.Bg, r.Session, bisect.Said{As: bisect.Good}, nil)
	p.Must(err)
	bad := r.Answer.Bad
	if bad == nil || !bad.Safety || p.Cat(bad.Checkpoint, "f") != enginetest.Big("3") {
		t.Fatalf("%+v", r.Answer)
	}
	p.Must(p.E.Bisector.Reset(r.Session))
	p.Gc(gc.Options{Keep: 9})
	if there, err := p.E.Log.Objs.Has(objstore.Checkpoint, bad.ID); there || err != nil {
		t.Errorf("when nobody needs it: %v, %v", there, err)
	}
}

// A good state on another way counts where its way meets the line, the oldest state included. A session that ends
// leaves the others alone.
func TestGoodOnAnotherWay(t *testing.T) {
	p := enginetest.NewProject(t)
	var cps []*model.Checkpoint
	for _, text := range []string{"1", "2", "3"} {
		p.Write("f", enginetest.Big(text))
		cps = append(cps, p.Save(text))
	}
	p.Checkout(cps[0].ID.String(), restore.Options{})
	p.Write("g", enginetest.Big("4"))
	aside := p.Save("4")
	r, err := p.E.Bisector.Start(enginetest.Bg, bisect.Options{
		Hand: true, Bad: cps[2].ID.String(), Good: []string{aside.ID.String()},
	}, nil)
	p.Must(err)
	if r.Test == nil || r.Test.ID != cps[1].ID {
		t.Fatalf("asked is %+v", r.Test)
	}
	r, err = p.E.Bisector.Mark(enginetest.Bg, r.Session, bisect.Said{As: bisect.Bad}, nil)
	p.Must(err)
	if a := r.Answer; a == nil || a.Good.ID != cps[0].ID || a.Bad.ID != cps[1].ID || len(a.Assumed) != 1 {
		t.Errorf("%+v", a)
	}
	other := filepath.Join(p.Home.BisectDir(p.E.Log.Project.ID), "other")
	p.Must(os.MkdirAll(other, 0o700))
	p.Must(p.E.Bisector.Reset(r.Session))
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
