// Package door takes in the connections to the daemon's socket. The exchange of a hook is held here, by the goroutine
// that accepted it, from the first byte to the last: each goroutine that another has to wake costs a switch, and a new
// one grows its stack anew. Every other request is net/http's, to which its connection is given with what was read of
// it.
package door

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"rewind/internal/relay/hookwire"
	"rewind/server/work"
)

// Keeps is how many goroutines wait for connections; more come with a burst and go after it.
const Keeps = 2

const (
	readAhead   = hookwire.HeaderSize + hookwire.MaxRequest // bytes: all of a request but its payload
	acceptPause = 5 * time.Millisecond                      // after an accept that the system had no means for, doubled up to a second
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

// Door is where connections come in. Safe for concurrent use.
type Door struct {
	ln      net.Listener
	hook    func(*Exchange)
	wait    time.Duration // for a request's header
	broken  func(error)
	others  *others
	waiting atomic.Int32 // goroutines in accept, or on their way there
	work    work.Count   // exchanges whose answer is not yet sent
}

// New returns the door of a listener. hook handles the hooks. wait is how long the header of a request may take. broken
// is called with the reason when no more connections can be accepted, but not when the listener is closed.
func New(ln net.Listener, hook func(*Exchange), wait time.Duration, broken func(error)) *Door {
	return &Door{ln: ln, hook: hook, wait: wait, others: newOthers(ln), broken: broken}
}

// Others are the connections that are no hooks'.
func (d *Door) Others() net.Listener { return d.others }

// Waiting is how many goroutines wait for connections.
func (d *Door) Waiting() int { return int(d.waiting.Load()) }

// Quiet is closed when every answer has been sent.
func (d *Door) Quiet() <-chan struct{} { return d.work.Quiet() }

// Serve begins to accept; closing the listener ends it. What was accepted before is served.
func (d *Door) Serve() {
	d.waiting.Store(1)
	go d.keep()
}

// keep accepts and serves connections, one after the other. While it serves one, another goroutine waits for the next.
func (d *Door) keep() {
	r := bufio.NewReaderSize(nil, readAhead)
	for {
		c, err := d.accept()
		if err != nil {
			return
		}
		if d.waiting.Add(-1) == 0 {
			d.waiting.Add(1)
			go d.keep()
		}
		d.take(c, r)
		r.Reset(nil)
		if d.waiting.Add(1) > Keeps {
			d.waiting.Add(-1)
			return
		}
	}
}

func (d *Door) accept() (net.Conn, error) {
	for pause := acceptPause; ; pause = min(2*pause, time.Second) {
		c, err := d.ln.Accept()
		switch {
		case err == nil:
			return c, nil
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM), errors.Is(err,
			syscall.ENOBUFS):
			time.Sleep(pause)
			continue
		case !errors.Is(err, net.ErrClosed):
			d.broken(err)
		}
		return nil, err
	}
}

// take serves a hook, and gives any other connection away with what was read of it.
func (d *Door) take(c net.Conn, r *bufio.Reader) {
	r.Reset(c)
	_ = c.SetReadDeadline(time.Now().Add(d.wait))
	x := &Exchange{conn: c, r: r, Payload: hookwire.Payload{R: r}}
	switch hook, err := x.read(); {
	case !hook:
		seen, _ := r.Peek(r.Buffered())
		d.others.give(c, seen)
		return
	case err != nil: // the connection's: nobody is there
		_ = c.Close()
		return
	}
	defer func() { _ = c.Close() }()
	d.work.More()
	defer d.work.Done()
	d.hook(x)
	x.Answer(hookwire.Answer{})
	x.linger()
}

// others is the listener of net/http: connections that are no hooks, with what has been read of them.
type others struct {
	net.Listener
	conns chan net.Conn
	end   chan struct{}
	once  sync.Once
}

func newOthers(ln net.Listener) *others {
	return &others{Listener: ln, conns: make(chan net.Conn), end: make(chan struct{})}
}

func (o *others) give(c net.Conn, seen []byte) {
	select {
	case o.conns <- &seenConn{c, append([]byte(nil), seen...)}:
	case <-o.end:
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (o *others) Accept() (net.Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.end:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. The socket is the door's.
func (o *others) Close() error {
	o.once.Do(func() { close(o.end) })
	return nil
}

// seenConn is a connection of which some bytes have been read.
type seenConn struct {
	net.Conn
	seen []byte
}

// Read implements net.Conn.
func (c *seenConn) Read(p []byte) (int, error) {
	if len(c.seen) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.seen)
	c.seen = c.seen[n:]
	return n, nil
}

// NetConn is the connection itself.
func (c *seenConn) NetConn() net.Conn { return c.Conn }

// CloseWrite lets net/http send the end of an answer to a client that still writes.
func (c *seenConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
