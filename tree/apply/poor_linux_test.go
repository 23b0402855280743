package apply_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
	"rewind/tree/apply"
)

// poorScript plays exFAT: no renames but the plain one, no symbolic links, no permissions.
func poorScript(refuses bool) *faultfs.Script {
	return &faultfs.Script{Plain: true, NoSymlinks: true, NoPerms: true, Refuses: refuses}
}

// asPoor is a tree with the permissions that such a file system gives.
func asPoor(w applyState) applyState {
	out := applyState{}
	for p, n := range w {
		switch n.typ {
		case tree.TypeDir:
			n.perm = 0o755
		case tree.TypeFile:
			n.perm = 0o644
		}
		out[p] = n
	}
	return out
}

// TestT10NoPermissions: where the file system keeps no permissions, bytes and names come, and go back, from wherever a
// run was cut short; the paths that have others than they should are named.
func TestT10NoPermissions(t *testing.T) {
	from := applyState{
		"a": nf("one", 0o600), "d": nd(0o700), "d/f": nf("f", 0o755), "p": nf("same", 0o644), "q": nd(0o755),
		"x": nf("x", 0o444),
	}
	to := applyState{
		"a": nf("uno", 0o755), "p": nf("same", 0o755), "q": nd(0o700), "n": nd(0o500), "n/g": nf("g", 0o400),
		"x":   nd(0o711),
		"x/y": nf("y", 0o644),
	}
	b := applyBlobs{}.add(from).add(to)
	steps := stepsBetween(from, to)
	for _, refuses := range []bool{false, true} {
		for n := 1; ; n++ {
			dir := applyDir(t)
			buildState(t, dir, asPoor(from))
			s := poorScript(refuses)
			s.CrashAt = n
			_, err := runApply(t, dir, steps, b, s)
			again, want := steps, to
			if n%2 == 0 && err != nil {
				again, want = tree.Reverse(steps), from
			}
			r, err2 := runApply(t, dir, again, b, poorScript(refuses))
			if err2 != nil || len(r.Conflicts) > 0 {
				t.Fatalf("cut at %d: %+v, %v\n%s", n, r.Conflicts, err2, s.Log())
			}
			if d := readState(t, dir).diff(asPoor(want)); d != "" {
				t.Fatalf("cut at %d:\n%s\n%s", n, d, s.Log())
			}
			if left := stageHolds(t, dir); len(left) > 0 {
				t.Fatalf("cut at %d: the stage holds %q", n, left)
			}
			if err != nil {
				continue
			}
			var named []string
			for _, w := range r.Without {
				named = append(named, string(w.Path)+" "+strings.Join(w.What, ","))
			}
			all := "[a permissions n permissions n/g permissions p permissions q permissions x permissions]"
			if fmt.Sprint(named) != all {
				t.Errorf("named are %q", named)
			}
			break
		}
	}
}

// TestPermissionsFail: an error of the disk is none of a file system that keeps no permissions.
func TestPermissionsFail(t *testing.T) {
	from, to := applyState{"p": nf("same", 0o644)}, applyState{"p": nf("same", 0o755)}
	dir := applyDir(t)
	buildState(t, dir, from)
	s := poorScript(false)
	s.FailAt, s.FailOp, s.Err = 1, "chmod", syscall.EIO
	_, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), s)
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("%v\n%s", err, s.Log())
	}
}

// TestNoSymlinks: a restore sets all but the links, which it names; where a directory was to give way to one, it stays
// as it is.
func TestNoSymlinks(t *testing.T) {
	from := applyState{
		"a": nf("one", 0o644), "l": nf("file", 0o644), "d": nd(0o755), "d/f": nf("f", 0o644),
		"g": nf("gone", 0o644),
	}
	to := applyState{
		"a": nf("uno", 0o644), "l": nl("a"), "d": nl("n"), "n": nd(0o755), "n/l": nl("../a"), "n/f": nf("nf", 0o644),
		"z": nl("a"),
	}
	b := applyBlobs{}.add(from).add(to)
	steps := stepsBetween(from, to)
	for n := 0; ; n++ { // 0: not cut short
		dir := applyDir(t)
		buildState(t, dir, from)
		s := &faultfs.Script{NoSymlinks: true, CrashAt: n}
		r, err := runApply(t, dir, steps, b, s)
		if n > 0 && err == nil {
			break
		}
		if n > 0 {
			if r, err = runApply(t, dir, steps, b, &faultfs.Script{NoSymlinks: true}); err != nil {
				t.Fatalf("cut at %d: %v", n, err)
			}
		}
		var named []string
		for _, c := range r.Conflicts {
			named = append(named, string(c.Path))
		}
		want := applyState{
			"a": to["a"], "l": from["l"], "d": from["d"], "d/f": from["d/f"], "n": to["n"], "n/f": to["n/f"],
		}
		if fmt.Sprint(named) != "[d d/f l n/l z]" {
			t.Errorf("cut at %d: named are %q", n, r.Conflicts)
		}
		if d := readState(t, dir).diff(want); d != "" {
			t.Errorf("cut at %d:\n%s", n, d)
		}
		if left := stageHolds(t, dir); len(left) > 0 {
			t.Errorf("cut at %d: the stage holds %q", n, left)
		}
		mustReach(t, dir, tree.Reverse(steps), b, from)
		if t.Failed() {
			t.Fatal(s.Log())
		}
	}
}

// TestLayOutOnAPoorFileSystem: what it cannot hold is left out, and said, each with why; the rest is there.
func TestLayOutOnAPoorFileSystem(t *testing.T) {
	to := applyState{
		"a": nf("a", 0o644), "l": nl("a"), "n": nd(0o755), "n/l": nl("x"), "n/f": nf("f", 0o644), "n/bad:": nd(0o755),
		"n/bad:/x": nf("x", 0o644), "n/worse:": nf("w", 0o644),
	}
	dir := applyDir(t)
	root, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	above := noColons{faultfs.Wrap(root, poorScript(true))}
	without, left, err := apply.LayOut(t.Context(), above, "out", stepsBetween(applyState{}, to),
		applyBlobs{}.add(to).open, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []value.Kept{
		{Path: "l", Reason: value.KeptNoLinks},
		{Path: "n/bad:", Dir: true, Reason: value.KeptNoName},
		{Path: "n/bad:/x", Reason: value.KeptNoName},
		{Path: "n/l", Reason: value.KeptNoLinks},
		{Path: "n/worse:", Reason: value.KeptNoName},
	}
	if !slices.Equal(left, want) || len(without) > 0 {
		t.Errorf("left out %+v, without %+v", left, without)
	}
	there := applyState{"a": to["a"], "n": to["n"], "n/f": to["n/f"]}
	if d := readState(t, filepath.Join(dir, "out")).diff(there); d != "" {
		t.Error(d)
	}
	// Nothing that can be had is an error, and nothing new.
	link := stepsBetween(applyState{}, applyState{"l": nl("a")})
	_, _, err = apply.LayOut(t.Context(), above, "links", link, applyBlobs{}.add(to).open, nil)
	if err == nil || !slices.Equal(names(t, dir), []string{"out"}) {
		t.Errorf("%v; there are %q", err, names(t, dir))
	}
}

// noColons is a file system that cannot have a colon in a name, and says so as exFAT by FUSE does.
type noColons struct{ worktreefs.Dir }

func (d noColons) Unwrap() worktreefs.Dir { return d.Dir }

func (d noColons) OpenDir(n string) (worktreefs.Dir, error) {
	below, err := d.Dir.OpenDir(n)
	return noColons{below}, err
}

func (d noColons) CreateFile(n string, perm uint16) (worktreefs.WFile, error) {
	if strings.Contains(n, ":") {
		return nil, fmt.Errorf("create %s: %w", n, worktreefs.ErrNotExist)
	}
	return d.Dir.CreateFile(n, perm)
}

func (d noColons) Mkdir(n string, perm uint16) error {
	if strings.Contains(n, ":") {
		return errors.Join(worktreefs.ErrBadName)
	}
	return d.Dir.Mkdir(n, perm)
}
