package register

import (
	"syscall"
)

// FreeBytes is the space in bytes that the file system of dir has for this user.
func FreeBytes(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
