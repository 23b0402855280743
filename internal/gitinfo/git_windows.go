package gitinfo

import "os/exec"

// killWhole leaves it at the process itself.
func killWhole(*exec.Cmd) {}
