// Package memlimit finds the memory limit of a process, and helps it to plan with that. The system may limit a group of
// processes (a cgroup of Linux: a container, a service). The kernel kills a process that takes more, without a message.
package memlimit

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Limit is what the groups of a process say of its memory. The zero value: nothing is known, or nothing is bounded.
type Limit struct {
	Bytes int64 // the smallest bound of its group and those above; 0: there is none
	Kills int64 // how many processes of its group the kernel has killed for memory so far; 0 where it does not tell
}

const (
	// small is the bound in bytes below which one thing is done at a time: each goroutine that reads a large file or
	// compresses one has some 25 MiB of buffers of its own.
	small = 256 << 20
	// heapShare is the part of a bound, in percent, that the heap may have. The rest is for what the runtime does not
	// count or the kernel counts to the group: the program's own pages, files that are written, directories that are
	// looked at, and other processes.
	heapShare = 50
)

// Here are the bounds of this process. They are looked up anew: somebody may have changed them.
func Here() Limit { return at(os.DirFS("/")) }

// Apply plans with a bound: the heap is collected more often before it outgrows its share, and where there is little
// memory one thing is done at a time. A GOMEMLIMIT of the environment is a person's word and stays.
func Apply(l Limit) {
	if l.Bytes <= 0 || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(l.Bytes / 100 * heapShare)
	if l.Bytes < small {
		runtime.GOMAXPROCS(1)
	}
}

// Heap is about how many bytes the heap of this process may have, as planned by Apply or GOMEMLIMIT; math.MaxInt64: as
// many as it likes.
func Heap() int64 { return debug.SetMemoryLimit(-1) }
