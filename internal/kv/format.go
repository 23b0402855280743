package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// FormatVersion is the newest store format that this package writes; it reads this one and every older one. It covers the layout of the
// directory, the key space and every value in it. What each version guarantees:
//
// 1: the database is pebble's at FormatValueSeparation, with the key space of docs/format.md#key-space. There are no objects of kind s, and
// no fields in records beyond those of this version.
//
// 2: as 1, and there may be objects of kind s (transcripts) and more fields in checkpoints, operations, the journal and session
// records. Every value of format 1 is a value of format 2 and means the same, so the number alone makes a store of 1 one of 2.
//
// 3: as 2, but new objects lie under short keys (O), and new deltas have codecs 5 and 6. Objects of formats 1 and 2 stay where and as
// they are, under long keys (o), and a delta may have its base there; so here, too, the number alone makes a store of 1 or 2 one of 3.
// The file format has the number twice.
//
// 4: as 3, and there may be tombstones (g), operations of the kinds that came with it, and what docs/format.md#key-space lists besides. A
// store becomes one of 4 by DB.RaiseFormat, when the first of these is written: one that has none is still read by who knows only 3.
//
// 5: as 4, and checkpoints may say of paths whose change they are, restores which conversation goes on from them, session records
// whose lane a session is; messages lie beside checkpoints (m), put there by operations of a kind of their own. A store becomes one of
// 5 in the same way.
const FormatVersion = 5

// FormatAtOpen is the format that every store has at least once it was opened to be written; see DB.RaiseFormat.
const FormatAtOpen = 3

// Names in a store directory.
const (
	nameFormat    = "format"
	nameMaking    = "making" // from before the first other file is made until after format is: the store was never used
	nameLock      = "lock"
	nameDB        = "db"
	nameHighWater = "tide"
	nameBallast   = "ballast"
	nameLastFatal = "last-fatal"
)

const formatWord = "rewind-store "

// formatLine is the content of the file format. From 3 on the number stands in it twice: one flipped bit makes 3 of 1 or 2, and 2 of 3.
func formatLine(version uint64) string {
	n := strconv.FormatUint(version, 10)
	if version > 2 {
		n += " " + n
	}
	return formatWord + n + "\n"
}

// state is what a directory looks like before anything is touched.
type state int

const (
	stateAbsent state = iota // no directory
	stateEmpty               // an empty directory
	stateMaking              // a store whose creation did not end
	stateStore               // a store that this version reads
)

// inspect tells what dir is, and the format of a store, without creating, locking or changing anything.
func inspect(f vfs.FS, dir string) (state, uint64, error) {
	line, err := ondisk.ReadSmall(f, f.PathJoin(dir, nameFormat), maxFormatBytes)
	if errors.Is(err, fs.ErrNotExist) {
		st, err := inspectUnnumbered(f, dir)
		return st, 0, err
	}
	if err != nil {
		return 0, 0, translate("open", dir, err)
	}
	version, err := parseFormat(dir, f.PathJoin(dir, nameFormat), line)
	return stateStore, version, err
}

// inspectUnnumbered tells what a directory without the file format is.
func inspectUnnumbered(f vfs.FS, dir string) (state, error) {
	names, err := f.List(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stateAbsent, nil
	case err != nil:
		return 0, translate("open", dir, err)
	case len(names) == 0:
		return stateEmpty, nil
	}
	making, store, other := false, false, ""
	for _, name := range names {
		switch name {
		case nameMaking:
			making = true
		case nameHighWater:
			store = true // written by a clean close: it was a store once
		case nameDB, nameLock, nameBallast, nameLastFatal, nameFormat + ondisk.TmpSuffix:
		default:
			other = name
		}
	}
	switch {
	case making && !store && other == "":
		return stateMaking, nil
	case store:
		return 0, fmt.Errorf("open %s: %w", dir, ondisk.Corrupt(f.PathJoin(dir, nameFormat), "missing"))
	}
	return 0, fmt.Errorf("open %s: %w (no file %s)", dir, ErrForeign, nameFormat)
}

// parseFormat reads the content of the file format. Only the first word and number of a newer format are assumed.
func parseFormat(dir, file, text string) (uint64, error) {
	rest, ok := strings.CutPrefix(text, formatWord)
	if !ok {
		return 0, fmt.Errorf("open %s: %w (%s does not begin with %q)", dir, ErrForeign, file, strings.TrimSpace(formatWord))
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	n, err := strconv.ParseUint(digits, 10, 64)
	first, second, two := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	if two && first != second && isNumber(first) && isNumber(second) {
		return 0, fmt.Errorf("open %s: %w", dir, ondisk.Corrupt(file, "content is %q", text))
	}
	switch {
	case err == nil && digits[0] != '0' && n > FormatVersion && strings.ContainsAny(rest, "\n"):
		return 0, &FormatError{Dir: dir, Found: n, Supported: FormatVersion}
	case n == 0 || text != formatLine(n):
		return 0, fmt.Errorf("open %s: %w", dir, ondisk.Corrupt(file, "content is %q", text))
	}
	return n, nil
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// formatVersions are the format of a store as it is on disk, which is in two places: the file format, for whoever comes to the directory,
// and the key f, which cannot be lost apart from the data.
type formatVersions struct{ file, key uint64 }

func formatValue(version uint64) []byte { return binary.AppendUvarint(nil, version) }

// upgrade is what an open does: it makes a store of an older format one of FormatAtOpen, on disk when it returns. A store of a newer one
// whose change did not end is changed again. It is called when the check at open has passed, and before the first write.
func (d *DB) upgrade() error {
	d.formatMu.Lock()
	defer d.formatMu.Unlock()
	return d.writeFormat(max(FormatAtOpen, d.formats.file))
}

// RaiseFormat makes the store one of a format, durably, unless it is one already: to be called before anything is committed that versions
// which know only older formats would misread. It costs nothing once it is done. The errors are those of Commit.
func (d *DB) RaiseFormat(version uint64) error {
	if version > FormatVersion {
		return fmt.Errorf("raise format: format %d: %w", version, ErrTooLarge)
	}
	if err := d.enterWrite("raise format"); err != nil {
		return err
	}
	defer d.life.leave()
	d.formatMu.Lock()
	defer d.formatMu.Unlock()
	if version <= d.formats.file && d.formats.key == d.formats.file {
		return nil
	}
	if err := d.space.check(0); err != nil {
		return d.fail("raise format", "", err)
	}
	return d.fail("raise format", "", d.writeFormat(max(version, d.formats.file)))
}

// formatNow is that of the store now, as the file has it.
func (d *DB) formatNow() uint64 {
	d.formatMu.Lock()
	defer d.formatMu.Unlock()
	return d.formats.file
}

// writeFormat writes both places, under formatMu. No value is touched: those of an older format are valid as they are.
//
// The file comes first. The older version reads it before anything else, so that it refuses with ErrNewerFormat from this moment on;
// given the key first, it would open the database and call it damaged. The file is written again when only the key is missing: the fsync
// of it may have failed, which another would not tell, and after a power cut a key must not be above the file.
func (d *DB) writeFormat(version uint64) error {
	if d.formats == (formatVersions{version, version}) {
		return nil
	}
	if err := d.writeFormatFile(version); err != nil {
		return err
	}
	err := d.poison.guard(func() error { return d.pdb.Set(formatKey, formatValue(version), pebble.Sync) })
	if err != nil {
		return err
	}
	if err := d.logs.Sync(); err != nil {
		return err
	}
	d.formats.key = version
	return nil
}

func (d *DB) writeFormatFile(version uint64) error {
	if err := ondisk.WriteSmall(d.fs, d.dir, nameFormat, formatLine(version)); err != nil {
		return err
	}
	d.formats.file = version
	return nil
}
