package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"rewind/internal/kv/ondisk"
)

const (
	scrubLook = 10 * time.Millisecond // between two looks for files that are about to go
	scrubWait = 30 * time.Second      // for them to go
)

// Scrub makes the disk forget what is not in the store any more: when it returns nil, no file of the directory holds
// the value of a key that was deleted or replaced before the call. The log is begun anew and the old ones are gone, all
// tables are rewritten and the old ones are gone, and the archive is empty. What the file system, the disk or a copy
// elsewhere keep of removed files is out of reach.
//
// What a MANIFEST has of the keys with which tables began and ended stays until the database is opened anew.
//
// A Scan or Verify under way keeps tables; Scrub waits for them, and gives ErrBusy when that takes too long: nothing is
// wrong then, it is
// to be called again.
func (d *DB) Scrub(ctx context.Context) error {
	if err := d.enterWrite("scrub"); err != nil {
		return err
	}
	defer d.life.leave()
	// The memtable goes to a table, and a new log begins. With an empty memtable pebble keeps the log: so it is given
	// something.
	err := d.poison.guard(func() error {
		if err := d.pdb.Set(formatKey, formatValue, nil); err != nil {
			return err
		}
		return d.pdb.Flush()
	})
	if err != nil {
		return d.fail("scrub", "", err)
	}
	if err := d.Compact(ctx); err != nil {
		return err
	}
	err = d.awaitRemoval(ctx)
	if err == nil {
		err = d.removeManifests()
	}
	return d.fail("scrub", "", err)
}

// removeManifests removes the MANIFESTs before the one in use: pebble keeps one of them.
func (d *DB) removeManifests() error {
	old, err := ondisk.OldManifests(d.fs, d.db)
	for _, name := range old {
		if rerr := d.fs.Remove(d.fs.PathJoin(d.db, name)); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// awaitRemoval waits until the directory has no tables and logs but those in use: pebble removes others by and by.
func (d *DB) awaitRemoval(ctx context.Context) error {
	deadline := time.Now().Add(scrubWait)
	for {
		left, err := d.obsolete()
		if err != nil {
			return err
		}
		if left == "" {
			return d.emptyArchive()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s is still being read", ErrBusy, left)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.poison.down:
			return d.poison.Err()
		case <-time.After(scrubLook):
		}
	}
}

// obsolete names a table or log that is not in use and still there; "": there is none.
func (d *DB) obsolete() (string, error) {
	used := make(map[uint64]bool)
	tables, err := d.pdb.SSTables()
	if err != nil {
		return "", err
	}
	for _, level := range tables {
		for _, t := range level {
			if used[uint64(t.BackingSSTNum)] = true; t.Virtual {
				return "", errors.New("a table is in part of another") // never made: see pebbleOptions
			}
		}
	}
	names, err := d.fs.List(d.db)
	if err != nil {
		return "", err
	}
	logs := 0
	name := ""
	for _, n := range names {
		stem, ext, _ := strings.Cut(n, ".")
		num, err := strconv.ParseUint(stem, 10, 64)
		switch {
		case err != nil:
		case ext == "sst" && !used[num]:
			name = n
		case ext == "log":
			if logs++; logs > 1 {
				name = n
			}
		}
	}
	return name, nil
}
