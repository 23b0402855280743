package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// RepairOptions say what a repair may do, and how it states what is lost.
type RepairOptions struct {
	Ours bool // the directory is known to be a store, also if its file format says nothing of the kind
	// Operation gives the value of an operation: val, if that is one; else one that says that it is lost. val is nil
	// for one that is not there.
	Operation func(seq uint64, val []byte) []byte
	// Purged reports whether a tombstone says that its object must not come back.
	Purged   func(marker []byte) bool
	Progress func(keys int, bytes int64) // nil: nobody asks
	Now      time.Time                   // names the place in the quarantine
}

// Repaired is what a repair did.
type Repaired struct {
	Damage     []error  // all that was wrong
	Rebuilt    bool     // the database was made anew of what could be read
	Files      []string // small files that were written anew
	Quarantine string   // the directory that holds what was replaced; "": nothing was
	Keys       int      // in the database that was made
	Lost       []uint64 // operations that are lost: ranges, first and last of each
}

// Repair makes a store with a damaged database usable again. It copies everything readable of its tables and logs into
// a new database, which then replaces the old one. The old one is kept in the quarantine. One in which nothing is wrong
// is left as it is. It can be killed anywhere, and begun again: until the new database is whole nothing but the
// directory `repair` is written, and from then on every open carries it to its end.
//
// Errors are those of Open; ErrNoSpace says how much it wants beside the store. With any error the store is as it was.
func Repair(ctx context.Context, dir string, o Options, r RepairOptions) (*Repaired, error) {
	o = o.withDefaults()
	disk := vfs.Root(o.FS) == vfs.Default
	if disk {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, translate("repair", dir, err)
		}
		dir = abs
	}
	handle, err := onDisk(dir, &o)
	if err != nil {
		return nil, translate("repair", dir, err)
	}
	d := newDB(dir, o, handle)
	d.handle = handle
	defer d.closeHandle()
	defer d.logs.End()
	if _, err := d.base.Stat(d.db); err != nil && d.swapping() == "" {
		return nil, translate("repair", dir, missing(err))
	}
	// Before anything is touched: a store of another format, and a directory that is none.
	_, ferr := inspect(d.base, d.dir)
	if otherFormat(ferr) || errors.Is(ferr, ErrForeign) && !r.Ours {
		return nil, ferr
	}
	lock, err := lockStore(ctx, d.fs, d.disk, dir, o.LockWait)
	if err != nil {
		return nil, err
	}
	d.lock = lock
	defer func() { _ = lock.Close() }()
	rep := &repair{d: d, o: r, out: &Repaired{}}
	if err := rep.run(ctx); err != nil {
		return nil, translate("repair", dir, err)
	}
	return rep.out, nil
}

// repair is one run, under the lock.
type repair struct {
	d    *DB
	o    RepairOptions
	out  *Repaired
	torn bool // something in tables or logs cannot be read
}

func (r *repair) lost(err error) { r.out.Damage = append(r.out.Damage, err) }

func (r *repair) run(ctx context.Context) error {
	if err := r.unbelieved(); err != nil {
		return err
	}
	if err := r.d.finishSwap(); err != nil {
		return err
	}
	if err := r.d.removeRepair(); err != nil {
		return err
	}
	if bad, err := r.unbelievedFiles(); err != nil {
		return err
	} else if bad {
		r.torn, r.out.Rebuilt = true, true
		return r.rebuild(ctx)
	}
	small, err := r.small(ctx)
	if err != nil {
		return err
	}
	if small != nil { // the database itself is sound
		return r.rewrite(small)
	}
	r.out.Rebuilt = true
	return r.rebuild(ctx)
}

// small looks whether the database is sound: what is to be written anew is then no more than small files. nil: it is
// not. Nothing is written.
func (r *repair) small(ctx context.Context) (files map[string]string, err error) {
	o := r.d.o
	o.ReadOnly = true
	s := newDB(r.d.dir, o, r.d.disk)
	defer s.abandon()
	_, badFormat := inspect(s.base, s.dir)
	if badFormat != nil {
		r.lost(badFormat)
	}
	if err := s.openDB(); err != nil {
		r.lost(translate("open", s.dir, missing(err)))
		return nil, nil
	}
	files = map[string]string{}
	if err := s.checkFormatKey(); err != nil {
		r.lost(err)
		return nil, nil
	}
	if badFormat != nil {
		files[nameFormat] = formatLine(FormatVersion)
	}
	newest, err := s.checkOperations(0)
	if err != nil {
		r.lost(err)
		return nil, nil
	}
	highWater, err := s.readHighWater()
	if err != nil {
		r.lost(err)
		files[nameHighWater] = fmt.Sprintf("%d\n", newest)
	}
	if err := tooShort(s.db, newest, highWater, max(s.readChecked(), s.syncedNewest())); err != nil {
		r.lost(err)
		return nil, nil
	}
	sound := true
	err = s.Verify(ctx, func(err error) {
		sound = false
		r.lost(err)
	})
	if err != nil {
		return nil, err
	}
	if !sound {
		return nil, nil
	}
	return files, nil
}

// rewrite replaces small files.
func (r *repair) rewrite(files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	if err := r.quarantine(); err != nil {
		return err
	}
	for name, text := range files {
		if err := ondisk.WriteSmall(r.d.fs, r.d.dir, name, text); err != nil {
			return err
		}
		r.out.Files = append(r.out.Files, name)
	}
	return nil
}

// rebuild makes the new database, and puts it in the place of the old one.
func (r *repair) rebuild(ctx context.Context) error {
	d := r.d
	r.out.Damage = without(r.out.Damage)
	ingested := func(key []byte) bool { return key[0] == PrefixObject }
	raw, err := ondisk.OpenSalvage(d.base, d.db, d.tableOptions().MakeReaderOptions(), ingested, func(err error) {
		if said := refused(err); said != nil {
			err = said
		}
		r.torn = true
		r.lost(err)
	})
	if err != nil {
		return err
	}
	defer raw.Close()
	if avail, ok := d.space.free(); ok && avail < uint64(raw.Bytes())+2*reserveBytes {
		return fmt.Errorf("%w: the new database needs up to %d bytes beside the old one, %d are free",
			ErrNoSpace, raw.Bytes()+2*reserveBytes, avail)
	}
	fresh := newDB(d.fs.PathJoin(d.dir, nameRepair), d.o, d.disk)
	if err := r.fill(ctx, fresh, raw); err != nil {
		return errors.Join(err, d.removeRepair())
	}
	if err := r.quarantine(); err != nil {
		return err
	}
	if err := ondisk.WriteSmall(d.fs, d.dir, nameSwap, d.fs.PathBase(r.out.Quarantine)+"\n"); err != nil {
		return err
	}
	return d.finishSwap()
}

// fill makes a store of what can be read; it is closed when fill returns.
func (r *repair) fill(ctx context.Context, fresh *DB, raw *ondisk.Salvage) (err error) {
	fresh.o.ReadOnly = false
	if err := fresh.markMaking(); err != nil {
		return err
	}
	if err := fresh.create(); err != nil {
		return err
	}
	if err := fresh.openDB(); err != nil {
		return err
	}
	fresh.fs.SetChecked()
	l := &loader{db: fresh, r: r}
	err = raw.Each(ctx, func(key, val []byte) error { return l.take(ctx, key, val) })
	if err == nil && !l.ended {
		err = l.ends(ctx)
	}
	if err == nil {
		err = l.flush(ctx)
	}
	if err == nil {
		err = l.expunge(ctx)
	}
	if err != nil {
		fresh.abandon()
		return err
	}
	fresh.lock = nopCloser{} // it lies in a directory that is locked
	return fresh.Close()
}

type nopCloser struct{}

func (nopCloser) Close() error { return nil }

// ends states what the log lacks at its end, as it was on disk and as the last close had it. Where nothing in tables
// and logs is damaged, it is the high-water mark that is: it has no checksum.
func (l *loader) ends(ctx context.Context) error {
	l.ended = true
	least := max(l.r.d.readChecked(), l.r.d.syncedNewest())
	if highWater, err := l.r.d.readHighWater(); err == nil && l.r.torn {
		least = max(least, highWater)
	}
	if least <= l.newest || least-l.newest > maxTail {
		return nil
	}
	l.r.out.Lost = append(l.r.out.Lost, l.newest+1, least)
	return l.fill(ctx, l.newest+1, least)
}

// maxTail bounds how many operations are stated as lost at the end of the log.
const maxTail = 1 << 20

// without keeps what is no table or log: those are read again, and named to the block.
func without(damage []error) []error {
	var kept []error
	for _, err := range damage {
		var own *CorruptError
		if errors.As(err, &own) {
			if _, _, raw := ondisk.DataFile(filepath.Base(own.File)); raw {
				continue
			}
		}
		kept = append(kept, err)
	}
	return kept
}

// loader writes the keys of a new database, which come ascending.
type loader struct {
	db     *DB
	r      *repair
	keys   [][]byte
	vals   [][]byte
	size   int
	all    int64
	newest uint64   // operation; 0: none was seen
	ended  bool     // all operations have come
	purged [][]byte // keys of their markers
}

// take takes one key in. The stat cache and what is known of session files are indexes: they are made again, and what
// an old table says of them may not be the newest.
func (l *loader) take(ctx context.Context, key, val []byte) error {
	if key[0] > PrefixOperation && !l.ended {
		if err := l.ends(ctx); err != nil {
			return err
		}
	}
	switch key[0] {
	case prefixFormat, PrefixStat, PrefixKnown, PrefixLedger:
		return nil
	case PrefixTombstone:
		if l.r.o.Purged != nil && l.r.o.Purged(val) {
			l.purged = append(l.purged, bytes.Clone(key))
		}
	case PrefixOperation:
		seq, ok := operationSeq(key)
		if !ok {
			l.r.lost(ondisk.Corrupt(l.r.d.db, "%x is not an operation's key", key))
			return nil
		}
		return l.operation(ctx, seq, val)
	}
	return l.add(ctx, key, val)
}

// operation takes one in. A gap before it is filled with operations that say that they are lost; what was before the
// oldest may have been removed.
func (l *loader) operation(ctx context.Context, seq uint64, val []byte) error {
	if l.newest > 0 && l.newest+1 < seq {
		l.r.out.Lost = append(l.r.out.Lost, l.newest+1, seq-1)
		if err := l.fill(ctx, l.newest+1, seq-1); err != nil {
			return err
		}
	}
	l.newest = seq
	return l.add(ctx, OperationKey(seq), l.r.o.Operation(seq, val))
}

// fill states operations as lost.
func (l *loader) fill(ctx context.Context, from, to uint64) error {
	for seq := from; seq <= to; seq++ {
		if err := l.add(ctx, OperationKey(seq), l.r.o.Operation(seq, nil)); err != nil {
			return err
		}
	}
	l.newest = to
	return nil
}

func (l *loader) add(ctx context.Context, key, val []byte) error {
	l.keys = append(l.keys, append([]byte(nil), key...))
	l.vals = append(l.vals, append([]byte(nil), val...))
	l.size += len(key) + len(val)
	l.r.out.Keys++
	if l.size >= ingestFileBytes/2 {
		return l.flush(ctx)
	}
	return nil
}

func (l *loader) flush(ctx context.Context) error {
	err := l.db.Ingest(ctx, len(l.keys), func(i int) ([]byte, []byte) { return l.keys[i], l.vals[i] })
	l.all += int64(l.size)
	if l.r.o.Progress != nil {
		l.r.o.Progress(l.r.out.Keys, l.all)
	}
	l.keys, l.vals, l.size = nil, nil, 0
	return err
}

// expunge takes out again what was purged and had not left every old table.
func (l *loader) expunge(ctx context.Context) error {
	b := l.db.NewBatch()
	defer func() { _ = b.Close() }()
	for _, marker := range l.purged {
		err := l.db.Scan(Range{Prefix: append([]byte{PrefixObject}, marker[1:]...)}, func(key, _ []byte) error { return b.Delete(key) })
		if err != nil {
			return err
		}
	}
	if b.Count() == 0 {
		return nil
	}
	if err := b.Commit(ctx, Durable); err != nil {
		return err
	}
	return l.db.Compact(ctx)
}
