// Package procstate is what the system says of a process that does not answer: its name, and what keeps it.
package procstate

// State is what keeps a process, in a word that a person acts on.
type State string

// The states.
const (
	Gone    State = "gone"    // there is no such process
	Stopped State = "stopped" // by a signal or a debugger, until it is let go on
	Disk    State = "disk"    // it waits for a disk or a file system, and no signal reaches it
	Alive   State = "alive"   // none of these, or the system does not tell
)

// Process is one process as it was seen.
type Process struct {
	PID   int
	Name  string // "": not known
	State State
}
