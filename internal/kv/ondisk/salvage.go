package ondisk

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/beneath"
)

// source gives versions of keys: keys ascending, of one key the newest first.
type source interface {
	next() (entry, bool)
}

// Salvage reads all that the tables and logs in a database's directory hold, whatever its MANIFEST says: what pebble
// has archived, too. What is damaged is passed over, and told.
type Salvage struct {
	heads  heads // of every file with something left
	dels   []deletedRange
	tables []*salvageTable
	synced map[uint64]int64 // how far logs were on disk
	bytes  int64            // of all files

	o        sstable.ReaderOptions
	ingested func(key []byte) bool
	lost     func(error)
}

type head struct {
	entry
	from source
}

// heads is a heap: the least key first, of one key the newest version.
type heads []head

func (h heads) Len() int { return len(h) }
func (h heads) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].newer(h[j].entry)
}
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)   { *h = append(*h, x.(head)) }
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// Bytes is the size of all files.
func (s *Salvage) Bytes() int64 { return s.bytes }

// Close closes the files.
func (s *Salvage) Close() {
	for _, t := range s.tables {
		_ = t.close()
	}
}

// DataFile reads the name of a file: its number, and whether it is a log, else a table; not ok: it is neither.
func DataFile(name string) (num uint64, log, ok bool) {
	base, log := strings.CutSuffix(name, ".log")
	base, table := strings.CutSuffix(base, ".sst")
	num, err := strconv.ParseUint(base, 10, 64)
	return num, log, err == nil && (log || table)
}

// OpenSalvage opens all tables and logs of the database in a directory. o are the options that its tables are read
// with; ingested says of a key that it is only ever ingested; lost is told what cannot be read. An error is the file
// system's.
func OpenSalvage(
	f vfs.FS, db string, o sstable.ReaderOptions, ingested func(key []byte) bool, lost func(error),
) (*Salvage, error) {
	s := &Salvage{o: o, ingested: ingested, lost: lost}
	if known, ok := ReadLogOffsets(f, db); ok {
		s.synced = known.Logs
	}
	oldest := oldestLog(f, db)
	for num, n := range s.synced {
		if _, err := f.Stat(f.PathJoin(db, logName(num))); errors.Is(err, fs.ErrNotExist) && num >= oldest && n > 0 {
			lost(missingLog(f, db, num, n))
		}
	}
	for _, dir := range []string{db, f.PathJoin(db, ArchiveDir)} {
		names, err := f.List(dir)
		if err != nil && dir == db {
			return nil, err
		}
		for _, name := range names {
			if err := s.add(f, f.PathJoin(dir, name)); err != nil {
				s.Close()
				return nil, err
			}
		}
	}
	heap.Init(&s.heads)
	return s, nil
}

// add opens one file. One that is not believed (beneath.RefusedError) is lost.
func (s *Salvage) add(f vfs.FS, path string) error {
	num, log, ok := DataFile(f.PathBase(path))
	if !ok {
		return nil
	}
	info, err := f.Stat(path)
	if err != nil {
		return err
	}
	s.bytes += info.Size()
	var from source
	if log {
		b, err := readWhole(f, path)
		if notBelieved(err) {
			s.lost(err)
			s.bytes -= info.Size()
			return nil
		}
		if err != nil {
			return err
		}
		l := readSalvageLog(b, path, num, s.synced[num], s.lost)
		s.dels = append(s.dels, l.dels...)
		from = l
	} else {
		t, err := openSalvageTable(f, path, num, s.o, s.lost)
		if notBelieved(err) {
			s.lost(err)
			return nil
		}
		if err != nil {
			return err
		}
		s.tables, s.dels = append(s.tables, t), append(s.dels, t.dels...)
		from = t
	}
	if e, ok := from.next(); ok {
		s.heads = append(s.heads, head{e, from})
	}
	return nil
}

func notBelieved(err error) bool {
	var r *beneath.RefusedError
	return errors.As(err, &r)
}

// Each calls fn with the newest version of every key that is not deleted, ascending. The numbers of tables that were
// loaded stand in the MANIFEST alone, so of what is only ever ingested a deletion does not count: at worst one comes
// back that nothing names.
func (s *Salvage) Each(ctx context.Context, fn func(key, val []byte) error) error {
	var key, val []byte
	for n := 0; len(s.heads) > 0; n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		key, val = append(key[:0], s.heads[0].key...), val[:0]
		ingested := s.ingested(key)
		decided, there := false, false
		for len(s.heads) > 0 && bytes.Equal(s.heads[0].key, key) {
			if e := s.heads[0].entry; !decided && (!e.del || !ingested) {
				decided, there = true, !e.del && (ingested || !s.ranged(e))
				val = append(val[:0], e.val...)
			}
			s.step()
		}
		if there {
			if err := fn(key, val); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Salvage) step() {
	e, ok := s.heads[0].from.next()
	if !ok {
		heap.Pop(&s.heads)
		return
	}
	s.heads[0].entry = e
	heap.Fix(&s.heads, 0)
}

// ranged reports whether a later deletion of a range has taken an entry.
func (s *Salvage) ranged(e entry) bool {
	for _, r := range s.dels {
		if r.seq > e.seq && r.lo <= string(e.key) && string(e.key) < r.hi {
			return true
		}
	}
	return false
}
