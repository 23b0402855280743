package apply_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zeebo/blake3"

	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/apply"
)

// applyNode is an entry of a tree in a test: 'f' with content, 'l' with a target, 'd'.
type applyNode struct {
	typ  byte
	perm uint16
	data string
}

func nf(data string, perm uint16) applyNode { return applyNode{tree.TypeFile, perm, data} }
func nl(target string) applyNode            { return applyNode{tree.TypeSymlink, 0, target} }
func nd(perm uint16) applyNode              { return applyNode{tree.TypeDir, perm, ""} }

// applyState is a whole tree.
type applyState map[string]applyNode

func (w applyState) paths() []string {
	return slices.SortedFunc(maps.Keys(w), tree.ComparePaths)
}

// applyBlobs is what the store holds.
type applyBlobs map[objstore.ID]string

func (b applyBlobs) open(id objstore.ID) (io.ReadCloser, error) {
	s, ok := b[id]
	if !ok {
		return nil, fmt.Errorf("no blob %s", id)
	}
	return io.NopCloser(strings.NewReader(s)), nil
}

func (b applyBlobs) add(w applyState) applyBlobs {
	for _, n := range w {
		if n.typ != tree.TypeDir {
			b[blake3.Sum256([]byte(n.data))] = n.data
		}
	}
	return b
}

func (n applyNode) entry(path string) *tree.Entry {
	_, name := tree.Split(path)
	e := &tree.Entry{Name: name, Type: n.typ, Perm: n.perm}
	if n.typ != tree.TypeDir {
		e.ID = blake3.Sum256([]byte(n.data))
	}
	if n.typ == tree.TypeFile {
		e.Size = int64(len(n.data))
	}
	return e
}

// stepsBetween is what a plan would give.
func stepsBetween(from, to applyState) []tree.Change {
	both := maps.Clone(from)
	maps.Copy(both, to)
	var steps []tree.Change
	for _, p := range both.paths() {
		f, inF := from[p]
		t, inT := to[p]
		s := tree.Change{Path: p}
		if inF {
			s.Old = f.entry(p)
		}
		if inT {
			s.New = t.entry(p)
		}
		if !tree.Same(s.Old, s.New) {
			steps = append(steps, s)
		}
	}
	return steps
}

// plainRenames has every run of a test meet a file system without Move for files and without Exchange (a shared folder
// of a virtual machine, FUSE).
var plainRenames bool

const testStage = ".agent/rewind/stage/7"

// build makes a tree on disk. Directories get their permissions last.
func buildState(t testing.TB, dir string, w applyState) {
	t.Helper()
	paths := w.paths()
	for _, p := range paths {
		n, full := w[p], filepath.Join(dir, p)
		var err error
		switch n.typ {
		case tree.TypeDir:
			err = os.Mkdir(full, 0o700)
		case tree.TypeFile:
			err = os.WriteFile(full, []byte(n.data), 0o600)
		case tree.TypeSymlink:
			err = os.Symlink(n.data, full)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range slices.Backward(paths) {
		if n := w[p]; n.typ != tree.TypeSymlink {
			if err := os.Chmod(filepath.Join(dir, p), applyMode(n.perm)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func applyMode(perm uint16) fs.FileMode {
	m := fs.FileMode(perm & 0o777)
	for bit, mode := range map[uint16]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if perm&bit != 0 {
			m |= mode
		}
	}
	return m
}

func applyPerm(m fs.FileMode) uint16 {
	p := uint16(m.Perm())
	for bit, mode := range map[uint16]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if m&mode != 0 {
			p |= bit
		}
	}
	return p
}

// readState reads a tree from disk, without the stage. Not only the superuser can: what is closed is opened for the
// moment.
func readState(t testing.TB, dir string) applyState {
	t.Helper()
	w := applyState{}
	if err := w.read(dir, ""); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w applyState) read(full, path string) error {
	list, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	for _, d := range list {
		if path == "" && d.Name() == ".agent" {
			continue
		}
		p := filepath.Join(full, d.Name())
		fi, err := d.Info()
		if err != nil {
			return err
		}
		n := applyNode{perm: applyPerm(fi.Mode())}
		if d.Type()&fs.ModeSymlink == 0 && n.perm&0o500 != 0o500 {
			if err := os.Chmod(p, 0o700); err != nil {
				return err
			}
		}
		switch {
		case fi.IsDir():
			n.typ = tree.TypeDir
			err = w.read(p, tree.Join(path, d.Name()))
		case fi.Mode()&fs.ModeSymlink != 0:
			n.typ, n.perm = tree.TypeSymlink, 0
			n.data, err = os.Readlink(p)
		case fi.Mode().IsRegular():
			n.typ = tree.TypeFile
			var b []byte
			b, err = os.ReadFile(p)
			n.data = string(b)
		default:
			n.typ = '?'
		}
		if err == nil && n.typ != tree.TypeSymlink && n.perm&0o500 != 0o500 {
			err = os.Chmod(p, fi.Mode())
		}
		if err != nil {
			return err
		}
		w[tree.Join(path, d.Name())] = n
	}
	return nil
}

func (w applyState) diff(want applyState) string {
	var b bytes.Buffer
	both := maps.Clone(w)
	maps.Copy(both, want)
	for _, p := range both.paths() {
		g, okG := w[p]
		x, okX := want[p]
		if g != x || okG != okX {
			fmt.Fprintf(&b, "%q: is %c %04o %.60q (%v), want %c %04o %.60q (%v)\n", p, g.typ, g.perm, g.data, okG, x.typ, x.perm,
				x.data, okX)
		}
	}
	return b.String()
}

// checkout applies steps to dir through a script.
func runApply(t testing.TB, dir string, steps []tree.Change, b applyBlobs, s *faultfs.Script) (apply.Result, error) {
	t.Helper()
	return runApplyCtx(context.Background(), t, dir, steps, b, s)
}

func runApplyCtx(
	ctx context.Context, t testing.TB, dir string, steps []tree.Change, b applyBlobs, s *faultfs.Script,
) (apply.Result, error) {
	t.Helper()
	real, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	made, err := apply.OpenStage(faultfs.Wrap(real, &faultfs.Script{NoSync: true}), testStage)
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	s.NoSync = true
	s.Plain = s.Plain || plainRenames
	root := faultfs.Wrap(real, s)
	stage, err := worktreefs.OpenPath(root, testStage)
	if err != nil {
		return apply.Result{}, err
	}
	defer stage.Close()
	return apply.Run(ctx, apply.Options{Root: root, Stage: stage, Op: "7", Steps: steps, Open: b.open})
}

// stageHolds lists what is left in the stage.
func stageHolds(t testing.TB, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, testStage))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// mustReach applies steps without faults and compares.
func mustReach(t testing.TB, dir string, steps []tree.Change, b applyBlobs, want applyState) apply.Result {
	t.Helper()
	r, err := runApply(t, dir, steps, b, &faultfs.Script{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Conflicts) > 0 {
		t.Errorf("conflicts: %q", r.Conflicts)
	}
	if d := readState(t, dir).diff(want); d != "" {
		t.Errorf("tree differs:\n%s", d)
	}
	if left := stageHolds(t, dir); len(left) > 0 {
		t.Errorf("stage holds %q", left)
	}
	return r
}

// inode names a file across renames.
func inode(fi fs.FileInfo) string { return fmt.Sprint(fi.Sys().(*syscall.Stat_t).Ino) }
