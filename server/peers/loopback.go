package peers

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Bounds of a Loopback.
const (
	backlog    = 128 // connections that the kernel holds before they are accepted
	maxWaiting = 128 // accepted ones that are not asked about yet
	askers     = 2   // questions at a time

	firstPause = 5 * time.Millisecond // after an accept that the system had no means for, doubled up to a second
)

// Loopback is a listener on 127.0.0.1 that gives connections of this user only, where the system tells whose a
// connection is (Linux). A port has no mode, and every user of a machine reaches it. Accepting waits for no question:
// what another user does in a loop costs a question to the kernel each, and nobody else more than to stand in a short
// line.
type Loopback struct {
	ln      net.Listener
	refused func(uid int, err error)
	waiting chan net.Conn // accepted
	own     chan net.Conn // of this user
	broken  chan error    // why no more come
	end     chan struct{}
	once    sync.Once
	run     sync.WaitGroup
}

// NewLoopback listens on ln, which it owns. refused is told of each connection that is not this user's; with an error
// it is nobody's that can be found. It may be called by several goroutines.
func NewLoopback(ln net.Listener, refused func(uid int, err error)) *Loopback {
	return newLoopback(ln, refused, func() *asker { return new(asker) })
}

func newLoopback(ln net.Listener, refused func(uid int, err error), newAsker func() *asker) *Loopback {
	l := &Loopback{
		ln: ln, refused: refused, waiting: make(chan net.Conn, maxWaiting), own: make(chan net.Conn), broken: make(chan error, 1),
		end: make(chan struct{}),
	}
	setBacklog(ln, backlog)
	l.run.Go(l.accept)
	for range askers {
		l.run.Go(func() { l.ask(newAsker()) })
	}
	return l
}

// Accept implements net.Listener.
func (l *Loopback) Accept() (net.Conn, error) {
	select {
	case c := <-l.own:
		return c, nil
	case err := <-l.broken:
		return nil, err
	case <-l.end:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (l *Loopback) Addr() net.Addr { return l.ln.Addr() }

// Close implements net.Listener. It waits for what asks, at most for as long as a question takes.
func (l *Loopback) Close() error {
	var err error
	l.once.Do(func() {
		close(l.end)
		err = l.ln.Close()
		l.run.Wait()
		close(l.waiting)
		for c := range l.waiting {
			_ = c.Close()
		}
	})
	return err
}

// accept takes connections from the kernel, which keeps the others while maxWaiting wait here.
func (l *Loopback) accept() {
	for pause := firstPause; ; {
		c, err := l.ln.Accept()
		switch {
		case err == nil:
			pause = firstPause
		case outOfFiles(err):
			if l.rest(pause) {
				pause = min(2*pause, time.Second)
				continue
			}
			return
		default:
			l.broken <- err
			return
		}
		select {
		case l.waiting <- c:
		case <-l.end:
			_ = c.Close()
			return
		}
	}
}

// rest waits, and reports whether the listener is still open.
func (l *Loopback) rest(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.end:
		return false
	}
}

// outOfFiles reports whether the process or the system has no more of what a connection needs. That passes.
func outOfFiles(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// ask finds out whose the waiting connections are.
func (l *Loopback) ask(a *asker) {
	defer a.close()
	for {
		select {
		case c := <-l.waiting:
			a.ask(l.gather(c, a.together()), l.judge)
		case <-l.end:
			return
		}
	}
}

// gather returns c and what waits behind it, at most n connections.
func (l *Loopback) gather(c net.Conn, n int) []net.Conn {
	conns := []net.Conn{c}
	for len(conns) < n {
		select {
		case c := <-l.waiting:
			conns = append(conns, c)
		default:
			return conns
		}
	}
	return conns
}

// judge hands a connection of this user's on, and closes any other.
func (l *Loopback) judge(c net.Conn, uid int, err error) {
	if err != nil || uid != os.Geteuid() {
		_ = c.Close()
		l.refused(uid, err)
		return
	}
	select {
	case l.own <- c:
	case <-l.end:
		_ = c.Close()
	}
}
