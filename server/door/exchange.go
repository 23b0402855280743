package door

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	"rewind/internal/relay"
)

// errNotHook is returned for a request that does not have the very form in which our client sends a hook.
var errNotHook = errors.New("not a hook of our client")

// host is the only Host of a request.
const host = "rewind"

// hookFields are the fields of a hook's request that may follow what is the same in each.
var hookFields = []string{relay.HeaderAgent, relay.HeaderEvent, relay.HeaderID, relay.HeaderDeadline, relay.HeaderVersion, relay.HeaderCwd, relay.HeaderBegan}

// readHookHead reads the head of a hook's request from r, whose buffer bounds it. errNotHook: nothing has been taken out of the buffer. Any
// other error is the connection's, of which nothing is to be expected.
func readHookHead(r *bufio.Reader) (http.Header, error) {
	for {
		_, err := r.Peek(r.Buffered() + 1)
		seen, _ := r.Peek(r.Buffered())
		n := min(len(seen), len(relay.HookHead))
		if string(seen[:n]) != relay.HookHead[:n] {
			return nil, errNotHook
		}
		// The end of the last field that is the same in each request may be the beginning of the head's end.
		if i := bytes.Index(seen[max(0, n-2):], []byte("\r\n\r\n")); n == len(relay.HookHead) && i >= 0 {
			h, ok := parseHookFields(string(seen[n : n+i]))
			if !ok {
				return nil, errNotHook
			}
			_, err = r.Discard(n - 2 + i + 4)
			return h, err
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, errNotHook
		case err != nil:
			return nil, err
		}
	}
}

// parseHookFields reads "Name: value CR LF" lines; each name once at most, no value with a space or anything that is not ASCII.
func parseHookFields(lines string) (http.Header, bool) {
	h := make(http.Header, len(hookFields))
	for len(lines) > 0 {
		i := 0
		for i+1 < len(lines) && (lines[i] != '\r' || lines[i+1] != '\n') {
			i++
		}
		if i+1 >= len(lines) {
			return nil, false
		}
		if !addHookField(h, lines[:i]) {
			return nil, false
		}
		lines = lines[i+2:]
	}
	return h, true
}

func addHookField(h http.Header, line string) bool {
	for _, name := range hookFields {
		if len(line) < len(name)+2 || line[:len(name)] != name || line[len(name):len(name)+2] != ": " || h[name] != nil {
			continue
		}
		value := line[len(name)+2:]
		for i := range len(value) {
			if value[i] <= ' ' || value[i] >= 0x7f {
				return false
			}
		}
		h[name] = []string{value}
		return true
	}
	return false
}

// exchange is one hook's request and the answer to it. What a handler writes is kept until Flush or its end: it is one write.
type exchange struct {
	conn   net.Conn
	body   *hookBody
	header http.Header
	status int
	answer []byte
	sent   bool
}

func (x *exchange) request(h http.Header) *http.Request {
	return &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: relay.HookPath}, RequestURI: relay.HookPath, Host: host, Close: true,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: x.body, ContentLength: -1,
	}
}

// Header implements http.ResponseWriter.
func (x *exchange) Header() http.Header { return x.header }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(p []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	if !x.sent {
		x.answer = append(x.answer, p...)
	}
	return len(p), nil
}

// SetReadDeadline is what http.ResponseController looks for.
func (x *exchange) SetReadDeadline(t time.Time) error { return x.conn.SetReadDeadline(t) }

// Flush sends the answer, whole; what is written after it is dropped.
func (x *exchange) Flush() {
	if x.sent {
		return
	}
	x.sent = true
	x.WriteHeader(http.StatusOK)
	x.header.Set("Content-Length", strconv.Itoa(len(x.answer)))
	x.header.Set("Connection", "close")
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(x.status) + " " + http.StatusText(x.status) + "\r\n")
	_ = x.header.Write(&b)
	b.WriteString("\r\n")
	b.Write(x.answer)
	_, _ = x.conn.Write(b.Bytes()) // to a client that has gone
}

// linger hears a client out that still sends when it has been answered: to close would throw the answer away.
func (x *exchange) linger() {
	if x.body.ended {
		return
	}
	_ = closeWrite(x.conn)
	_ = x.conn.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, x.body.r, lingerBytes)
}

// hookBody is the body of a hook's request.
type hookBody struct {
	r      *bufio.Reader
	chunks io.Reader
	ended  bool
}

func newHookBody(r *bufio.Reader) *hookBody {
	return &hookBody{r: r, chunks: httputil.NewChunkedReader(r)}
}

// Read implements io.Reader. A body without its last chunk, or with a trailer, is io.ErrUnexpectedEOF.
func (b *hookBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	n, err := b.chunks.Read(p)
	if err == io.EOF { //nolint:errorlint // as io.Reader says
		var end [2]byte
		switch _, e := io.ReadFull(b.r, end[:]); {
		case errors.Is(e, io.EOF), e == nil && string(end[:]) != "\r\n":
			return n, io.ErrUnexpectedEOF
		case e != nil:
			return n, e
		}
		b.ended = true
	}
	return n, err
}

// Close implements io.Closer; the connection is the door's.
func (b *hookBody) Close() error { return nil }
