package relay

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestT17RunDirectoryPutRight: what others may have put into a run directory that was open to them goes, what is ours
// stays, and nothing that a planted name leads to is touched.
func TestT17RunDirectoryPutRight(t *testing.T) {
	home := shortDir(t)
	run, outside := filepath.Join(home, "run"), filepath.Join(home, "outside")
	at := func(name string) string { return filepath.Join(run, name) }
	if err := errors.Join(os.Mkdir(run, 0o700), os.Mkdir(at("warned"), 0o777), os.Chmod(at("warned"), 0o777),
		os.WriteFile(outside, []byte("outside"), 0o644), os.WriteFile(at("daemon.lock"), []byte("ours"), 0o666),
		os.Chmod(at("daemon.lock"),
			0o666),
		os.Symlink(outside, at("daemon.json")), os.Link(outside, at("daemon.log")), syscall.Mkfifo(at("start.lock"), 0o666)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at("daemon.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	gone := []string{"daemon.json", "daemon.log", "start.lock"}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.WriteFile(at("theirs"), nil, 0o666), os.Chown(at("theirs"), 65534, 65534),
			os.Mkdir(at("their-dir"), 0o777), os.Chown(at("their-dir"), 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		gone = append(gone, "theirs", "their-dir")
	}
	if err := os.Chmod(run, 0o777); err != nil {
		t.Fatal(err)
	}
	notice, err := TrustDirs(home)
	if err != nil || !strings.Contains(notice, run+" was open to others (mode 0777), and is closed again; removed ") {
		t.Fatalf("%q, %v", notice, err)
	}
	for _, name := range gone {
		if _, err := os.Lstat(at(name)); !errors.Is(err, os.ErrNotExist) || !strings.Contains(notice, name) {
			t.Errorf("%s: %v; %q", name, err, notice)
		}
	}
	for path, want := range map[string]os.FileMode{
		run: 0o700, at("warned"): 0o700, at("daemon.lock"): 0o600,
		outside: 0o644,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	c, err := Connect(home, "/nowhere", "v1", soon()) // the socket is ours and works
	if err != nil || c.Notice != "" {
		t.Fatal(err)
	}
	c.Close()
	if err := os.Chmod(run, 0o770); err != nil {
		t.Fatal(err)
	}
	if c, err = Connect(home, "/nowhere", "v1", soon()); err != nil || !strings.Contains(c.Notice, "mode 0770") {
		t.Fatalf("%v", err)
	}
	c.Close()
	if b, err := os.ReadFile(outside); err != nil || string(b) != "outside" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestT17RunDirectoryNotPutRight: what cannot be taken out keeps the directory refused, also the next time and after a
// kill in between.
func TestT17RunDirectoryNotPutRight(t *testing.T) {
	home := shortDir(t)
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Chmod(run, 0o1700); err != nil { // killed after it was closed
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(run, "x"), filepath.Join(home, "x")); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(run); err == nil {
		t.Error("a directory that is half put right is trusted")
	}
	if notice, err := TrustDirs(home); err != nil || !strings.Contains(notice, "removed x") {
		t.Errorf("%q, %v", notice, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	if err := errors.Join(os.Mkdir(filepath.Join(run, "d"), 0o777),
		os.WriteFile(filepath.Join(run, "d", "f"), nil, 0o600),
		os.Chown(filepath.Join(run, "d"), 65534, 65534), os.Chmod(run, 0o777)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := TrustDirs(home); err == nil ||
			!strings.Contains(err.Error(), filepath.Join(run, "d")+" belongs to user 65534; remove it") {
			t.Errorf("%v", err)
		}
	}
	if err := os.RemoveAll(filepath.Join(run, "d")); err != nil {
		t.Fatal(err)
	}
	if _, err := TrustDirs(home); err != nil {
		t.Error(err)
	}
	// That of another user: refused, with whose it is.
	if err := os.Chown(run, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(home, "/nowhere", "v1", soon()); err == nil ||
		!strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("%v", err)
	}
}

// TestT17ForeignSocketInOurDirectory: a socket that another user serves is not spoken to, wherever it lies.
func TestT17ForeignSocketInOurDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	home := shortDir(t)
	if err := errors.Join(os.Mkdir(filepath.Join(home, "run"), 0o777), os.Chmod(filepath.Join(home, "run"), 0o777),
		os.Chmod(home, 0o755)); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(home, "test") // the other user may not enter where the test binary is
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, text, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "daemon")
	cmd.Env = append(os.Environ(), "REWIND_HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	sock := filepath.Join(home, "run", socketName)
	for {
		if _, err := dial(sock, soon()); errors.Is(err, errForeign) {
			break
		} else if !absent(err) {
			t.Fatal(err)
		}
	}
	if notice, err := TrustDirs(home); err != nil || !strings.Contains(notice, "daemon.sock of user 65534") {
		t.Errorf("%q, %v", notice, err)
	}
	if _, err := os.Lstat(sock); err == nil {
		t.Error("the planted socket is still there")
	}
}
