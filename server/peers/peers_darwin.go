package peers

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the effective user of who connected, at that moment.
func peerUID(c net.Conn) (int, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return -1, errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return -1, err
	}
	uid := -1
	var sockErr error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, sockErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); sockErr == nil {
			uid = int(cred.Uid)
		}
	})
	return uid, errors.Join(err, sockErr)
}
