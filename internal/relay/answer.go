package relay

import (
	"bytes"
	"io"
)

// Answer is what the daemon said. The bytes belong to the caller.
type Answer struct {
	Body   []byte // at most 1 MiB
	fields [][2]string
}

// Header returns the value of the first field of that name as it was sent, empty if there is none. Case does not count in names.
func (a *Answer) Header(name string) string {
	for _, f := range a.fields {
		if equalFold(f[0], name) {
			return f[1]
		}
	}
	return ""
}

// An answerReader reads one answer of HTTP/1.1 (RFC 9112) as the daemon writes it. It takes less than the RFC allows: the body's length is always
// known, by Content-Length or by chunks, since an answer that ends with the connection looks whole when it was cut.
type answerReader struct {
	r          io.Reader
	buf        [maxAnswerHead]byte
	start, end int // of what is read and not used
	head       int // bytes of lines that may still come
}

func readAnswer(r io.Reader) (int, Answer, error) {
	a := &answerReader{r: r, head: maxAnswerHead}
	for {
		status, err := a.statusLine()
		if err != nil {
			return 0, Answer{}, err
		}
		fields, err := a.fields()
		if err != nil {
			return 0, Answer{}, err
		}
		if status == 101 {
			return 0, Answer{}, ErrMalformed
		}
		if status < 200 {
			continue
		}
		body, err := a.body(status, fields)
		if err != nil {
			return 0, Answer{}, err
		}
		return status, Answer{body, fields}, nil
	}
}

// statusLine reads "HTTP/1.1 200 OK".
func (a *answerReader) statusLine() (int, error) {
	line, err := a.line()
	if err != nil {
		return 0, err
	}
	digits, ok := bytes.CutPrefix(line, []byte("HTTP/1.1 "))
	if !ok || len(digits) < 3 || len(digits) > 3 && digits[3] != ' ' {
		return 0, ErrMalformed
	}
	status := 0
	for _, c := range digits[:3] {
		if c < '0' || c > '9' {
			return 0, ErrMalformed
		}
		status = 10*status + int(c-'0')
	}
	if status < 100 || status > 599 {
		return 0, ErrMalformed
	}
	return status, nil
}

// fields reads header fields to the blank line after them.
func (a *answerReader) fields() ([][2]string, error) {
	var fields [][2]string
	for {
		line, err := a.line()
		if err != nil || len(line) == 0 {
			return fields, err
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !token(string(name)) {
			return nil, ErrMalformed
		}
		fields = append(fields, [2]string{string(name), string(bytes.Trim(value, " \t"))})
	}
}

// body reads as much as the fields announce.
func (a *answerReader) body(status int, fields [][2]string) ([]byte, error) {
	length, chunked := -1, false
	for _, f := range fields {
		switch {
		case equalFold(f[0], "Content-Length"):
			n, ok := number(f[1], 10)
			if !ok || length >= 0 {
				return nil, ErrMalformed
			}
			length = n
		case equalFold(f[0], "Transfer-Encoding"):
			if chunked || !equalFold(f[1], "chunked") {
				return nil, ErrMalformed
			}
			chunked = true
		}
	}
	switch {
	case chunked == (length >= 0) && status != 204 && status != 304: // neither, or both
		return nil, ErrMalformed
	case status == 204 || status == 304:
		if chunked || length > 0 {
			return nil, ErrMalformed
		}
		return nil, nil
	case chunked:
		return a.chunks()
	}
	return a.exactly(nil, length)
}

func (a *answerReader) chunks() ([]byte, error) {
	var body []byte
	for {
		a.head = maxAnswerHead
		line, err := a.line()
		if err != nil {
			return nil, err
		}
		n, ok := number(string(line), 16)
		if !ok || n > maxAnswerBody-len(body) {
			return nil, ErrMalformed
		}
		if body, err = a.exactly(body, n); err != nil {
			return nil, err
		}
		if line, err = a.line(); err != nil {
			return nil, err
		}
		if len(line) != 0 { // a trailer, or more than the chunk's length
			return nil, ErrMalformed
		}
		if n == 0 {
			return body, nil
		}
	}
}

// exactly appends the next n bytes to body.
func (a *answerReader) exactly(body []byte, n int) ([]byte, error) {
	for n > 0 {
		if a.start == a.end {
			if err := a.fill(); err != nil {
				return nil, err
			}
		}
		m := min(n, a.end-a.start)
		body = append(body, a.buf[a.start:a.start+m]...)
		a.start += m
		n -= m
	}
	return body, nil
}

// line returns the next line without its CR LF. It is valid until the next read.
func (a *answerReader) line() ([]byte, error) {
	seen := 0
	for {
		rest := a.buf[a.start:a.end]
		if i := bytes.IndexByte(rest[seen:], '\n'); i >= 0 {
			i += seen
			if a.head -= i + 1; a.head < 0 || i == 0 || rest[i-1] != '\r' {
				return nil, ErrMalformed
			}
			a.start += i + 1
			line := rest[:i-1]
			for _, c := range line {
				if c < ' ' && c != '\t' || c == 0x7f {
					return nil, ErrMalformed
				}
			}
			return line, nil
		}
		if seen = len(rest); seen >= a.head {
			return nil, ErrMalformed
		}
		if err := a.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads once; there is room, since no more than a line that fits is ever waiting.
func (a *answerReader) fill() error {
	if a.start > 0 {
		a.end = copy(a.buf[:], a.buf[a.start:a.end])
		a.start = 0
	}
	n, err := a.r.Read(a.buf[a.end:])
	a.end += n
	switch {
	case n > 0:
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// number reads digits of a base up to 16, and nothing else, up to maxAnswerBody.
func number(s string, base int) (int, bool) {
	n := 0
	for i := range len(s) {
		c := s[i] | 0x20 // lower case; digits have the bit
		d := 16
		switch {
		case '0' <= s[i] && s[i] <= '9':
			d = int(s[i] - '0')
		case 'a' <= c && c <= 'f':
			d = int(c-'a') + 10
		}
		if d >= base {
			return 0, false
		}
		if n = n*base + d; n > maxAnswerBody {
			return 0, false
		}
	}
	return n, s != ""
}

// equalFold reports whether two ASCII words differ in case at most.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if 'A' <= x && x <= 'Z' {
			x |= 0x20
		}
		if 'A' <= y && y <= 'Z' {
			y |= 0x20
		}
		if x != y {
			return false
		}
	}
	return true
}
