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

// peerPID is the process that called listen(2) on the other end; 0: not known.
func peerPID(fd int) int {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}
