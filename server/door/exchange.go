package door

import (
	"bufio"
	"io"
	"net"
	"time"

	"rewind/internal/relay/hookwire"
)

// Exchange is one hook's request, whose payload is read from it, and the answer. It is for one goroutine, but for
// SetReadDeadline.
type Exchange struct {
	hookwire.Request
	hookwire.Payload
	Err error // why there is no request: hookwire.ErrProtocol, hookwire.ErrMalformed; nil: it is there

	conn net.Conn
	r    *bufio.Reader
	sent bool
}

// read takes the header. hook: the connection is a hook's; else nothing has been taken out of the buffer. err is the
// connection's.
func (x *Exchange) read() (hook bool, err error) {
	for {
		_, err := x.r.Peek(x.r.Buffered() + 1)
		seen, _ := x.r.Peek(x.r.Buffered())
		switch {
		case !hookwire.Is(seen):
			return false, nil
		case err != nil && len(seen) < hookwire.HeaderSize:
			return true, err
		case len(seen) >= hookwire.HeaderSize:
			return true, x.header(seen)
		}
	}
}

// header reads the fields.
func (x *Exchange) header(seen []byte) error {
	n, err := hookwire.Fields(seen[:hookwire.HeaderSize])
	if err != nil {
		x.Err = err
		return nil
	}
	b, err := x.r.Peek(hookwire.HeaderSize + n)
	if err != nil {
		return err
	}
	x.Request, x.Err = hookwire.DecodeRequest(b[hookwire.HeaderSize:])
	_, err = x.r.Discard(len(b))
	return err
}

// SetReadDeadline is how long the payload is waited for.
func (x *Exchange) SetReadDeadline(t time.Time) error { return x.conn.SetReadDeadline(t) }

// Answer answers, once: only the first counts.
func (x *Exchange) Answer(a hookwire.Answer) {
	if x.sent {
		return
	}
	x.sent = true
	_, _ = x.conn.Write(hookwire.AppendAnswer(nil, a)) // to a client that has gone
}

// linger hears a client out that still sends when it has been answered: to close would throw the answer away.
func (x *Exchange) linger() {
	if x.Ended() {
		return
	}
	if w, ok := x.conn.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
	_ = x.conn.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, x.r, lingerBytes)
}
