package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
)

// HeaderCommand is of a request to a process of its own: the command line that is carried out, escaped, for remedies.
const HeaderCommand = "Rewind-Command"

// Child is a transport to a process of its own. The first request starts the process, which answers one request after
// the other over its standard input and output. It has the stores open only while it answers, and the environment and
// the directory of this process.
type Child struct {
	Path    string   // of rewindd
	Version string   // of this client; a rewindd of another one does nothing for it
	Command string   // the command line, for remedies
	Stderr  *os.File // the child's; nil: none
	// Serve answers in the child's place, from in until that ends, and returns the exit code; nil: the program at Path
	// does. Tests have one, since a process costs more than most of what it is asked.
	Serve func(in, out *os.File) int

	busy  sync.Mutex // held by a request until its body is closed
	run   *running   // nil: none runs
	ended bool       // Wait was called: no request starts another
}

// running is a child that runs.
type running struct {
	wait func() int // for its end; its exit code, -1: a signal
	in   io.WriteCloser
	out  *os.File
	r    *bufio.Reader
}

// end lets the child end, waits for it, and returns its exit code.
func (p *running) end() int {
	_ = p.in.Close()
	_ = p.out.Close()
	return p.wait()
}

// RoundTrip implements http.RoundTripper. The body has to be closed before the next request. The end of the request's
// context is told to the child, which takes back what it does; its answer to that is still read.
func (c *Child) RoundTrip(req *http.Request) (*http.Response, error) {
	c.busy.Lock()
	resp, err := c.exchange(req)
	if err != nil {
		c.finish()
		c.busy.Unlock()
		return nil, err
	}
	return resp, nil
}

func (c *Child) exchange(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case c.ended:
		return nil, os.ErrClosed
	}
	if c.run == nil {
		if err := c.start(); err != nil {
			return nil, err
		}
	}
	p := c.run
	stop := context.AfterFunc(ctx, func() { _ = p.in.Close() })
	out := req.Clone(context.WithoutCancel(ctx))
	out.Header.Set(HeaderVersion, url.PathEscape(c.Version))
	out.Header.Set(HeaderCommand, url.PathEscape(c.Command))
	err := out.Write(p.in)
	resp, readErr := http.ReadResponse(p.r, out)
	switch {
	case readErr != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case readErr != nil && (err == nil || errors.Is(readErr, io.ErrUnexpectedEOF)):
		return nil, c.died()
	case readErr != nil:
		return nil, err
	case resp.StatusCode == StatusOtherVersion:
		theirs, _ := url.PathUnescape(resp.Header.Get(HeaderVersion))
		return nil, &VersionError{c.Path, theirs, c.Version}
	}
	resp.Body = &childBody{ReadCloser: resp.Body, c: c, stop: stop, whole: req.URL.Path != CatPath}
	return resp, nil
}

func (c *Child) start() error {
	theirs, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, ours, err := os.Pipe()
	if err != nil {
		_, _ = theirs.Close(), in.Close()
		return err
	}
	wait, err := c.serve(theirs, ours)
	if err != nil {
		_, _ = in.Close(), out.Close()
		return &StartError{c.Path, err}
	}
	c.run = &running{wait, in, out, bufio.NewReader(out)}
	return nil
}

// serve starts what answers; in and out are its own.
func (c *Child) serve(in, out *os.File) (wait func() int, err error) {
	release := func() { _, _ = in.Close(), out.Close() }
	if c.Serve != nil {
		code := make(chan int, 1)
		go func() {
			defer release()
			code <- c.Serve(in, out)
		}()
		return func() int { return <-code }, nil
	}
	defer release()
	cmd := exec.Command(c.Path, "serve")
	cmd.Stdin, cmd.Stdout = in, out
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() int {
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}, nil
}

// Wait ends the child when it has answered, and returns when that has let go of its stores. Later requests fail with
// [os.ErrClosed]: a child that they started would hold a store when its client has gone.
func (c *Child) Wait() {
	c.busy.Lock()
	defer c.busy.Unlock()
	c.ended = true
	c.finish()
}

// died is the error of a child that went without a whole answer.
func (c *Child) died() error {
	return &EndedError{c.finish()}
}

// finish ends the child that runs, if any, and returns its exit code.
func (c *Child) finish() (code int) {
	if c.run != nil {
		code = c.run.end()
		c.run = nil
	}
	return code
}

// childBody is an answer's body; the next request can begin when it is closed.
type childBody struct {
	io.ReadCloser
	c      *Child
	stop   func() bool // what waits for the end of the request's context
	whole  bool        // what is left of it is read: it is little, and its end is when the child has let go of the store
	ended  bool
	closed bool
}

// Read implements io.Reader.
func (b *childBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = b.c.died()
	}
	return n, err
}

// Close implements io.Closer.
func (b *childBody) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	if b.whole && !b.ended {
		_, _ = io.Copy(io.Discard, b.ReadCloser)
	}
	if told := !b.stop(); told || !b.whole && !b.ended {
		b.c.finish()
	}
	b.c.busy.Unlock()
	return nil
}

// A StartError says that a program beside the client could not be started.
type StartError struct {
	Path string
	Err  error
}

func (e *StartError) Error() string {
	err := e.Err
	var path *os.PathError
	if errors.As(err, &path) { // which names it again
		err = path.Err
	}
	return "start " + e.Path + ": " + err.Error()
}

func (e *StartError) Unwrap() error { return e.Err }

// An EndedError says that a child ended before it had answered; it is ErrCut.
type EndedError struct{ Code int } // its exit code, -1: a signal

func (e *EndedError) Error() string {
	return fmt.Sprintf("rewindd ended before it answered (exit code %d)", e.Code)
}

// Is makes it ErrCut.
func (e *EndedError) Is(target error) bool { return target == ErrCut }

// A VersionError says that a program beside the client has another version.
type VersionError struct{ path, theirs, ours string }

func (e *VersionError) Error() string {
	return e.path + " has version " + e.theirs + ", and this is " + e.ours
}
