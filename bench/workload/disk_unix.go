//go:build unix

package workload

import (
	"io/fs"
	"syscall"
)

// blocks is what a file takes on the file system, in bytes.
func blocks(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
