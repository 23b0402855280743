package gitinfo

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's checksum of its own file
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

const (
	indexHeader   = 12
	statLength    = 40 // times, device, inode, mode, owner and size of an entry
	modeOffset    = 24
	flagExtended  = 0x4000
	flagNameMask  = 0x0fff
	modeTypeMask  = 0o170000
	modeGitlink   = 0o160000
	modeDirectory = 0o040000 // in a sparse index, of a name that ends with a slash: all below it
)

// decodeIndex reads the names of an index, versions 2 to 4, SHA-1 or SHA-256, and gives them ascending, with duplicates
// for unmerged stages. It is strict: what it does not know or what does not fit gives errNeedsGit, never a part of the
// names. A wrong checksum is errCorrupt: git does not look at it, and of half an index it makes up names.
func decodeIndex(data []byte, add func(name []byte, mode uint32)) error {
	hash, err := indexHash(data)
	if err != nil {
		return err
	}
	body := data[:len(data)-hash]
	version, count := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
	if !bytes.HasPrefix(body, []byte("DIRC")) || version < 2 || version > 4 {
		return needsGit("version", version)
	}
	rest := body[indexHeader:]
	if int64(count) > int64(len(rest))/int64(statLength+hash+2) {
		return needsGit("count", count)
	}
	e := entryReader{version: version, hash: hash}
	for range count {
		if rest, err = e.next(rest); err != nil {
			return err
		}
		add(e.name, e.mode)
	}
	return checkExtensions(rest, e.sparse)
}

// indexHash finds the length of hashes in the file by its checksum. Of an index without one, where the checksum is
// zero, it is 20 unless more zeros leave it open.
func indexHash(data []byte) (int, error) {
	if len(data) < indexHeader+sha1.Size {
		return 0, corruptf("%d bytes are no index", len(data))
	}
	sum1 := sha1.Sum(data[:len(data)-sha1.Size]) //nolint:gosec // see above
	end1 := data[len(data)-sha1.Size:]
	if bytes.Equal(sum1[:], end1) {
		return sha1.Size, nil
	}
	if len(data) < indexHeader+sha256.Size {
		if allZero(end1) {
			return sha1.Size, nil
		}
		return 0, corruptf("its checksum is wrong")
	}
	end2 := data[len(data)-sha256.Size:]
	if sum2 := sha256.Sum256(data[:len(data)-sha256.Size]); bytes.Equal(sum2[:], end2) {
		return sha256.Size, nil
	}
	if allZero(end1) && !allZero(end2) {
		return sha1.Size, nil
	}
	return 0, corruptf("its checksum is wrong")
}

// entryReader reads one entry after the other; name and mode are those of the last.
type entryReader struct {
	version uint32
	hash    int
	name    []byte // reused
	last    []byte // the name before, reused
	mode    uint32
	sparse  bool // a directory was met
}

func (e *entryReader) next(b []byte) ([]byte, error) {
	fixed := statLength + e.hash + 2
	if len(b) < fixed {
		return nil, needsGit("entry of length", len(b))
	}
	e.mode = binary.BigEndian.Uint32(b[modeOffset:])
	flags := binary.BigEndian.Uint16(b[fixed-2:])
	if flags&flagExtended != 0 {
		if fixed += 2; e.version < 3 || len(b) < fixed {
			return nil, needsGit("extended flags in version", e.version)
		}
	}
	e.name, e.last = e.last[:0], e.name
	tail := b[fixed:]
	if e.version == 4 {
		var err error
		if tail, err = e.prefix(tail); err != nil {
			return nil, err
		}
	}
	end := bytes.IndexByte(tail, 0)
	if end < 0 || len(e.name)+end > maxIndexName {
		return nil, needsGit("name of length", len(e.name)+end)
	}
	e.name = append(e.name, tail[:end]...)
	if n := int(flags & flagNameMask); len(e.name) == 0 || n != min(len(e.name), flagNameMask) {
		return nil, needsGit("name length", n)
	}
	if isDir := e.name[len(e.name)-1] == '/'; isDir != (e.mode&modeTypeMask == modeDirectory) {
		return nil, needsGit("mode of", e.name)
	} else if isDir {
		e.sparse = true
	}
	if bytes.Compare(e.last, e.name) > 0 {
		return nil, needsGit("order of", e.name)
	}
	if e.version == 4 {
		return tail[end+1:], nil
	}
	return e.behindPadding(b, fixed+end)
}

// prefix begins the name with what it has in common with the one before, and gives what follows.
func (e *entryReader) prefix(b []byte) ([]byte, error) {
	strip, n := stripLength(b)
	if n == 0 || strip > len(e.last) {
		return nil, needsGit("prefix", strip)
	}
	e.name = append(e.name, e.last[:len(e.last)-strip]...)
	return b[n:], nil
}

// behindPadding is what follows an entry of so many bytes: it is padded with 1 to 8 zeros to a multiple of 8.
func (e *entryReader) behindPadding(b []byte, end int) ([]byte, error) {
	size := end/8*8 + 8
	if len(b) < size || !allZero(b[end:size]) {
		return nil, needsGit("padding after", e.name)
	}
	return b[size:], nil
}

// stripLength reads git's offset varint: big-endian groups of 7 bits, each continuation adding one. n is 0 when it is
// malformed.
func stripLength(b []byte) (v, n int) {
	for i, c := range b {
		if v > maxIndexName {
			return 0, 0
		}
		v = v<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return v, i + 1
		}
		v++
	}
	return 0, 0
}

// checkExtensions walks over the extensions. One whose name begins with a capital can be passed over. The others change
// what the entries mean: sdir says that some are directories, which only then may be there; link, a split index, is
// left to git.
func checkExtensions(b []byte, sparse bool) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return needsGit("extension", b)
		}
		switch name := string(b[:4]); {
		case name == "sdir":
			sparse = false
		case name[0] < 'A' || name[0] > 'Z':
			return needsGit("extension", name)
		}
		n := int64(binary.BigEndian.Uint32(b[4:]))
		if n > int64(len(b)-8) {
			return needsGit("extension length", n)
		}
		b = b[8+n:]
	}
	if sparse {
		return needsGit("directories without", "sdir")
	}
	return nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func needsGit(what string, v any) error {
	return fmt.Errorf("%w: %s %.80q", errNeedsGit, what, fmt.Sprint(v))
}
