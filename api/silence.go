package api

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"rewind/internal/relay"
)

const (
	// listenFor is for how long nothing may come before it is asked whether the daemon lives: progress is an answer.
	listenFor = 2 * time.Second
	// probeFor is for how long that question is waited for, interruptFor the same where a person has said that nobody
	// waits any more.
	probeFor     = time.Second
	interruptFor = time.Second
)

// A CutError says that the daemon ended before it had answered; it is ErrCut.
type CutError struct {
	PID    int  // of who answered; 0: not known
	Killed bool // it ended without taking its socket away, which is the first thing that it does when it ends by itself
}

func (e *CutError) Error() string { return ErrCut.Error() }

// Is makes it ErrCut.
func (e *CutError) Is(target error) bool { return target == ErrCut }

// cut is the error of an answer that broke off.
func (s Socket) cut(err error, pid int) error {
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	return &CutError{PID: pid, Killed: s.deserted(pid)}
}

// deserted reports whether there is a socket at which nobody listens. A process that is killed keeps its socket for a
// moment, in which the kernel takes connections for it.
func (s Socket) deserted(pid int) bool {
	sock, err := relay.SocketPath(s.Home)
	if err != nil {
		return false
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := relay.Dial(sock)
		if err != nil {
			return errors.Is(err, syscall.ECONNREFUSED)
		}
		now := c.PID()
		_ = c.Close()
		if now != pid || time.Since(began) > probeFor {
			return false
		}
	}
}

// answers asks the daemon a question that it answers whatever it does. Where none runs the answer is yes: that shows
// elsewhere.
func (s Socket) answers(wait time.Duration) (pid int, ok bool) {
	sock, err := relay.SocketPath(s.Home)
	if err != nil {
		return 0, true
	}
	c, err := relay.Dial(sock)
	if err != nil {
		return 0, !errors.Is(err, relay.ErrDeadline)
	}
	pid = c.PID()
	conn, err := netConn(c)
	if err != nil {
		return pid, true
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(wait))
	req, err := http.NewRequest(DaemonStatus.Method, base+DaemonStatus.Path, nil)
	if err != nil {
		return pid, true
	}
	req.Close = true
	if req.Write(conn) == nil {
		_, err = http.ReadResponse(bufio.NewReader(conn), req)
	}
	var late net.Error
	return pid, !errors.As(err, &late) || !late.Timeout()
}

// A listener notices that nothing comes.
type listener struct {
	s     Socket
	pid   atomic.Int64 // of the connection; 0: none yet
	heard atomic.Int64 // when something came last, in nanoseconds of the listener's life
	since time.Time
	ended chan struct{}
	end   func() // ends it; may be called again
}

// listen begins to wait for an answer.
func (s Socket) listen() *listener {
	l := &listener{s: s, since: time.Now(), ended: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.ended) })
	if s.Silent == nil {
		l.end()
		return l
	}
	go l.run()
	return l
}

func (l *listener) hear() { l.heard.Store(int64(time.Since(l.since))) }

func (l *listener) run() {
	t := time.NewTimer(listenFor)
	defer t.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-t.C:
		}
		heard := l.heard.Load()
		if quiet := time.Since(l.since) - time.Duration(heard); quiet < listenFor {
			t.Reset(listenFor - quiet)
			continue
		}
		pid, ok := l.s.answers(probeFor)
		if pid == 0 {
			pid = int(l.pid.Load())
		}
		select {
		case <-l.ended:
			return
		default:
		}
		if l.heard.Load() == heard && l.s.Silent(pid, ok) {
			return
		}
		t.Reset(listenFor)
	}
}
