package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errChanged is returned when a file is not what was read any more; nothing was written.
var errChanged = errors.New("it changed while it was being edited")

// agentFile is a file of an agent as it was read. Nobody else's locks are there to be had: whoever replaces it looks first whether it still
// is what was read.
type agentFile struct {
	path string // links followed
	data []byte
	info fs.FileInfo
}

// readFile reads a regular file of at most limit bytes.
func readFile(path string, limit int64) (*agentFile, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	fi, err := os.Lstat(real)
	if err != nil {
		return nil, err
	}
	data, err := readSmall(real, limit)
	if err != nil {
		return nil, err
	}
	return &agentFile{path: real, data: data, info: fi}, nil
}

// replace puts data in the file's place, durably, with the mode and owner of what was there: the old bytes or the new ones, at any moment.
func (f *agentFile) replace(data []byte, limit int64) error {
	if f.info.Mode()&0o200 == 0 {
		return fmt.Errorf("%w: it is read-only", fs.ErrPermission)
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".rewind-*") // mode 0600
	if err != nil {
		return err
	}
	if err = sameOwner(tmp, f.info); err == nil {
		err = tmp.Chmod(f.info.Mode().Perm())
	}
	if err == nil {
		_, err = tmp.Write(data)
	}
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		var now *agentFile
		if now, err = readFile(f.path, limit); err == nil && (!os.SameFile(now.info, f.info) || !bytes.Equal(now.data, f.data)) {
			err = errChanged
		}
	}
	if err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return err
	}
	return syncDir(filepath.Dir(f.path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
