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

// diskLooks is how often in a row a process that works must wait for a disk before that is worth a word: a busy disk
// makes it wait for moments.
const diskLooks = 3

// OnSilence gives what is asked, again and again, about a process that lets a request wait (pid 0: it is not known
// which): whether the request has been told of it. say gets it once. works: the process answers others; then it is told
// only where it waits for a disk all the time. Each request needs one of its own.
func OnSilence(say func(Process)) func(pid int, works bool) (told bool) {
	disk := 0 // how often in a row it waited for a disk
	return func(pid int, works bool) bool {
		p := Process{State: Alive}
		if pid > 0 {
			p = See(pid)
		}
		if disk++; p.State != Disk {
			disk = 0
		}
		if works && disk < diskLooks {
			return false
		}
		say(p)
		return true
	}
}
