package kv

import (
	"errors"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// markMaking begins a store: from here to the end of create, the directory is known to hold nothing of value.
func (d *DB) markMaking() error {
	if err := d.fs.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	if err := ondisk.SyncDir(d.fs, d.fs.PathDir(d.dir)); err != nil {
		return err
	}
	f, err := d.fs.Create(d.fs.PathJoin(d.dir, nameMaking), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return ondisk.SyncDir(d.fs, d.dir)
}

// create makes the store, under the lock. The file format comes last: without it and with making, everything is made
// again.
func (d *DB) create() error {
	if err := d.space.check(0); err != nil {
		return err
	}
	if err := d.fs.RemoveAll(d.db); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// pebble makes a database in an old format and moves it up: its first log has no synced offsets. So it is opened
	// twice.
	cache := pebble.NewCache(1 << 20)
	defer cache.Unref()
	pdb, err := d.openPebble(d.pebbleOptions(cache))
	if err != nil {
		return err
	}
	err = pdb.Set(formatKey, formatValue, pebble.Sync)
	if err = errors.Join(err, pdb.Close(), d.poison.Err()); err != nil {
		return err
	}
	d.sched = newScheduler(d.pausedCompactions) // one is for one database
	if err := ondisk.WriteSmall(d.fs, d.dir, nameFormat, formatLine(FormatVersion)); err != nil {
		return err
	}
	return d.removeMaking()
}

func (d *DB) removeMaking() error {
	err := d.fs.Remove(d.fs.PathJoin(d.dir, nameMaking))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return ondisk.SyncDir(d.fs, d.dir)
}
