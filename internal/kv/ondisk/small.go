package ondisk

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TmpSuffix is what the name of a file has until it is whole.
const TmpSuffix = ".tmp"

// ReadSmall reads a file of at most limit bytes; what is beyond is left out.
func ReadSmall(f vfs.FS, path string, limit int64) (string, error) {
	h, err := f.Open(path)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(h, limit))
	return string(b), errors.Join(err, h.Close())
}

// WriteSmall replaces a file atomically and durably.
func WriteSmall(f vfs.FS, dir, name, text string) error {
	tmp := f.PathJoin(dir, name+TmpSuffix)
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
	return SyncDir(f, dir)
}

// SyncDir makes the entries of a directory durable.
func SyncDir(f vfs.FS, dir string) error {
	h, err := f.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(h.Sync(), h.Close())
}

// Sealed is a line of text with its checksum: the text, a space, its CRC-32C in hex, a newline.
func Sealed(text string) string {
	return fmt.Sprintf("%s %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}
