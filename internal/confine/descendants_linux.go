package confine

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is one that runs, or has ended and was not waited for.
type process struct {
	id, parent int
	ended      bool
}

// looks is how often the processes are read again while the list is torn. Where parents are hidden it always is.
const looks = 10

// processes are all of the system that can be seen. They are read one by one: a process of which the parent ended in
// between seems to be below nobody, and what ends all that is below this one would leave it.
func processes() (list []process) {
	for range looks {
		if list = readProcesses(); !torn(list) {
			break
		}
	}
	return list
}

// torn reports whether the parent of a process is not in the list.
func torn(list []process) bool {
	there := map[int]bool{0: true} // of those that have none here
	for _, p := range list {
		there[p.id] = true
	}
	return slices.ContainsFunc(list, func(p process) bool { return !there[p.parent] })
}

func readProcesses() []process {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1) // what could be read
	var out []process
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		raw, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		rest := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:]) // a name may have spaces and brackets
		if len(rest) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(string(rest[1]))
		out = append(out, process{id: id, parent: parent, ended: rest[0][0] == 'Z' || rest[0][0] == 'X'})
	}
	return out
}

// below are the processes below this one. Those of but, and what is below them, are left out.
func below(but map[int]bool) (list []process) {
	children := map[int][]process{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	next := []int{os.Getpid()}
	for len(next) > 0 {
		id := next[0]
		next = next[1:]
		for _, p := range children[id] {
			if !but[p.id] {
				list = append(list, p)
				next = append(next, p.id)
			}
		}
	}
	return list
}

// children are the direct children of this process.
func children() map[int]bool {
	out := map[int]bool{}
	for _, p := range processes() {
		if p.parent == os.Getpid() {
			out[p.id] = true
		}
	}
	return out
}

// endBelow ends the processes below this one, but those of but: they are told to, and have a time to do so. left are
// those that cannot be ended. This process must be their reaper, so that none leaves it while they are ended; reap
// waits for one of its children that has ended.
func endBelow(but map[int]bool, reap func(int)) (left []int) {
	for _, e := range []ending{{sig: syscall.SIGTERM, patience: grace}, {sig: syscall.SIGKILL, patience: hard}} {
		e.but, e.reap, e.told = but, reap, map[int]bool{}
		if left = e.run(); len(left) == 0 {
			break
		}
	}
	return left
}

// ending sends one signal to processes.
type ending struct {
	sig      syscall.Signal
	patience time.Duration
	but      map[int]bool
	reap     func(int)
	told     map[int]bool // those that the signal was sent to; false: this process must not
}

// run sends the signal until no process is left, time is up, or only those are left that it must not be sent to.
func (e *ending) run() (left []int) {
	pause := time.Millisecond
	for until := time.Now().Add(e.patience); ; time.Sleep(pause) {
		var mine bool
		if left, mine = e.look(); !mine || time.Now().After(until) {
			return left
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// look sends the signal to those that have come since, and gives those that run; mine: some of them are this user's.
func (e *ending) look() (run []int, mine bool) {
	for _, p := range below(e.but) {
		if p.ended {
			if p.parent == os.Getpid() {
				e.reap(p.id)
			}
			continue
		}
		run = append(run, p.id)
		if _, told := e.told[p.id]; !told {
			e.told[p.id] = !errors.Is(syscall.Kill(p.id, e.sig), syscall.EPERM)
			_ = syscall.Kill(p.id, syscall.SIGCONT) // what is stopped hears nothing
		}
		mine = mine || e.told[p.id]
	}
	return run, mine
}

// adopt makes this process the reaper of its descendants, or ends that: one whose parent ends becomes a child of this
// process.
func adopt(on bool) {
	arg := uintptr(0)
	if on {
		arg = 1
	}
	// before Linux 3.4 there is none: what left its group is not found then
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, arg, 0, 0, 0)
}

// waitFor takes in the end of a child, if it has ended.
func waitFor(id int) {
	var ws syscall.WaitStatus
	_, _ = syscall.Wait4(id, &ws, syscall.WNOHANG, nil)
}
