package engine

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// sameOwner does nothing: a new file inherits what its directory says.
func sameOwner(*os.File, fs.FileInfo) error { return nil }

// openRead opens a file to be read.
func openRead(path string) (*os.File, error) { return os.Open(path) }

// freeBytes is the space in bytes that the file system of dir has for this user.
func freeBytes(dir string) (uint64, error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(p, &free, nil, nil)
	return free, err
}
