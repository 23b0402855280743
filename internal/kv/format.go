package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// FormatVersion is the store format that this package reads and writes. It covers the layout of the directory, the key
// space and every value in it: docs/format.md. A format that differs in anything an older program would misread gets
// the next number.
const FormatVersion = 1

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

const (
	formatWord = "rewind format "
	// earlierWord begins the file of a store made before the first release, whatever number follows.
	earlierWord = "rewind-store "
)

// formatLine is the content of the file format. The number stands in it twice: one flipped bit makes 3 of 1.
func formatLine(version uint64) string { return fmt.Sprintf("%s%d %d\n", formatWord, version, version) }

// state is what a directory looks like before anything is touched.
type state int

const (
	stateAbsent state = iota // no directory
	stateEmpty               // an empty directory
	stateMaking              // a store whose creation did not end
	stateStore               // a store that this version reads
)

// inspect tells what dir is, without creating, locking or changing anything.
func inspect(f vfs.FS, dir string) (state, error) {
	line, err := ondisk.ReadSmall(f, f.PathJoin(dir, nameFormat), maxFormatBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return inspectUnnumbered(f, dir)
	}
	if err != nil {
		return 0, translate("open", dir, err)
	}
	return stateStore, checkFormat(dir, f.PathJoin(dir, nameFormat), line)
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

// checkFormat reads the content of the file format. Only the first word and number of a newer format are assumed.
func checkFormat(dir, file, text string) error {
	if strings.HasPrefix(text, earlierWord) {
		return &FormatError{dir: dir, Supported: FormatVersion}
	}
	rest, ok := strings.CutPrefix(text, formatWord)
	if !ok {
		return fmt.Errorf("open %s: %w (%s does not begin with %q)", dir, ErrForeign, file, strings.TrimSpace(formatWord))
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	n, err := strconv.ParseUint(digits, 10, 64)
	first, second, two := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	numbers := two && isNumber(first) && isNumber(second)
	torn := numbers && first != second
	later := err == nil && digits[0] != '0' && n > FormatVersion
	switch {
	case text == formatLine(FormatVersion):
		return nil
	case later && !torn && strings.Contains(rest, "\n"):
		return &FormatError{dir: dir, Found: n, Supported: FormatVersion}
	}
	return fmt.Errorf("open %s: %w", dir, ondisk.Corrupt(file, "content is %q", text))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// formatValue is what lies under the key f: the format once more, where it cannot be lost apart from the data.
var formatValue = binary.AppendUvarint(nil, FormatVersion)
