package model

import (
	"fmt"

	"rewind/internal/value"
)

// Gone reports whether a session was deleted and is not there again: the agent, or somebody, may have made its file anew.
func Gone(standing value.Standing, missing bool) bool { return standing == value.Deleted && missing }

// Hidden reports whether lists leave a session out: it was deleted, or it is archived and nobody is at it.
func (s *SessionInfo) Hidden() bool {
	return Gone(s.Standing, s.Missing) || s.Standing == value.Archived && !s.Running && !s.Current
}

// Loss is what goes with a session that is deleted.
type Loss struct {
	Session     string // agent/id
	Title       string
	Turns       int   // behind the last one that another session has, too
	Checkpoints int   // on its branch, of its own: they stay until gc lets them go
	Bytes       int64 // of its conversation
}

// LastCopyError says that a session which was to be deleted has turns that no other session has. Nothing was done.
type LastCopyError struct {
	Session string
	Turns   int
}

func (e *LastCopyError) Error() string {
	what := "turns"
	if e.Turns == 1 {
		what = "turn"
	}
	return fmt.Sprintf("session %s: it has %d %s that no other session has", e.Session, e.Turns, what)
}

// About is its subject.
func (e *LastCopyError) About() (op, subject string) { return "delete", e.Session }

// NeededError says which session files go on from the file of a session that was to be deleted. Nothing was done.
type NeededError struct {
	Session string
	Paths   []string
}

func (e *NeededError) Error() string {
	return fmt.Sprintf("session %s: %d session files go on from its file, first %s", e.Session, len(e.Paths), e.Paths[0])
}

// About is its subject.
func (e *NeededError) About() (op, subject string) { return "delete", e.Session }
