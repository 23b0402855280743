package ptytest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// open opens both ends of a terminal (pty(7)).
func open(rows, columns uint16) (keys, screen *os.File, err error) {
	keys, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, keys.Close())
		}
	}()
	var n int
	conn, err := keys.SyscallConn() // Fd would make it a file without deadlines
	if err != nil {
		return nil, nil, err
	}
	errControl := conn.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err != nil {
			return
		}
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
	if err = errors.Join(err, errControl); err != nil {
		return nil, nil, err
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return keys, screen, err
}
