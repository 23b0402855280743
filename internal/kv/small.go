package kv

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tmpSuffix is what the name of a file has until it is whole.
const tmpSuffix = ".tmp"

// readSmall reads a file of at most limit bytes; what is beyond is left out.
func readSmall(f vfs.FS, path string, limit int64) (string, error) {
	h, err := f.Open(path)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(h, limit))
	return string(b), errors.Join(err, h.Close())
}

// writeSmall replaces a file atomically and durably.
func writeSmall(f vfs.FS, dir, name, text string) error {
	tmp := f.PathJoin(dir, name+tmpSuffix)
	h, err := f.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(h, text)
	if err == nil {
		err = h.Sync()
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return err
	}
	if err := f.Rename(tmp, f.PathJoin(dir, name)); err != nil {
		return err
	}
	return syncDir(f, dir)
}

func syncDir(f vfs.FS, dir string) error {
	h, err := f.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(h.Sync(), h.Close())
}

// sealed is a line with its checksum.
func sealed(text string) string {
	return fmt.Sprintf("%s %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}
