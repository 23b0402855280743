package clients

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// kinOf reads what the system tells of a process: its stat (proc(5)), its file and its arguments.
func kinOf(pid int) (kin, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	b, err := os.ReadFile(dir + "/stat")
	from, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')') // the name between them may hold anything
	if err != nil || from < 0 || end < from {
		return kin{}, false
	}
	fields := strings.Fields(string(b[end+1:])) // state, ppid, pgrp, session, tty_nr
	if len(fields) < 5 {
		return kin{}, false
	}
	p := kin{pid: pid, name: string(b[from+1 : end]), args: arguments(pid), terminal: fields[4] != "0"}
	p.parent, _ = strconv.Atoi(fields[1])
	p.session, _ = strconv.Atoi(fields[3])
	p.exe, _ = os.Readlink(dir + "/exe")
	return p, true
}

// environOf is the environment that a process was started with, nil where it cannot be read.
func environOf(pid int) []string {
	return splitArguments(readCommandLine("/proc/"+strconv.Itoa(pid)+"/environ", make([]byte, 4<<10)))
}
