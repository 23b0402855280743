package apply_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
	"rewind/tree/apply"
)

// manyFiles is a tree of so many files that several goroutines write it, some of them in directories of odd
// permissions.
func manyFiles(top string, n int) applyState {
	w := applyState{top: nd(0o755)}
	for i := range n {
		dir := fmt.Sprintf("%s/d%d", top, i%7)
		w[dir] = nd([]uint16{0o755, 0o700, 0o555, 0o500, 0o711, 0o775, 0o1755}[i%7])
		sub := fmt.Sprintf("%s/s%d", dir, i%3)
		w[sub] = nd(0o755)
		w[fmt.Sprintf("%s/f%d", sub, i)] = nf(strings.Repeat(fmt.Sprint(i), i), []uint16{0o644, 0o755, 0o444}[i%3])
	}
	w[top+"/l"] = nl("d0")
	return w
}

// TestT10ManyFiles: a tree of many files, laid out and taken away by several goroutines, cut short anywhere.
func TestT10ManyFiles(t *testing.T) {
	from, to := applyState{"x": nf("x", 0o644)}, manyFiles("t", 150)
	to["x"] = nf("xx", 0o644)
	b := applyBlobs{}.add(from).add(to)
	steps := stepsBetween(from, to)
	for n := 1; ; n += 23 {
		dir := applyDir(t)
		buildState(t, dir, from)
		s := &faultfs.Script{CrashAt: n}
		if _, err := runApply(t, dir, steps, b, s); err == nil {
			mustReach(t, dir, tree.Reverse(steps), b, from)
			break
		} else if !errors.Is(err, faultfs.ErrCrashed) {
			t.Fatalf("call %d: %v", n, err)
		}
		if n%2 == 0 {
			mustReach(t, dir, steps, b, to)
		}
		mustReach(t, dir, tree.Reverse(steps), b, from)
		if t.Failed() {
			t.Fatalf("cut short at call %d", n)
		}
	}
}

// TestApplySyncs holds how many syncs steps cost: of few, one each for a file, its new directory and the directory it
// comes to, and one of the stage; of many, a few of file systems whatever there are.
func TestApplySyncs(t *testing.T) {
	edit := func(n int) (from, to applyState) {
		from, to = applyState{}, applyState{}
		for i := range n {
			dir := fmt.Sprint("d", i)
			from[dir], to[dir] = nd(0o755), nd(0o755)
			from[dir+"/f"], to[dir+"/f"] = nf("before", 0o644), nf("after", 0o644)
		}
		return from, to
	}
	ten, tenAfter := edit(10)
	many, manyAfter := edit(200)
	for _, c := range []struct {
		name     string
		from, to applyState
		most     int
	}{
		{"ten files in ten directories", ten, tenAfter, 10 + 1 + 10},
		{"many files in many directories", many, manyAfter, 3},
		{"ten new files in a new directory", applyState{}, applyState{
			"n": nd(0o755), "n/0": nf("0", 0o644), "n/1": nf("1", 0o644), "n/2": nf("2", 0o644), "n/3": nf("3", 0o644), "n/4": nf("4",
				0o644),
		}, 5 + 1 + 1},
		{"a new tree of many files", applyState{}, manyWritable("t", 300), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := applyDir(t)
			buildState(t, dir, c.from)
			s := &faultfs.Script{}
			if _, err := runApply(t, dir, stepsBetween(c.from, c.to), applyBlobs{}.add(c.from).add(c.to), s); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count("\n"+s.Log(), "\nsync"); n > c.most {
				t.Errorf("%d syncs, want at most %d:\n%s", n, c.most, s.Log())
			}
			if d := readState(t, dir).diff(c.to); d != "" {
				t.Errorf("tree differs:\n%s", d)
			}
		})
	}
}

func manyWritable(top string, n int) applyState {
	w := manyFiles(top, n)
	for p, x := range w {
		if x.typ == tree.TypeDir {
			w[p] = nd(0o755)
		}
	}
	return w
}

// TestT12NewDirTaken: somebody makes a directory of a new one's name, with something in it, just before it comes: what
// was built is put beside that.
func TestT12NewDirTaken(t *testing.T) {
	to := applyState{
		"n": nd(0o755), "n/a": nf("a", 0o644), "n/b": nf("b", 0o644), "n/s": nd(0o755), "n/s/c": nf("c", 0o644),
		"n/s/d": nd(0o755), "n/s/d/e": nf("e", 0o644),
	}
	for _, c := range []struct {
		name      string
		there     applyState // of the racing editor
		conflicts int
	}{
		{"empty", applyState{"n": nd(0o755)}, 0},
		{"with a file", applyState{"n": nd(0o755), "n/a": nf("theirs", 0o600), "n/x": nf("x", 0o644)}, 1},
		{"with a directory", applyState{"n": nd(0o755), "n/s": nd(0o755), "n/s/c": nf("theirs", 0o644)}, 1},
		{"with a file for a directory", applyState{"n": nd(0o755), "n/s": nf("theirs", 0o644)}, 4},
		{"of other permissions", applyState{"n": nd(0o750)}, 1},
		{"a file", applyState{"n": nf("theirs", 0o644)}, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := applyDir(t)
			s := &faultfs.Script{Before: func(_ int, call faultfs.Call) {
				if call.Op == "move" && call.Rest == "n" {
					buildState(t, dir, c.there)
				}
			}}
			r, err := runApply(t, dir, stepsBetween(applyState{}, to), applyBlobs{}.add(to), s)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Conflicts) != c.conflicts {
				t.Errorf("%d conflicts, want %d: %+v", len(r.Conflicts), c.conflicts, r.Conflicts)
			}
			want := applyState{}
			for p, n := range to {
				want[p] = n
			}
			for p, n := range c.there {
				want[p] = n
				if n.typ != tree.TypeDir {
					for q := range to {
						if strings.HasPrefix(q, p+"/") {
							delete(want, q)
						}
					}
				}
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

// TestRemoveTree takes away what is closed to its owner, too.
func TestRemoveTree(t *testing.T) {
	dir := applyDir(t)
	buildState(t, dir, manyFiles("t", 30))
	if err := os.Chmod(filepath.Join(dir, "t/d2/s0"), 0); err != nil {
		t.Fatal(err)
	}
	root, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := apply.RemoveTree(root, "t"); err != nil {
		t.Fatal(err)
	}
	if d := readState(t, dir).diff(applyState{}); d != "" {
		t.Error(d)
	}
}

// linked is a directory with a number of links of one's choice: some file systems count one for each, not two.
type linked struct {
	worktreefs.Dir
	n uint64
}

func (d linked) Stat() (worktreefs.Stat, error) { return worktreefs.Stat{Nlink: d.n}, nil }

// "There is none" is about a name as long as the directory itself is there.
func TestIsNameError(t *testing.T) {
	for _, c := range []struct {
		err   error
		links uint64
		want  bool
	}{
		{worktreefs.ErrExist, 0, true},
		{worktreefs.ErrBadName, 0, true},
		{worktreefs.ErrNotExist, 2, true},
		{worktreefs.ErrNotExist, 1, true},
		{worktreefs.ErrNotExist, 0, false},
		{worktreefs.ErrNotDir, 2, false},
		{nil, 2, false},
	} {
		if got := apply.IsNameError(linked{n: c.links}, c.err); got != c.want {
			t.Errorf("%v, %d links: %v", c.err, c.links, got)
		}
	}
}

// What is above comes first.
func TestSortedPaths(t *testing.T) {
	paths := map[string]bool{"a.b": true, "b": true, "a": true}
	for i := range 9 {
		paths[fmt.Sprintf("a/%d", i)] = true
	}
	got := apply.SortedPaths(paths)
	if !slices.IsSortedFunc(got, tree.ComparePaths) || len(got) != len(paths) {
		t.Errorf("%q", got)
	}
}

// Progress is told of the beginning and the end of each phase, and now and then between them.
func TestProgress(t *testing.T) {
	from, to := applyState{}, applyState{}
	for i := range 2*apply.TellEach + 3 {
		from[fmt.Sprint(i)], to[fmt.Sprint(i)] = nf("one", 0o644), nf("two", 0o644)
	}
	dir, b := applyDir(t), applyBlobs{}.add(from).add(to)
	buildState(t, dir, from)
	root, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stage, err := apply.OpenStage(root, testStage)
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	var mu sync.Mutex
	told := map[string][]int{}
	_, err = apply.Run(t.Context(), apply.Options{
		Root: root, Stage: stage, Op: "7", Steps: stepsBetween(from, to), Open: b.open,
		Progress: func(phase string, done, total int) {
			mu.Lock()
			defer mu.Unlock()
			if total != 0 && total != len(to) {
				t.Errorf("%s: %d of %d", phase, done, total)
			}
			told[phase] = append(told[phase], done)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for phase, list := range told {
		slices.Sort(list)
		if want := []int{0, apply.TellEach, 2 * apply.TellEach, len(to)}; slices.Equal(list, want) {
			counted++
		} else if slices.Max(list) > 0 {
			t.Errorf("%s: %v", phase, list)
		}
	}
	if counted < 2 {
		t.Errorf("counted are %v", told)
	}
}
