package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// startPatience is for how long one client keeps others from starting a daemon while its own has not come up.
	startPatience = 150 * time.Millisecond
	minPause      = time.Millisecond
	maxPause      = 20 * time.Millisecond
)

// Connect connects to the daemon of a home, and has bin, the path of rewindd, start one where nobody listens; of
// another version than the client's it refuses to. The connection has the deadline.
//
// Of clients that come at the same time only the one that holds start.lock starts a process; the others wait for the
// socket, and one of them takes over when it has not come up in 150 ms. A daemon that finds another in its place exits
// with 0; one that exits with anything else cannot run, and Connect fails at once. errNoDaemon: none has come up in
// time. ErrDeadline: one is there and does not accept.
func Connect(home, bin, version string, deadline time.Time) (*Conn, error) {
	notice, err := TrustDirs(home)
	if err != nil && !absent(err) {
		return nil, foreign(home, err)
	}
	c, err := connect(home, bin, version, deadline)
	if c != nil {
		c.Notice = notice
	}
	return c, err
}

func connect(home, bin, version string, deadline time.Time) (*Conn, error) {
	sock, err := SocketPath(home)
	if err != nil {
		return nil, err
	}
	if c, err := dial(sock, deadline); err == nil || !absent(err) {
		return c, err
	}
	if err := CheckHome(home); err != nil {
		return nil, err
	}
	defer ownUmask()()
	if _, err := MakeDir(home); err != nil {
		return nil, err
	}
	s := starter{bin: bin, version: version, path: filepath.Join(filepath.Dir(sock), lockName)}
	defer s.release()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if err := s.lock(); err != nil {
			return nil, err
		}
		// The lock comes first: whoever had it before may have started a daemon.
		if c, err := tryConnect(home, sock, deadline); err == nil || !absent(err) {
			return c, err
		}
		if err := s.start(); err != nil {
			return nil, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, fail("connect", sock, errNoDaemon)
		}
		if err := s.wait(min(pause, left)); err != nil {
			return nil, err
		}
	}
}

// foreign makes what is wrong with a run directory an OwnerError where all of the home is another user's. A run
// directory that can be trusted needs no such look: only who may start a daemon in a home has one that answers.
func foreign(home string, err error) error {
	var owner *OwnerError
	if err != nil && errors.As(CheckHome(home), &owner) {
		return owner
	}
	return err
}

func tryConnect(home, sock string, deadline time.Time) (*Conn, error) {
	if _, err := TrustDirs(home); err != nil {
		return nil, err
	}
	return dial(sock, deadline)
}

// A starter is one client's part in starting a daemon.
type starter struct {
	bin, version, path string
	held               *os.File // the lock; nil: another client has it
	since              time.Time
	child              *Process // started under this lock
	done               bool     // the child has given way to another daemon
}

// lock takes the lock if it is free. After startPatience it is given up for one round, so that another client has its
// turn.
func (s *starter) lock() error {
	if s.held != nil {
		if time.Since(s.since) > startPatience {
			s.release()
		}
		return nil
	}
	f, err := startLock(s.path)
	if err != nil {
		return fail("lock", s.path, err)
	}
	s.held, s.since = f, time.Now()
	return nil
}

// start starts a daemon, once under one lock.
func (s *starter) start() (err error) {
	if s.held != nil && s.child == nil {
		s.child, err = start(s.bin, s.version)
	}
	return err
}

// wait sleeps. It is an error when the child ends meanwhile because it cannot run.
func (s *starter) wait(pause time.Duration) error {
	var ended <-chan struct{} // never, without a child
	if s.child != nil && !s.done {
		ended = s.child.Ended()
	}
	select {
	case <-ended:
		if code := s.child.Code(); code != 0 {
			return fail("start", s.bin, errors.New("the daemon ended with exit code "+strconv.Itoa(code)))
		}
		s.done = true
	case <-time.After(pause):
	}
	return nil
}

func (s *starter) release() {
	if s.held != nil {
		_ = s.held.Close()
		s.held, s.child, s.done = nil, nil, false
	}
}
