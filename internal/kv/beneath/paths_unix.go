package beneath

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func kind(path, format string, args ...any) error {
	return &RefusedError{Path: path, Why: fmt.Sprintf(format, args...)}
}

func rights(path, format string, args ...any) error {
	return &RefusedError{Path: path, Why: fmt.Sprintf(format, args...), Rights: true}
}

// find gives the directory that name lies in, and the rest of its path; "" is the directory itself.
func (f *FS) find(name string) (*root, string) {
	name = filepath.Clean(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.roots {
		if name == r.path {
			return r, ""
		}
		if rest, ok := strings.CutPrefix(name, r.path+string(filepath.Separator)); ok {
			return r, rest
		}
	}
	return nil, ""
}

// PathBase is that of the system, as PathJoin and PathDir are.
func (f *FS) PathBase(path string) string { return filepath.Base(path) }

// PathJoin joins elements of a path.
func (f *FS) PathJoin(elem ...string) string { return filepath.Join(elem...) }

// PathDir is the path of the directory.
func (f *FS) PathDir(path string) string { return filepath.Dir(path) }

// GetDiskUsage asks by path: it opens nothing, and a wrong answer is only a wrong number.
func (f *FS) GetDiskUsage(path string) (vfs.DiskUsage, error) { return vfs.Default.GetDiskUsage(path) }

// Unwrap says that this is the disk.
func (f *FS) Unwrap() vfs.FS { return vfs.Default }
