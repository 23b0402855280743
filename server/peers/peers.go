// Package peers asks who has connected to a socket: a listener of one user's. The mode of the socket and of its
// directory say the same, but a mode can be changed by mistake.
package peers

import (
	"errors"
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

// Process is the process that connected, by its number here; 0: it is not known. A connection that was wrapped is asked
// for what it wraps (NetConn).
func Process(c net.Conn) int {
	for {
		w, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = w.NetConn()
	}
	pid, err := peerProcess(c)
	if err != nil {
		return 0
	}
	return pid
}

// ask asks the system about a connection to a unix socket.
func ask(c net.Conn, fn func(fd int) error) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	var sockErr error
	err = raw.Control(func(fd uintptr) { sockErr = fn(int(fd)) })
	return errors.Join(err, sockErr)
}
