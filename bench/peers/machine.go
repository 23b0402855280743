package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
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
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Date: time.Now().UTC().Truncate(time.Second)}
	m.CPU, m.System, m.Disk = system(dir)
	if out, err := exec.CommandContext(ctx, "git", "version").Output(); err == nil {
		m.Git = strings.TrimSpace(strings.TrimPrefix(string(out), "git version "))
	}
	return m
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores; %s; %s; %s, git %s; %s", m.CPU, m.Cores, m.System, m.Disk, m.Go, m.Git, m.Date.Format("2006-01-02 15:04 UTC"))
}
