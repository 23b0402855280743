package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/bench/workload"
)

// A whole run on a small tree: every peer that is asked for has a line, restores are right, nothing stays behind.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	scratch, file := t.TempDir(), filepath.Join(t.TempDir(), "out.json")
	var out, errs bytes.Buffer
	err := run([]string{"-ops", "checkpoint", "-corpus", "generated:30", "-n", "3", "-first", "1", "-restores", "2", "-peers", "empty,git-fsync,rewind", "-repo", "-scratch", scratch, "-json", file}, &out, &errs)
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	if n := strings.Count(out.String(), "2 of 2 right"); n != 2 {
		t.Errorf("%d peers restored rightly, want 2:\n%s", n, &out)
	}
	if n := strings.Count(out.String(), "\n  git-fsync "); n != 5 {
		t.Errorf("git-fsync has %d lines, want 5:\n%s", n, &out)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte(`"restored_right": 2`)) {
		t.Errorf("JSON: %v\n%s", err, b)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-restores", "-1"}, {"here"}, {"-corpus", "generated:x"}, {"-ops", "cook"}, {"-sizes", "28q"}, {"-calls", "0"}, {"-rows", "soup"}, {"-files", "x"}, {"-rounds", "0"}, {"-corpus", "nowhere at all"}, {"-corpus", "generated:3", "-n", "1", "-peers", "cvs"}} {
		scratch := t.TempDir()
		if err := run(append([]string{"-scratch", scratch, "-rewind", "unused"}, args...), new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("%q was accepted", args)
		}
		if left, _ := os.ReadDir(scratch); len(left) > 0 {
			t.Errorf("%q left %v behind", args, left)
		}
	}
}

// A corpus is never written, and what makes a run worthless makes it fail.
func TestFailed(t *testing.T) {
	b := &bench{peers: []peer{&emptyPeer{}, &rewindPeer{home: "x"}}, result: []*result{{Name: "empty", Restore: make([]sample, 3)}, {Name: "rewind", Restore: make([]sample, 3), Right: 3}}}
	if err := b.failed(); err != nil {
		t.Error(err)
	}
	b.result[1].Right = 2
	if err := b.failed(); err == nil || !strings.Contains(err.Error(), "1 of 3 restores") {
		t.Errorf("a wrong restore: %v", err)
	}
	b.result[1].Right, b.result[1].Failure = 3, "no disk"
	if err := b.failed(); err == nil {
		t.Error("a peer that failed is no failure")
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
	s := func(ms ...int) (list []sample) {
		for _, m := range ms {
			list = append(list, sample{Wall: time.Duration(m) * time.Millisecond})
		}
		return list
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
	if got := ratios(s(10, 30, 5), s(5, 10)); !slices.Equal(got, []float64{2, 3}) {
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
