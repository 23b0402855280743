package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"rewind/api"
)

// A world is a copy of the store with a home of its own, and programs that work on it.
type world struct {
	*bench
	home string
	env  []string
}

// A ran is a program that has ended.
type ran struct {
	wall, cpu time.Duration
	peak      int64 // most of it in memory, bytes; 0: this system does not tell
	out       []byte
}

// build makes the programs, as they are shipped.
func (b *bench) build(ctx context.Context) error {
	if b.rewind != "" {
		return nil
	}
	for _, name := range []string{"rewind", "rewindd", "smart-checkpoint"} {
		to := filepath.Join(b.dir, name)
		cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-X main.release=v0.0.0-bench", "-o", to, "./cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", name, errors.Join(ctx.Err(), err), out)
		}
	}
	b.rewind, b.client = filepath.Join(b.dir, "rewind"), filepath.Join(b.dir, "smart-checkpoint")
	return nil
}

// world copies the store: what is measured changes it. The tree is that of all.
func (b *bench) world(ctx context.Context, name string, env ...string) (*world, error) {
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	w := &world{bench: b, home: filepath.Join(b.dir, name)}
	if err := os.CopyFS(w.home, os.DirFS(b.home)); err != nil {
		return nil, err
	}
	user := filepath.Join(b.dir, "user")
	for _, v := range os.Environ() {
		if up := strings.ToUpper(v); !strings.HasPrefix(up, "REWIND_") && !strings.HasPrefix(up, "HOME=") && !strings.HasPrefix(up, "XDG_") && !strings.HasPrefix(up, "GIT_") {
			w.env = append(w.env, v)
		}
	}
	w.env = append(append(w.env, "HOME="+user, "REWIND_HOME="+w.home), env...)
	// What is younger than half the span stays, whatever the policy would thin.
	for _, setting := range [][]string{{"gc.keep_all", "forever"}, {"gc.auto", "false"}} {
		if _, err := w.run(ctx, nil, append([]string{w.rewind, "config", "--global"}, setting...)...); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// run runs a program in the tree to its end; in: its standard input.
func (w *world) run(ctx context.Context, in []byte, args ...string) (r ran, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.tree, w.env, bytes.NewReader(in), &out, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	most, ended := watchPeak(cmd.Process.Pid)
	err = cmd.Wait()
	r.wall = time.Since(began)
	ended()
	r.cpu, r.peak, r.out = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), most.Load(), out.Bytes()
	if err != nil {
		return r, fmt.Errorf("%s: %w: %.300s", strings.Join(args[:min(len(args), 4)], " "), errors.Join(ctx.Err(), err), errs.String())
	}
	return r, nil
}

// ask runs rewind and reads its answer.
func (w *world) ask(ctx context.Context, into any, args ...string) (ran, error) {
	r, err := w.run(ctx, nil, append([]string{w.rewind, "--json"}, args...)...)
	if err == nil {
		err = json.Unmarshal(r.out, into)
	}
	return r, err
}

// daemon starts it, if it does not run, and gives its process.
func (w *world) daemon(ctx context.Context) (pid int, err error) {
	if _, err := w.ask(ctx, &struct{}{}, "status"); err != nil {
		return 0, err
	}
	var status struct{ Daemon api.Daemon }
	if _, err := w.ask(ctx, &status, "daemon", "status"); err != nil {
		return 0, err
	}
	if !status.Daemon.Running {
		return 0, errors.New("no daemon runs")
	}
	return status.Daemon.PID, nil
}

// end ends the daemon and removes the copy.
func (w *world) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := w.run(ctx, nil, w.rewind, "daemon", "stop")
	return errors.Join(err, os.RemoveAll(w.home))
}

// watchPeak reads now and then what a process has in memory at most, until ended is called or it is gone.
func watchPeak(pid int) (most *atomic.Int64, ended func()) {
	most = &atomic.Int64{}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
			if n := peakOf(pid); n > 0 {
				most.Store(n)
			}
		}
	}()
	return most, cancel
}

// peakOf is what a process had in memory at most, in bytes (proc(5), VmHWM); 0: not known.
func peakOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// cpuOf is what a process has used so far, to 10 ms; 0: not known.
func cpuOf(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
