package kv

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"rewind/internal/kv/ondisk"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Ingest stores n key-value pairs without the log and the memtable: they are written once, as tables, and linked in. at
// is called with 0 to n-1 in order and must give strictly ascending keys; its slices are used before the next call.
// Everything is durable and visible when Ingest returns nil, nothing is when it returns an error other than
// ErrPoisoned.
func (d *DB) Ingest(ctx context.Context, n int, at func(i int) (key, val []byte)) (err error) {
	if err := d.enterWrite("load"); err != nil {
		return err
	}
	defer d.life.leave()
	if n == 0 {
		return nil
	}
	l := &load{d: d}
	defer func() {
		if err != nil {
			l.discard()
		}
	}()
	for i := range n {
		key, val := at(i)
		if err := l.add(ctx, key, val); err != nil {
			return d.fail("load", "", err)
		}
	}
	if err := l.finish(); err != nil {
		return d.fail("load", "", err)
	}
	defer d.writes.Add(1)
	if err := d.poison.guard(func() error { return d.pdb.Ingest(ctx, l.paths) }); err != nil {
		return d.fail("load", "", err)
	}
	// Where keys overlapped with the memtable, pebble has put the tables in the log.
	if err := d.logs.Sync(); err != nil {
		return err
	}
	d.sawSeq(l.seq)
	return d.poison.Err()
}

// Hold keeps compactions from starting while a load of several Ingests is under way, and for holdAfter longer: their
// tables overlap, so each would have what came before rewritten. end may be called more than once. Commits stall from
// about 12 tables that overlap on: hold for fewer.
func (d *DB) Hold() (end func()) {
	d.held.Add(1)
	return sync.OnceFunc(func() {
		time.AfterFunc(holdAfter, func() {
			d.held.Add(-1)
			d.sched.poke()
		})
	})
}

// load writes the tables of one Ingest.
type load struct {
	d     *DB
	w     *sstable.Writer // nil between tables
	size  int
	paths []string
	last  []byte
	seq   uint64
}

func (l *load) add(ctx context.Context, key, val []byte) error {
	switch {
	case len(key) > MaxKey || len(val) > MaxValue:
		return fmt.Errorf("key of %d bytes, value of %d: %w", len(key), len(val), ErrTooLarge)
	case l.last != nil && bytes.Compare(key, l.last) <= 0:
		return fmt.Errorf("keys do not ascend: %s after %s", showKey(key), showKey(l.last))
	}
	if l.w != nil && l.size+len(key)+len(val) > ingestFileBytes {
		if err := l.finish(); err != nil {
			return err
		}
	}
	if l.w == nil {
		if err := l.begin(ctx); err != nil {
			return err
		}
	}
	l.last = append(l.last[:0], key...)
	if seq, ok := operationSeq(key); ok {
		l.seq = max(l.seq, seq)
	}
	l.size += len(key) + len(val)
	return l.w.Set(key, val)
}

func (l *load) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.d.space.check(ingestFileBytes / 2); err != nil {
		return err
	}
	d := l.d
	path := d.fs.PathJoin(d.db, fmt.Sprintf("%s%d", ondisk.LoadPrefix, d.loads.Add(1)))
	f, err := d.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	l.paths = append(l.paths, path)
	l.size = 0
	o := d.tableOptions().MakeWriterOptions(0, d.pdb.FormatMajorVersion().MaxTableFormat())
	o.Compression = sstable.NoCompression
	l.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), o)
	return nil
}

// finish ends the table being written; it is fsynced then.
func (l *load) finish() error {
	w := l.w
	l.w = nil
	return w.Close()
}

func (l *load) discard() {
	if l.w != nil {
		_ = l.w.Close()
	}
	for _, path := range l.paths {
		_ = l.d.fs.Remove(path) // gone already where pebble had linked it
	}
}

// tableOptions are the settings for reading and writing tables beside pebble.
func (d *DB) tableOptions() *pebble.Options {
	o := d.pebbleOptions(nil)
	o.EnsureDefaults()
	return o
}
