package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/internal/osfile"
)

// errChanged is returned when a file is not what was read any more; nothing was written.
var errChanged = errors.New("it changed while it was being edited")

// agentFile is a file of an agent as it was read. Nobody else's locks are there to be had: whoever replaces it looks
// first whether it still
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

// replace puts data in the file's place, durably, with the mode and owner of what was there: the old bytes or the new
// ones, at any moment.
func (f *agentFile) replace(data []byte, limit int64) error {
	if f.info.Mode()&0o200 == 0 {
		return fmt.Errorf("%w: it is read-only", fs.ErrPermission)
	}
	o := osfile.Options{Temporary: "." + filepath.Base(f.path) + ".rewind-", Like: f.info, Held: true, Before: func(*os.File) error {
		now, err := readFile(f.path, limit)
		if err == nil && (!os.SameFile(now.info, f.info) || !bytes.Equal(now.data, f.data)) {
			err = errChanged
		}
		return err
	}}
	return osfile.Write(f.path, o, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
