package clients

import (
	"bytes"
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// kinOf reads what the system tells of a process.
func kinOf(pid int) (kin, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return kin{}, false
	}
	p := kin{pid: pid, parent: int(info.Eproc.Ppid), terminal: info.Eproc.Tdev != -1}
	p.name = string(bytes.TrimRight(info.Proc.P_comm[:], "\x00"))
	p.exe, p.args, _ = startedWith(pid)
	p.session, _ = unix.Getsid(pid)
	return p, true
}

// environOf is the environment that a process was started with, nil where it cannot be read.
func environOf(pid int) []string {
	_, _, environ := startedWith(pid)
	return environ
}

// startedWith reads kern.procargs2: the number of arguments, the program's path, zeros, the arguments, the environment.
func startedWith(pid int) (exe string, args, environ []string) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return "", nil, nil
	}
	n := int(binary.NativeEndian.Uint32(b))
	path, rest, _ := strings.Cut(string(b[4:]), "\x00")
	words := strings.Split(strings.TrimLeft(rest, "\x00"), "\x00")
	n = min(n, len(words))
	return path, words[:n], words[n:]
}
