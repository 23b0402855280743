//go:build unix

package api

import (
	"net"

	"rewind/internal/relay"
)

// netConn makes a connection one that Go's runtime polls.
func netConn(_ string, c *relay.Conn) (net.Conn, error) {
	f, err := c.File()
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return net.FileConn(f)
}
