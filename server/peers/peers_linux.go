package peers

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the effective user of who connected, at that moment.
func peerUID(c net.Conn) (int, error) {
	cred, err := credentials(c)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}

// peerProcess is the process that connected.
func peerProcess(c net.Conn) (int, error) {
	cred, err := credentials(c)
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

func credentials(c net.Conn) (cred *unix.Ucred, err error) {
	err = ask(c, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	return cred, err
}
