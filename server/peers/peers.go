// Package peers asks who has connected to a socket: a listener of one user's. The mode of the socket and of its directory say the same, but
// a mode can be changed by mistake.
package peers

import (
	"net"
	"os"
)

// Own is a listener that accepts connections of this user only, root neither.
type Own struct {
	net.Listener
	Refused func(uid int, err error) // told of any other; err: who it is cannot be asked
}

// Accept implements net.Listener.
func (o Own) Accept() (net.Conn, error) {
	for {
		c, err := o.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := peerUID(c)
		if err == nil && uid == os.Geteuid() {
			return c, nil
		}
		o.Refused(uid, err)
		_ = c.Close()
	}
}
