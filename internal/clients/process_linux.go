package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"rewind/transcript"
)

// maxFiles is how many open files of one process are looked at.
const maxFiles = 4096

// maxCommandLine is how much of a command line is read.
const maxCommandLine = 1 << 20

// startOf says when a process began, if it runs: field 22 of its stat. A dead one that nobody has waited for does not
// run.
func startOf(pid int) (started, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return started{}, os.IsPermission(err) && exists(pid)
	}
	end := bytes.LastIndexByte(b, ')') // the name before it may hold anything
	fields := strings.Fields(string(b[end+1:]))
	if end < 0 || len(fields) < 20 {
		return started{}, exists(pid)
	}
	ticks, _ := strconv.ParseUint(fields[19], 10, 64)
	return started{ticks: ticks}, fields[0] != "Z" && fields[0] != "X"
}

// pidDomain names the machine and the namespace of pids as Claude does; "" if that is not known.
func pidDomain() string {
	id, err := readSmall("/etc/machine-id", 256)
	if err != nil {
		return ""
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return "linux:" + strings.TrimSpace(string(id)) + ":" + ns
}

// lockHolder is the process that holds the file's flock, 0 if that cannot be seen.
func lockHolder(f *os.File) int {
	fi, err := f.Stat()
	if err != nil {
		return 0
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	locks, err := readProc("/proc/locks", 8<<20)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 24592 fe:00:11159043 0 EOF
		c := strings.Fields(line)
		if len(c) < 6 || c[1] != "FLOCK" || !strings.HasSuffix(c[5], ":"+strconv.FormatUint(st.Ino, 10)) {
			continue
		}
		if pid, err := strconv.Atoi(c[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}

// processLive looks through the processes of this user for one of the agent. told are those that have said on which
// session they are.
func (l *Processes) processLive(
	agent transcript.Agent, find func() sessionPlace, session string, told map[int]bool, guess bool,
) Live {
	var live Live
	var at *sessionPlace // most often no program runs: then its files need not be looked for
	l.take()
	for i := range l.procs {
		p := &l.procs[i]
		if p.agent != agent || told[p.pid] {
			continue
		}
		if at == nil {
			place := find()
			at = &place
		}
		switch name := programs[agent][0]; {
		case names(p.args, session):
			return Live{Running: true, How: fmt.Sprintf("%s process %d was started on it", name, p.pid), PID: p.pid}
		case p.opens(at.files):
			return Live{Running: true, How: fmt.Sprintf("%s process %d has its file open", name, p.pid), PID: p.pid}
		case guess && !live.Running && at.folder != nil:
			if cwd := p.folder(); cwd != "" && at.folder(cwd) {
				how := fmt.Sprintf("%s process %d runs in its folder %s, on which session is not known", name, p.pid, cwd)
				live = Live{Running: true, How: how, PID: p.pid, Guess: true}
			}
		}
	}
	return live
}

// take lists the processes of this user that run a program of an agent, once.
func (l *Processes) take() {
	if l.taken {
		return
	}
	l.taken = true
	list, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer list.Close()
	names, _ := list.Readdirnames(-1)
	self, buf := os.Getpid(), make([]byte, 4<<10)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		dir := "/proc/" + name
		n, err := retried(func() (int, error) { return syscall.Readlink(dir+"/exe", buf) })
		if errors.Is(err, fs.ErrNotExist) || err != nil && !ours(dir) {
			continue // the kernel's, one that has ended, or another user's
		}
		exe := string(buf[:max(n, 0)])
		args := splitArguments(readCommandLine(dir+"/cmdline", buf))
		for agent := range programs {
			if runs(agent, exe, args) && ours(dir) { // whose it is is asked of few
				l.procs = append(l.procs, process{pid: pid, dir: dir, agent: agent, args: args})
			}
		}
	}
}

// ours reports whether a process is this user's.
func ours(dir string) bool {
	fi, err := os.Stat(dir)
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// arguments is the command line of a process, nil if that cannot be read.
func arguments(pid int) []string {
	return splitArguments(readCommandLine("/proc/"+strconv.Itoa(pid)+"/cmdline", make([]byte, 4<<10)))
}

func splitArguments(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// retried is a call of the system, made again where a signal broke it off.
func retried(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// readCommandLine reads a file of the process list, into buf if it has room, with as few calls of the system as there
// can be: each look reads one for each process of the user. Where less comes than was asked for, there is no more.
func readCommandLine(path string, buf []byte) []byte {
	fd, err := retried(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	b := buf[:0]
	for {
		n, err := retried(func() (int, error) { return syscall.Read(fd, b[len(b):cap(b)]) })
		if err != nil {
			return nil
		}
		b = b[:len(b)+n]
		if len(b) < cap(b) || len(b) >= maxCommandLine {
			return b[:min(len(b), maxCommandLine)]
		}
		b = slices.Grow(b, 1)
	}
}

// runs reports whether a process, by its file and its arguments, is a program of the agent.
func runs(agent transcript.Agent, exe string, args []string) bool {
	if len(args) == 0 {
		return false
	}
	is := func(path string) bool { return slices.Contains(programs[agent], filepath.Base(path)) }
	if is(strings.TrimSuffix(exe, " (deleted)")) || is(args[0]) {
		return true
	}
	switch filepath.Base(args[0]) {
	case "node", "nodejs", "bun", "deno":
	default:
		return false
	}
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "-") {
			continue
		}
		// .../bin/gemini, or .../node_modules/@google/gemini-cli/bundle/gemini.js
		return is(strings.TrimSuffix(a, filepath.Ext(a))) || slices.ContainsFunc(strings.Split(a, "/"), is)
	}
	return false
}

// names reports whether the session stands on the command line of a process.
func names(args []string, session string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == session || strings.HasSuffix(a, "="+session) || strings.HasSuffix(a, "/"+session+".jsonl")
	})
}

// opens reports whether a process has one of the files open. Which it has open is looked at once.
func (p *process) opens(files []string) bool {
	if len(files) == 0 {
		return false
	}
	if p.open == nil {
		p.open = map[string]bool{}
		if d, err := os.Open(p.dir + "/fd"); err == nil {
			fds, _ := d.Readdirnames(maxFiles)
			_ = d.Close()
			for _, fd := range fds {
				if to, err := os.Readlink(p.dir + "/fd/" + fd); err == nil {
					p.open[to] = true
				}
			}
		}
	}
	return slices.ContainsFunc(files, func(f string) bool { return p.open[f] })
}

// folder is where a process runs, "" if that cannot be seen; it is looked at once.
func (p *process) folder() string {
	if p.cwd == nil {
		cwd, err := os.Readlink(p.dir + "/cwd")
		if err != nil {
			cwd = ""
		}
		p.cwd = &cwd
	}
	return *p.cwd
}

// readProc reads what the system tells in a file, at most limit bytes.
func readProc(path string, limit int64) ([]byte, error) {
	b, err := readSmall(path, limit)
	if int64(len(b)) > limit {
		return b[:limit], nil
	}
	return b, err
}
