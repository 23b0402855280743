package door

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"rewind/internal/relay/hookwire"
)

// What the door takes for a hook is one that hookwire reads, and the payload is what is left; of what it does not take
// nothing has been read.
func FuzzExchange(f *testing.F) {
	whole, err := hookwire.AppendRequest(nil, hookwire.Request{
		Version: "v1", Agent: "claude", Event: "stop", ID: 1, Wait: 900,
		Cwd: "/a b",
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(whole, "\x00\x00\x00\x02{}"...), 1)
	f.Add(whole[:20], 3)
	f.Add([]byte("rwhook\x02\n"), 5)
	f.Add([]byte("rwhook\x01\n\x00\x00\x80\x01"), 300)
	f.Add([]byte("GET /v1/version HTTP/1.1\r\nHost: rewind\r\n\r\n"), 3)
	f.Fuzz(func(t *testing.T, raw []byte, step int) {
		r := bufio.NewReaderSize(&steps{bytes.NewReader(raw), max(step, 1)}, readAhead)
		x := &Exchange{r: r, Payload: hookwire.Payload{R: r}}
		hook, err := x.read()
		switch {
		case !hook:
			if rest, _ := io.ReadAll(r); !bytes.Equal(rest, raw) || hookwire.Is(raw) && len(raw) > 0 {
				t.Errorf("%d bytes are left of %d", len(rest), len(raw))
			}
		case err != nil:
			if len(raw) >= hookwire.HeaderSize {
				if n, err := hookwire.Fields(raw[:hookwire.HeaderSize]); err != nil || len(raw) >= hookwire.HeaderSize+n {
					t.Errorf("all is there, and %v", err)
				}
			}
		case x.Err != nil:
			if !errors.Is(x.Err, hookwire.ErrMalformed) && !errors.Is(x.Err, hookwire.ErrProtocol) {
				t.Errorf("%v", x.Err)
			}
		default:
			again, err := hookwire.AppendRequest(nil, x.Request)
			rest, _ := io.ReadAll(r)
			if err != nil || !bytes.Equal(append(again, rest...), raw) {
				t.Errorf("%q, then %d bytes, of %q, %v", again, len(rest), raw, err)
			}
		}
	})
}

// steps reads a few bytes at a time.
type steps struct {
	io.Reader
	n int
}

func (s *steps) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.n)]) }
