package main

import "syscall"

func selectRead(n int, set *syscall.FdSet, tv *syscall.Timeval) error {
	_, err := syscall.Select(n, set, nil, nil, tv)
	return err
}
