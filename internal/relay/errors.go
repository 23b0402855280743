package relay

import "errors"

var (
	// ErrDeadline says that the deadline passed before the other side did its part.
	ErrDeadline = errors.New("the deadline has passed")
	// errForeign says that a socket is served by another user: it was planted, and nothing was sent to it.
	errForeign = errors.New("the socket is served by another user")
	// ErrRelative says that REWIND_HOME is not an absolute path.
	ErrRelative = errors.New("REWIND_HOME is not an absolute path: in every directory it would be another one")
	// errNoDaemon says that a daemon was started, and none listened when the deadline passed.
	errNoDaemon = errors.New("no daemon has come up")
)

// opError is what fmt.Errorf("relay: op subject: %w", err) would be; package fmt is not worth its start-up here.
type opError struct {
	op, subject string
	err         error
}

func fail(op, subject string, err error) error { return &opError{op, subject, err} }

func (e *opError) Error() string {
	s := "" + e.op
	if e.subject != "" {
		s += " " + e.subject
	}
	return s + ": " + e.err.Error()
}

func (e *opError) Unwrap() error { return e.err }
