package kv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FormatVersion is the store format that this package writes; it reads this one only. It covers the layout of the directory, the
// key space and every value in it.
//
//	1: pebble at FormatValueSeparation, key space of DESIGN.md 5.1.
const FormatVersion = 1

// Names in a store directory.
const (
	nameFormat    = "format"
	nameMaking    = "making" // from before the first other file is made until after format is: the store was never used
	nameLock      = "lock"
	nameDB        = "db"
	nameTide      = "tide"
	nameBallast   = "ballast"
	nameLastFatal = "last-fatal"
	nameArchive   = "archive" // in db/
	tmpSuffix     = ".tmp"
	loadPrefix    = "load-" // in db/: a table that Ingest is writing
)

const formatWord = "rewind-store "

func formatLine() string { return formatWord + strconv.Itoa(FormatVersion) + "\n" }

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
	line, err := readSmall(f, f.PathJoin(dir, nameFormat), maxFormatBytes)
	switch {
	case err == nil:
		return stateStore, parseFormat(dir, f.PathJoin(dir, nameFormat), line)
	case !errors.Is(err, fs.ErrNotExist):
		return 0, translate("open", dir, err)
	}
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
		case nameTide:
			store = true // written by a clean close: it was a store once
		case nameDB, nameLock, nameBallast, nameLastFatal, nameFormat + tmpSuffix:
		default:
			other = name
		}
	}
	switch {
	case making && !store && other == "":
		return stateMaking, nil
	case store:
		return 0, fmt.Errorf("kv: open %s: %w", dir, corrupt(f.PathJoin(dir, nameFormat), "missing"))
	}
	return 0, fmt.Errorf("kv: open %s: %w (no file %s)", dir, ErrForeign, nameFormat)
}

// parseFormat checks the content of the file format. Only the first word and number of a newer format are assumed.
func parseFormat(dir, file, text string) error {
	rest, ok := strings.CutPrefix(text, formatWord)
	if !ok {
		return fmt.Errorf("kv: open %s: %w (%s does not begin with %q)", dir, ErrForeign, file, strings.TrimSpace(formatWord))
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case err == nil && digits[0] != '0' && n > FormatVersion && strings.ContainsAny(rest, "\n"):
		return &FormatError{Dir: dir, Found: n, Supported: FormatVersion}
	case text != formatLine():
		return fmt.Errorf("kv: open %s: %w", dir, corrupt(file, "content is %q", text))
	}
	return nil
}

// readSmall reads a file of at most limit bytes; what is beyond is left out.
func readSmall(f vfs.FS, path string, limit int64) (string, error) {
	h, err := f.Open(path)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(h, limit))
	return string(b), errors.Join(err, h.Close())
}

// writeSmall replaces a file atomically and durably.
func writeSmall(f vfs.FS, dir, name, text string) error {
	tmp := f.PathJoin(dir, name+tmpSuffix)
	h, err := f.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(h, text)
	if err == nil {
		err = h.Sync()
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return err
	}
	if err := f.Rename(tmp, f.PathJoin(dir, name)); err != nil {
		return err
	}
	return syncDir(f, dir)
}

func syncDir(f vfs.FS, dir string) error {
	h, err := f.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(h.Sync(), h.Close())
}
