package peers

import (
	"net"
	"os"
)

// Loopback is a listener on 127.0.0.1 that accepts connections of this user only, where the system tells whose a connection is (Linux). A
// port has no mode, and every user of a machine reaches it.
type Loopback struct {
	net.Listener
	Refused func(uid int, err error) // told of any other; err: it is nobody's that can be found
}

// Accept implements net.Listener.
func (l Loopback) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := loopbackUID(c.RemoteAddr(), c.LocalAddr())
		if err == nil && uid == os.Geteuid() {
			return c, nil
		}
		l.Refused(uid, err)
		_ = c.Close()
	}
}
