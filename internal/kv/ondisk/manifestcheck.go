package ondisk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// ManifestOffsetFile in db/ has the synced offset of a MANIFEST: how far it is on disk. If one cannot be read to its
// end, pebble assumes that a crash has torn it, and forgets the tables of the later records. Tables that Ingest has
// linked are among them, and the log may rely on those. Which of both it is only this file tells.
//
// It is written in place behind every fsync of a MANIFEST, and not synced itself: after a power cut it says what it
// said before, which is
// less, or nothing. It is a hint: one that cannot be read, or is of another MANIFEST than the one in use, says nothing.
const ManifestOffsetFile = "extent"

// maxManifestOffset is how much of the file is looked at, in bytes.
const maxManifestOffset = 128

// ManifestOffsetLine is the content of the file, for the name of a MANIFEST and its synced offset in bytes.
func ManifestOffsetLine(manifest string, n int64) string {
	return Sealed(fmt.Sprintf("%s %019d", manifest, n))
}

// ReadManifestOffset reads the file in the database's directory; not ok: it is not there, or says nothing.
func ReadManifestOffset(f vfs.FS, db string) (manifest string, n int64, ok bool) {
	text, err := ReadSmall(f, f.PathJoin(db, ManifestOffsetFile), maxManifestOffset)
	if err != nil {
		return "", 0, false
	}
	line, _, _ := strings.Cut(text, "\n") // what is behind is of a longer name
	manifest, rest, _ := strings.Cut(line, " ")
	digits, _, _ := strings.Cut(rest, " ")
	n, err = strconv.ParseInt(digits, 10, 64)
	return manifest, n, err == nil && line+"\n" == ManifestOffsetLine(manifest, n)
}

// OldManifests lists the MANIFESTs of before the one in use; none where that is not known.
func OldManifests(f vfs.FS, db string) (old []string, err error) {
	used, err := atomicfs.ReadMarker(f, db, "manifest")
	if err != nil || !strings.HasPrefix(used, ManifestPrefix) {
		return nil, err
	}
	names, err := f.List(db)
	for _, name := range names {
		if strings.HasPrefix(name, ManifestPrefix) && manifestNumber(name) < manifestNumber(used) {
			old = append(old, name)
		}
	}
	return old, err
}

// manifestNumber is the number in a MANIFEST's name; of another name it is one that is before no other.
func manifestNumber(name string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, ManifestPrefix), 10, 64)
	if err != nil {
		return math.MaxUint64
	}
	return n
}

// CheckManifest finds damage in what is known to be on disk of the MANIFEST in use.
func CheckManifest(f vfs.FS, db string) (err error) {
	name, n, ok := ReadManifestOffset(f, db)
	if !ok {
		return nil
	}
	if used, err := atomicfs.ReadMarker(f, db, "manifest"); err != nil || used != name {
		return nil // of damaged markers pebble says more
	}
	path := f.PathJoin(db, name)
	h, err := f.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Corrupt(path, "missing")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	at, err := readableUntil(io.LimitReader(h, n))
	if err == nil && at != n {
		return Corrupt(path, "unreadable at byte %d, on disk until byte %d", at, n)
	}
	return err
}

// readableUntil gives the offset up to which the records of a MANIFEST can be read. An error is the reader's own.
func readableUntil(r io.Reader) (int64, error) {
	failing := &failure{r: r}
	for records, good := record.NewReader(failing, 0), int64(0); ; good = records.Offset() {
		rec, err := records.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, rec)
		}
		if err != nil {
			return good, failing.err
		}
	}
}

// failure keeps what a reader fails with.
type failure struct {
	r   io.Reader
	err error
}

func (f *failure) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}
