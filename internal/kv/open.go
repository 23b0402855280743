package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/beneath"
	"rewind/internal/kv/ondisk"
	"rewind/internal/kv/storefs"
)

// DB is an open store.
type DB struct {
	dir    string
	db     string // pebble's own directory in it
	o      Options
	base   vfs.FS      // as given: below the disk-full watch
	fs     *storefs.FS // as pebble sees it
	disk   *beneath.FS // nil: the file system does not end at the operating system
	pdb    *pebble.DB
	blocks *pebble.Cache // pdb's, and valid as long
	lock   io.Closer
	handle *beneath.FS // disk, where this DB has to close it; nil: it is another's, or there is none

	life     lifetime
	poison   *poison
	logs     *storefs.Logs
	space    *space
	sched    *scheduler
	backoff  backoff
	closing  chan struct{} // closed when the DB closes: nobody waits any more
	damage   error         // set by open
	place    vfs.FileInfo  // db/, as it was when it was opened
	rescuing sync.Mutex
	rescued  atomic.Pointer[string] // what Warning says
	lastSeq  atomic.Uint64
	loads    atomic.Uint64 // numbers Ingest's files
	writes   atomic.Uint64 // what Writes tells
	reads    atomic.Uint64
	asked    atomic.Int32 // calls of Compact under way: they go on although the disk is full
	held     atomic.Int32 // calls of Hold that have not ended
	starved  atomic.Bool  // opened on a full disk: pebble is read-only until there is room

	checked, checkedFile uint64 // the newest operation that this open has seen; that the file checked names. Set by open
}

// Open opens the store in dir, and makes one where dir is absent or empty.
//
// The errors are *BusyError (ErrBusy) if another process has it and kept it for Options.lockWait; *FormatError
// (ErrNewerFormat, ErrEarlierFormat); ErrForeign if dir is not empty and not a store. *CorruptError (ErrCorrupt) names
// a file. The others are ErrNoSpace, ErrPermission, ctx's error, or an I/O error. The first three leave the directory
// as it was, to the byte.
func Open(ctx context.Context, dir string, o Options) (*DB, error) {
	o = o.withDefaults()
	disk := vfs.Root(o.FS) == vfs.Default
	if disk {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, translate("open", dir, err)
		}
		dir = abs
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	handle, err := onDisk(dir, &o)
	if err != nil {
		return nil, translate("open", dir, err)
	}
	d := newDB(dir, o, handle)
	d.handle = handle
	if err := d.open(ctx); err != nil {
		d.abandon()
		if perr := d.poison.Err(); perr != nil && !errors.Is(err, ErrPoisoned) {
			err = errors.Join(perr, err)
		}
		return nil, err
	}
	return d, nil
}

func newDB(dir string, o Options, disk *beneath.FS) *DB {
	d := &DB{dir: dir, db: o.FS.PathJoin(dir, nameDB), o: o, base: o.FS, disk: disk, closing: make(chan struct{})}
	d.poison = &poison{down: make(chan struct{}), note: d.writeLastFatal, fatal: o.Fatal}
	d.logs = storefs.NewLogs(o.GroupSync, d.poison)
	d.space = &space{fs: o.FS, dir: dir}
	watched := vfs.OnDiskFull(o.FS, d.space.release)
	fs := storefs.Options{FS: watched, DB: d.db, Disk: disk, Logs: d.logs, Poison: d.poison, Closing: d.closing}
	d.fs = storefs.New(fs)
	d.logs.Note(d.fs, d.db, d.lastSeq.Load, d.rescue)
	fs.FS, fs.Poison = o.FS, nil
	d.space.fs = storefs.New(fs)
	d.sched = newScheduler(d.pausedCompactions)
	d.space.woke = func() { d.sched.poke() }
	d.backoff.again = d.space.woke
	return d
}

func (d *DB) open(ctx context.Context) error {
	st, err := inspect(d.base, d.dir)
	if err != nil && (d.swapping() == "" || otherFormat(err)) {
		return err
	}
	if st != stateStore && err == nil {
		if d.o.ReadOnly {
			return fmt.Errorf("open %s: %w", d.dir, fs.ErrNotExist)
		}
		if err := d.markMaking(); err != nil {
			return translate("create", d.dir, err)
		}
	}
	if st == stateStore {
		d.damage = d.unwritable()
	}
	if d.damage != nil {
		d.o.ReadOnly = true
		d.fs.SetLockless()
	}
	if d.lock, err = lockStore(ctx, d.fs, d.disk, d.dir, d.o.LockWait); err != nil {
		return err
	}
	if err := d.believe(); err != nil {
		if err = translate("open", d.dir, err); !d.o.Salvage || errors.Is(err, ErrPermission) || d.swapping() != "" {
			return err
		}
		d.damage = err
	}
	if err := d.finishSwap(); err != nil {
		return translate("open", d.dir, err)
	}
	// What was seen without the lock may have changed since.
	if st, err = inspect(d.base, d.dir); err != nil {
		return err
	}
	if st != stateStore {
		if err := d.create(); err != nil {
			return translate("create", d.dir, err)
		}
	}
	if !d.o.ReadOnly {
		if d.damage = d.failing(); d.damage != nil {
			d.o.ReadOnly = true
		}
	}
	if !d.o.ReadOnly {
		d.starved.Store(d.roomToOpen() != nil)
	}
	if err := d.openDB(); err != nil {
		return translate("open", d.dir, missing(err))
	}
	if err := d.check(); err != nil {
		if !d.o.Salvage {
			return translate("open", d.dir, err)
		}
		d.damage = moreDamage(d.damage, translate("open", d.dir, err))
	}
	if !d.readOnly() {
		if err := d.settle(); err != nil {
			return translate("open", d.dir, err)
		}
		d.space.begin()
	}
	return d.poison.Err()
}

// moreDamage are two of them as one.
func moreDamage(first, more error) error {
	if first == nil {
		return more
	}
	var own *CorruptError
	if errors.As(more, &own) {
		more = own // the first has said what was being done
	}
	return fmt.Errorf("%w; %w", first, more)
}

// Damage is why a store can only be read: opened with Salvage, it failed the check at open; or it failed beyond use,
// again and again, a moment ago (ErrReadOnly); or it lies where nothing can be written (ErrUnwritable). nil: nothing is
// wrong.
func (d *DB) Damage() error { return d.damage }

func (d *DB) readOnly() bool { return d.o.ReadOnly || d.starved.Load() }

func (d *DB) pausedCompactions() bool {
	if d.asked.Load() != 0 {
		return false
	}
	return d.held.Load() > 0 || d.space.full.Load() || d.backoff.waiting.Load()
}

// roomToOpen tells whether pebble can write while it opens: it flushes what the logs hold, and would try for ever. On a
// full disk the ballast is given back for this.
func (d *DB) roomToOpen() error {
	d.space.look()
	need := uint64(memtableBytes)
	names, _ := d.fs.List(d.db)
	for _, name := range names {
		if info, err := d.fs.Stat(d.fs.PathJoin(d.db, name)); err == nil && strings.HasSuffix(name, ".log") {
			need += uint64(info.Size())
		}
	}
	avail, ok := d.space.free()
	if ok && avail < need {
		d.space.release()
		avail, ok = d.space.free()
	}
	if ok && avail < need {
		return noRoom(avail, need)
	}
	return nil
}

// revive opens the database for writing after all, once there is room.
func (d *DB) revive() error {
	if avail, ok := d.space.free(); ok && avail < reserveBytes {
		return noRoom(avail, reserveBytes)
	}
	err := fmt.Errorf("%w: the store was opened on a full disk and is being read", ErrNoSpace)
	d.life.alone(func() {
		if !d.starved.Load() {
			err = nil
			return
		}
		if err = d.pdb.Close(); err != nil {
			err = d.poison.Set(err)
			return
		}
		d.starved.Store(false)
		d.sched = newScheduler(d.pausedCompactions)
		if err = d.openDB(); err == nil {
			err = d.check()
		}
		if err == nil {
			err = d.settle()
		}
		if err != nil {
			err = d.poison.Set(err) // there is no database to answer from
			return
		}
		d.space.begin()
	})
	return err
}

func (d *DB) openDB() error {
	err := ondisk.CheckManifest(d.base, d.db)
	if err == nil {
		var readable map[uint64]int64
		readable, err = ondisk.CheckLogs(d.base, d.db)
		if d.o.Salvage && errors.Is(err, ErrCorrupt) {
			// pebble gets what can be read of them; it only reads.
			d.damage, err = translate("open", d.dir, err), nil
			d.fs.CutLogs(readable)
		}
	}
	if err != nil {
		return err
	}
	cache := pebble.NewCache(d.o.cacheBytes)
	defer cache.Unref() // pebble has its own reference
	o := d.pebbleOptions(cache)
	o.ErrorIfNotExists = true
	pdb, err := d.openPebble(o)
	if err != nil {
		return d.damaged(err)
	}
	d.pdb, d.blocks = pdb, cache
	if d.place, err = d.fs.Stat(d.db); err != nil {
		return err
	}
	return nil
}

// damaged tells what pebble finds wrong with its files from what the system refuses: pebble marks only a part as
// corruption.
func (d *DB) damaged(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	if d.poison.Err() != nil || pebble.IsCorruptionError(err) {
		return err
	}
	if named := missing(err); named != err {
		return named
	}
	return &CorruptError{File: d.db, Cause: err}
}

// openPebble turns a panic into an error: pebble has some on paths that a failing disk or damaged bytes can reach. It
// also ends the wait for a flush that pebble makes while it opens, when that keeps failing.
func (d *DB) openPebble(o *pebble.Options) (*pebble.DB, error) {
	type result struct {
		db  *pebble.DB
		err error
	}
	done, sched := make(chan result, 1), d.sched
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("pebble: %v", r)}
			}
		}()
		db, err := pebble.Open(d.db, o)
		if err == nil {
			sched.open()
		}
		done <- result{db, err}
	}()
	stop := d.watchStall("open")
	defer stop()
	down := d.poison.down
	var late <-chan time.Time
	for {
		select {
		case r := <-done:
			return r.db, r.err
		case <-down:
			down = nil
			t := time.NewTimer(poisonedClose)
			defer t.Stop()
			late = t.C
		case <-late:
			return nil, errors.New("pebble did not open")
		}
	}
}

// watchStall poisons the store when what begins now has not ended after stallLimit and the reason is that writes or
// compactions fail: pebble would wait for ever.
func (d *DB) watchStall(what string) (stop func() bool) {
	var t *time.Timer
	t = time.AfterFunc(stallLimit, func() {
		if d.fs.Failing() {
			_ = d.poison.Set(fmt.Errorf("%s: stalled, writes to the database keep failing", what))
			return
		}
		if err := d.backoff.stuck(); err != nil {
			_ = d.poison.Set(fmt.Errorf("%s: stalled, %w", what, err))
			return
		}
		t.Reset(stallLimit)
	})
	return t.Stop
}

// LastSeq is the newest operation sequence seen at open or committed since; 0: none.
func (d *DB) LastSeq() uint64 { return d.lastSeq.Load() }

func (d *DB) sawSeq(seq uint64) {
	for {
		old := d.lastSeq.Load()
		if seq <= old || d.lastSeq.CompareAndSwap(old, seq) {
			return
		}
	}
}
