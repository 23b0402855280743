package kv

import (
	"errors"
	"io/fs"
	"strings"

	"rewind/internal/kv/ondisk"
)

// A repair puts a database that was made anew in the place of the damaged one. Names in a store directory:
const (
	nameRepair     = "repair"      // the new one, while it is made; it is a store directory of its own
	nameSwap       = "swap"        // while the one takes the place of the other: the name of the old one's place, and newline
	nameQuarantine = QuarantineDir // what was replaced, in a directory for each repair; never removed by this package
)

// QuarantineDir is the directory, in a store's, that holds what repairs replaced.
const QuarantineDir = "quarantine"

// quarantined are the files that a repair replaces besides db. They are copied into the quarantine before anything is
// replaced.
var quarantined = []string{nameFormat, nameHighWater, nameChecked, nameLastFatal}

// swapping is the name of the place in the quarantine that a repair in its last steps uses; "": there is none.
func (d *DB) swapping() string {
	text, err := ondisk.ReadSmall(d.base, d.fs.PathJoin(d.dir, nameSwap), 256)
	name, ok := strings.CutSuffix(text, "\n")
	none := err != nil || !ok || name == ""
	if none || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return ""
	}
	return name
}

// finishSwap carries a swap to its end, from wherever it was cut short; the lock is held.
func (d *DB) finishSwap() error {
	name := d.swapping()
	if name == "" {
		return nil
	}
	fresh, away := d.fs.PathJoin(d.dir, nameRepair), d.fs.PathJoin(d.dir, nameQuarantine, name)
	if err := d.moveTo(d.fs.PathJoin(fresh, nameDB), d.db, d.fs.PathJoin(away, nameDB)); err != nil {
		return err
	}
	for _, file := range quarantined {
		if err := d.rename(d.fs.PathJoin(fresh, file), d.fs.PathJoin(d.dir, file)); err != nil {
			return err
		}
	}
	// What failed was the old one.
	if err := d.fs.Remove(d.fs.PathJoin(d.dir, nameLastFatal)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := ondisk.SyncDir(d.fs, d.dir); err != nil {
		return err
	}
	if err := d.fs.Remove(d.fs.PathJoin(d.dir, nameSwap)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := ondisk.SyncDir(d.fs, d.dir); err != nil {
		return err
	}
	return d.removeRepair()
}

// moveTo puts from at the place of to, which goes away first. Without from it has been done already.
func (d *DB) moveTo(from, to, away string) error {
	if _, err := d.base.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := d.base.Stat(away); errors.Is(err, fs.ErrNotExist) {
		if err := d.rename(to, away); err != nil {
			return err
		}
		if err := ondisk.SyncDir(d.fs, d.fs.PathDir(away)); err != nil {
			return err
		}
	}
	return d.rename(from, to)
}

// rename passes over what is not there.
func (d *DB) rename(from, to string) error {
	err := d.base.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeRepair takes away what a repair that was cut short had made.
func (d *DB) removeRepair() error {
	dir := d.fs.PathJoin(d.dir, nameRepair)
	if _, err := d.base.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.fs.RemoveAll(dir); err != nil {
		return err
	}
	return ondisk.SyncDir(d.fs, d.dir)
}
