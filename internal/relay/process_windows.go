package relay

import (
	"os"
	"strings"
	"syscall"
)

const rootDir = ""

// detachedProcess is DETACHED_PROCESS: no console.
const detachedProcess = 0x8

func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

func keepsHere(name string) bool {
	switch strings.ToUpper(name) {
	case "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "PATHEXT", "COMSPEC":
		return true
	}
	return strings.EqualFold(name, pathVariable) // the system's own directories are in it
}

var systemPath []string

func ownUmask() (restore func()) { return func() {} }

// closeOnExec has nothing to do: only named handles are inherited.
func closeOnExec() {}

// startLock does not exclude others here; the daemon's own lock does.
func startLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
