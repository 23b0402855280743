package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// stub is a daemon of a home that does as it is told with each request but the one that asks whether it lives.
type stub struct {
	home  string
	lives atomic.Bool
}

func newStub(t *testing.T, answer func(net.Conn)) *stub {
	t.Helper()
	home, err := os.MkdirTemp("", "rw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", filepath.Join(home, "run", "daemon.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	s := &stub{home: home}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				req, err := http.ReadRequest(bufio.NewReader(c))
				switch {
				case err != nil:
				case req.URL.Path != DaemonStatus.Path:
					answer(c)
				case s.lives.Load():
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				default:
					_, _ = io.Copy(io.Discard, c) // until the client goes
				}
			}()
		}
	}()
	return s
}

const answerHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunk(line string) string { return "20\r\n" + line + strings.Repeat(" ", 31-len(line)) + "\n\r\n" }

// calls counts what a client is told, and whether the daemon answered then.
type calls struct{ silent, working atomic.Int32 }

func (c *calls) told(_ int, answers bool) bool {
	if answers {
		c.working.Add(1)
	} else {
		c.silent.Add(1)
	}
	return !answers
}

// TestSilentDaemon: one that says nothing, to nobody, is told of once; one that works, or reports progress, is not.
func TestSilentDaemon(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		lives                 bool
		answer                func(net.Conn)
		silent, working, most int32
	}{
		{"frozen", false, func(c net.Conn) { time.Sleep(8 * time.Second) }, 1, 0, 0},
		{"works without a word", true, func(c net.Conn) {
			time.Sleep(5 * time.Second)
			_, _ = io.WriteString(c, answerHead+chunk(`{"result":{}}`)+"0\r\n\r\n")
		}, 0, 1, 3},
		{"tells its progress", false, func(c net.Conn) {
			_, _ = io.WriteString(c, answerHead)
			for range 10 {
				time.Sleep(500 * time.Millisecond)
				_, _ = io.WriteString(c, chunk(`{"progress":{"phase":"x"}}`))
			}
			_, _ = io.WriteString(c, chunk(`{"result":{}}`)+"0\r\n\r\n")
		}, 0, 0, 0},
		{"freezes while it answers", false, func(c net.Conn) {
			_, _ = io.WriteString(c, answerHead+chunk(`{"progress":{"phase":"x"}}`))
			time.Sleep(8 * time.Second)
		}, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, told := newStub(t, c.answer), &calls{}
			s.lives.Store(c.lives)
			client := &Client{Transport: Socket{Home: s.home, Version: "v", Silent: told.told}}
			_, _ = Call(t.Context(), client, Save, SaveRequest{}, nil)
			if n := told.silent.Load(); n != c.silent {
				t.Errorf("told %d times that it does not answer, want %d", n, c.silent)
			}
			if n := told.working.Load(); n < c.working || n > max(c.most, c.working) {
				t.Errorf("told %d times that it works", n)
			}
		})
	}
}

// TestInterruptOfSilentDaemon: a client that is interrupted does not wait for a daemon that does not answer, and does
// for one that does.
func TestInterruptOfSilentDaemon(t *testing.T) {
	t.Parallel()
	for _, lives := range []bool{false, true} {
		s := newStub(t, func(c net.Conn) {
			_, _ = io.Copy(io.Discard, c) // until the client's side is closed
			time.Sleep(3 * interruptFor)
			_, _ = io.WriteString(c, answerHead+chunk(`{"error":{"message":"x"}}`)+"0\r\n\r\n")
		})
		s.lives.Store(lives)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		client := &Client{Transport: Socket{Home: s.home, Version: "v"}}
		_, err := Call(ctx, client, Save, SaveRequest{}, nil)
		var told *Error
		if lives != errors.As(err, &told) || !lives && !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", lives, err)
		}
	}
}

// TestCutAnswer: an answer that breaks off is told as that, whether it had begun or not, with who it was.
func TestCutAnswer(t *testing.T) {
	t.Parallel()
	for _, begun := range []string{"", answerHead, answerHead + chunk(`{"progress":{"phase":"x"}}`)} {
		s := newStub(t, func(c net.Conn) { _, _ = io.WriteString(c, begun) })
		s.lives.Store(true)
		client := &Client{Transport: Socket{Home: s.home, Version: "v"}}
		_, err := Call(t.Context(), client, Save, SaveRequest{}, nil)
		var cut *CutError
		if !errors.Is(err, ErrCut) || !errors.As(err, &cut) || cut.PID != os.Getpid() || cut.Killed {
			t.Errorf("%q: %v, %+v", begun, err, cut)
		}
	}
}
