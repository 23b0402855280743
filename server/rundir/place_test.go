package rundir

import (
	"os"
	"testing"
	"time"
)

func take(t *testing.T, home string) *Claim {
	t.Helper()
	p, err := Acquire(t.Context(), home, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// One process has a place, until it leaves; it takes away what is its own, and only that.
func TestPlace(t *testing.T) {
	home, err := os.MkdirTemp("", "rw") // of a short path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	p := take(t, home)
	if q := take(t, home); q != nil {
		t.Fatal("two have it before there is a socket")
	}
	ln, err := p.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if begin := time.Now(); !p.Held() {
		t.Error("not held")
	} else if q, err := Acquire(t.Context(), home, time.Hour); q != nil || err != nil || time.Since(begin) > time.Minute {
		t.Errorf("two have it: %v, %v; where one serves nobody waits", q, err)
	}
	if err := p.WriteNote([]byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	// Its socket is removed, and another process has the next.
	if err := os.Remove(p.Socket); err != nil {
		t.Fatal(err)
	}
	if p.Held() {
		t.Error("held without a socket")
	}
	if err := os.WriteFile(p.Socket, nil, 0o600); err != nil { // while the socket keeps its inode
		t.Fatal(err)
	}
	_ = ln.Close()
	p.Release()
	if !there(p.Socket) || there(p.path(NoteName)) {
		t.Error("what is another's was removed, or what was its own was not")
	}
	q := take(t, home)
	if q == nil {
		t.Fatal("not free")
	}
	if ln, err := q.Listen(); err == nil {
		_ = ln.Close()
		t.Error("a file was taken for a socket")
	}
	if err := os.Remove(q.Socket); err != nil {
		t.Fatal(err)
	}
	if ln, err = q.Listen(); err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	q.Release()
	if there(q.Socket) {
		t.Error("the socket was left behind")
	}
}
