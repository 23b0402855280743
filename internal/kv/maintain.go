package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// Compact rewrites the whole key space, so that deleted and replaced values give their space back. It is done or not
// begun: ctx does not reach pebble, which ends the process when a compaction that waits is given up and then has its
// turn.
func (d *DB) Compact(ctx context.Context) error {
	if err := d.enterWrite("compact"); err != nil {
		return err
	}
	defer d.life.leave()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	whole, cancel := d.poison.watch(context.WithoutCancel(ctx))
	defer cancel()
	// A full disk pauses compactions, but this one is asked for, and may be what ends it.
	if avail, ok := d.space.free(); ok && avail < BallastBytes {
		return fmt.Errorf("compact: %w", noRoom(avail, BallastBytes))
	}
	d.asked.Add(1)
	defer d.asked.Add(-1)
	d.sched.poke()
	err := d.poison.guard(func() error { return d.pdb.Compact(whole, []byte{0}, bytesMax, false) })
	if err != nil {
		return d.fail("compact", "", err)
	}
	d.awaitRemovals(ctx)
	return d.fail("compact", "", errors.Join(d.emptyArchive(), d.poison.Err()))
}

// removalWait bounds how long Compact waits for the files that it made obsolete: those that a reader holds go when it
// ends.
const removalWait = 5 * time.Second

// awaitRemovals waits until pebble, which removes obsolete files in a goroutine of its own, has done so.
func (d *DB) awaitRemovals(ctx context.Context) {
	for end := time.Now().Add(removalWait); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
		if m := d.pdb.Metrics(); m.Table.ObsoleteCount == 0 && m.Table.ZombieCount == 0 {
			return
		}
	}
}

var errNoTable = errors.New("table is missing")

// bytesMax is above every key of the key space.
var bytesMax = []byte{0xff, 0xff}

// Clone makes a second store in dst, which must not exist, with everything that is committed now. Tables are linked
// where the file system can, so it costs little; the clone is durable and independent.
func (d *DB) Clone(dst string) error {
	if err := d.enter("clone"); err != nil {
		return err
	}
	defer d.life.leave()
	if d.disk != nil {
		if err := d.disk.Add(dst); err != nil {
			return d.fail("clone to", dst, err)
		}
	}
	if _, err := d.fs.Stat(dst); err == nil {
		return fmt.Errorf("clone to %s: %w", dst, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return d.fail("clone to", dst, err)
	}
	if err := d.space.check(memtableBytes); err != nil {
		return d.fail("clone to", dst, err)
	}
	c := newDB(dst, d.o, d.disk)
	if err := d.clone(c); err != nil {
		_ = d.fs.RemoveAll(dst)
		return d.fail("clone to", dst, err)
	}
	return d.poison.Err()
}

func (d *DB) clone(c *DB) error {
	if err := c.markMaking(); err != nil {
		return err
	}
	c.lastSeq.Store(d.lastSeq.Load())
	err := d.poison.guard(func() error { return d.pdb.Checkpoint(c.db, pebble.WithFlushedWAL()) })
	if err != nil {
		return err
	}
	if err := c.writeHighWater(); err != nil {
		return err
	}
	if err := ondisk.WriteSmall(c.fs, c.dir, nameFormat, formatLine(FormatVersion)); err != nil {
		return err
	}
	return c.removeMaking()
}

// Usage is what a store takes.
type Usage struct {
	DiskBytes int64  // sizes of all files of the directory
	Keys      uint64 // entries in tables, approximate: replaced and deleted ones count until they are compacted
}

// DiskBytes is Usage's, without a look into the tables.
func (d *DB) DiskBytes() (int64, error) { return d.sizeWithout("") }

// DataBytes is DiskBytes without the ballast, which does not grow with what is put in.
func (d *DB) DataBytes() (int64, error) { return d.sizeWithout(nameBallast) }

// sizeWithout adds up the files of the directory but one in it.
func (d *DB) sizeWithout(name string) (int64, error) {
	if err := d.enter("usage"); err != nil {
		return 0, err
	}
	defer d.life.leave()
	size, err := d.treeSize(d.dir, name)
	if err != nil {
		return 0, d.fail("usage", d.dir, err)
	}
	return size, d.poison.Err()
}

// FreeBytes is how much of the disk is free; not ok: it is not known.
func (d *DB) FreeBytes() (n uint64, ok bool) { return d.space.free() }

// Usage adds up the files of the store.
func (d *DB) Usage() (Usage, error) {
	if err := d.enter("usage"); err != nil {
		return Usage{}, err
	}
	defer d.life.leave()
	var u Usage
	size, err := d.treeSize(d.dir, "")
	if err != nil {
		return Usage{}, d.fail("usage", d.dir, err)
	}
	u.DiskBytes = size
	tables, err := d.pdb.SSTables(pebble.WithProperties())
	if err != nil {
		return Usage{}, d.fail("usage", d.dir, err)
	}
	for _, level := range tables {
		for _, t := range level {
			if t.Properties != nil {
				u.Keys += t.Properties.NumEntries
			}
		}
	}
	return u, d.poison.Err()
}

func (d *DB) treeSize(dir, without string) (int64, error) {
	names, err := d.fs.List(dir)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, name := range names {
		path := d.fs.PathJoin(dir, name)
		info, err := d.fs.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since
		case err != nil:
			return 0, err
		case info.IsDir():
			n, err := d.treeSize(path, "")
			if err != nil {
				return 0, err
			}
			sum += n
		case name != without:
			sum += info.Size()
		}
	}
	return sum, nil
}

// Verify reads every block of every table and reports each table that is damaged, by name, as ErrCorrupt. It returns an
// error only when it could not go on.
func (d *DB) Verify(ctx context.Context, report func(error)) error {
	if err := d.enter("verify"); err != nil {
		return err
	}
	defer d.life.leave()
	// Tables that are read here must not be removed by a compaction meanwhile: a snapshot does not hold files, an
	// iterator does.
	it, err := d.pdb.NewIter(nil)
	if err != nil {
		return d.fail("verify", d.dir, err)
	}
	defer func() { _ = it.Close() }()
	tables, err := d.pdb.SSTables()
	if err != nil {
		return d.fail("verify", d.dir, err)
	}
	seen := make(map[uint64]bool)
	for _, level := range tables {
		for _, t := range level {
			num := uint64(t.BackingSSTNum)
			if seen[num] {
				continue
			}
			seen[num] = true
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("verify: %w", err)
			}
			if err := d.verifyTable(ctx, num); err != nil {
				d.blame(num, err, report)
			}
		}
	}
	return d.poison.Err()
}

func (d *DB) tablePath(num uint64) string {
	name := strconv.FormatUint(num, 10) + ".sst"
	for len(name) < len("000000.sst") {
		name = "0" + name
	}
	return d.fs.PathJoin(d.db, name)
}

// blame reports each block of keys of a damaged table that cannot be read; the error itself, where all can be.
func (d *DB) blame(num uint64, err error, report func(error)) {
	named := false
	_ = ondisk.BadBlocks(d.base, d.tablePath(num), d.tableOptions().MakeReaderOptions(), func(err error) {
		named = true
		report(fmt.Errorf("verify: %w", err))
	})
	if !named {
		report(err)
	}
}

func (d *DB) verifyTable(ctx context.Context, num uint64) error {
	path := d.tablePath(num)
	f, err := d.fs.Open(path, vfs.SequentialReadsOption)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("verify: %w", &CorruptError{File: path, Cause: errNoTable})
	}
	if err != nil {
		return d.fail("verify", path, err)
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		_ = f.Close()
		return d.fail("verify", path, err)
	}
	err = readTable(ctx, d.tableOptions().MakeReaderOptions(), readable)
	var own *CorruptError
	if pebble.IsCorruptionError(err) && !errors.As(err, &own) {
		err = &CorruptError{File: path, Cause: err}
	}
	return d.fail("verify", path, err)
}

// readTable checks every block; it owns the readable.
func readTable(ctx context.Context, o sstable.ReaderOptions, f objstorage.Readable) error {
	r, err := sstable.NewReader(ctx, f, o)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}

// TrimCaches gives up what the block cache holds, but for its hottest blocks (trimmedCache bytes of them): a store that
// was just opened has filled it with blocks that nobody reads again. It may fill anew. The memtables count into the
// cache, so it may have nothing to give.
func (d *DB) TrimCaches() {
	if d.life.enter() != nil {
		return
	}
	defer d.life.leave()
	if n := d.o.cacheBytes - trimmedCache; n > 0 && d.blocks != nil {
		d.blocks.Reserve(int(n))()
	}
}
