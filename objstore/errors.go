package objstore

import (
	"errors"
	"fmt"
	"strings"
)

// Looking an object up.
var (
	// ErrNotFound: no object of that kind and id, or none with that prefix.
	ErrNotFound = errors.New("object not found")
)

// Reading one.
var (
	// ErrCorrupt: what is stored under the id does not give the object. Every *CorruptError matches it.
	ErrCorrupt = errors.New("object corrupt")
)

// Writing.
var (
	// errDone: the transaction has been committed or discarded.
	errDone = errors.New("transaction is done")
	// ErrOpenTx: objects cannot be swept while a transaction is open: it may rely on any of them.
	ErrOpenTx = errors.New("a transaction is open")
	// errCollision: an object is there whose id begins with the same 160 bits and is another. It takes 2^80 work to
	// make one.
	errCollision = errors.New("another object has the same first 160 bits of its id")
)

// A CorruptError names the object whose stored bytes are wrong. Cause may name a second one, such as its base.
type CorruptError struct {
	Kind  Kind
	Key   Key
	Cause error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt %s %s: %v", e.Kind, e.Key.Short(), e.Cause)
}

func (e *CorruptError) Unwrap() error { return e.Cause }

// Is makes every CorruptError match ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// An AmbiguousError is a prefix that several objects share.
type AmbiguousError struct {
	Prefix     string
	Candidates []Key // ascending, the first maxCandidates
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "resolve %s: ambiguous:", e.Prefix)
	for _, id := range e.Candidates {
		b.WriteString(" " + id.Short())
	}
	return b.String()
}
