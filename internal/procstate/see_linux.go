package procstate

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// See looks at a process.
func See(pid int) Process { return see(os.DirFS("/proc"), pid) }

func see(proc fs.FS, pid int) Process {
	p := Process{PID: pid, State: Alive}
	dir := strconv.Itoa(pid)
	name, letter, err := stat(proc, dir+"/stat")
	if errors.Is(err, fs.ErrNotExist) {
		p.State = Gone
		return p
	}
	p.Name, p.State = name, stateOf(letter)
	if p.State != Alive {
		return p
	}
	// What a process waits for is told by its threads, of which the first may sleep.
	threads, _ := fs.ReadDir(proc, dir+"/task")
	for _, t := range threads {
		if _, letter, err := stat(proc, dir+"/task/"+t.Name()+"/stat"); err == nil && stateOf(letter) == Disk {
			p.State = Disk
		}
	}
	return p
}

// stat reads a name, which may have brackets and blanks, and the letter behind it.
func stat(proc fs.FS, name string) (command string, letter byte, err error) {
	b, err := fs.ReadFile(proc, name)
	if err != nil {
		return "", 0, err
	}
	text := string(b)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open || len(text) < end+3 {
		return "", 0, nil
	}
	return text[open+1 : end], text[end+2], nil
}

func stateOf(letter byte) State {
	switch letter {
	case 'T', 't':
		return Stopped
	case 'D':
		return Disk
	case 'Z', 'X', 'x':
		return Gone
	}
	return Alive
}

// Boot is when this machine was started; the zero time: it does not tell.
func Boot() time.Time {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(b)) {
		if n, ok := strings.CutPrefix(line, "btime "); ok {
			if at, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64); err == nil {
				return time.Unix(at, 0)
			}
		}
	}
	return time.Time{}
}
