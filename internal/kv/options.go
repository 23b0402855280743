package kv

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/memlimit"
)

// FS is the file system a store lives in.
type FS = vfs.FS

// Durability is what a commit waits for.
type Durability int

const (
	// Written is handed to the kernel: it survives kill -9, and a power cut more than Options.GroupSync later.
	Written Durability = 0
	// Durable is fsynced: it survives a power cut.
	Durable Durability = 1
)

// Options of Open. The zero value is good.
type Options struct {
	// LockWait bounds the wait for another process's lock; 0: do not wait.
	LockWait time.Duration
	// FS is where the store lives; nil: the disk.
	FS FS
	// Fatal is called once when the store has failed beyond use, after the file last-fatal was written. It must not
	// return in production. nil: exit with DefaultFatalExit.
	Fatal func(error)
	// ReadOnly opens an existing store without writing to it, but for the lock. Writes give ErrReadOnly.
	ReadOnly bool
	// Salvage opens read-only, and also a store that fails the check at open: Damage says how, and reads give what can
	// be read.
	Salvage bool
	// cacheBytes is the size of the block cache; 0: defaultCache.
	cacheBytes int64
	// GroupSync is the longest time a Written commit waits for its fsync; 0: defaultGroupSync.
	GroupSync time.Duration
	// ReadFault is asked before each key that View, Has and Scan read; its error is the read's. It is for tests. nil:
	// none.
	ReadFault func() error
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	o.ReadOnly = o.ReadOnly || o.Salvage
	if o.cacheBytes <= 0 {
		o.cacheBytes = defaultCache
	}
	if o.GroupSync <= 0 {
		o.GroupSync = defaultGroupSync
	}
	return o
}

// pebbleOptions are the settings of the database; docs/store.md#the-database has the reason for each.
func (d *DB) pebbleOptions(cache *pebble.Cache) *pebble.Options {
	var stall func() bool
	o := &pebble.Options{
		FS:                          d.fs,
		Cache:                       cache,
		Cleaner:                     pebble.ArchiveCleaner{},
		FormatMajorVersion:          pebble.FormatValueSeparation,
		Logger:                      logger{d.poison},
		MaxOpenFiles:                maxOpenFiles,
		MemTableSize:                memtableBytes,
		MemTableStopWritesThreshold: 4,
		ReadOnly:                    d.readOnly(),
		EventListener: &pebble.EventListener{
			// The default ends the process. With a listener the read that met the damage gets an error that names the
			// file.
			DataCorruption: func(pebble.DataCorruptionInfo) {},
			WALDeleted: func(i pebble.WALDeleteInfo) {
				if i.Err == nil {
					d.logs.Forget(uint64(i.FileNum))
				}
			},
			// These are called with pebble's lock held.
			CompactionEnd:   func(i pebble.CompactionInfo) { d.backoff.after(i.Err) },
			WriteStallBegin: func(pebble.WriteStallBeginInfo) { stall = d.watchStall("commit") },
			WriteStallEnd: func() {
				if stall != nil {
					stall()
				}
			},
		},
	}
	o.Experimental.CompactionScheduler = d.sched
	o.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy { return pebble.ValueSeparationPolicy{} }
	compression := sstable.ZstdCompression
	if memlimit.Heap() < tightHeap {
		compression = sstable.SnappyCompression
	}
	for i := range o.Levels {
		o.Levels[i].Compression = func() *sstable.CompressionProfile { return compression }
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	// Each process that opens the store writes a table of what the last one left in its log. To set an encoder of zstd
	// up costs more than that table; what stays is compressed again where compactions take it.
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.SnappyCompression }
	return o
}
