package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// serveHTTP serves a handler of net/http, which is what the daemon has.
func serveHTTP(t *testing.T, h http.HandlerFunc) (sock string) {
	t.Helper()
	sock = filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Close() })
	return sock
}

func post(t *testing.T, sock string, headers [][2]string, body io.Reader) (int, Answer, error) {
	t.Helper()
	c, err := Dial(sock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(soon())
	return c.Post(HookPath, headers, body)
}

func TestPostToNetHTTP(t *testing.T) {
	const odd = "/a b/ü\r\nX: y\x00%"
	sock := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method != "POST" || r.URL.Path != HookPath || !r.Close || len(r.TransferEncoding) != 1 {
			t.Errorf("%s %s %v %v", r.Method, r.URL, r.Close, r.TransferEncoding)
		}
		if cwd, err := Unescape(r.Header.Get(HeaderCwd)); err != nil || cwd != odd {
			t.Errorf("%q, %v", cwd, err)
		}
		w.Header().Set(HeaderWarn, Escape(odd))
		_, _ = w.Write([]byte(strconv.Itoa(len(b))))
		if len(b) > 0 {
			_, _ = w.Write(b[len(b)-1:])
		}
		_, _ = w.Write(bytes.Repeat([]byte("."), len(b)%5000))
	})
	for _, n := range []int{0, 1, 7, chunkSize - 1, chunkSize, chunkSize + 1, 2 * chunkSize, 1<<20 + 3} {
		body := strings.Repeat("x", max(0, n-1)) + strings.Repeat("y", min(n, 1))
		want := strconv.Itoa(n) + body[max(0, n-1):] + strings.Repeat(".", n%5000)
		for _, r := range []io.Reader{strings.NewReader(body), iotest.HalfReader(strings.NewReader(body)), iotest.DataErrReader(strings.NewReader(body))} {
			status, a, err := post(t, sock, [][2]string{{HeaderCwd, odd}}, r)
			if err != nil || status != 200 || string(a.Body) != want {
				t.Errorf("%d bytes: %d, %d bytes of answer, %v", n, status, len(a.Body), err)
			}
			if warn, err := Unescape(a.Header(HeaderWarn)); err != nil || warn != odd {
				t.Errorf("%q, %v", warn, err)
			}
		}
	}
}

// A server that does not want the body answers and closes: the answer counts, not the broken pipe.
func TestPostHearsAnEarlyAnswer(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	listen(t, sock, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 10))
		io.WriteString(c, "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n")
	})
	for range 20 {
		status, _, err := post(t, sock, nil, io.LimitReader(zeros{}, 8<<20))
		if status != StatusOtherVersion || err != nil {
			t.Fatalf("%d, %v", status, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestPostBrokenBodyIsNoRequest(t *testing.T) {
	broken := errors.New("broken")
	got := make(chan error, 1)
	sock := serveHTTP(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		got <- err
	})
	if _, _, err := post(t, sock, nil, io.MultiReader(strings.NewReader(strings.Repeat("x", chunkSize+1)), iotest.ErrReader(broken))); err != broken {
		t.Errorf("%v", err)
	}
	if err := <-got; err == nil {
		t.Error("the server took a request that was cut for a whole one")
	}
}

func TestPostHeaders(t *testing.T) {
	sock := serveHTTP(t, func(http.ResponseWriter, *http.Request) { t.Error("sent") })
	for _, h := range [][2]string{{"a b", ""}, {"", ""}, {"a\r\nb", ""}, {"a:", ""}, {"A", strings.Repeat("%", maxRequestHead/3)}} {
		if _, _, err := post(t, sock, [][2]string{h}, strings.NewReader("")); !errors.Is(err, errHeader) {
			t.Errorf("%.20q: %v", h, err)
		}
	}
}

// The daemon dies at every byte of its answer, or speaks nonsense.
func TestPromise03BrokenAnswers(t *testing.T) {
	whole := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
	sock := filepath.Join(shortDir(t), "s")
	say := make(chan string, 1)
	listen(t, sock, func(c net.Conn) {
		http1 := make([]byte, 0, 4096)
		for !bytes.HasSuffix(http1, []byte("0\r\n\r\n")) {
			n, err := c.Read(http1[len(http1):cap(http1)])
			if err != nil {
				return
			}
			http1 = http1[:len(http1)+n]
		}
		io.WriteString(c, <-say)
	})
	for n := range len(whole) + 1 {
		say <- whole[:n]
		status, a, err := post(t, sock, nil, strings.NewReader("{}"))
		if n == len(whole) {
			if status != 200 || string(a.Body) != "ok" || err != nil {
				t.Errorf("whole: %d, %v", status, err)
			}
		} else if !errors.Is(err, io.ErrUnexpectedEOF) || a.Body != nil {
			t.Errorf("%d bytes: %d, %q, %v", n, status, a.Body, err)
		}
	}
	for _, text := range []string{"\x00\x01\x02\x03\r\n", "HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 1<<20), "\n"} {
		say <- text
		if _, _, err := post(t, sock, nil, strings.NewReader("{}")); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.20q: %v", text, err)
		}
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
		c.SetDeadline(time.Now().Add(30 * time.Millisecond))
		if _, _, err := c.Post(HookPath, nil, io.LimitReader(zeros{}, size)); !errors.Is(err, ErrDeadline) {
			t.Errorf("%d bytes: %v", size, err)
		}
		c.Close()
	}
}
