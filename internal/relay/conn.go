package relay

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Conn is a connection to the daemon of this user. It is used by one goroutine at a time. Its calls block the thread;
// none outlasts the deadline. A write to a connection that the other side closed is an error, never a signal.
type Conn struct {
	Notice   string // what had to be put right on the way; ""
	fd       int    // -1: closed
	deadline time.Time
}

// dialTimeout bounds Dial: a connect waits when a daemon that hangs has let its queue fill.
const dialTimeout = time.Second

// Dial connects to a socket and checks that this very user serves it, else the error is errForeign. It waits for a
// second at most. The connection has no deadline yet.
func Dial(sock string) (*Conn, error) {
	c, err := dial(sock, time.Now().Add(dialTimeout))
	if err != nil {
		return nil, err
	}
	c.setDeadline(time.Time{})
	return c, nil
}

func dial(sock string, deadline time.Time) (*Conn, error) {
	if len(sock) > maxSocketPath {
		return nil, fail("dial", sock, syscall.ENAMETOOLONG)
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fail("dial", sock, err)
	}
	c := &Conn{fd: fd, deadline: deadline}
	if err := c.connect(sock); err != nil {
		_ = c.Close()
		return nil, fail("dial", sock, err)
	}
	return c, nil
}

func (c *Conn) connect(sock string) error {
	for {
		// Even past the deadline it is found out whether anybody listens: what to do then depends on it.
		if err := c.limit(syscall.SO_SNDTIMEO, max(time.Until(c.deadline), time.Millisecond)); err != nil {
			return err
		}
		err := syscall.Connect(c.fd, &syscall.SockaddrUnix{Name: sock})
		switch err {
		case nil, syscall.EISCONN:
		case syscall.EINTR, syscall.EALREADY:
			continue
		case syscall.EAGAIN, syscall.EINPROGRESS:
			return ErrDeadline
		default:
			return err
		}
		uid, err := peer(c.fd)
		if err != nil {
			return err
		}
		if uid != os.Geteuid() {
			return foreignError(uid)
		}
		return nil
	}
}

// A foreignError is the uid of who serves a socket that this user should serve.
type foreignError int

func (e foreignError) Error() string {
	return errForeign.Error() + " (" + strconv.Itoa(int(e)) + "); remove it"
}

func (foreignError) Is(target error) bool { return target == errForeign }

// absent reports whether a failed dial or check means that nobody listens, and that a daemon may be started.
func absent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// PID is the process that serves the other end; 0: not known.
func (c *Conn) PID() int { return peerPID(c.fd) }

// setDeadline sets when reads and writes give up with ErrDeadline; the zero time is never.
func (c *Conn) setDeadline(t time.Time) { c.deadline = t }

// arm bounds the next call by the time that is left. The kernel's timeouts are of one call and not of the connection,
// hence it is done before each.
func (c *Conn) arm(option int) error {
	var left time.Duration // zero lets the kernel wait for ever
	if !c.deadline.IsZero() {
		if left = time.Until(c.deadline); left <= 0 {
			return ErrDeadline
		}
		left = max(left, time.Microsecond)
	}
	return c.limit(option, left)
}

func (c *Conn) limit(option int, left time.Duration) error {
	tv := syscall.NsecToTimeval(int64(left))
	return syscall.SetsockoptTimeval(c.fd, syscall.SOL_SOCKET, option, &tv)
}

// Read reads what there is, waiting for the first byte. The end of the stream is io.EOF.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if err := c.arm(syscall.SO_RCVTIMEO); err != nil {
			return 0, err
		}
		n, err := syscall.Read(c.fd, p)
		switch {
		case err == nil && n == 0:
			return 0, io.EOF
		case err == nil:
			return n, nil
		case err != syscall.EINTR && err != syscall.EAGAIN:
			return 0, err
		}
	}
}

// Write writes all of p, or returns why not.
func (c *Conn) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if err := c.arm(syscall.SO_SNDTIMEO); err != nil {
			return done, err
		}
		n, err := syscall.Write(c.fd, p[done:])
		if err != nil && err != syscall.EINTR && err != syscall.EAGAIN {
			return done, err
		}
		done += max(n, 0)
	}
	return done, nil
}

// Close ends the connection. A second call does nothing.
func (c *Conn) Close() error {
	if c.fd < 0 {
		return nil
	}
	fd := c.fd
	c.fd = -1
	return syscall.Close(fd)
}

// File gives the connection away as a file, for net.FileConn; the Conn is closed by it. Its deadline and its timeouts
// are lifted.
func (c *Conn) File() (*os.File, error) {
	c.deadline = time.Time{}
	for _, option := range []int{syscall.SO_SNDTIMEO, syscall.SO_RCVTIMEO} {
		if err := c.arm(option); err != nil {
			return nil, fail("give away", "connection", err)
		}
	}
	f := os.NewFile(uintptr(c.fd), socketName)
	c.fd = -1
	return f, nil
}
