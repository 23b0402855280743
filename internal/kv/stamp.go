package kv

import (
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// stamp is the format of a store as it is on disk, which is in two places: the file format, for whoever comes to the directory, and
// the key f, which cannot be lost apart from the data.
type stamp struct{ file, key uint64 }

func formatValue(version uint64) []byte { return binary.AppendUvarint(nil, version) }

// upgrade makes a store of an older format one of FormatVersion, on disk when it returns. No value is touched: all are valid as they are.
// It is called when the check at open has passed, and before the first write.
//
// The file comes first. The older version reads it before anything else, so that it refuses with ErrNewerFormat from this moment on;
// given the key first, it would open the database and call it damaged. The file is written again when only the key is missing: the fsync
// of it may have failed, which another would not tell, and after a power cut a key must not be above the file.
func (d *DB) upgrade() error {
	if d.stamped == (stamp{FormatVersion, FormatVersion}) {
		return nil
	}
	if err := d.stampFile(); err != nil {
		return err
	}
	err := d.poison.guard(func() error { return d.pdb.Set(formatKey, formatValue(FormatVersion), pebble.Sync) })
	if err != nil {
		return err
	}
	if err := d.wals.sync(); err != nil {
		return err
	}
	d.stamped.key = FormatVersion
	return nil
}

func (d *DB) stampFile() error {
	if err := writeSmall(d.fs, d.dir, nameFormat, formatLine(FormatVersion)); err != nil {
		return err
	}
	d.stamped.file = FormatVersion
	return nil
}
