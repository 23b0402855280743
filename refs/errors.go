package refs

import (
	"errors"
	"fmt"

	"rewind/objstore"
)

var (
	// ErrNotFound is returned for a name or an operation that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrBadName is returned for a name that is not well formed.
	ErrBadName = errors.New("bad name")
	// ErrCorrupt is returned for a stored ref or operation that does not decode.
	ErrCorrupt = errors.New("corrupt")
)

// conflictError says that a name was not where the caller believed it to be; nothing was written.
type conflictError struct {
	name       Name
	want, have objstore.ID
}

func (e *conflictError) Error() string {
	return fmt.Sprintf("update %s: it points to %s, not to %s", e.name, e.have.Short(), e.want.Short())
}
