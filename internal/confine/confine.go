package confine

import (
	"errors"
	"io"
	"time"
)

// Level is how far a command is kept from the project.
type Level int

const (
	// None keeps it from nothing: the command sees the project's directory as it is, and can write there by an absolute
	// path.
	None Level = iota
	// ReadOnly makes the project's directory read-only for the command.
	ReadOnly
	// Overlay has a layer: what the command writes into the project's directory goes there.
	Overlay
)

// View is what a command is shown of a project. All paths are absolute but those in lists, which are below Root and
// Tree.
type View struct {
	Root     string   // the project's directory
	Tree     string   // the directory in which the command works
	Layers   string   // a directory for the mounts' own, on the disk of Tree; it is made
	Overlaid []string // directories at Root's top that Tree shows, in a layer of their own; only with Overlay
	ReadOnly []string // directories of Root that Tree shows read-only; each is an empty directory of Tree; not with None
	Through  []string // directories of Root into which the command may write
}

// Command is a command that is to be run.
type Command struct {
	Argv     []string
	Dir      string // where it runs, absolute
	Fallback string // a program that is named by a relative path, and not there from Dir, is taken from here
	Env      []string
	Stdout   io.Writer
	Stderr   io.Writer
	Timeout  time.Duration // 0: none
	Level    Level
	View     *View         // nil: there is no project to be kept from
	Started  func(Started) // is called once, before the command runs; may be nil
}

// Started is told of a command that is about to run.
type Started struct {
	Fell bool `json:"fell,omitempty"` // the program is the one of Fallback
}

// Outcome is what came of a command.
type Outcome struct {
	Code int   // as a shell tells it: 128 and a signal's number for a signal
	Late bool  // it had to be ended after Timeout
	Left []int // processes that could not be ended: those of another user
}

// ErrNoDir is returned where Command.Dir is no directory in the view.
var ErrNoDir = errors.New("there is no such directory")

// StartError is returned where the command could not be started.
type StartError struct{ err error }

func (e *StartError) Error() string { return e.err.Error() }

// Unwrap is the cause.
func (e *StartError) Unwrap() error { return e.err }

// grace is how long processes have to end by themselves when they were told to.
const grace = 2 * time.Second

// Word is the only argument of a process that is a supervisor.
const Word = "confined-command"

// String names a level.
func (l Level) String() string { return [...]string{"none", "read-only", "overlay"}[l] }
