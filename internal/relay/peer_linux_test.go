package relay

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestPromise15PeerOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to listen as another user")
	}
	dir := shortDir(t)
	sock := filepath.Join(dir, "planted")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: sock}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { // listens as somebody else: the raw call changes this thread alone, which then ends
		runtime.LockOSThread()
		const keep = ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, 65534, keep); errno != 0 {
			done <- errno
			return
		}
		done <- syscall.Listen(fd, 8)
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sock, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"planted", "link"} {
		if _, err := Dial(filepath.Join(dir, name)); !errors.Is(err, errForeign) || !strings.Contains(err.Error(), "65534") {
			t.Errorf("%s: %v", name, err)
		}
	}
	home := shortDir(t) // the same in the place of the daemon's socket
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sock, filepath.Join(home, "run", socketName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(home, "/nothing", "v1", soon()); !errors.Is(err, errForeign) {
		t.Errorf("Connect: %v", err)
	}
}
