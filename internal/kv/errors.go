package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"rewind/internal/kv/ondisk"

	"github.com/cockroachdb/pebble/v2"
)

// Sentinels. Every error of this package matches at most one of them by errors.Is; one that matches none is an I/O
// error as the system gave it.
var (
	// ErrNotFound: the key is absent. Not a failure of the store.
	ErrNotFound = errors.New("not found")
	// ErrStop is returned by a Scan callback to end the scan early; Scan then returns nil.
	ErrStop = errors.New("stop")
	// ErrBusy: another process (or another DB of this one) has the store open; see BusyError.
	ErrBusy = errors.New("store is in use")
	// ErrNewerFormat: the store was written by a newer version; see FormatError.
	ErrNewerFormat = errors.New("store has a newer format")
	// ErrEarlierFormat: the store was made by a version before the first release; see FormatError.
	ErrEarlierFormat = errors.New("store was made by a rewind before its first release")
	// ErrForeign: the directory is not a store.
	ErrForeign = errors.New("not a store")
	// ErrCorrupt: bytes on disk are not what was written; see CorruptError.
	ErrCorrupt = ondisk.ErrCorrupt
	// ErrNoSpace: the disk is full, or too near to it to begin. Nothing was written.
	ErrNoSpace = errors.New("no space left on device")
	// ErrClosed: the DB has been closed.
	ErrClosed = errors.New("store is closed")
	// ErrPoisoned: a write failed in a way after which nothing that is in memory can be trusted; open the store again.
	ErrPoisoned = errors.New("store has failed")
	// ErrTooLarge: a key, value or batch is over its limit; see limits.go.
	ErrTooLarge = errors.New("too large")
	// ErrPermission: the system refuses access. It also matches fs.ErrPermission.
	ErrPermission = fmt.Errorf("store: %w", fs.ErrPermission)
	// ErrReadOnly: a write to a DB that was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("store is open for reading only")
	// ErrUnwritable: the store lies where this user, or nobody at all, may write: it can only be read. See
	// unwritableError.
	ErrUnwritable = errors.New("the store cannot be written")
)

// BusyError is ErrBusy with the process that holds the store.
type BusyError struct {
	Dir string
	PID int // 0: unknown
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("open %s: %v", e.Dir, ErrBusy)
	}
	return fmt.Sprintf("open %s: %v (process %d)", e.Dir, ErrBusy, e.PID)
}

// Is makes a BusyError match ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// unwritableError is ErrUnwritable with the directory and what the system says.
type unwritableError struct {
	dir   string
	cause error
}

func (e *unwritableError) Error() string {
	if errors.Is(e.cause, syscall.EROFS) {
		return fmt.Sprintf("read-only: the store lies on a file system that cannot be written (%s: %v)", e.dir, e.cause)
	}
	return fmt.Sprintf("read-only: %v (%s: %v)", ErrUnwritable, e.dir, e.cause)
}

// Is makes an unwritableError match ErrUnwritable.
func (e *unwritableError) Is(target error) bool { return target == ErrUnwritable }

func (e *unwritableError) Unwrap() error { return e.cause }

// FormatError is ErrNewerFormat with both versions, or ErrEarlierFormat.
type FormatError struct {
	dir              string
	Found, Supported uint64 // Found 0: of before the first release
}

func (e *FormatError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("open %s: %v", e.dir, ErrEarlierFormat)
	}
	return fmt.Sprintf("open %s: %v: it is %d, this program reads up to %d", e.dir, ErrNewerFormat, e.Found, e.Supported)
}

// Is makes a FormatError match ErrNewerFormat or ErrEarlierFormat.
func (e *FormatError) Is(target error) bool {
	if e.Found == 0 {
		return target == ErrEarlierFormat
	}
	return target == ErrNewerFormat
}

// otherFormat tells whether the directory is a store, of a format that this package does not read.
func otherFormat(err error) bool {
	var other *FormatError
	return errors.As(err, &other)
}

// CorruptError is ErrCorrupt with the file that is damaged.
type CorruptError = ondisk.CorruptError

// translate wraps an error of pebble or the system once, as "kv: operation subject: cause", so that it matches a
// sentinel.
func translate(op, subject string, err error) error {
	if err == nil {
		return nil
	}
	if subject != "" {
		op += " " + subject
	}
	var own *CorruptError
	switch {
	case refused(err) != nil:
		return fmt.Errorf("%s: %w", op, refused(err))
	case errors.Is(err, pebble.ErrNotFound):
		return fmt.Errorf("%s: %w", op, ErrNotFound)
	case errors.As(err, &own):
		return fmt.Errorf("%s: %w", op, own) // without what pebble has put around it
	case pebble.IsCorruptionError(err):
		ce := &CorruptError{Cause: err}
		if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
			ce.File = info.Path
		}
		return fmt.Errorf("%s: %w", op, ce)
	case isNoSpace(err):
		return fmt.Errorf("%s: %w", op, errJoin{ErrNoSpace, err})
	case errors.Is(err, pebble.ErrClosed):
		return fmt.Errorf("%s: %w", op, ErrClosed)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s: %w", op, errJoin{ErrPermission, err})
	}
	return fmt.Errorf("%s: %w", op, err)
}

// missing turns the absence of a file that the store needs into damage.
func missing(err error) error {
	var pe *fs.PathError
	if errors.Is(err, fs.ErrNotExist) {
		ce := &CorruptError{Cause: err}
		if errors.As(err, &pe) {
			ce.File = filepath.Base(pe.Path)
		}
		return ce
	}
	return err
}

// errJoin reads as its cause and matches the sentinel too.
type errJoin struct{ sentinel, cause error }

func (e errJoin) Error() string   { return e.cause.Error() }
func (e errJoin) Unwrap() []error { return []error{e.sentinel, e.cause} }

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrNoSpace) || isQuota(err)
}
