//go:build unix

package clients

import (
	"os/exec"
	"syscall"
)

// alone gives a program a process group of its own: what npm installs is a script that starts the program proper.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the program, and all that is in its group, to end.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// destroy ends them.
func destroy(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Process.Kill()
}
