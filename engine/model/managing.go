package model

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"rewind/internal/value"
)

// Gone reports whether a session was deleted and is not there again: the agent, or somebody, may have made its file
// anew.
func Gone(standing value.Standing, missing bool) bool { return standing == value.Deleted && missing }

// Hidden reports whether lists leave a session out: it was deleted, or it is archived and nobody is at it.
func (s *SessionInfo) Hidden() bool {
	used := s.Running || s.Current
	return Gone(s.Standing, s.Missing) || s.Standing == value.Archived && !used
}

// Away reports whether a person has archived or deleted a session.
func (s *Session) Away() bool { return s.Standing == value.Archived || s.Standing == value.Deleted }

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

// ByItself is the message of an operation that nobody asked for: the settings did.
const ByItself = "by itself"

// ForkLimitError says that a project has as many forks as its settings allow. Nothing was done.
type ForkLimitError struct {
	Setting string // that says so
	Forks   int
	Bytes   int64 // of their session files
}

func (e *ForkLimitError) Error() string {
	return fmt.Sprintf("the limit of %s is reached: %s", e.Setting, ForksHeld(e.Forks, e.Bytes))
}

// About is its subject.
func (e *ForkLimitError) About() (op, subject string) { return "fork", e.Setting }

// ForksHeld says how many forks a project has, and how large they are.
func ForksHeld(n int, bytes int64) string {
	what := "forks"
	if n == 1 {
		what = "fork"
	}
	return fmt.Sprintf("%d %s here, %s", n, what, humanize.IBytes(uint64(max(bytes, 0))))
}
