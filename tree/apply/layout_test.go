package apply_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree/apply"
)

// layState lays a state out as name in dir.
func layState(t *testing.T, dir, name string, to applyState, b applyBlobs, s *faultfs.Script) error {
	t.Helper()
	root, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Plain = s.Plain || plainRenames
	above := faultfs.Wrap(root, s)
	defer above.Close()
	_, _, err = apply.LayOut(t.Context(), above, name, stepsBetween(applyState{}, to), b.open, nil)
	return err
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// laid is a tree made of nothing: nobody has been given setuid, setgid or sticky files.
func (w applyState) laid() applyState {
	out := maps.Clone(w)
	for p, n := range out {
		n.perm = apply.RestPerm(n.typ, n.perm, 0)
		out[p] = n
	}
	return out
}

func TestLayOut(t *testing.T) {
	eachScenario(t, func(t *testing.T, _, to applyState, b applyBlobs) {
		dir := onDisk(t)
		if err := layState(t, dir, "out", to, b, &faultfs.Script{}); err != nil {
			t.Fatal(err)
		}
		if d := readState(t, filepath.Join(dir, "out")).diff(to.laid()); d != "" {
			t.Error(d)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"out"}) {
			t.Errorf("there are %q", got)
		}
		// What has the name is never touched.
		if err := layState(t, dir, "out", to, b, &faultfs.Script{}); !errors.Is(err, worktreefs.ErrExist) {
			t.Errorf("again: %v", err)
		}
		if d := readState(t, filepath.Join(dir, "out")).diff(to.laid()); d != "" {
			t.Error(d)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"out"}) {
			t.Errorf("after the second there are %q", got)
		}
	})
}

// TestLayOutFailsAnywhere: where a call that changes something fails, once, there is nothing new under the name that
// was asked for, but for the very last ones, after which all is there; and nothing is left beside it, but what could
// not be removed.
func TestLayOutFailsAnywhere(t *testing.T) {
	eachScenario(t, func(t *testing.T, _, to applyState, b applyBlobs) {
		for n := 1; ; n++ {
			dir := applyDir(t)
			s := &faultfs.Script{FailAt: n, Err: syscall.ENOSPC}
			err := layState(t, dir, "out", to, b, s)
			if !s.Fired() {
				break
			}
			got := names(t, dir)
			switch {
			case err == nil:
				t.Fatalf("call %d failed unnoticed in\n%s", n, s.Log())
			case !errors.Is(err, syscall.ENOSPC):
				t.Errorf("call %d: %v", n, err)
			}
			if slices.Contains(got, "out") {
				if d := readState(t, filepath.Join(dir, "out")).diff(to.laid()); d != "" {
					t.Fatalf("call %d of\n%sleft a part:\n%s", n, s.Log(), d)
				}
			} else if len(got) > 0 {
				t.Errorf("call %d of\n%sleft %q", n, s.Log(), got)
			}
			if n > 12 {
				n += 8
			}
		}
	})
}
