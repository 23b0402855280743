package api

import (
	"net"

	"rewind/internal/relay"
)

// netConn connects once more: relay's connection has shown that a daemon is there.
func netConn(home string, c *relay.Conn) (net.Conn, error) {
	_ = c.Close()
	sock, err := relay.SocketPath(home)
	if err != nil {
		return nil, err
	}
	return net.Dial("unix", sock)
}
