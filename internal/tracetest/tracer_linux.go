// Package tracetest kills programs in the middle of what they do, for tests.
package tracetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// changing are the system calls that can change what is on disk, openat with O_CREAT besides. Counting them over all
// threads needs a tracer of our own: strace counts for each thread apart, so the late calls of a program with many
// threads are out of its reach.
var changing = map[uint64]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_WRITEV: "writev", unix.SYS_PWRITEV: "pwritev",
	unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_SYNCFS: "syncfs",
	unix.SYS_SYNC_FILE_RANGE: "sync_file_range",
	unix.SYS_RENAMEAT:        "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_LINKAT:    "linkat",
	unix.SYS_SYMLINKAT: "symlinkat", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_FALLOCATE: "fallocate",
	unix.SYS_FCHMOD:    "fchmod", unix.SYS_FCHMODAT: "fchmodat", unix.SYS_FCHMODAT2: "fchmodat2",
	unix.SYS_COPY_FILE_RANGE: "copy_file_range",
	unix.SYS_FCHOWN:          "fchown", unix.SYS_FSETXATTR: "fsetxattr", unix.SYS_FREMOVEXATTR: "fremovexattr",
}

// syscallInfo is struct ptrace_syscall_info of the kernel, the same on every architecture.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64
	args [6]uint64
	_    [2]uint64
}

// KillAt is the program killat [-only name] [-count file] N program args... It runs a program and kills it with SIGKILL
// instead of its Nth system call that changes something. It counts over all threads and child processes; N = 0 never
// kills. -only counts the calls of one name. The number of calls met goes to the file. The exit code is the program's,
// 137 when it was killed, and 99 when the tracing itself went wrong.
func KillAt(args []string) int {
	only, file := "", ""
	for len(args) > 2 && args[0][0] == '-' {
		switch args[0] {
		case "-only":
			only = args[1]
		case "-count":
			file = args[1]
		}
		args = args[2:]
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || len(args) < 2 {
		fmt.Fprintln(os.Stderr, "killat: want a number and a program")
		return 99
	}
	met, code, err := trace(args[1:], func(met int, name string) (counts, kill bool) {
		if only != "" && name != only {
			return false, false
		}
		return true, met+1 == n
	})
	if err == nil && file != "" {
		err = os.WriteFile(file, []byte(strconv.Itoa(met)+"\n"), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "killat:", err)
		return 99
	}
	return code
}

// trace runs a program under ptrace and asks at each changing system call whether it counts and whether to kill the
// program there, before the call takes effect. This must be a process of its own, since it waits for any child.
func trace(args []string, ask func(met int, name string) (counts, kill bool)) (met, code int, err error) {
	done := make(chan struct{})
	go func() { // on a thread that ends with it
		defer close(done)
		met, code, err = traced(args, ask)
	}()
	<-done
	return met, code, err
}

// traced is trace on a thread that is no good for anything else: what it starts has its filter, by which only the calls
// that change something stop the program. Where the kernel takes no filter, every call does.
func traced(args []string, ask func(met int, name string) (counts, kill bool)) (met, code int, err error) {
	runtime.LockOSThread()
	resume := unix.PtraceCont
	if !filtered() {
		resume = unix.PtraceSyscall
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	leader := cmd.Process.Pid
	var ws unix.WaitStatus
	if _, err := unix.Wait4(leader, &ws, 0, nil); err != nil {
		return 0, 0, fmt.Errorf("wait for the start: %w", err)
	}
	options := unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
		unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(leader, options); err != nil {
		return 0, 0, fmt.Errorf("set options: %w", err)
	}
	alive := map[int]bool{leader: true} // threads of the program, and of what it has started
	for pid, signal := leader, 0; ; {
		// A thread that died meanwhile cannot go on; its end is reported by wait.
		if err := resume(pid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return met, 0, fmt.Errorf("continue: %w", err)
		}
	next:
		pid, err = unix.Wait4(-1, &ws, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			goto next
		case err != nil:
			return met, 0, fmt.Errorf("wait: %w", err)
		case ws.Exited() && pid == leader:
			return met, ws.ExitStatus(), nil
		case ws.Signaled() && pid == leader:
			return met, 128 + int(ws.Signal()), nil
		case !ws.Stopped(): // another thread's end
			delete(alive, pid)
			goto next
		}
		alive[pid] = true
		signal = int(ws.StopSignal())
		switch {
		case signal == int(unix.SIGTRAP)|0x80, ws.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
			signal = 0
			if name := entered(pid); name != "" {
				counts, kill := ask(met, name)
				if counts {
					met++
				}
				if kill { // what it has started to work for it dies with it
					for thread := range alive {
						if err := unix.Kill(thread, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
							return met, 0, fmt.Errorf("kill: %w", err)
						}
					}
				}
			}
		case slices.Contains([]int{int(unix.SIGTRAP), int(unix.SIGSTOP)}, signal):
			signal = 0 // an event, or the first stop of a new thread
		}
	}
}

// entered is the name of the changing system call that a stopped thread is about to make; empty for any other stop.
func entered(pid int) string {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(pid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 || info.op != unix.PTRACE_SYSCALL_INFO_ENTRY && info.op != unix.PTRACE_SYSCALL_INFO_SECCOMP {
		return ""
	}
	if info.nr == unix.SYS_OPENAT && info.args[2]&unix.O_CREAT != 0 {
		return "openat"
	}
	return changing[info.nr]
}

// filtered has the calling thread, and what it starts, stop at the changing system calls alone. Where nobody traces it
// such a call fails: the tracer makes none.
func filtered() bool {
	// Offsets in struct seccomp_data: the call's number, and the low half of the third argument, of openat its flags.
	const number, flags = 0, 16 + 2*8
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(with uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with} }
	program := []unix.SockFilter{load(number)}
	for nr := range changing { // each is followed by its answer
		is := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)} //nolint:gosec // a number
		program = append(program, is, answer(unix.SECCOMP_RET_TRACE))
	}
	program = append(program,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: unix.SYS_OPENAT},
		load(flags),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: unix.O_CREAT},
		answer(unix.SECCOMP_RET_TRACE),
		answer(unix.SECCOMP_RET_ALLOW))
	set := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // some dozens
	install := func() bool {
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&set)))
		return errno == 0
	}
	// Without rights the kernel takes one only from who gives up getting any.
	return install() || unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == nil && install()
}
