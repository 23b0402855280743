package clients

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// alone keeps the program from showing a window.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
}

// terminate does nothing: its standard input is closed, which it takes as the end.
func terminate(*exec.Cmd) {}

// destroy ends the program; what a script of npm has started sees the end of its standard input.
func destroy(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
