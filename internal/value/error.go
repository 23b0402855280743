package value

import "strconv"

// OpError is what went wrong with something that has a name, as fs.PathError is with a file.
type OpError struct {
	Op      string // what was done, or what the subject is: "open project", "session"
	Subject string // to what: a directory, a session, a checkpoint, a setting
	Typed   bool   // the subject is as somebody typed it: in a text it stands in quotes
	Err     error
}

// Error gives all of it in one line.
func (e *OpError) Error() string {
	subject := e.Subject
	if e.Typed {
		subject = strconv.Quote(subject)
	}
	return e.Op + " " + subject + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *OpError) Unwrap() error { return e.Err }

// About says what was done, and to what.
func (e *OpError) About() (op, subject string) { return e.Op, e.Subject }
