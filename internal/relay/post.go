package relay

import (
	"io"
	"time"

	"rewind/internal/relay/hookwire"
)

// Post makes one exchange of a hook, the only one of a connection (hookwire.Exchange).
func (c *Conn) Post(q hookwire.Request, payload io.Reader) (hookwire.Answer, error) {
	a, err := hookwire.Exchange(c, q, payload)
	if err != nil {
		err = fail("post", "hook", err)
	}
	return a, err
}

// stopRequest is what daemons of every version take for "end when you have done what you have begun".
const stopRequest = "POST " + StopPath + " HTTP/1.1\r\nHost: rewind\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"

// Retire asks the daemon of a home to end, whatever its version is: one that speaks HTTP with hooks has not understood
// who came. Its answer, which comes when it has closed its stores, is not waited for.
func Retire(home string, deadline time.Time) {
	sock, err := SocketPath(home)
	if err != nil {
		return
	}
	c, err := tryConnect(home, sock, deadline)
	if err != nil {
		return // it has gone
	}
	_, _ = c.Write([]byte(stopRequest))
	_ = c.Close()
}
