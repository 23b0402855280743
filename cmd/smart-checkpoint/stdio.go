package main

import (
	"errors"
	"io"
	"syscall"
	"time"
)

// readInput reads from standard input, whatever it is, and waits for it no longer than until.
func readInput(b []byte, until time.Time) (int, error) {
	for {
		left := time.Until(until)
		if left <= 0 {
			return 0, errInput
		}
		tv := syscall.NsecToTimeval(int64(left))
		var set syscall.FdSet
		set.Bits[0] = 1 << stdin
		if err := selectRead(stdin+1, &set, &tv); err == syscall.EINTR {
			continue
		} else if err != nil {
			return 0, inputError(err)
		}
		if set.Bits[0] == 0 {
			continue // the time is up
		}
		n, err := syscall.Read(stdin, b)
		switch {
		case err == syscall.EINTR, err == syscall.EAGAIN:
		case err != nil:
			return 0, inputError(err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func inputError(err error) error { return errors.New("read standard input: " + err.Error()) }

// writeAll writes to a standard stream as far as that is possible. Package os would end the process with a signal when
// the agent has closed its end.
func writeAll(fd int, b []byte) {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			time.Sleep(time.Millisecond) // until the agent reads, or the deadline ends the process
		case err != nil:
			return
		default:
			b = b[n:]
		}
	}
}
