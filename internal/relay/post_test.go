package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"rewind/internal/relay/hookwire"
)

func post(t *testing.T, sock string, q hookwire.Request, payload io.Reader) (hookwire.Answer, error) {
	t.Helper()
	c, err := Dial(sock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.setDeadline(soon())
	return c.Post(q, payload)
}

// takes reads a request as the daemon does.
func takes(c io.Reader) (hookwire.Request, string, error) {
	head := make([]byte, hookwire.HeaderSize)
	if _, err := io.ReadFull(c, head); err != nil {
		return hookwire.Request{}, "", err
	}
	n, err := hookwire.Fields(head)
	if err != nil {
		return hookwire.Request{}, "", err
	}
	fields := make([]byte, n)
	if _, err := io.ReadFull(c, fields); err != nil {
		return hookwire.Request{}, "", err
	}
	q, err := hookwire.DecodeRequest(fields)
	if err != nil {
		return hookwire.Request{}, "", err
	}
	payload, err := io.ReadAll(&hookwire.Payload{R: c})
	return q, string(payload), err
}

// Over a real socket all comes as it was sent, both ways.
func TestPost(t *testing.T) {
	q := hookwire.Request{
		Version: "v1", Agent: "claude", Event: "stop", ID: 1<<64 - 1, Wait: 900,
		Cwd: "/a b/ü\r\nX: y\x00%",
	}
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(c net.Conn) {
		got, payload, err := takes(c)
		if err != nil || got != q {
			t.Errorf("%+v, %v", got, err)
		}
		_, _ = c.Write(hookwire.AppendAnswer(nil,
			hookwire.Answer{Warn: q.Cwd, Body: bytes.Repeat([]byte("."), len(payload)%5000)}))
	})
	for _, n := range []int{0, 2, hookwire.Piece - 1, hookwire.Piece, 1<<20 + 3} {
		a, err := post(t, sock, q, strings.NewReader(strings.Repeat("x", n)))
		if err != nil || a.Status != hookwire.Done || a.Warn != q.Cwd || len(a.Body) != n%5000 {
			t.Errorf("%d bytes: %d, %d bytes of answer, %v", n, a.Status, len(a.Body), err)
		}
	}
}

// A server that does not want the payload answers and closes: the answer counts, not the broken pipe.
func TestPostHearsAnEarlyAnswer(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 10))
		_, _ = c.Write(hookwire.AppendAnswer(nil, hookwire.Answer{Status: hookwire.OtherVersion}))
	})
	for range 20 {
		a, err := post(t, sock, hookwire.Request{}, io.LimitReader(zeros{}, 8<<20))
		if a.Status != hookwire.OtherVersion || err != nil {
			t.Fatalf("%d, %v", a.Status, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestPostBrokenBodyIsNoRequest(t *testing.T) {
	broken := errors.New("broken")
	got := make(chan error, 1)
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(c net.Conn) {
		_, _, err := takes(c)
		got <- err
	})
	payload := io.MultiReader(strings.NewReader(strings.Repeat("x", hookwire.Piece+1)), iotest.ErrReader(broken))
	if _, err := post(t, sock, hookwire.Request{}, payload); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := <-got; err == nil {
		t.Error("the server took a request that was cut for a whole one")
	}
}

// What does not fit is not sent.
func TestPostTooLong(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(c net.Conn) {
		if n, _ := c.Read(make([]byte, 1)); n > 0 {
			t.Error("sent")
		}
	})
	if _, err := post(t, sock, hookwire.Request{Cwd: strings.Repeat("x", hookwire.MaxRequest)}, strings.NewReader("")); err == nil {
		t.Error("no error")
	}
}

// The daemon dies at every byte of its answer, or speaks nonsense.
func TestPromise03BrokenAnswers(t *testing.T) {
	whole := string(hookwire.AppendAnswer(nil, hookwire.Answer{Warn: "w", Body: []byte("ok")}))
	sock := filepath.Join(shortDir(t), "s")
	say := make(chan string, 1)
	listen(t, sock, func(c net.Conn) {
		if _, _, err := takes(c); err == nil {
			_, _ = io.WriteString(c, <-say)
		}
	})
	for n := range len(whole) + 1 {
		say <- whole[:n]
		a, err := post(t, sock, hookwire.Request{}, strings.NewReader("{}"))
		if n == len(whole) {
			if a.Status != hookwire.Done || string(a.Body) != "ok" || err != nil {
				t.Errorf("whole: %d, %v", a.Status, err)
			}
		} else if !errors.Is(err, io.ErrUnexpectedEOF) || a.Body != nil {
			t.Errorf("%d bytes: %d, %q, %v", n, a.Status, a.Body, err)
		}
	}
	for text, want := range map[string]error{
		"\x00\x01\x02\x03\r\n\x00\x00":            hookwire.ErrMalformed,
		strings.Repeat("x", 1<<20):                hookwire.ErrMalformed,
		"rwhook\x02\n":                            hookwire.ErrProtocol,
		"HTTP/1.1 400 Bad Request\r\n\r\nnothing": hookwire.ErrHTTP,
	} {
		say <- text
		if _, err := post(t, sock, hookwire.Request{}, strings.NewReader("{}")); !errors.Is(err, want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// A daemon that reads HTTP, as older ones do, says at once that a hook is none, whatever its payload is.
func TestPostToHTTP(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it took a hook for HTTP") })}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Close() })
	for _, n := range []int64{0, 2, 8 << 20} {
		if _, err := post(t, sock, hookwire.Request{Version: "v1", Cwd: "/"},
			io.LimitReader(zeros{}, n)); !errors.Is(err, hookwire.ErrHTTP) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// Retire sends a request that daemons of every version understand.
func TestRetire(t *testing.T) {
	home := shortDir(t)
	dir, err := MakeDir(home)
	if err != nil {
		t.Fatal(err)
	}
	Retire(home, soon()) // nobody is there
	got := make(chan *http.Request, 1)
	listen(t, filepath.Join(dir, socketName), func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			t.Error(err)
		}
		got <- r
	})
	Retire(home, soon())
	if r := <-got; r == nil || r.Method != "POST" || r.URL.Path != StopPath || r.Host != "rewind" ||
		r.ContentLength != 2 {
		t.Errorf("%+v", r)
	}
}

func TestPromise03PostDeadline(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	listen(t, sock, func(net.Conn) { <-hold })
	for _, size := range []int64{2, 64 << 20} {
		c, err := Dial(sock)
		if err != nil {
			t.Fatal(err)
		}
		c.setDeadline(time.Now().Add(30 * time.Millisecond))
		if _, err := c.Post(hookwire.Request{}, io.LimitReader(zeros{}, size)); !errors.Is(err, ErrDeadline) {
			t.Errorf("%d bytes: %v", size, err)
		}
		c.Close()
	}
}
