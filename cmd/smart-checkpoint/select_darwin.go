package main

import "syscall"

func selectRead(n int, set *syscall.FdSet, tv *syscall.Timeval) error {
	return syscall.Select(n, set, nil, nil, tv)
}
