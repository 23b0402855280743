package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/bench/workload"
	"rewind/internal/torture"
)

// Commands without a daemon on a small tree: everybody has a line, restores are right, nothing stays behind.
func TestRun(t *testing.T) {
	if !torture.Today(3) { // the tool is tested here, and no promise: on one day of three
		return
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	scratch := t.TempDir()
	var out, errs bytes.Buffer
	err := run([]string{
		"-rows", "commands", "-corpus", "generated", "-files", "30", "-n", "3", "-first", "1", "-restores", "2", "-age",
		"0", "-repo", "-scratch", scratch,
	}, &out, &errs)
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	for peer, lines := range map[string]int{
		"a program that does nothing": 3, "git add -A; git commit": 5,
		"the second with core.fsync=all core.fsyncMethod": 5,
	} {
		if n := strings.Count(out.String(), peer); n != lines {
			t.Errorf("%s has %d lines, want %d:\n%s", peer, n, lines, &out)
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "0"},
		{"-restores", "-1"},
		{"here"},
		{"-corpus", "generated:x"},
		{"-ops", "cook"},
		{"-axes", "time"},
		{"-draw", "x"},
		{"-rows", "soup"},
		{"-files", "x"},
		{"-rounds", "0"},
		{"-corpus", "nowhere at all"},
	} {
		scratch := t.TempDir()
		if err := run(append([]string{"-scratch", scratch, "-rewind", "unused"}, args...), new(bytes.Buffer),
			new(bytes.Buffer)); err == nil {
			t.Errorf("%q was accepted", args)
		}
		if left, _ := os.ReadDir(scratch); len(left) > 0 {
			t.Errorf("%q left %v behind", args, left)
		}
	}
}

// What makes a run worthless makes it fail.
func TestFailed(t *testing.T) {
	tab := &table{lines: []line{{What: "hook"}}}
	if err := tab.failed(); err != nil {
		t.Error(err)
	}
	tab.lines = append(tab.lines, line{What: "commands", Failure: "a restore is not what was kept"})
	if err := tab.failed(); err == nil || !strings.Contains(err.Error(), "commands: a restore") {
		t.Errorf("a wrong restore: %v", err)
	}
}

func TestStatistics(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(c.v); got != c.want {
			t.Errorf("median of %v is %v", c.v, got)
		}
	}
	for _, c := range []struct {
		n, p int
		want float64
	}{{0, 99, 0}, {1, 99, 1}, {100, 99, 99}, {101, 99, 100}, {10, 50, 5}, {3, 0, 1}} {
		var v []float64
		for i := range c.n {
			v = append(v, float64(c.n-i))
		}
		if got := highest(v, c.p); got != c.want {
			t.Errorf("%d of 100 values of 1 to %d are up to %v, want %v", c.p, c.n, got, c.want)
		}
	}
	if got := ratios([]float64{10, 30, 5}, []float64{5, 10}); !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("ratios %v", got)
	}
	d := workload.Disk{Apparent: 5, Blocks: 9}.Sub(workload.Disk{Apparent: 2, Blocks: 1})
	if d.Apparent != 3 || d.Blocks != 8 {
		t.Errorf("difference %+v", d)
	}
}

func TestCleanEnv(t *testing.T) {
	t.Setenv("GIT_DIR", "elsewhere")
	t.Setenv("REWIND_HOME", "elsewhere")
	t.Setenv("XDG_CONFIG_HOME", "elsewhere")
	home := filepath.Join(t.TempDir(), "home")
	env, err := cleanEnv(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range env {
		if strings.HasSuffix(v, "=elsewhere") {
			t.Errorf("%s is still there", v)
		}
	}
	if !slices.Contains(env, "HOME="+home) || !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }) {
		t.Errorf("HOME or PATH is missing: %q", env)
	}
}
