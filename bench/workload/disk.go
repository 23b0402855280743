package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Disk is what files take, in bytes.
type Disk struct {
	Apparent int64 `json:"apparent"` // their lengths
	// what the file system has given them, and their directories, as du counts; Apparent where it does not tell
	Blocks int64 `json:"du"`
}

// Sub gives the growth since an earlier measurement.
func (d Disk) Sub(e Disk) Disk { return Disk{d.Apparent - e.Apparent, d.Blocks - e.Blocks} }

// ballast is a constant reserve of a store; it is never counted.
const ballast = "ballast"

// DiskOf adds up a directory without a store's ballast. each, if not nil, is told every file.
func DiskOf(dir string, each func(path string, size Disk)) (Disk, error) {
	var sum Disk
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file that went meanwhile
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.Name() == ballast {
			return nil
		}
		var size Disk
		if !d.IsDir() {
			size.Apparent = info.Size()
		}
		size.Blocks = blocks(info)
		sum.Apparent += size.Apparent
		sum.Blocks += size.Blocks
		if each != nil && !d.IsDir() {
			each(path, size)
		}
		return nil
	})
	if err != nil {
		return sum, fmt.Errorf("workload: measure %s: %w", dir, err)
	}
	return sum, nil
}

// blocks is what a file takes on the file system, in bytes.
func blocks(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
