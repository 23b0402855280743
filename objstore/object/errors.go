package object

import (
	"errors"
	"fmt"
)

// Errors of ids and sizes.
var (
	// ErrBadID: the text is no id.
	ErrBadID = errors.New("not an object id")
	// ErrTooLarge: the object is over MaxObject.
	ErrTooLarge = errors.New("object too large")
)

// A FormatError is a value that this version does not know: a kind or a codec.
type FormatError struct {
	What  string // "kind", "codec", "key"
	Value string
}

func (e *FormatError) Error() string { return fmt.Sprintf("unknown %s %s", e.What, e.Value) }
