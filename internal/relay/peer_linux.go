package relay

import "syscall"

// peer returns the effective uid of who serves the other end: who called listen(2) on it.
func peer(fd int) (int, error) {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
