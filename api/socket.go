package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	"rewind/internal/relay"
)

// ErrNoDaemon says that there is no daemon, and none was or could be started. Nothing has been sent.
var ErrNoDaemon = errors.New("no daemon")

// ErrCut says that the daemon ended before it answered. Whether it did what it was asked is not known.
var ErrCut = errors.New("the daemon ended before it answered")

// Socket is a transport to the daemon of this user, a connection for each request.
type Socket struct {
	Home    string       // rewind's own directory
	Version string       // of this client; a daemon of another one is asked to end
	Notice  func(string) // told what had to be put right on the way; may be nil
	Start   string       // the path of rewindd, which is started where no daemon is; "": none is started
	// Silent is told, about every two seconds in which nothing comes of an answer, whether the daemon answers another
	// question meanwhile, and which process it is (0: not known). It returns true when it needs to hear no more. nil:
	// nobody is told.
	Silent func(pid int, answers bool) bool
}

const (
	startWait = 10 * time.Second // for a daemon to come up
	leaveWait = 30 * time.Second // for daemons that end just then: commands of two versions may take turns in ending each other's
)

// leavePause is how long to wait before another try; of random length, so that two do not go in step.
func leavePause(try int) time.Duration {
	most := 5 * time.Millisecond << min(try, 6)
	return most/2 + rand.N(most/2)
}

// RoundTrip implements http.RoundTripper. The end of the request's context is told to the daemon, which takes back what
// it does; its answer to that is still read.
//
// A request is sent again when it is certain that nobody has begun with it: the daemon said so, or went without having
// read it. One that only looks is sent again in any case.
func (s Socket) RoundTrip(req *http.Request) (*http.Response, error) {
	l := s.listen()
	resp, err := s.roundTrip(req, l)
	if err != nil {
		l.end()
	}
	return resp, err
}

func (s Socket) roundTrip(req *http.Request, l *listener) (*http.Response, error) {
	end := time.Now().Add(leaveWait)
	for try := 1; ; try++ {
		conn, pid, err := s.connect(req.Context(), time.Now().Add(startWait))
		if err != nil {
			return nil, err
		}
		l.pid.Store(int64(pid))
		resp, err := s.exchange(conn, req, l)
		again := false
		switch {
		case err != nil:
			again = errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || req.Method == http.MethodGet
		case resp.StatusCode == StatusOtherVersion || resp.StatusCode == StatusDraining:
			_ = resp.Body.Close()
			again, err = true, fmt.Errorf("the daemon is ending (%s)", resp.Status)
		default:
			return resp, nil
		}
		if req.Context().Err() != nil {
			return nil, req.Context().Err()
		}
		if !again || time.Now().After(end) || req.GetBody == nil {
			return nil, s.cut(err, pid)
		}
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
		time.Sleep(leavePause(try))
	}
}

// connect connects, and has a daemon started if that is wanted.
func (s Socket) connect(ctx context.Context, deadline time.Time) (conn net.Conn, pid int, err error) {
	var c *relay.Conn
	if s.Start != "" {
		c, err = relay.Connect(s.Home, s.Start, s.Version, deadline)
	} else {
		c, err = s.dial()
	}
	if ctx.Err() != nil {
		if c != nil {
			_ = c.Close()
		}
		return nil, 0, ctx.Err()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrNoDaemon, err)
	}
	if s.Notice != nil {
		for _, told := range []string{c.Notice, relay.Untold(s.Home)} {
			if told != "" {
				s.Notice(told)
			}
		}
	}
	pid = c.PID()
	conn, err = netConn(c)
	return conn, pid, err
}

func (s Socket) dial() (*relay.Conn, error) {
	sock, err := relay.SocketPath(s.Home)
	if err != nil {
		return nil, err
	}
	notice, err := relay.TrustDirs(s.Home)
	if err != nil {
		return nil, err
	}
	c, err := relay.Dial(sock)
	if c != nil {
		c.Notice = notice
	}
	return c, err
}

// exchange sends the request and reads the head of the answer; the body streams.
func (s Socket) exchange(conn net.Conn, req *http.Request, l *listener) (*http.Response, error) {
	// Closing our side for writing is how the server learns that nobody waits any more; it ends the request's context.
	// One that does not even answer whether it lives will not say so either, and is left.
	stop := context.AfterFunc(req.Context(), func() {
		if h, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = h.CloseWrite()
			if _, ok := s.answers(interruptFor); ok {
				return
			}
		}
		_ = conn.Close()
	})
	out := req.Clone(context.WithoutCancel(req.Context()))
	out.Header.Set(HeaderVersion, url.PathEscape(s.Version))
	out.Close = true
	sent := out.Write(conn)
	// also after a failed write: one that is refused is not read to its end
	resp, err := http.ReadResponse(bufio.NewReader(conn), out)
	if err != nil {
		stop()
		_ = conn.Close()
		if sent != nil {
			err = sent
		}
		return nil, err
	}
	l.hear()
	pid := int(l.pid.Load())
	resp.Body = &socketBody{
		ReadCloser: resp.Body, heard: l.hear, cut: func(err error) error { return s.cut(err, pid) },
		end: sync.OnceFunc(func() {
			l.end()
			stop()
			_ = conn.Close()
		}),
	}
	return resp, nil
}

// socketBody closes the connection with the body.
type socketBody struct {
	io.ReadCloser
	heard func()
	cut   func(error) error // what an error of the connection's means
	end   func()
}

// Read implements io.Reader.
func (b *socketBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.heard()
	if err != nil && err != io.EOF {
		err = b.cut(err)
	}
	return n, err
}

// Close does not read to the end first, as the body alone would.
func (b *socketBody) Close() error {
	b.end()
	return nil
}

// netConn makes a connection one that Go's runtime polls.
func netConn(c *relay.Conn) (net.Conn, error) {
	f, err := c.File()
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return net.FileConn(f)
}
