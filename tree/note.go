package tree

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// Why a path is in a note. The values are the bytes on disk (docs/format.md#tree-and-note). A path with any reason but
// ReasonTorn and ReasonMount is not in the tree, and neither is anything below it, tracked and forced paths apart.
const (
	ReasonIgnored    byte = 'i' // by a rule; a directory stands for all below it
	ReasonBuiltin    byte = 'b' // git's and our own directories
	ReasonSize       byte = 'z' // over the size limit
	ReasonPipe       byte = 'p'
	ReasonSocket     byte = 'k'
	ReasonDevice     byte = 'v'
	ReasonUnreadable byte = 'u'
	ReasonSecret     byte = 's' // on the secret list
	ReasonTorn       byte = 't' // captured, but it changed while it was read
	ReasonMount      byte = 'm' // captured, but it lies on another file system than the directory above it
	ReasonPurged     byte = 'g' // its content was purged from the store, and is refused
)

// ReasonWord is the word shown for a reason, "" for an unknown one.
func ReasonWord(reason byte) string {
	switch reason {
	case ReasonIgnored:
		return "ignored"
	case ReasonBuiltin:
		return "built-in"
	case ReasonSize:
		return "size"
	case ReasonPipe:
		return "pipe"
	case ReasonSocket:
		return "socket"
	case ReasonDevice:
		return "device"
	case ReasonUnreadable:
		return "unreadable"
	case ReasonSecret:
		return "secret"
	case ReasonTorn:
		return "torn"
	case ReasonMount:
		return "mount"
	case ReasonPurged:
		return "purged"
	}
	return ""
}

// Skip is one line of a note. Size is in bytes, 0 where it means nothing; of a foreign directory it says what that is
// (BuiltinGit). Hash is the BLAKE3 of a secret's content, keyed with
// the store's secret key; zero for every other reason.
type Skip struct {
	Path   string
	Reason byte
	Size   int64
	Hash   [32]byte
}

// CompareSkips orders the lines of a note: by the bytes of the path (memcmp), then by reason.
func CompareSkips(a, b Skip) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return int(a.Reason) - int(b.Reason)
}

// EncodeNote gives the bytes of a note with these lines, which need not be sorted; the slice is not changed.
// It refuses what DecodeNote would; what is too much is a *LimitError.
func EncodeNote(skips []Skip) ([]byte, error) {
	if len(skips) > maxNoteEntries {
		return nil, &LimitError{What: "lines of a note", Limit: maxNoteEntries}
	}
	if !slices.IsSortedFunc(skips, CompareSkips) {
		skips = slices.Clone(skips)
		slices.SortFunc(skips, CompareSkips)
	}
	raw := []byte{formatVersion}
	for i := range skips {
		s := &skips[i]
		if reason := s.check(); reason != "" {
			return nil, &entryError{Name: s.Path, Reason: reason}
		}
		if i > 0 && CompareSkips(skips[i-1], *s) == 0 {
			return nil, &entryError{Name: s.Path, Reason: "twice for one reason"}
		}
		raw = append(raw, s.Reason)
		raw = binary.AppendUvarint(raw, uint64(len(s.Path)))
		raw = append(raw, s.Path...)
		raw = binary.AppendUvarint(raw, uint64(s.Size))
		if s.Reason == ReasonSecret {
			raw = append(raw, s.Hash[:]...)
		}
	}
	if len(raw) > maxNote {
		return nil, &LimitError{What: "bytes of a note", Limit: maxNote}
	}
	return raw, nil
}

// check says why a line cannot stand in a note, or "". Names in the path may be longer than a tree allows.
func (s *Skip) check() string {
	switch {
	case ReasonWord(s.Reason) == "":
		return "unknown reason"
	case s.Path == "":
		return "empty path"
	case len(s.Path) > MaxPath:
		return "path too long"
	case s.Path[0] == '/':
		return "absolute path"
	case strings.IndexByte(s.Path, 0) >= 0:
		return "NUL in a path"
	case s.Size < 0:
		return "negative size"
	case s.Reason != ReasonSecret && s.Hash != [32]byte{}:
		return "hash of what is not a secret"
	}
	return ""
}

// DecodeNote gives the lines of an encoded note, sorted. Whatever EncodeNote would not have written is a *FormatError;
// if bytes decode, EncodeNote gives the same bytes.
func DecodeNote(raw []byte) ([]Skip, error) {
	d := decoder{what: "note", raw: string(raw)}
	if len(raw) > maxNote {
		return nil, d.fail("too long")
	}
	d.version()
	var skips []Skip
	for d.err == nil && d.at < len(d.raw) {
		start := d.at
		var s Skip
		s.Reason = d.byte()
		s.Path = d.string(MaxPath)
		s.Size = int64(d.uvarint(math.MaxInt64))
		if s.Reason == ReasonSecret {
			copy(s.Hash[:], d.fixed(len(s.Hash)))
		}
		if d.err != nil {
			break
		}
		if reason := s.check(); reason != "" {
			return nil, d.failAt(start, reason)
		}
		if n := len(skips); n > 0 && CompareSkips(skips[n-1], s) >= 0 {
			return nil, d.failAt(start, "lines not ascending")
		}
		if len(skips) == maxNoteEntries {
			return nil, d.failAt(start, "too many lines")
		}
		skips = append(skips, s)
	}
	if d.err != nil {
		return nil, d.err
	}
	return skips, nil
}
