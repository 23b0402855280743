package kv

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"rewind/internal/kv/ondisk"
)

// stamp is the format of a store as it is on disk, which is in two places: the file format, for whoever comes to the directory, and
// the key f, which cannot be lost apart from the data.
type stamp struct{ file, key uint64 }

func formatValue(version uint64) []byte { return binary.AppendUvarint(nil, version) }

// upgrade is what an open does: it makes a store of an older format one of FormatAtOpen, on disk when it returns. A store of a newer one
// whose stamping did not end is stamped again. It is called when the check at open has passed, and before the first write.
func (d *DB) upgrade() error {
	d.stamping.Lock()
	defer d.stamping.Unlock()
	return d.stampAs(max(FormatAtOpen, d.stamped.file))
}

// Stamp makes the store one of a format, durably, unless it is one already: to be called before anything is committed that versions which
// know only older formats would misread. It costs nothing once it is done. The errors are those of Commit.
func (d *DB) Stamp(version uint64) error {
	if version > FormatVersion {
		return fmt.Errorf("kv: stamp: format %d: %w", version, ErrTooLarge)
	}
	if err := d.enterWrite("stamp"); err != nil {
		return err
	}
	defer d.life.leave()
	d.stamping.Lock()
	defer d.stamping.Unlock()
	if version <= d.stamped.file && d.stamped.key == d.stamped.file {
		return nil
	}
	if err := d.space.check(0); err != nil {
		return d.fail("stamp", "", err)
	}
	return d.fail("stamp", "", d.stampAs(max(version, d.stamped.file)))
}

// format is that of the store now, as the file has it.
func (d *DB) format() uint64 {
	d.stamping.Lock()
	defer d.stamping.Unlock()
	return d.stamped.file
}

// stampAs writes both places, under stamping. No value is touched: those of an older format are valid as they are.
//
// The file comes first. The older version reads it before anything else, so that it refuses with ErrNewerFormat from this moment on;
// given the key first, it would open the database and call it damaged. The file is written again when only the key is missing: the fsync
// of it may have failed, which another would not tell, and after a power cut a key must not be above the file.
func (d *DB) stampAs(version uint64) error {
	if d.stamped == (stamp{version, version}) {
		return nil
	}
	if err := d.stampFile(version); err != nil {
		return err
	}
	err := d.poison.guard(func() error { return d.pdb.Set(formatKey, formatValue(version), pebble.Sync) })
	if err != nil {
		return err
	}
	if err := d.wals.Sync(); err != nil {
		return err
	}
	d.stamped.key = version
	return nil
}

func (d *DB) stampFile(version uint64) error {
	if err := ondisk.WriteSmall(d.fs, d.dir, nameFormat, formatLine(version)); err != nil {
		return err
	}
	d.stamped.file = version
	return nil
}
