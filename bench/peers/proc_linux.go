package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc/<pid>/stat: 1/USER_HZ s, which is 100 wherever Linux runs Go.
const tick = 10 * time.Millisecond

// memory is what a process has in memory now, and had at most, in bytes (proc(5), VmRSS and VmHWM).
func memory(pid int) (now, most int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kb, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "VmRSS:":
			now = kb << 10
		case "VmHWM:":
			most = kb << 10
		}
	}
	return now, most, err
}

// cpuTime is what a process has used since it began, user and system, to the tick.
func cpuTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])) // from the third field on: the second may hold anything
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, b)
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * tick, nil
}

// watches counts the directories that a process has watched: what it says of itself may be wrong, this is not.
func watches(pid int) (n int, err error) {
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	for _, info := range infos {
		b, err := os.ReadFile(info)
		if err != nil {
			continue // closed meanwhile
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "inotify wd:") {
				n++
			}
		}
	}
	return n, err
}
