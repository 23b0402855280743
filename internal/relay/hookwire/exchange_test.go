package hookwire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// wire is a connection whose other side has its answer ready.
type wire struct {
	sent   bytes.Buffer
	writes int
	answer io.Reader
	broken error // of writes
}

func (w *wire) Write(b []byte) (int, error) {
	if w.broken != nil {
		return 0, w.broken
	}
	w.writes++
	return w.sent.Write(b)
}

func (w *wire) Read(b []byte) (int, error) { return w.answer.Read(b) }

func done() io.Reader { return bytes.NewReader(AppendAnswer(nil, Answer{})) }

// A payload of any length comes as it is, in as few writes as it has pieces, and each of them has one form.
func TestPayload(t *testing.T) {
	head, _ := AppendRequest(nil, Request{Agent: "a"})
	for _, n := range []int{0, 1, 7, Piece - 1, Piece, Piece + 1, 2 * Piece, 1<<20 + 3} {
		body := strings.Repeat("x", max(0, n-1)) + strings.Repeat("y", min(n, 1))
		for _, r := range []io.Reader{
			strings.NewReader(body), iotest.HalfReader(strings.NewReader(body)),
			iotest.DataErrReader(strings.NewReader(body)),
		} {
			w := &wire{answer: done()}
			if _, err := Exchange(w, Request{Agent: "a"}, r); err != nil {
				t.Fatal(err)
			}
			raw := w.sent.Bytes()
			if w.writes != n/Piece+1 || len(raw) != len(head)+n+(n/Piece+1)*lengthSize || !bytes.HasPrefix(raw, head) {
				t.Errorf("%d bytes: %d writes of %d bytes", n, w.writes, len(raw))
			}
			p := &Payload{R: bytes.NewReader(raw[len(head):])}
			got, err := io.ReadAll(p)
			if err != nil || string(got) != body || !p.Ended() {
				t.Errorf("%d bytes: %d, %v", n, len(got), err)
			}
			for _, cut := range []int{0, 1, 3, 4, len(raw) - len(head) - 1} {
				p := &Payload{R: bytes.NewReader(raw[len(head):][:min(cut, len(raw)-len(head)-1)])}
				if _, err := io.ReadAll(p); !errors.Is(err, io.ErrUnexpectedEOF) || p.Ended() {
					t.Errorf("%d bytes, cut after %d: %v", n, cut, err)
				}
			}
		}
	}
	for _, raw := range []string{"\x00\x01\x00\x01", "\xff\xff\xff\xff"} {
		if _, err := io.ReadAll(&Payload{R: strings.NewReader(raw)}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// FuzzPayload: a payload that is taken has no other form, and what follows it stays.
func FuzzPayload(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}more"))
	f.Add([]byte("\x00\x01\x00\x00" + strings.Repeat("x", Piece) + "\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bytes.NewReader(raw)
		body, err := io.ReadAll(&Payload{R: r})
		one, errOne := io.ReadAll(iotest.OneByteReader(&Payload{R: iotest.HalfReader(bytes.NewReader(raw))}))
		if !bytes.Equal(body, one) || !errors.Is(errOne, err) {
			t.Fatalf("%d bytes, %v; in small steps %d, %v", len(body), err, len(one), errOne)
		}
		if err != nil {
			return
		}
		w := &wire{answer: done()}
		if _, err := Exchange(w, Request{}, bytes.NewReader(body)); err != nil {
			t.Fatal(err)
		}
		if again := w.sent.Bytes()[HeaderSize:]; !bytes.Equal(again, raw[:len(raw)-r.Len()]) {
			t.Errorf("%q is also %q", raw[:len(raw)-r.Len()], again)
		}
	})
}

// An answer that comes before all was sent counts, not the broken pipe; where there is none the broken pipe is told.
func TestEarlyAnswer(t *testing.T) {
	pipe := errors.New("broken pipe")
	a, err := Exchange(&wire{answer: bytes.NewReader(AppendAnswer(nil, Answer{Status: OtherVersion})), broken: pipe},
		Request{}, strings.NewReader("{}"))
	if err != nil || a.Status != OtherVersion {
		t.Errorf("%d, %v", a.Status, err)
	}
	if _, err := Exchange(&wire{answer: strings.NewReader("HTTP/1.1 400"), broken: pipe}, Request{},
		strings.NewReader("{}")); !errors.Is(err, ErrHTTP) {
		t.Errorf("an answer in HTTP: %v", err)
	}
	if _, err := Exchange(&wire{answer: strings.NewReader("rwho"), broken: pipe}, Request{},
		strings.NewReader("{}")); !errors.Is(err, pipe) {
		t.Errorf("%v", err)
	}
}

// A payload that breaks leaves a request without an end, and no answer is waited for.
func TestBrokenPayload(t *testing.T) {
	broken := errors.New("broken")
	w := &wire{answer: iotest.ErrReader(errors.New("read"))}
	_, err := Exchange(w, Request{},
		io.MultiReader(strings.NewReader(strings.Repeat("x", Piece+1)), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if _, err := io.ReadAll(&Payload{R: bytes.NewReader(w.sent.Bytes()[HeaderSize:])}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the daemon took a request that was cut for a whole one: %v", err)
	}
}

// A request that fits is one allocation beside its strings, and the answer is read into the same room.
func TestExchangeAllocates(t *testing.T) {
	w := &wire{}
	answer := AppendAnswer(nil, Answer{})
	r, payload := bytes.NewReader(answer), strings.NewReader("")
	n := testing.AllocsPerRun(100, func() {
		w.sent.Reset()
		r.Reset(answer)
		payload.Reset("{}")
		w.answer = r
		if _, err := Exchange(w,
			Request{Version: "v1", Agent: "claude", Event: "stop", ID: 1 << 63, Wait: 947, Cwd: "/home/u"},
			payload); err != nil {
			t.Fatal(err)
		}
	})
	if n > 1 {
		t.Errorf("%v allocations", n)
	}
}
