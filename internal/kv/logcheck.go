package kv

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

// checkLogs finds damage in the logs that pebble would replay, and that it would take for the torn end of a crash, and drop: a log
// that is missing or cannot be read as far as the file synced says that it was on disk; in the newest one, an unreadable chunk
// before an offset which a later chunk says was on disk, or before the mark of a clean close. readable gives, for each damaged log
// that is there, how far it can be read.
func checkLogs(f vfs.FS, db string) (readable map[uint64]int64, err error) {
	names, err := f.List(db)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, corrupt(db, "missing")
	}
	if err != nil {
		return nil, err
	}
	oldest := oldestLog(f, db)
	known := map[uint64]int64{}
	if s, ok := readSynced(f, db); ok {
		known = s.logs
	}
	there, newest := map[uint64]string{}, uint64(0)
	for _, name := range names {
		if num, ok := logNumber(name); ok && num >= oldest {
			there[num], newest = f.PathJoin(db, name), max(newest, num)
		}
	}
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

// cutFile is a damaged log, up to where it can be read.
type cutFile struct {
	vfs.File
	left int64
}

func (f *cutFile) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, io.EOF
	}
	n, err := f.File.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	return n, err
}

func missingLog(f vfs.FS, db string, num uint64, n int64) error {
	return corrupt(f.PathJoin(db, logName(num)), "missing, it held %d bytes", n)
}

func readWhole(f vfs.FS, path string) ([]byte, error) {
	h, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(h)
	return b, errors.Join(err, h.Close())
}

// logNumber is the number of a log by the name of its file.
func logNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, ".log")
	num, err := strconv.ParseUint(digits, 10, 64)
	return num, ok && err == nil
}

func logName(num uint64) string { return fmt.Sprintf("%06d.log", num) }

// Fields of a record in a MANIFEST, as internal/manifest/version_edit.go of pebble has them. They stand before all others, in this order.
const (
	editComparer = 1 // length, name
	editOldest   = 2 // number of the oldest log with something that is in no table
)

// oldestLog is the number of the oldest log that pebble replays, by the MANIFEST in use; 0 where that does not say: all are replayed then.
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

// checkLog reads a log. Not ok: the chunk at offset at cannot be read although the log was on disk at least until durable; ok: at is
// where what can be read ends.
func checkLog(b []byte, num uint32) (at, durable int64, ok bool) {
	good := 0
	for good < len(b) {
		end := validChunk(b, good, num)
		if left := walBlock - good%walBlock; end < 0 && left < walHeader {
			end = min(good+left, len(b)) // padding
		}
		if end < 0 {
			break
		}
		good = end
	}
	if good < len(b) && isTrailer(b[good:], num) {
		return int64(good) + walTrailer, 0, true
	}
	if good == len(b) {
		return int64(good), 0, true
	}
	if n := len(b) - walTrailer; n > good && isTrailer(b[n:], num) {
		return int64(good), int64(n), false
	}
	for i := good + 1; i+walHeader <= len(b); i++ {
		if e := b[i+6]; e < walEncodeMin || e > walEncodeMax {
			continue
		}
		if validChunk(b, i, num) < 0 {
			continue
		}
		if claim := int64(binary.LittleEndian.Uint64(b[i+11:])); claim > durable {
			durable = claim
		}
	}
	return int64(good), durable, durable <= int64(good)
}

// validChunk returns the end of the chunk at offset i, or -1. The first log of a new database has chunks without a synced offset.
func validChunk(b []byte, i int, num uint32) int {
	header := walHeader
	if i+walTrailer > len(b) || binary.LittleEndian.Uint32(b[i+7:]) != num {
		return -1
	}
	switch e := b[i+6]; {
	case e >= walEncodeOld && e < walEncodeMin:
		header = walTrailer
	case e < walEncodeMin || e > walEncodeMax:
		return -1
	}
	end := i + header + int(binary.LittleEndian.Uint16(b[i+4:]))
	if end > len(b) || end > i/walBlock*walBlock+walBlock || binary.LittleEndian.Uint32(b[i:]) != maskedSum(b[i+6:end]) {
		return -1
	}
	return end
}

func isTrailer(b []byte, num uint32) bool {
	return len(b) >= walTrailer && string(b[:6]) == "\x00\x00\x00\x00\x00\x00" && b[6] == walEncodeOld &&
		binary.LittleEndian.Uint32(b[7:]) == num+1
}
