package hookwire

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"rewind/internal/record"
)

var requests = map[string]Request{
	"empty": {},
	"full": {
		Version: "v1.2.3", Agent: "claude", Event: "post-tool-use", ID: 0xfedcba9876543210, Wait: 947,
		Cwd:   "/home/u/a b\r\n\xff\x00",
		Began: "/home/u",
	},
	"largest": {Cwd: strings.Repeat("x", MaxRequest-4)},
	"numbers": {ID: 1<<64 - 1, Wait: 1 << 63},
}

var answers = map[string]Answer{
	"done":    {},
	"refused": {Status: Refused},
	"full":    {Status: OtherVersion, Warn: "a line\x1b\xff", Body: []byte("standard output")},
	"largest": {Warn: strings.Repeat("w", maxWarn), Body: bytes.Repeat([]byte("b"), maxBody)},
}

// What is written is what docs/daemon.md says.
func TestGolden(t *testing.T) {
	q, err := AppendRequest(nil,
		Request{Version: "v1", Agent: "claude", Event: "stop", ID: 300, Wait: 1, Cwd: "/a", Began: "/"})
	want := "rwhook\x01\n" + "\x00\x00\x00\x20" + "\x01\x02v1" + "\x02\x06claude" + "\x03\x04stop" +
		"\x04\x02\xac\x02" + "\x05\x01\x01" +
		"\x06\x02/a" + "\x07\x01/"
	if err != nil || string(q) != want {
		t.Errorf("%q, %v", q, err)
	}
	want = "rwhook\x01\n" + "\x00\x00\x00\x07" + "\x01\x01\x02" + "\x02\x02hm" + "\x00\x00\x00\x02" + "ok"
	if got := AppendAnswer(nil, Answer{Status: Draining, Warn: "hm", Body: []byte("ok")}); string(got) != want {
		t.Errorf("%q", got)
	}
}

// readRequest is what the daemon's door does.
func readRequest(raw []byte) (q Request, used int, err error) {
	if len(raw) < HeaderSize {
		return q, 0, io.ErrUnexpectedEOF
	}
	n, err := Fields(raw[:HeaderSize])
	if err != nil {
		return q, 0, err
	}
	if len(raw) < HeaderSize+n {
		return q, 0, io.ErrUnexpectedEOF
	}
	q, err = DecodeRequest(raw[HeaderSize : HeaderSize+n])
	return q, HeaderSize + n, err
}

func TestRequestComesBack(t *testing.T) {
	for name, q := range requests {
		raw, err := AppendRequest(nil, q)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, used, err := readRequest(raw); err != nil || got != q || used != len(raw) || len(raw) > sizeOf(q) {
			t.Errorf("%s: %+v, %d of %d bytes, %v", name, got, used, len(raw), err)
		}
	}
	if _, err := AppendRequest(nil, Request{Cwd: strings.Repeat("x", MaxRequest-3)}); !errors.Is(err, errTooLong) {
		t.Errorf("too long: %v", err)
	}
}

func TestAnswerComesBack(t *testing.T) {
	for name, a := range answers {
		raw := AppendAnswer(nil, a)
		for _, r := range []io.Reader{
			bytes.NewReader(raw), iotest.OneByteReader(bytes.NewReader(raw)),
			iotest.DataErrReader(bytes.NewReader(raw)),
		} {
			got, err := readAnswer(r, nil)
			if err != nil || got.Status != a.Status || got.Warn != a.Warn || !bytes.Equal(got.Body, a.Body) {
				t.Errorf("%s: %d %q %d bytes, %v", name, got.Status, got.Warn, len(got.Body), err)
			}
		}
	}
	a, err := readAnswer(bytes.NewReader(AppendAnswer(nil,
		Answer{Warn: strings.Repeat("w", 3*maxWarn), Body: make([]byte, maxBody+1)})), nil)
	if err != nil || len(a.Warn) != maxWarn || len(a.Body) != 0 {
		t.Errorf("too long: %d %d, %v", len(a.Warn), len(a.Body), err)
	}
}

// What was cut anywhere is neither a request nor an answer.
func TestCutAtEveryByte(t *testing.T) {
	for name, q := range requests {
		raw, _ := AppendRequest(nil, q)
		for n := range len(raw) {
			if _, _, err := readRequest(raw[:n]); err != io.ErrUnexpectedEOF {
				t.Fatalf("%s, %d bytes: %v", name, n, err)
			}
		}
	}
	for name, a := range answers {
		if name == "largest" {
			continue
		}
		raw := AppendAnswer(nil, a)
		for n := range len(raw) {
			if _, err := readAnswer(bytes.NewReader(raw[:n]), nil); err != io.ErrUnexpectedEOF {
				t.Errorf("%s, %d bytes: %v", name, n, err)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	const head = "rwhook\x01\n"
	for name, c := range map[string]struct {
		raw  string
		want error
	}{
		"other magic":       {"rwhooks\n\x00\x00\x00\x00", ErrProtocol},
		"no magic":          {"rwhelp\x01\n\x00\x00\x00\x00", ErrMalformed},
		"no line feed":      {"rwhook\x01\r\x00\x00\x00\x00", ErrMalformed},
		"the next number":   {"rwhook\x02\n\x00\x00\x00\x00", ErrProtocol},
		"an absurd number":  {"rwhook\xff\n\xff\xff\xff\xff", ErrProtocol},
		"too long":          {head + "\x00\x00\x80\x01", ErrMalformed},
		"a length of 4 GiB": {head + "\xff\xff\xff\xff", ErrMalformed},
		"unknown field":     {head + "\x00\x00\x00\x03\x08\x01x", ErrMalformed},
		"field 0":           {head + "\x00\x00\x00\x03\x00\x01x", ErrMalformed},
		"twice":             {head + "\x00\x00\x00\x06\x01\x01x\x01\x01x", ErrMalformed},
		"out of order":      {head + "\x00\x00\x00\x06\x02\x01x\x01\x01x", ErrMalformed},
		"empty field":       {head + "\x00\x00\x00\x02\x01\x00", ErrMalformed},
		"beyond the end":    {head + "\x00\x00\x00\x03\x01\x02x", ErrMalformed},
		"half a field":      {head + "\x00\x00\x00\x01\x01", ErrMalformed},
		"long tag":          {head + "\x00\x00\x00\x04\x81\x00\x01x", ErrMalformed},
		"long length":       {head + "\x00\x00\x00\x04\x01\x81\x00x", ErrMalformed},
		"endless number": {
			head + "\x00\x00\x00\x0d\x04\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			ErrMalformed,
		},
		"number over 64 bit": {head + "\x00\x00\x00\x0c\x04\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", ErrMalformed},
		"zero":               {head + "\x00\x00\x00\x03\x04\x01\x00", ErrMalformed},
		"long number":        {head + "\x00\x00\x00\x04\x05\x02\x81\x00", ErrMalformed},
		"more than a number": {head + "\x00\x00\x00\x04\x05\x02\x01\x01", ErrMalformed},
	} {
		if _, _, err := readRequest([]byte(c.raw)); !errors.Is(err, c.want) {
			t.Errorf("request, %s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		raw  string
		want error
	}{
		"HTTP":             {"HTTP/1.1 400 Bad Request\r\n\r\n", ErrHTTP},
		"SSH":              {"SSH-2.0-OpenSSH_9.9\r\n", ErrMalformed},
		"zeros":            {strings.Repeat("\x00", 100), ErrMalformed},
		"the next number":  {"rwhook\x02\n", ErrProtocol},
		"too long":         {head + "\x00\x00\x40\x01", ErrMalformed},
		"unknown field":    {head + "\x00\x00\x00\x03\x03\x01x", ErrMalformed},
		"unknown status":   {head + "\x00\x00\x00\x03\x01\x01\x04", ErrMalformed},
		"status is zero":   {head + "\x00\x00\x00\x03\x01\x01\x00", ErrMalformed},
		"long warning":     {head + "\x00\x00\x20\x04\x02\x81\x40" + strings.Repeat("x", maxWarn+1), ErrMalformed},
		"too long a body":  {head + "\x00\x00\x00\x00\x00\x10\x00\x01", ErrMalformed},
		"a body of 4 GiB":  {head + "\x00\x00\x00\x00\xff\xff\xff\xff", ErrMalformed},
		"fields are a cut": {head + "\x00\x00\x00\x02\x01\x01\x00\x00\x00\x00", ErrMalformed},
	} {
		if _, err := readAnswer(strings.NewReader(c.raw), nil); !errors.Is(err, c.want) {
			t.Errorf("answer, %s: %v", name, err)
		}
	}
}

// Is knows a request of any number by what has come of it.
func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "rwho": true, "rwhook": true, "rwhook\x09": true, "rwhook\x01\nxyz": true,
		"POST": false, "rwhop": false, "rwx": false,
	} {
		if Is([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// requestRecord is a request's fields as internal/record has them.
type requestRecord struct {
	texts   [8]string
	numbers [2]uint64
}

var requestTable = record.New(
	requestText(1), requestText(2), requestText(3),
	record.Uint(4, func(r *requestRecord) *uint64 { return &r.numbers[0] }),
	record.Uint(5, func(r *requestRecord) *uint64 { return &r.numbers[1] }),
	requestText(6), requestText(7),
)

func requestText(tag uint64) record.Column[requestRecord] {
	return record.String(tag, func(r *requestRecord) *string { return &r.texts[tag] })
}

// A request that is taken has no other form, and is what internal/record reads, too.
func FuzzRequest(f *testing.F) {
	for name, q := range requests {
		if raw, err := AppendRequest(nil, q); err == nil && name != "largest" {
			f.Add(raw)
		}
	}
	f.Add([]byte("rwhook\x01\n\x00\x00\x00\x0c\x04\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		q, used, err := readRequest(raw)
		if used > 0 {
			fields := raw[HeaderSize:used]
			if there := requestTable.Decode(fields, &requestRecord{}); (there == nil) != (err == nil) {
				t.Errorf("%q: %v, internal/record says %v", fields, err, there)
			}
		}
		if err != nil {
			return
		}
		again, err := AppendRequest(nil, q)
		if err != nil || !bytes.Equal(again, raw[:used]) {
			t.Errorf("%q is also %q, %v", raw[:used], again, err)
		}
	})
}

// An answer that is taken has no other form, however it comes.
func FuzzAnswer(f *testing.F) {
	for name, a := range answers {
		if name != "largest" {
			f.Add(AppendAnswer(nil, a))
		}
	}
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Add([]byte("rwhook\x01\n\x00\x00\x00\x03\x02\x01x\x00\x00\x00\x01bxxxx"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := readAnswer(bytes.NewReader(raw), make([]byte, 0, 4096))
		one, errOne := readAnswer(iotest.OneByteReader(bytes.NewReader(raw)), nil)
		if !reflect.DeepEqual(a, one) && (len(a.Body) > 0 || len(one.Body) > 0) || !errors.Is(errOne, err) {
			t.Fatalf("whole: %+v %v; byte by byte: %+v %v", a, err, one, errOne)
		}
		if err != nil {
			return
		}
		if again := AppendAnswer(nil, a); !bytes.HasPrefix(raw, again) {
			t.Errorf("%q is also %q", raw, again)
		}
	})
}
