package ondisk

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// ErrCorrupt says that bytes on disk are not what was written; see CorruptError.
var ErrCorrupt = errors.New("corrupt")

// CorruptError is ErrCorrupt with the file that is damaged.
type CorruptError struct {
	File  string // path; empty where the layer below does not say
	Cause error
}

func (e *CorruptError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%v: %v", ErrCorrupt, e.Cause)
	}
	return fmt.Sprintf("%s: %v: %v", e.File, ErrCorrupt, e.Cause)
}

// Is makes a CorruptError match ErrCorrupt, and tell pebble, below which it may come up, that reading again will not
// help.
func (e *CorruptError) Is(target error) bool {
	return target == ErrCorrupt || target == pebble.ErrCorruption
}

func (e *CorruptError) Unwrap() error { return e.Cause }

// Corrupt is a CorruptError that says what is wrong with a file.
func Corrupt(file, format string, args ...any) error {
	return &CorruptError{File: file, Cause: fmt.Errorf(format, args...)}
}
