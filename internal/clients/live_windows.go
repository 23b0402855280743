package clients

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// locked is not known here.
func locked(string) (held bool, pid int, err error) { return false, 0, errors.ErrUnsupported }

// startOf says when a process began, if it runs.
func startOf(pid int) (started, bool) {
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return started{}, true
	}
	if err != nil {
		return started{}, false
	}
	defer func() { _ = windows.CloseHandle(p) }()
	var made, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(p, &made, &ended, &kernel, &user); err != nil {
		return started{}, true
	}
	const running = 259 // STILL_ACTIVE
	if code := uint32(0); windows.GetExitCodeProcess(p, &code) == nil && code != running {
		return started{}, false
	}
	return started{at: time.Unix(0, made.Nanoseconds())}, true
}
