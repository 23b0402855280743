package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/beneath"
	"rewind/internal/kv/ondisk"
)

// A store's directory may hold what somebody else has put there: an archive that was unpacked, a program with a grudge,
// another user. So nothing in it is opened but beneath the directory's handle, and what is not a file or directory of
// this user's is refused by its name: package beneath.

// onDisk gives a store on the disk its handle, and nil where the file system is one of a test's that has no disk. A
// file system of a test's that ends at the disk is left as it is, but for locks.
func onDisk(dir string, o *Options) (*beneath.FS, error) {
	if vfs.Root(o.FS) != vfs.Default {
		return nil, nil
	}
	disk, err := beneath.New(dir, rules)
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	if o.FS == vfs.Default {
		o.FS = disk
	}
	return disk, nil
}

const (
	maxOptions  = 1 << 20                    // bytes of a file that pebble reads whole
	maxLog      = maxBatch + 4*memtableBytes // of a log: it ends with the batch that fills the memtable
	maxManifest = 256 << 20                  // pebble begins a new one at the half
)

// rules: tables are linked into the copy of a store (Clone) and into the database (Ingest), options into the copy. They
// are never written again, and what they hold is checked when it is read.
var rules = beneath.Rules{
	MayLink: func(base string) bool {
		return strings.HasSuffix(base, ".sst") || strings.HasPrefix(base, ondisk.LoadPrefix) || strings.HasPrefix(base, "OPTIONS-")
	},
	Limit: func(base string) int64 {
		switch {
		case strings.HasPrefix(base, "OPTIONS-"):
			return maxOptions
		case strings.HasPrefix(base, ondisk.ManifestPrefix):
			return maxManifest
		case strings.HasSuffix(base, ".log"):
			return maxLog
		}
		return 0
	},
}

// rootFiles are the files of a store's directory, of this package and of who uses it.
var rootFiles = []string{
	nameFormat, nameMaking, nameLock, nameHighWater, nameChecked, nameBallast, nameLastFatal, nameSwap, "project.json", "gc-ran", "seal",
}

// survey gives what is in the place of a file or directory of the store and is not believed, in a fixed order. written:
// the store is opened to be written.
func (d *DB) survey(written bool) ([]*beneath.RefusedError, error) {
	if d.disk == nil {
		return nil, nil
	}
	bad, err := d.disk.Survey(d.dir, []string{nameDB, nameRepair, nameQuarantine},
		func(base string) bool { return slices.Contains(rootFiles, base) }, written)
	if err != nil || slices.ContainsFunc(bad, func(e *beneath.RefusedError) bool { return e.Path == d.db }) {
		return bad, err
	}
	in, err := d.disk.Survey(d.db, []string{ondisk.ArchiveDir}, func(string) bool { return true }, written)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // said better by who opens it
	}
	return append(bad, in...), err
}

// believe refuses a store in which something is not what it should be. What somebody else owns or can write counts
// before what is of the wrong kind.
func (d *DB) believe() error {
	bad, err := d.survey(!d.o.ReadOnly || d.swapping() != "")
	if err != nil || len(bad) == 0 {
		return err
	}
	slices.SortStableFunc(bad, func(a, b *beneath.RefusedError) int {
		switch {
		case a.Rights == b.Rights:
			return 0
		case a.Rights:
			return -1
		}
		return 1
	})
	if len(bad) > 1 {
		return fmt.Errorf("%w (and %d more)", bad[0], len(bad)-1)
	}
	return bad[0]
}

// refused gives what beneath did not believe as the errors of this package: damage, or a matter of rights; nil: that is
// not what err is.
func refused(err error) error {
	var r *beneath.RefusedError
	switch {
	case !errors.As(err, &r):
		return nil
	case r.Rights:
		return errJoin{ErrPermission, r}
	}
	return ondisk.Corrupt(r.Path, "%s", r.Why)
}

// unwritable is why nothing can be written in the store's directory, whoever asks: nil, it can, or it is not known.
func (d *DB) unwritable() error {
	if d.disk == nil {
		return nil
	}
	for _, dir := range []string{d.dir, d.db} {
		err := d.disk.Writable(dir)
		var pe *fs.PathError
		if errors.As(err, &pe) && (errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)) {
			return &unwritableError{dir: dir, cause: pe.Err}
		}
	}
	return nil
}
