//go:build !unix

package workload

import "io/fs"

// blocks is what a file takes, in bytes; what the file system adds is not known.
func blocks(info fs.FileInfo) int64 {
	if info.IsDir() {
		return 0
	}
	return info.Size()
}
