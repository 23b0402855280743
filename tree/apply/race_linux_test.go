package apply_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"rewind/internal/torture"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
	"rewind/tree/apply"
)

// raceTrees is what the racing editors work in: edits, type changes, deletions and creations at once.
func raceTrees() (from, to applyState) {
	from = applyState{
		"a": nf("a before", 0o644), "b": nf("b before", 0o644), "c": nf("c before", 0o600),
		"gone": nf("gone before", 0o644), "l": nl("a"),
		"d": nd(0o755), "d/e": nf("e before", 0o644), "d/f": nf("f before", 0o644), "old": nd(0o755),
		"old/g": nf("g before", 0o644),
		"t":     nf("t before", 0o644), "u": nd(0o755), "u/h": nf("h before", 0o644), "keep": nf("keep", 0o644),
	}
	to = applyState{
		"a": nf("a after", 0o644), "b": nf("b after, longer", 0o644), "c": nf("c before", 0o644),
		"l": nf("l after", 0o644),
		"d": nd(0o755), "d/e": nf("e after", 0o755), "d/f": nf("f after", 0o644), "d/n": nf("n after", 0o644),
		"keep": nf("keep", 0o644),
		"t":    nd(0o755), "t/i": nf("i after", 0o644), "u": nf("u after", 0o644), "new": nd(0o755),
		"new/j": nf("j after", 0o644),
	}
	return from, to
}

// everything collects the content of all files under dir, the stage included.
func everything(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var b []byte
			if b, err = os.ReadFile(p); err == nil {
				all = append(all, string(b))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// editor makes edits that can be told apart and remembers what must be found again.
type editor struct {
	dir  string
	rnd  *rand.Rand
	n    int
	last map[string]string // path: token of the last edit that nobody but a checkout can have replaced
	open []*os.File

	alongside bool
}

func (e *editor) token() string {
	e.n++
	return fmt.Sprintf("<edit %d of %d>", e.n, e.rnd.Uint64())
}

// edit does one thing to one path. The editor knows which of its own edits it destroyed itself.
func (e *editor) edit(paths []string) {
	p := paths[e.rnd.IntN(len(paths))]
	full := filepath.Join(e.dir, p)
	tok := e.token()
	switch e.rnd.IntN(7) {
	case 0: // write in place, truncating
		f, err := os.OpenFile(full, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return
		}
		fi, _ := f.Stat()
		e.lostIn(fi)
		if _, err := f.WriteString(tok); err == nil {
			e.keep(fi, tok)
		}
		f.Close()
	case 1: // write beside and rename over, as editors do
		tmp := full + fmt.Sprintf(".%d.tmp~", e.n)
		if os.WriteFile(tmp, []byte(tok), 0o644) != nil {
			return
		}
		fi, _ := os.Lstat(tmp)
		e.keep(fi, tok)
		// An edit of its own that the rename replaces would be the editor's own loss: a link keeps it. While a checkout
		// runs at the same time it may put one back between the two calls, so then the names are exchanged.
		if e.alongside {
			_ = unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, full, unix.RENAME_EXCHANGE)
			return
		}
		_ = os.Link(full, full+fmt.Sprintf(".%d~", e.n))
		_ = os.Rename(tmp, full)
	case 2: // create
		f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return
		}
		fi, _ := f.Stat()
		if _, err := f.WriteString(tok); err == nil {
			e.keep(fi, tok)
		}
		f.Close()
	case 3: // append
		f, err := os.OpenFile(full, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return
		}
		fi, _ := f.Stat()
		if _, err := f.WriteString(tok); err == nil {
			e.keep(fi, tok)
		}
		f.Close()
	case 4: // open now, append later
		if f, err := os.OpenFile(full, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			e.open = append(e.open, f)
		}
	case 5:
		if len(e.open) > 0 {
			f := e.open[0]
			e.open = e.open[1:]
			fi, _ := f.Stat()
			if _, err := f.WriteString(tok); err == nil {
				e.keep(fi, tok)
			}
			f.Close()
		}
	case 6: // move away within the tree: nothing is lost by it
		_ = os.Rename(full, full+fmt.Sprintf(".%d~", e.n))
	}
}

// Edits are remembered by the file they are in: truncating it loses its earlier ones, which is the editor's own doing.
func (e *editor) keep(fi os.FileInfo, tok string) { e.last[inode(fi)+" "+tok] = tok }

func (e *editor) lostIn(fi os.FileInfo) {
	for k := range e.last {
		if strings.HasPrefix(k, inode(fi)+" ") {
			delete(e.last, k)
		}
	}
}

// finish writes through what is still open.
func (e *editor) finish() {
	for _, f := range e.open {
		tok := e.token()
		fi, _ := f.Stat()
		if _, err := f.WriteString(tok); err == nil {
			e.keep(fi, tok)
		}
		f.Close()
	}
	e.open = nil
}

// check looks for every edit, in the tree or in what was saved, and for writes outside.
func (e *editor) check(t *testing.T, outside string) {
	t.Helper()
	all := strings.Join(everything(t, e.dir), "\n")
	for _, tok := range e.last {
		if !strings.Contains(all, tok) {
			t.Errorf("lost: %s", tok)
		}
	}
	if got := everything(t, outside); len(got) != 1 || got[0] != "outside" {
		t.Errorf("outside is now %q", got)
	}
}

func raceSetup(t *testing.T, from applyState, seed uint64) (dir, outside string, e *editor) {
	base := applyDir(t)
	dir, outside = filepath.Join(base, "in"), filepath.Join(base, "out")
	for _, d := range []string{dir, outside} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "e"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	buildState(t, dir, from)
	return dir, outside, &editor{dir: dir, rnd: rand.New(rand.NewPCG(seed, 1)), last: map[string]string{}}
}

func racePaths(from, to applyState) []string {
	var paths []string
	for _, p := range append(from.paths(), to.paths()...) {
		if p != "keep" {
			paths = append(paths, p)
		}
	}
	return paths
}

// savedExist: every reported place exists, and everything in the stage is reported.
func savedExist(t *testing.T, dir string, r apply.Result) {
	t.Helper()
	reported := map[string]bool{}
	for _, c := range r.Conflicts {
		if c.SavedAs != "" {
			reported[filepath.Base(string(c.SavedAs))] = true
			if _, err := os.Lstat(string(c.SavedAs)); err != nil {
				t.Errorf("reported but not there: %v", err)
			}
		}
	}
	for _, n := range stageHolds(t, dir) {
		if !reported[n] {
			t.Errorf("in the stage but not reported: %s", n)
		}
	}
}

// TestT11EditorBetweenCalls: an editor strikes exactly before the Nth call, for every N, several times each.
func TestT11EditorBetweenCalls(t *testing.T) {
	from, to := raceTrees()
	b := applyBlobs{}.add(from).add(to)
	paths := racePaths(from, to)
	steps := stepsBetween(from, to)
	runs, struck := 0, 0
	for n := 1; ; n++ {
		hit := false
		for round := range uint64(6) {
			dir, outside, e := raceSetup(t, from, uint64(n)<<8|round)
			s := &faultfs.Script{Before: func(i int, _ faultfs.Call) {
				if i == n || round > 2 && i > n && i%int(round) == 0 {
					hit = true
					before := len(e.last)
					for range 3 {
						e.edit(paths)
					}
					struck += len(e.last) - before
				}
			}}
			r, err := runApply(t, dir, steps, b, s)
			if err != nil {
				t.Fatalf("before call %d: %v", n, err)
			}
			e.finish()
			e.check(t, outside)
			savedExist(t, dir, r)
			runs++
			if t.Failed() {
				t.Fatalf("edits before call %d, round %d:\n%s\n%+v", n, round, s.Log(), r.Conflicts)
			}
		}
		if !hit {
			break
		}
	}
	t.Logf("%d runs, %d edits", runs, struck)
	if runs < 200 || struck < 200 {
		t.Errorf("only %d runs and %d edits", runs, struck)
	}
}

// TestT11EditorAlongside: an editor works at full speed during the whole run, forward and back.
func TestT11EditorAlongside(t *testing.T) {
	from, to := raceTrees()
	b := applyBlobs{}.add(from).add(to)
	paths := racePaths(from, to)
	m := torture.Begin(t)
	conflicts := 0
	for seed := m.Seed - 1; seed < m.Seed-1+uint64(m.Points); seed++ {
		dir, outside, e := raceSetup(t, from, seed)
		e.alongside = true
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					e.edit(paths)
				}
			}
		})
		steps := stepsBetween(from, to)
		r, err := runApply(t, dir, steps, b, &faultfs.Script{})
		if err == nil {
			savedExist(t, dir, r)
			conflicts += len(r.Conflicts)
			_, err = runApply(t, dir, tree.Reverse(steps), b, &faultfs.Script{})
		}
		close(stop)
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		e.finish()
		e.check(t, outside)
		m.Point()
		m.Acked(e.n)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if conflicts == 0 {
		t.Error("no conflict in any run: the editor never met a checkout")
	}
}

// TestT11CrashAmongEdits: the run is cut short while an editor works, and ended later, forward or back: the edits are
// all there.
func TestT11CrashAmongEdits(t *testing.T) {
	m := torture.Begin(t)
	fired := 0
	for seed := m.Seed - 1; seed < m.Seed-1+uint64(m.Points); seed++ {
		cut, edits := crashAmongEdits(t, seed)
		if cut {
			fired++
			m.Fired(1)
		}
		m.Point()
		m.Acked(edits)
	}
	if fired < m.Points/3 {
		t.Errorf("only %d runs were cut short", fired)
	}
}

// crashAmongEdits cuts a run short at a call that the seed says, and reports whether there was such a call.
func crashAmongEdits(t *testing.T, seed uint64) (cut bool, edits int) {
	t.Helper()
	from, to := raceTrees()
	b := applyBlobs{}.add(from).add(to)
	paths := racePaths(from, to)
	steps := stepsBetween(from, to)
	dir, outside, e := raceSetup(t, from, seed)
	at := 1 + int(seed*7)%110
	s := &faultfs.Script{CrashAt: at, Before: func(i int, _ faultfs.Call) {
		if i%5 == int(seed%5) {
			e.edit(paths)
		}
	}}
	_, _ = runApply(t, dir, steps, b, s)
	run := steps
	if seed%2 == 1 {
		run = tree.Reverse(steps)
	}
	r, err := runApply(t, dir, run, b, &faultfs.Script{})
	if err != nil {
		t.Fatal(err)
	}
	savedExist(t, dir, r)
	e.finish()
	e.check(t, outside)
	if t.Failed() {
		t.Fatalf("seed %d, cut at %d:\n%s\n%+v", seed, at, s.Log(), r.Conflicts)
	}
	return s.Fired(), e.n
}

// TestT11EditGoesBack: an edit between the last look and the rename is not only saved: it is back at its path, byte and
// mode.
func TestT11EditGoesBack(t *testing.T) {
	from := applyState{"x": nf("before", 0o644)}
	for what, to := range map[string]applyState{
		"replaced": {"x": nf("after!", 0o600)}, "removed": {}, "link": {"x": nl("after!")},
		"directory": {"x": nd(0o755)},
	} {
		for how, edit := range map[string]func(p string) error{
			"written": func(p string) error { return os.WriteFile(p, []byte("edited"), 0) },
			"renamed over": func(p string) error {
				return errors.Join(os.WriteFile(p+"~", []byte("edited"), 0o644), os.Rename(p+"~", p))
			},
			"chmod": func(p string) error { return os.Chmod(p, 0o640) },
			"link":  func(p string) error { return errors.Join(os.Remove(p), os.Symlink("edited", p)) },
			"directory": func(p string) error {
				return errors.Join(os.Remove(p), os.Mkdir(p, 0o750), os.WriteFile(p+"/f", nil, 0o644))
			},
		} {
			t.Run(what+" "+how, func(t *testing.T) {
				dir := applyDir(t)
				buildState(t, dir, from)
				var want applyState
				s := &faultfs.Script{Before: func(_ int, c faultfs.Call) {
					if want == nil && (c.Path == "x" && c.Op == "move" || c.Rest == "x" && c.Op == "exchange") {
						if err := edit(filepath.Join(dir, "x")); err != nil {
							t.Fatal(err)
						}
						want = readState(t, dir)
					}
				}}
				r, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), s)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					t.Fatal("the edit never happened")
				}
				if len(r.Conflicts) != 1 || r.Conflicts[0].SavedAs != "" || r.Done != 0 {
					t.Errorf("%+v", r)
				}
				if d := readState(t, dir).diff(want); d != "" {
					t.Errorf("tree differs:\n%s", d)
				}
				if left := stageHolds(t, dir); len(left) > 0 {
					t.Errorf("stage holds %q", left)
				}
			})
		}
	}
}

// TestT11HeldOpen: a program that keeps a file open and goes on writing finds every byte in what was saved.
func TestT11HeldOpen(t *testing.T) {
	from, to := applyState{"log": nf("before\n", 0o644)}, applyState{"log": nf("after\n", 0o644)}
	dir := applyDir(t)
	buildState(t, dir, from)
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), &faultfs.Script{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != 1 || len(r.Conflicts) != 1 || r.Conflicts[0].SavedAs == "" {
		t.Fatalf("%+v", r)
	}
	if _, err := f.WriteString("much later\n"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(string(r.Conflicts[0].SavedAs)); string(b) != "before\nmuch later\n" {
		t.Errorf("saved is %q, %v", b, err)
	}
	if d := readState(t, dir).diff(to); d != "" {
		t.Errorf("tree differs:\n%s", d)
	}
}
