package tree

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"rewind/objstore"
)

const formatVersion = 1

// Encode gives the bytes of a tree with these entries, which need not be sorted; the slice is not changed.
// It refuses what Decode would; what is too much is a *LimitError.
func Encode(entries []Entry) ([]byte, error) {
	if len(entries) > maxEntries {
		return nil, &LimitError{What: "entries of a directory", Limit: maxEntries}
	}
	if !slices.IsSortedFunc(entries, ByName) {
		entries = slices.Clone(entries)
		slices.SortFunc(entries, ByName)
	}
	size := 1
	for i := range entries {
		size += minEntry + len(entries[i].Name) + 10
	}
	raw := make([]byte, 1, min(size, maxTree))
	raw[0] = formatVersion
	for i := range entries {
		e := &entries[i]
		if reason := e.check(); reason != "" {
			return nil, &entryError{Name: e.Name, Reason: reason}
		}
		if i > 0 && entries[i-1].Name == e.Name {
			return nil, &entryError{Name: e.Name, Reason: "twice"}
		}
		raw = append(raw, e.Type)
		raw = binary.AppendUvarint(raw, uint64(e.Perm))
		raw = binary.AppendUvarint(raw, uint64(len(e.Name)))
		raw = append(raw, e.Name...)
		raw = append(raw, e.ID[:]...)
		if e.Type == TypeFile {
			raw = binary.AppendUvarint(raw, uint64(e.Size))
		}
	}
	if len(raw) > maxTree {
		return nil, &LimitError{What: "bytes of a directory", Limit: maxTree}
	}
	return raw, nil
}

// ByName is the order of entries in a tree: by the bytes of their names.
func ByName(a, b Entry) int { return strings.Compare(a.Name, b.Name) }

// check says why an entry cannot stand in a tree, or "".
func (e *Entry) check() string {
	if reason := CheckName(e.Name); reason != "" {
		return reason
	}
	switch e.Type {
	case TypeFile:
		if e.Size < 0 {
			return "negative size"
		}
	case TypeDir, TypeSymlink:
		if e.Size != 0 {
			return "size of what is not a file"
		}
	default:
		return "unknown type"
	}
	if e.Perm&^permMask != 0 {
		return "bits beyond 07777"
	}
	if e.Type == TypeSymlink && e.Perm != 0 {
		return "permission bits of a symlink"
	}
	return ""
}

// CheckName says why a name cannot stand in a tree, or "".
func CheckName(name string) string {
	switch {
	case name == "":
		return "empty name"
	case len(name) > maxName:
		return "name too long"
	case name == "." || name == "..":
		return "name is a dot"
	case strings.IndexByte(name, '/') >= 0:
		return "slash in a name"
	case strings.IndexByte(name, 0) >= 0:
		return "NUL in a name"
	}
	return ""
}

// Decode gives the entries of an encoded tree, ascending by name. Whatever Encode would not have written is a
// *FormatError; if bytes decode, Encode gives the same bytes. Whether a name may be written to a working tree (".git")
// is not decided here.
func Decode(raw []byte) ([]Entry, error) {
	d := decoder{what: "tree", raw: string(raw)}
	if len(raw) > maxTree {
		return nil, d.fail("too long")
	}
	d.version()
	entries := make([]Entry, 0, min(len(raw)/minEntry, maxEntries))
	for d.err == nil && d.at < len(d.raw) {
		start := d.at
		var e Entry
		e.Type = d.byte()
		e.Perm = uint16(d.uvarint(permMask))
		e.Name = d.string(maxName)
		e.ID = d.id()
		if e.Type == TypeFile {
			e.Size = int64(d.uvarint(math.MaxInt64))
		}
		if d.err != nil {
			break
		}
		if reason := e.check(); reason != "" {
			return nil, d.failAt(start, reason)
		}
		if n := len(entries); n > 0 && entries[n-1].Name >= e.Name {
			return nil, d.failAt(start, "names not ascending")
		}
		if len(entries) == maxEntries {
			return nil, d.failAt(start, "too many entries")
		}
		entries = append(entries, e)
	}
	if d.err != nil {
		return nil, d.err
	}
	return entries, nil
}

// decoder reads fields from raw until the first error, which it keeps; after that every field is zero.
// Strings share the memory of raw.
type decoder struct {
	what string
	raw  string
	at   int
	err  error
}

func (d *decoder) fail(reason string) error { return d.failAt(d.at, reason) }

func (d *decoder) failAt(at int, reason string) error {
	if d.err == nil {
		d.err = &FormatError{what: d.what, offset: at, reason: reason}
	}
	return d.err
}

func (d *decoder) version() {
	if v := d.byte(); d.err == nil && v != formatVersion {
		_ = d.failAt(0, "unknown version")
	}
}

func (d *decoder) byte() byte {
	if d.err != nil || d.at >= len(d.raw) {
		_ = d.fail("ends early")
		return 0
	}
	d.at++
	return d.raw[d.at-1]
}

// uvarint reads a minimal uvarint that is at most limit.
func (d *decoder) uvarint(limit uint64) uint64 {
	start := d.at
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := d.byte()
		if d.err != nil {
			return 0
		}
		if shift == 63 && b > 1 {
			_ = d.failAt(start, "number over 64 bits")
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if b == 0 && shift > 0 {
				_ = d.failAt(start, "number not in its shortest form")
				return 0
			}
			break
		}
	}
	if v > limit {
		_ = d.failAt(start, "number over its limit")
		return 0
	}
	return v
}

func (d *decoder) fixed(n int) string {
	if d.err != nil || len(d.raw)-d.at < n {
		_ = d.fail("ends early")
		return ""
	}
	d.at += n
	return d.raw[d.at-n : d.at]
}

// string reads a length of at most limit and that many bytes.
func (d *decoder) string(limit uint64) string {
	return d.fixed(int(d.uvarint(limit)))
}

func (d *decoder) id() (id objstore.ID) {
	copy(id[:], d.fixed(len(id)))
	return id
}
