package relay

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDial(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(c net.Conn) { _, _ = io.Copy(c, c) })
	c, err := Dial(sock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	big := strings.Repeat("0123456789abcdef", 1<<12)
	if n, err := c.Write([]byte(big)); n != len(big) || err != nil {
		t.Fatal(n, err)
	}
	b := make([]byte, len(big))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != big {
		t.Fatal("echo differs", err)
	}
	f, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	nc, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = nc.Write([]byte("x"))
	if _, err := io.ReadFull(nc, b[:1]); err != nil || b[0] != 'x' {
		t.Fatal("after File", err)
	}
}

func TestT17DialNobody(t *testing.T) {
	dir := shortDir(t)
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	_ = os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
	_ = os.Symlink("stale", filepath.Join(dir, "link"))
	for name, want := range map[string]bool{
		"missing": true, "stale": true, "link": true, "file": true, "file/x": false,
		strings.Repeat("x", 120): false,
	} {
		c, err := Dial(filepath.Join(dir, name))
		if err == nil {
			c.Close()
			t.Fatalf("%s: connected", name)
		}
		if absent(err) != want {
			t.Errorf("%s: %v; a daemon may be started: %v", name, err, absent(err))
		}
	}
}

func TestPromise03DeadlineOfAHungDaemon(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	listen(t, sock, func(net.Conn) { <-hold })
	c, err := Dial(sock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.setDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); err != ErrDeadline {
		t.Errorf("read: %v", err)
	}
	if _, err := c.Write([]byte("x")); err != ErrDeadline {
		t.Errorf("write after the deadline: %v", err)
	}
	c.setDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.Write(make([]byte, 16<<20)); err != ErrDeadline {
		t.Errorf("write: %v", err)
	}
}

// Each byte comes in time; the answer as a whole does not.
func TestPromise03DeadlineIsOfTheWhole(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(c net.Conn) {
		for {
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	c, err := Dial(sock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.setDeadline(time.Now().Add(50 * time.Millisecond))
	for range 1 << 20 {
		if _, err = c.Read(make([]byte, 1)); err != nil {
			break
		}
	}
	if err != ErrDeadline {
		t.Errorf("%v", err)
	}
}

// A daemon that never accepts has a queue that fills.
func TestPromise03FullQueue(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: sock}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		c, err := dial(sock, time.Now().Add(20*time.Millisecond))
		if err != nil {
			if !errors.Is(err, ErrDeadline) && !errors.Is(err, syscall.ECONNREFUSED) { // linux; darwin
				t.Errorf("%v", err)
			}
			return
		}
		defer c.Close()
	}
	t.Error("the queue never filled")
}

func TestWriteToAClosedPeerIsAnError(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(net.Conn) {})
	c, err := Dial(sock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Fatal(n, err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v", err)
	}
}
