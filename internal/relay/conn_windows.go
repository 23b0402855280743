package relay

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// Conn is a connection to the daemon of this user. It is used by one goroutine at a time.
type Conn struct {
	Notice string // what had to be put right on the way; ""
	c      net.Conn
}

const dialTimeout = time.Second

// Dial connects to a socket. It waits for a second at most. The connection has no deadline yet.
func Dial(sock string) (*Conn, error) {
	c, err := dial(sock, time.Now().Add(dialTimeout))
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Time{})
	return c, nil
}

func dial(sock string, deadline time.Time) (*Conn, error) {
	d := net.Dialer{Deadline: deadline}
	c, err := d.Dial("unix", sock)
	if err != nil {
		return nil, fail("dial", sock, timeout(err))
	}
	conn := &Conn{c: c}
	conn.SetDeadline(deadline)
	return conn, nil
}

func timeout(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrDeadline
	}
	return err
}

// absent reports whether a failed dial or check means that nobody listens, and that a daemon may be started.
func absent(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.Errno(10061))
}

// SetDeadline sets when reads and writes give up with ErrDeadline; the zero time is never.
func (c *Conn) SetDeadline(t time.Time) { _ = c.c.SetDeadline(t) }

// Read reads what there is, waiting for the first byte. The end of the stream is io.EOF.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.c.Read(p)
	return n, timeout(err)
}

// Write writes all of p, or returns why not.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.c.Write(p)
	return n, timeout(err)
}

// Close ends the connection.
func (c *Conn) Close() error { return c.c.Close() }
