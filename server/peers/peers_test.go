package peers

import (
	"net"
	"path/filepath"
	"testing"
)

// A connection of this user's is let in; one of which nobody can be asked is not, and the next one is waited for.
// (Another user: the server's tests, which need a second process.)
func TestOwn(t *testing.T) {
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	theirs, ours := net.Pipe()
	defer ours.Close()
	refused := 0
	own := Own{&first{ln, theirs}, func(uid int, err error) {
		if refused++; uid != -1 || err == nil {
			t.Errorf("refused %d, %v", uid, err)
		}
	}}
	c, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := own.Accept()
	if err != nil || refused != 1 || got == theirs {
		t.Fatalf("%v, refused %d", err, refused)
	}
	_ = got.Close()
	if _, err := ours.Write([]byte("x")); err == nil {
		t.Error("who was refused is still connected")
	}
}

// first is a listener that gives one connection before those that come.
type first struct {
	net.Listener
	c net.Conn
}

func (f *first) Accept() (net.Conn, error) {
	if c := f.c; c != nil {
		f.c = nil
		return c, nil
	}
	return f.Listener.Accept()
}
