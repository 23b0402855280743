package ondisk

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// LogOffsetsFile in db/ has the synced offset of each log, how far it is on disk, and which operation is the newest
// that is. pebble takes a log that is missing for one that it has removed, and one that cannot be read to its end for
// one that a crash has torn, and goes on with what is left. Which of them it is only this file tells.
//
// It is written in place behind every fsync of a log, and not synced itself: after a power cut it says what it said
// before, which is less, or nothing. Logs that the MANIFEST does not need any more count for nothing in it. It is a
// hint: one that cannot be read says nothing.
const LogOffsetsFile = "synced"

// maxLogOffsets is how much of the file is looked at, in bytes. There are some four logs at a time.
const maxLogOffsets = 4096

// LogOffsets is what the file says.
type LogOffsets struct {
	Newest uint64           // operation; 0: none
	Logs   map[uint64]int64 // bytes by number, without the mark of a clean close
}

// Line is the content of the file.
func (s LogOffsets) Line() string {
	var b strings.Builder
	b.WriteString(strconv.FormatUint(s.Newest, 10))
	for _, num := range slices.Sorted(maps.Keys(s.Logs)) {
		fmt.Fprintf(&b, " %d:%d", num, s.Logs[num])
	}
	return Sealed(b.String())
}

// ReadLogOffsets reads the file in the database's directory; not ok: it is not there, or says nothing.
func ReadLogOffsets(f vfs.FS, db string) (s LogOffsets, ok bool) {
	text, err := ReadSmall(f, f.PathJoin(db, LogOffsetsFile), maxLogOffsets)
	if err != nil {
		return s, false
	}
	line, _, _ := strings.Cut(text, "\n") // what is behind is of a longer one
	words := strings.Split(line, " ")
	if len(words) < 2 {
		return s, false
	}
	s.Logs = map[uint64]int64{}
	if s.Newest, err = strconv.ParseUint(words[0], 10, 64); err != nil {
		return s, false
	}
	for _, w := range words[1 : len(words)-1] {
		num, n, _ := strings.Cut(w, ":")
		a, err := strconv.ParseUint(num, 10, 64)
		if err != nil {
			return s, false
		}
		if s.Logs[a], err = strconv.ParseInt(n, 10, 64); err != nil {
			return s, false
		}
	}
	return s, line+"\n" == s.Line()
}
