package peers

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the effective user of who connected, at that moment.
func peerUID(c net.Conn) (uid int, err error) {
	uid = -1
	err = ask(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err == nil {
			uid = int(cred.Uid)
		}
		return err
	})
	return uid, err
}

// peerProcess is the process that connected.
func peerProcess(c net.Conn) (pid int, err error) {
	err = ask(c, func(fd int) (err error) {
		pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return err
	})
	return pid, err
}
