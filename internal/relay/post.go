package relay

import (
	"errors"
	"io"
)

// Limits of an exchange, in bytes.
const (
	maxRequestHead = 32 << 10
	chunkSize      = 64 << 10
	maxAnswerHead  = 16 << 10 // status lines, fields and blank lines, of interim answers too
	maxAnswerBody  = 1 << 20
)

var errHeader = errors.New("a header is too long, or its name is no token")

// Post makes one exchange, the only one of a connection: a POST of body to path, and the answer to it. Each header is a name and a value,
// which is escaped. The body is read to its end, in chunks of 64 KiB that are sent as soon as they are full; it is never held as a whole.
//
// An error of body comes back as it is: the daemon sees a request without an end, and drops it. A server that answers before it has read all is heard.
// ErrMalformed: what came is no answer. io.ErrUnexpectedEOF: the connection ended before the answer did.
func (c *Conn) Post(path string, headers [][2]string, body io.Reader) (status int, answer Answer, err error) {
	buf, err := appendHead(make([]byte, 0, maxRequestHead+chunkSize+32), path, headers)
	if err != nil {
		return 0, Answer{}, fail("post", path, err)
	}
	sendErr, err := c.send(buf, body)
	if err != nil {
		return 0, Answer{}, err
	}
	if sendErr == ErrDeadline {
		return 0, Answer{}, fail("post", path, sendErr)
	}
	status, answer, err = readAnswer(c)
	if err != nil {
		if sendErr != nil {
			err = sendErr
		}
		return 0, Answer{}, fail("post", path, err)
	}
	return status, answer, nil
}

// send writes head and body. The last chunk and the end go in one write with what is before them, mostly the whole request.
func (c *Conn) send(head []byte, body io.Reader) (sendErr, bodyErr error) {
	buf := head
	for {
		at := len(buf)
		data := buf[at+len("00000\r\n") : at+len("00000\r\n")+chunkSize]
		n := 0
		var err error
		for n < len(data) && err == nil {
			var m int
			m, err = body.Read(data[n:])
			n += m
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		if n > 0 {
			buf = append(buf, "00000\r\n"...)
			for i, m := at+4, n; m > 0; i, m = i-1, m>>4 {
				buf[i] = hexDigits[m&15]
			}
			buf = buf[:len(buf)+n] // read in place
			buf = append(buf, "\r\n"...)
		}
		if err == io.EOF {
			buf = append(buf, "0\r\n\r\n"...)
		}
		if _, sendErr := c.Write(buf); sendErr != nil || err == io.EOF {
			return sendErr, nil
		}
		buf = buf[:0]
	}
}

func appendHead(b []byte, path string, headers [][2]string) ([]byte, error) {
	size := len(path) + 200
	for _, h := range headers {
		size += len(h[0]) + 3*len(h[1]) + 4
		if !token(h[0]) {
			return nil, errHeader
		}
	}
	if size > maxRequestHead {
		return nil, errHeader
	}
	b = append(b, "POST "...)
	b = appendEscaped(b, path)
	b = append(b, postFields...)
	for _, h := range headers {
		b = append(b, h[0]...)
		b = append(b, ": "...)
		b = appendEscaped(b, h[1])
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...), nil
}

// token reports whether s can be the name of a field: RFC 9110, section 5.6.2.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			continue
		}
		switch c {
		case '!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~':
		default:
			return false
		}
	}
	return s != ""
}
