package rundir

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"rewind/internal/relay"
)

// NoteName is the note in the run directory.
const NoteName = "daemon.json"

const lockName = "daemon.lock"

// Claim is the right to the socket's name, which one process of a user has, and the socket. It is held from before the
// socket is made until after it is removed.
type Claim struct {
	Dir
	Socket string // its path
	lock   *flock.Flock
	lockAt fs.FileInfo
	sockAt fs.FileInfo // nil: not made yet
}

// Acquire takes the claim of a home, whose run directory it makes; nil: another process has it, and serves, or did
// neither serve nor leave for patience. Who has it and does not serve is about to begin or to end.
func Acquire(ctx context.Context, home string, patience time.Duration) (*Claim, error) {
	dir, err := Make(home)
	if err != nil {
		return nil, err
	}
	p := &Claim{Dir: dir}
	if p.Socket, err = relay.SocketPath(home); err != nil {
		return nil, err
	}
	p.lock = flock.New(dir.path(lockName), flock.SetPermissions(0o600))
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		ok, err := p.lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if ok {
			if p.lockAt, err = p.lock.Stat(); err == nil && dir.same(lockName, p.lockAt) {
				return p, nil
			}
			_ = p.lock.Close() // somebody cleans up here
		}
		if c, err := relay.Dial(p.Socket); err == nil {
			_ = c.Close()
			return nil, nil
		}
		if time.Now().After(end) {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(pause):
		}
	}
}

// Listen makes the socket, for this user alone. Whatever has its name is of a process that is no more, unless it is no
// socket.
func (p *Claim) Listen() (net.Listener, error) {
	name := filepath.Base(p.Socket)
	if fi, err := p.Stat(name); err == nil {
		if fi.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("%s is in the way: it is not a socket", p.Socket)
		}
		p.Remove(name)
	}
	ln, err := net.Listen("unix", p.Socket)
	if err != nil {
		return nil, err
	}
	if u, ok := ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // by then the name may be another daemon's
	}
	if err := p.private(name); err != nil { // the directory is private too: nobody came before this
		_ = ln.Close()
		return nil, err
	}
	if p.sockAt, err = p.Stat(name); err != nil {
		_ = ln.Close()
		return nil, err
	}
	return ln, nil
}

// WriteNote leaves a note for people, which goes with the place.
func (p *Claim) WriteNote(data []byte) error { return p.Write(NoteName, data) }

// Held reports whether clients still find the place. Who cannot be reached holds stores that others need.
func (p *Claim) Held() bool {
	return p.same(filepath.Base(p.Socket), p.sockAt) && p.same(lockName, p.lockAt)
}

// Release removes the socket and the note, if they are still of this place, and then gives it free: whoever is started
// now finds it empty.
func (p *Claim) Release() {
	if p.same(lockName, p.lockAt) { // else the directory is another daemon's
		if name := filepath.Base(p.Socket); p.same(name, p.sockAt) {
			p.Remove(name)
		}
		p.Remove(NoteName)
		p.Remove(killedName) // who ends so is well
	}
	_ = p.lock.Close()
}
