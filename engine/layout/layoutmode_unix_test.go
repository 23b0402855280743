package layout_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"rewind/engine/enginetest"
)

// TestPromise17LaidOutNoWider: what is laid out elsewhere is not open to anybody to whom the project is not.
func TestPromise17LaidOutNoWider(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "private")
	cp := p.Save("one")
	fi, err := os.Stat(p.Root)
	p.Must(err)
	group := int(fi.Sys().(*syscall.Stat_t).Gid)
	lay := func(what string, want fs.FileMode) {
		t.Helper()
		to := filepath.Join(t.TempDir(), "out")
		if _, err := p.E.Layouts.LayOut(enginetest.Bg, cp.ID.String(), to, nil); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if fi, err := os.Stat(to); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", what, fi.Mode(), err, want)
		}
	}
	for _, umask := range []int{0, 0o022, 0o077} {
		was := syscall.Umask(umask)
		for _, perm := range []fs.FileMode{0o700, 0o711, 0o750, 0o755, 0o770, 0o775, 0o777, 0o500} {
			p.Must(os.Chmod(p.Root, perm))
			lay(fmt.Sprintf("%v, umask %o", perm, umask), perm|0o700)
		}
		syscall.Umask(was)
	}
	p.Must(os.Chmod(p.Root, 0o700))
	// The bits of another group are not given to this one.
	if os.Getuid() == 0 {
		p.Must(os.Chown(p.Root, -1, group+1))
		for perm, want := range map[fs.FileMode]fs.FileMode{0o770: 0o700, 0o775: 0o755, 0o750: 0o700, 0o751: 0o711, 0o707: 0o700} {
			p.Must(os.Chmod(p.Root, perm))
			lay(fmt.Sprintf("another group, %v", perm), want)
		}
		p.Must(os.Chown(p.Root, -1, group))
	}
	// A project whose root is gone.
	p.Must(os.Rename(p.Root, p.Root+"-moved"))
	lay("gone", 0o700)
	p.Must(os.Rename(p.Root+"-moved", p.Root))
}
