package peers

import (
	"net"
	"os"
)

// asker says that every connection is this user's: the system does not tell, and the page's token and cookie have to
// do.
type asker struct{}

func (*asker) together() int { return 1 }

func (*asker) ask(conns []net.Conn, found func(c net.Conn, uid int, err error)) {
	for _, c := range conns {
		found(c, os.Geteuid(), nil)
	}
}

func (*asker) close() {}

func setBacklog(net.Listener, int) {}
