package tree

import (
	"errors"
	"fmt"
	"io/fs"
)

// When looking for something.
var (
	// ErrNotFound: the tree has nothing at that path. An object that the store lacks is objstore.ErrNotFound instead.
	ErrNotFound = errors.New("no such path")
	// SkipDir, returned by the function given to Walk, leaves out what is below the directory it was called for.
	SkipDir = fs.SkipDir //nolint:errname // named as in io/fs
	// SkipAll, returned by a function given to Walk or Diff, ends it without an error.
	SkipAll = fs.SkipAll //nolint:errname // named as in io/fs
)

// FormatError says that bytes are not what they should be. Nothing of them was used.
type FormatError struct {
	what   string // "tree" or "note"
	offset int    // of the first byte that is wrong
	reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("decode %s: offset %d: %s", e.what, e.offset, e.reason)
}

// LimitError says that something exceeds a limit of limits.go.
type LimitError struct {
	What  string
	Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: limit is %d", e.What, e.Limit)
}

// entryError says which entry cannot be encoded, and why.
type entryError struct {
	Name   string
	Reason string
}

func (e *entryError) Error() string {
	return fmt.Sprintf("encode %q: %s", e.Name, e.Reason)
}
