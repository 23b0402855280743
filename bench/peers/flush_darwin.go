package main

import "golang.org/x/sys/unix"

// flushDisk writes everything to disk that is only in memory yet.
func flushDisk() { _ = unix.Sync() }
