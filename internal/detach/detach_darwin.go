package detach

import "golang.org/x/sys/unix"

// reset gives this process the priority of a new login, as far as that is allowed.
func reset() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, 0) }

func limitsHere() []Limit { return nil }
