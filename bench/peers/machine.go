package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A machine is where and when a run was.
type machine struct {
	CPU    string    `json:"cpu"`
	Cores  int       `json:"cores"`
	System string    `json:"system"`
	Disk   string    `json:"file_system"`
	Go     string    `json:"go"`
	Git    string    `json:"git"`
	Date   time.Time `json:"date"`
}

func describe(ctx context.Context, dir string) machine {
	last := func(args ...string) string { // of the last line
		out, _ := exec.CommandContext(ctx, args[0], args[1:]...).Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return strings.TrimSpace(lines[len(lines)-1])
	}
	m := machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(), Date: time.Now().UTC().Truncate(time.Second)}
	m.System, m.Disk = last("uname", "-sr"), last("df", "--output=fstype", dir)
	m.Git = strings.TrimPrefix(last("git", "version"), "git version ")
	if m.Disk == "" {
		m.Disk = "unknown file system"
	}
	info, _ := os.ReadFile("/proc/cpuinfo")
	if name := field(string(info), "model name"); name != "" {
		m.CPU = name
	}
	return m
}

func (m machine) String() string {
	date := m.Date.Format("2006-01-02 15:04 UTC")
	return fmt.Sprintf("%s, %d cores; %s; %s; %s, git %s; %s", m.CPU, m.Cores, m.System, m.Disk, m.Go, m.Git, date)
}

// field gives what stands behind a name and a colon, of the first line that has it.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// The rest is told by Linux alone.

// tick is the unit of the times in /proc/<pid>/stat: 1/USER_HZ s, which is 100 wherever Linux runs Go.
const tick = 10 * time.Millisecond

// memory is what a process has in memory now, and had at most, in bytes (proc(5), VmRSS and VmHWM).
func memory(pid int) (now, most float64) {
	b := get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))
	kb := func(name string) float64 {
		n, _ := strconv.Atoi(strings.TrimSuffix(field(string(b), name), " kB"))
		return float64(n) * 1024
	}
	return kb("VmRSS"), kb("VmHWM")
}

// cpuTime is what a process has used since it began, user and system, in ms to the tick.
func cpuTime(pid int) float64 {
	b := string(get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))))
	f := strings.Fields(b[strings.LastIndexByte(b, ')')+1:]) // from the third field on: the second may hold anything
	want(len(f) > 12, "/proc/%d/stat: %q", pid, b)
	return ms(time.Duration(get(strconv.Atoi(f[11]))+get(strconv.Atoi(f[12]))) * tick)
}

// watches counts the directories that a process has watched: what it says of itself may be wrong, this is not. -1: the
// system does not tell.
func watches(pid int) (n int) {
	if runtime.GOOS != "linux" {
		return -1
	}
	for _, info := range get(filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))) {
		b, _ := os.ReadFile(info) // it may be closed by now
		n += strings.Count("\n"+string(b), "\ninotify wd:")
	}
	return n
}
