package door

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"testing"

	"rewind/internal/relay"
)

// A head that the door takes is one that net/http reads, and reads the same; of any other nothing has been taken.
func FuzzHookHead(f *testing.F) {
	f.Add([]byte(relay.HookHead+"\r\n"), 1)
	f.Add([]byte(relay.HookHead+"Rewind-Agent: claude\r\nRewind-Cwd: /a%20b\r\n\r\n0\r\n\r\n"), 7)
	f.Add([]byte(relay.HookHead+"Rewind-Agent: claude\r\nRewind-Agent: b\r\n\r\n"), 300)
	f.Add([]byte("GET /v1/version HTTP/1.1\r\nHost: rewind\r\n\r\n"), 3)
	f.Add([]byte(relay.HookHead+"Rewind-Agent:  x\r\n\r\n"), 200)
	f.Fuzz(func(t *testing.T, raw []byte, step int) {
		r := bufio.NewReaderSize(&steps{bytes.NewReader(raw), max(step, 1)}, readAhead)
		h, err := readHookHead(r)
		rest, _ := io.ReadAll(r)
		switch {
		case err == nil:
			req, err := http.ReadRequest(bufio.NewReaderSize(bytes.NewReader(raw), readAhead))
			if err != nil {
				t.Fatalf("net/http: %v", err)
			}
			req.Header.Del("Connection")
			req.Header.Del("Content-Type")
			if req.Host != host || req.URL.Path != relay.HookPath || !reflect.DeepEqual(req.Header, h) {
				t.Errorf("%v, net/http %v of %s %s", h, req.Header, req.Host, req.URL)
			}
			if end := bytes.Index(raw, []byte("\r\n\r\n")) + 4; !bytes.Equal(rest, raw[end:]) {
				t.Errorf("%d bytes are left of %d", len(rest), len(raw)-end)
			}
		case errors.Is(err, errNotHook) && !bytes.Equal(rest, raw):
			t.Errorf("%d bytes are left of %d", len(rest), len(raw))
		}
	})
}

// steps reads a few bytes at a time.
type steps struct {
	io.Reader
	n int
}

func (s *steps) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.n)]) }
