//go:build unix

package gitinfo

import (
	"os/exec"
	"syscall"
)

// killWhole has a process killed together with all that it starts.
func killWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
