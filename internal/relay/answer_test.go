package relay

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

const head200 = "HTTP/1.1 200 OK\r\n"

var answers = []struct {
	name, text string
	status     int // 0: malformed
	body       string
}{
	{"length", head200 + "Content-Length: 2\r\n\r\nok", 200, "ok"},
	{"empty", head200 + "content-length:0\r\n\r\n", 200, ""},
	{"no reason", "HTTP/1.1 503\r\nContent-Length: 0\r\n\r\n", 503, ""},
	{"chunks", head200 + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n00A\r\n0123456789\r\n0\r\n\r\n", 200, "ab0123456789"},
	{"interim", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + head200 + "Content-Length: 1\r\n\r\nx", 200, "x"},
	{"no content", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
	{"empty value", head200 + "X:\r\nContent-Length: 0\r\n\r\n", 200, ""},

	{"until close", head200 + "\r\nbody", 0, ""},
	{"old version", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", 0, ""},
	{"status", "HTTP/1.1 20x OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"long status", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"high status", "HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"switch", "HTTP/1.1 101 Switching\r\n\r\n" + head200 + "Content-Length: 0\r\n\r\n", 0, ""},
	{"two lengths", head200 + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 0, ""},
	{"length and chunks", head200 + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 0, ""},
	{"signed length", head200 + "Content-Length: +1\r\n\r\nx", 0, ""},
	{"no length", head200 + "Content-Length:\r\n\r\n", 0, ""},
	{"too long", head200 + "Content-Length: 1048577\r\n\r\n", 0, ""},
	{"length overflows", head200 + "Content-Length: 18446744073709551617\r\n\r\n", 0, ""},
	{"other encoding", head200 + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, ""},
	{"encoding twice", head200 + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, ""},
	{"folded line", head200 + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"space before colon", head200 + "Content-Length : 0\r\n\r\n", 0, ""},
	{"no colon", head200 + "Content-Length\r\n\r\n", 0, ""},
	{"control character", head200 + "X: \x00\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"carriage return", head200 + "X: a\rb\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"chunk extension", head200 + "Transfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\n\r\n", 0, ""},
	{"chunk too short", head200 + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 0, ""},
	{"trailer", head200 + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n", 0, ""},
	{"chunk too long", head200 + "Transfer-Encoding: chunked\r\n\r\n100001\r\n", 0, ""},
	{"long head", head200 + "X: " + strings.Repeat("x", maxAnswerHead) + "\r\nContent-Length: 0\r\n\r\n", 0, ""},
	{"interims without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000), 0, ""},
	{"not HTTP", "SSH-2.0-OpenSSH_9.9\r\n", 0, ""},
}

func TestAnswer(t *testing.T) {
	for _, c := range answers {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text)), iotest.DataErrReader(strings.NewReader(c.text))} {
			status, a, err := readAnswer(r)
			if status != c.status || string(a.Body) != c.body || (err == nil) != (c.status != 0) {
				t.Errorf("%s: %d, %q, %v", c.name, status, a.Body, err)
			}
			if c.status == 0 && err != ErrMalformed {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	_, a, err := readAnswer(strings.NewReader(head200 + "rewind-warn:  a%20b\t\r\nContent-Length: 0\r\n\r\n"))
	if err != nil || a.Header(HeaderWarn) != "a%20b" || a.Header("X") != "" {
		t.Errorf("%q, %v", a.fields, err)
	}
}

// An answer that was cut anywhere is no answer.
func TestAnswerCutAtEveryByte(t *testing.T) {
	for _, c := range answers {
		for n := range len(c.text) {
			if c.status == 0 {
				break
			}
			if status, _, err := readAnswer(strings.NewReader(c.text[:n])); err != io.ErrUnexpectedEOF {
				t.Errorf("%s, %d bytes: %d, %v", c.name, n, status, err)
			}
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, c := range answers {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		status, a, err := readAnswer(bytes.NewReader(text))
		one, b, errOne := readAnswer(iotest.OneByteReader(bytes.NewReader(text)))
		if one != status || !bytes.Equal(a.Body, b.Body) || (err == nil) != (errOne == nil) {
			t.Fatalf("whole: %d %q %v; byte by byte: %d %q %v", status, a.Body, err, one, b.Body, errOne)
		}
		if err != nil {
			return
		}
		if len(a.Body) > maxAnswerBody {
			t.Fatalf("a body of %d bytes", len(a.Body))
		}
		r := bufio.NewReader(bytes.NewReader(text))
		for {
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("net/http refuses what was taken: %v", err)
			}
			if resp.StatusCode < 200 {
				continue
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != status || !bytes.Equal(body, a.Body) {
				t.Fatalf("%d %q, net/http has %d %q %v", status, a.Body, resp.StatusCode, body, err)
			}
			return
		}
	})
}
