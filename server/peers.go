package server

import (
	"net"
	"os"

	"rewind/internal/bug"
)

// peers is a listener that accepts this user only, root neither: the mode of the socket and its directory say the same, but a mode can be changed
// by mistake.
type peers struct {
	net.Listener
	d *daemon
}

// Accept implements net.Listener.
func (p peers) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := peerUID(c)
		if err == nil && (uid == os.Geteuid() || bug.Is("peer-unchecked")) {
			return c, nil
		}
		p.d.log.Warn("refused: another user", "uid", uid, "error", err)
		_ = c.Close()
	}
}
