package worktreefs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestChmodByHandle: the way without fchmodat2 follows no link either.
func TestChmodByHandle(t *testing.T) {
	root, path := open(t)
	d := root.(*dir)
	put(t, d, "f", "x")
	must(t, d.Mkdir("d", 0o700))
	must(t, d.Symlink("f", "l"))
	must(t, unix.Mkfifo(filepath.Join(path, "p"), 0o600))
	must(t, d.Chmod("f", 0))
	for _, n := range []string{"f", "d", "p"} {
		if err := chmodByHandle(d.fd, n, 0o751); err != nil {
			t.Errorf("%s: %v", n, err)
		}
		if st, _ := d.Lstat(n); st.Perm != 0o751 {
			t.Errorf("%s: %04o", n, st.Perm)
		}
	}
	if err := chmodByHandle(d.fd, "l", 0o600); err != unix.EOPNOTSUPP {
		t.Errorf("a link: %v", err)
	}
	if err := chmodByHandle(d.fd, "none", 0o600); err != unix.ENOENT {
		t.Errorf("nothing: %v", err)
	}
	if st, _ := d.Lstat("f"); st.Perm != 0o751 {
		t.Errorf("chmod went through a link: %04o", st.Perm)
	}
}

func TestLock(t *testing.T) {
	d, path := open(t)
	put(t, d, "f", "x")
	l, err := d.Lock("f")
	must(t, err)
	r, err := os.OpenFile(filepath.Join(path, "f"), os.O_RDWR, 0)
	must(t, err)
	defer r.Close()
	try := func() error {
		return unix.FcntlFlock(r.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Start: 1 << 30, Len: 1})
	}
	if err := try(); !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		t.Errorf("a program gets its lock: %v", err)
	}
	must(t, l.Close())
	must(t, try())
	if _, err := d.Lock("f"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a second lock: %v", err)
	}
	must(t, os.Symlink("f", filepath.Join(path, "l")))
	if _, err := d.Lock("l"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a link: %v", err)
	}
}

func TestWriters(t *testing.T) {
	d, path := open(t)
	put(t, d, "f", "x")
	ask := func() bool {
		f, _, err := d.Open("f")
		must(t, err)
		defer f.Close()
		w, err := f.Writers()
		if errors.Is(err, ErrUnsupported) {
			t.Skip("missing tool: a file system with leases")
		}
		must(t, err)
		return w
	}
	if ask() {
		t.Error("writers of a closed file")
	}
	r, err := os.Open(filepath.Join(path, "f"))
	must(t, err)
	defer r.Close()
	if ask() {
		t.Error("a reader counts")
	}
	w, err := os.OpenFile(filepath.Join(path, "f"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	if !ask() {
		t.Error("a writer does not count")
	}
	must(t, w.Close())
	if ask() {
		t.Error("a writer that closed counts")
	}
}

func TestVolume(t *testing.T) {
	d, _ := open(t)
	must(t, d.Mkdir("sub", 0o755))
	sub, err := d.OpenDir("sub")
	must(t, err)
	defer sub.Close()
	a, err := d.Volume()
	must(t, err)
	b, err := sub.Volume()
	must(t, err)
	if a != b {
		t.Errorf("%v and %v", a, b)
	}
	proc, err := OpenRoot("/proc")
	must(t, err)
	defer proc.Close()
	if c, err := proc.Volume(); err != nil || c == a {
		t.Errorf("%v, %v", c, err)
	}
}

// TestPermission runs itself again as an unprivileged user: the superuser is refused nothing.
func TestPermission(t *testing.T) {
	if path := os.Getenv(asNobody); path != "" {
		permissionCases(t, path)
		return
	}
	path, err := os.MkdirTemp("", "nobody")
	must(t, err)
	defer os.RemoveAll(path)
	exe := filepath.Join(path, "test")
	self, err := os.Executable()
	must(t, err)
	data, err := os.ReadFile(self)
	must(t, err)
	must(t, os.WriteFile(exe, data, 0o755))
	work := filepath.Join(path, "work")
	must(t, os.Mkdir(work, 0o755))
	foreign := filepath.Join(work, "foreign")
	must(t, os.Mkdir(foreign, 0o755))
	must(t, os.WriteFile(filepath.Join(foreign, "f"), []byte("x"), 0o600))
	cmd := exec.Command(exe, "-test.run=^TestPermission$", "-test.v")
	cmd.Env = append(os.Environ(), asNobody+"="+work)
	cmd.Dir = work
	if os.Getuid() == 0 {
		must(t, os.Chmod(path, 0o755))
		must(t, os.Chown(work, 65534, 65534))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func permissionCases(t *testing.T, path string) {
	d, err := OpenRoot(path)
	must(t, err)
	defer d.Close()
	must(t, d.Mkdir("ro", 0o555))
	must(t, d.Mkdir("closed", 0))
	must(t, d.Mkdir("blind", 0o444))
	put(t, d, "sealed", "x")
	must(t, d.Chmod("sealed", 0))
	ro, err := d.OpenDir("ro")
	must(t, err)
	defer ro.Close()
	blind, err := d.OpenDir("blind")
	must(t, err)
	defer blind.Close()
	open := func(d Dir, n string) error { _, _, err := d.Open(n); return err }
	enter := func(d Dir, n string) error { _, err := d.OpenDir(n); return err }
	cases := map[string]error{
		"open sealed":   open(d, "sealed"),
		"enter closed":  enter(d, "closed"),
		"create in ro":  func() error { _, err := ro.CreateFile("f", 0o600); return err }(),
		"mkdir in ro":   ro.Mkdir("d", 0o700),
		"link in ro":    ro.Symlink("x", "l"),
		"move into ro":  d.Move("sealed", ro, "f"),
		"lstat blind":   func() error { _, err := blind.Lstat("f"); return err }(),
		"chmod foreign": d.Chmod("foreign", 0o777),
	}
	if os.Getuid() == 65534 {
		foreign, err := d.OpenDir("foreign")
		must(t, err)
		defer foreign.Close()
		cases["open foreign file"] = open(foreign, "f")
		cases["remove foreign file"] = foreign.Remove("f")
		cases["move foreign file"] = foreign.Move("f", d, "f")
	} else {
		delete(cases, "chmod foreign")
	}
	for what, err := range cases {
		if !errors.Is(err, ErrPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
	fmt.Println(len(cases), "cases")
	for _, n := range []string{"ro", "closed", "blind"} {
		must(t, d.Chmod(n, 0o700))
	}
}
