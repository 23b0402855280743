package ondisk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// logsSince are the paths of the logs among names that are no older than one, and the newest's number.
func logsSince(f vfs.FS, db string, names []string, oldest uint64) (there map[uint64]string, newest uint64) {
	there = map[uint64]string{}
	for _, name := range names {
		if num, ok := LogNumber(name); ok && num >= oldest {
			there[num], newest = f.PathJoin(db, name), max(newest, num)
		}
	}
	return there, newest
}

// CheckLogs finds damage in the logs that pebble would replay. pebble would take the damage for the torn end of a
// crash, and drop the rest. By the file synced a log is damaged if it is missing, or unreadable before the end that was
// on disk. The newest log is also damaged if an unreadable chunk comes before an offset that was on disk by a later
// chunk, or before the mark of a clean close. readable gives, for each damaged log that is there, how far it can be
// read.
func CheckLogs(f vfs.FS, db string) (readable map[uint64]int64, err error) {
	names, err := f.List(db)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Corrupt(db, "missing")
	}
	if err != nil {
		return nil, err
	}
	oldest := oldestLog(f, db)
	known := map[uint64]int64{}
	if s, ok := ReadLogOffsets(f, db); ok {
		known = s.Logs
	}
	there, newest := logsSince(f, db, names, oldest)
	var all []error
	readable = map[uint64]int64{}
	for num, n := range known {
		if _, ok := there[num]; !ok && num >= oldest && n > 0 {
			all = append(all, missingLog(f, db, num, n))
		}
	}
	for num, path := range there {
		n, vouched := known[num]
		if num != newest && !vouched {
			continue // pebble says what is wrong with it: it must have a clean end
		}
		b, err := readWhole(f, path)
		if err != nil {
			return nil, err
		}
		at, durable, ok := checkLog(b, uint32(num))
		if ok || num != newest {
			durable = 0
		}
		if durable = max(durable, n); at < durable {
			readable[num] = at
			all = append(all, &CorruptError{File: path, Cause: fmt.Errorf("unreadable at byte %d, on disk until byte %d", at, durable)})
		}
	}
	return readable, errors.Join(all...)
}

func missingLog(f vfs.FS, db string, num uint64, n int64) error {
	return Corrupt(f.PathJoin(db, logName(num)), "missing, it held %d bytes", n)
}

func readWhole(f vfs.FS, path string) ([]byte, error) {
	h, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(h)
	return b, errors.Join(err, h.Close())
}

// Files of the database's directory.
const (
	ManifestPrefix = "MANIFEST-"
	LoadPrefix     = "load-" // a table that is written to be ingested
)

// ArchiveDir is where pebble puts what it does not need any more, in its own directory.
const ArchiveDir = "archive"

// LogNumber is the number of a log by the name of its file.
func LogNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, ".log")
	num, err := strconv.ParseUint(digits, 10, 64)
	return num, ok && err == nil
}

func logName(num uint64) string { return fmt.Sprintf("%06d.log", num) }

// Fields of a record in a MANIFEST, as internal/manifest/version_edit.go of pebble has them. They stand before all
// others, in this order.
const (
	editComparer = 1 // length, name
	editOldest   = 2 // number of the oldest log with something that is in no table
)

// oldestLog is the number of the oldest log that pebble replays, by the MANIFEST in use; 0 where that does not say: all
// are replayed then.
func oldestLog(f vfs.FS, db string) (num uint64) {
	name, err := atomicfs.ReadMarker(f, db, "manifest")
	if err != nil {
		return 0
	}
	h, err := f.Open(f.PathJoin(db, name))
	if err != nil {
		return 0
	}
	defer func() { _ = h.Close() }()
	for records := record.NewReader(h, 0); ; {
		r, err := records.Next()
		if err != nil {
			return num
		}
		edit, err := io.ReadAll(r)
		if err != nil {
			return num
		}
		if n := oldestInEdit(edit); n > 0 {
			num = n
		}
	}
}

// oldestInEdit is 0 where a record does not say which log is the oldest.
func oldestInEdit(b []byte) uint64 {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return 0
		}
		val, m := binary.Uvarint(b[n:])
		switch {
		case m <= 0:
			return 0
		case tag == editOldest:
			return val
		case tag != editComparer || val > uint64(len(b)-n-m):
			return 0
		}
		b = b[n+m+int(val):]
	}
	return 0
}
