package apply_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
