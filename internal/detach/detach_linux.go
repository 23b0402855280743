package detach

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	minFiles        = 1024 // that a process can have open: watches, connections and tables of several stores need some hundreds
	ioprioProcess   = 1    // IOPRIO_WHO_PROCESS
	schedBatch      = 3
	schedIdle       = 5
	usualNice       = 0
	kernelNice      = 20 // getpriority answers with 20 less nice
	threadsAtStart  = 5  // looks at the threads: those that begin meanwhile have what the one that made them has
	processorsKnown = 1024
)

// reset gives every thread the priority, scheduling and processors of a new login, as far as that is allowed: priority
// belongs to a thread here.
func reset() {
	l := unix.Rlimit{}
	if unix.Getrlimit(unix.RLIMIT_NICE, &l) == nil && l.Cur != l.Max {
		l.Cur = l.Max
		_ = unix.Setrlimit(unix.RLIMIT_NICE, &l)
	}
	var all unix.CPUSet
	for i := range processorsKnown {
		all.Set(i)
	}
	done := map[int]bool{}
	for range threadsAtStart {
		before := len(done)
		for _, tid := range threads() {
			if !done[tid] {
				done[tid] = true
				resetThread(tid, &all)
			}
		}
		if len(done) == before {
			return
		}
	}
}

func resetThread(tid int, all *unix.CPUSet) {
	if attr, err := unix.SchedGetAttr(tid, 0); err == nil && (attr.Policy == schedBatch || attr.Policy == schedIdle) {
		_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Nice: attr.Nice}, 0)
	}
	if n, err := unix.Getpriority(unix.PRIO_PROCESS, tid); err == nil && n != kernelNice-usualNice {
		_ = unix.Setpriority(unix.PRIO_PROCESS, tid, usualNice)
	}
	_ = unix.SchedSetaffinity(tid, all)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioProcess, uintptr(tid), 0)
}

func threads() []int {
	names, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return []int{os.Getpid()}
	}
	var out []int
	for _, n := range names {
		if tid, err := strconv.Atoi(n.Name()); err == nil {
			out = append(out, tid)
		}
	}
	return out
}

// limitsHere are those that only this system is asked for.
func limitsHere() []Limit {
	var out []Limit
	if n, ok := limit(unix.RLIMIT_NOFILE); ok && n < minFiles {
		out = append(out, Limit{fmt.Sprintf("%d files can be open at once (ulimit -n), %d are needed", n, minFiles), true})
	}
	if n, ok := limit(unix.RLIMIT_AS); ok {
		out = append(out, Limit{fmt.Sprintf("the address space is limited to %d MiB (ulimit -v)", n>>20), true})
	}
	if n, ok := limit(unix.RLIMIT_CPU); ok {
		out = append(out, Limit{fmt.Sprintf("it is ended after %d s of processor time (ulimit -t)", n), false})
	}
	if n, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && kernelNice-n > usualNice {
		text := fmt.Sprintf("it runs with nice %d, as who started it did, and may not change that: what it does takes longer", kernelNice-n)
		out = append(out, Limit{text, false})
	}
	return out
}
