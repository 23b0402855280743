package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"time"

	"rewind/api"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/objstore"
)

// keyBytes is what an object's key takes besides its envelope.
const keyBytes = 2 + len(objstore.Key{})

// A collected is what gc did and took.
type collected struct {
	Wall        time.Duration `json:"wall_ns"`
	CPU         time.Duration `json:"cpu_ns"`
	Peak        int64         `json:"peak_resident_bytes"`
	Checkpoints int           `json:"checkpoints_removed"`
	Kept        int           `json:"checkpoints_kept"`
	Objects     int           `json:"objects_removed"`
	Garbage     int64         `json:"garbage_bytes"` // of the objects removed, with their keys
	DiskBefore  int64         `json:"disk_before_bytes"`
	DiskAfter   int64         `json:"disk_after_bytes"`
}

// back is what part of the garbage the file system has back, in percent.
func (c *collected) back() float64 {
	return 100 * float64(c.DiskBefore-c.DiskAfter) / float64(c.Garbage)
}

func (c *collected) took(r api.GCResponse) error {
	c.Checkpoints, c.Kept, c.Objects, c.Garbage = r.Checkpoints, r.Kept, r.Objects, r.Bytes+int64(r.Objects*keyBytes)
	if r.Checkpoints == 0 || r.Objects == 0 {
		return fmt.Errorf("gc removed %d checkpoints and %d objects", r.Checkpoints, r.Objects)
	}
	return nil
}

// A calls is how long calls took, and when gc was not there, was, and had been.
type calls struct {
	Before []time.Duration `json:"before_ns"`
	During []time.Duration `json:"during_ns,omitempty"`
	After  []time.Duration `json:"after_ns"`
}

// measureStore measures gc alone, and in the daemon.
func (b *bench) measureStore(ctx context.Context) error {
	b.say("gc alone")
	if err := b.alone(ctx); err != nil {
		return err
	}
	b.say("gc in the daemon")
	return b.beside(ctx)
}

// half is the command by which the older half goes.
func (b *bench) half() []string {
	return []string{"gc", "--yes", "--older", strconv.FormatInt(int64(b.opt.span/2/time.Second), 10) + "s"}
}

func (b *bench) alone(ctx context.Context) (err error) {
	w, err := b.world(ctx, "alone", "REWIND_DAEMON=off")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	store, err := storeOf(w.home)
	if err != nil {
		return err
	}
	c := &collected{}
	if c.DiskBefore, err = diskOf(store); err != nil {
		return err
	}
	var answer api.GCResponse
	r, err := w.ask(ctx, &answer, b.half()...)
	if err != nil {
		return err
	}
	c.Wall, c.CPU, c.Peak = r.wall, r.cpu, r.peak
	if c.DiskAfter, err = diskOf(store); err != nil {
		return err
	}
	b.found.Alone = c
	if err := c.took(answer); err != nil {
		return err
	}
	var verified api.VerifyResponse
	_, err = w.ask(ctx, &verified, "verify", "--quick")
	return err
}

// beside has hooks and commands come before gc in the daemon, while it runs, and after.
func (b *bench) beside(ctx context.Context) (err error) {
	w, err := b.world(ctx, "daemon")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	pid, err := w.daemon(ctx)
	if err != nil {
		return err
	}
	all, err := workload.Files(b.tree)
	if err != nil {
		return err
	}
	editor, err := workload.NewEditor(b.tree, workload.Editable(all), 2)
	if err != nil {
		return err
	}
	hooks := &calls{}
	b.found.Hooks, b.found.Commands = hooks, map[string]*calls{}
	for range 10 { // these do not count
		if _, err := w.hook(ctx, editor); err != nil {
			return err
		}
	}
	if err := w.hooksFor(ctx, editor, &hooks.Before, nil); err != nil {
		return err
	}
	if err := w.commands(ctx, func(c *calls) *[]time.Duration { return &c.Before }); err != nil {
		return err
	}
	if hooks.During, err = w.collecting(ctx, editor, pid); err != nil {
		return err
	}
	if err := w.hooksFor(ctx, editor, &hooks.After, nil); err != nil {
		return err
	}
	return w.commands(ctx, func(c *calls) *[]time.Duration { return &c.After })
}

// collecting runs gc in the daemon and hooks beside it.
func (w *world) collecting(ctx context.Context, editor *workload.Editor, pid int) (during []time.Duration, err error) {
	c := &collected{}
	w.found.Beside = c
	store, err := storeOf(w.home)
	if err != nil {
		return nil, err
	}
	if c.DiskBefore, err = diskOf(store); err != nil {
		return nil, err
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // the most so far counts from now on, where that can be had
	used := cpuOf(pid)
	var answer api.GCResponse
	var r ran
	ended := make(chan error)
	stop := make(chan struct{})
	go func() {
		var err error
		r, err = w.ask(ctx, &answer, w.half()...)
		close(stop)
		ended <- err
	}()
	err = w.hooksFor(ctx, editor, &during, stop)
	err = errors.Join(err, <-ended)
	if err != nil {
		return nil, err
	}
	c.Wall, c.CPU, c.Peak = r.wall, cpuOf(pid)-used, peakOf(pid)
	if c.DiskAfter, err = diskOf(store); err != nil {
		return nil, err
	}
	return during, c.took(answer)
}

// restTime is how long the machine is left alone after a hook.
const restTime = 20 * time.Millisecond

// hooksFor sends hooks, each after an edit: so many as there are to be, or until stop.
func (w *world) hooksFor(ctx context.Context, editor *workload.Editor, into *[]time.Duration, stop <-chan struct{}) error {
	for n := 0; stop != nil || n < w.opt.hooks; n++ {
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(restTime):
		}
		d, err := w.hook(ctx, editor)
		if err != nil {
			return err
		}
		*into = append(*into, d)
	}
	return nil
}

// hook edits a line and runs the client as Claude Code does. It always exits with 0; what it has to complain about it prints.
func (w *world) hook(ctx context.Context, editor *workload.Editor) (time.Duration, error) {
	ed, err := editor.Next()
	if err != nil {
		return 0, err
	}
	type object = map[string]any
	in, err := json.Marshal(object{
		"session_id": "c9455afc-4741-4ac5-9e9b-ead6c3afbe0a", "cwd": w.tree, "permission_mode": "acceptEdits", "hook_event_name": "PostToolUse",
		"transcript_path": filepath.Join(w.dir, "transcript.jsonl"), // it is not there
		"tool_name":       "Edit", "tool_use_id": "toolu_" + strconv.FormatInt(time.Now().UnixNano(), 36),
		"tool_input":    object{"file_path": filepath.Join(w.tree, filepath.FromSlash(ed.Path)), "old_string": "a", "new_string": "b"},
		"tool_response": object{"filePath": filepath.Join(w.tree, filepath.FromSlash(ed.Path)), "originalFile": string(ed.Data)},
	})
	if err != nil {
		return 0, err
	}
	r, err := w.run(ctx, in, w.client, "post-tool-use", "--agent", "claude")
	if err == nil && len(r.out) > 0 {
		err = fmt.Errorf("the hook said %.200q", r.out)
	}
	return r.wall, err
}

// commands calls what looks at the history.
func (w *world) commands(ctx context.Context, into func(*calls) *[]time.Duration) error {
	for range w.opt.calls {
		for _, args := range [][]string{{"list"}, {"show", "@~5"}, {"status"}} {
			r, err := w.run(ctx, nil, append([]string{w.rewind}, args...)...)
			if err == nil && len(r.out) == 0 {
				err = fmt.Errorf("rewind %s says nothing", args[0])
			}
			if err != nil {
				return err
			}
			c := w.found.Commands[args[0]]
			if c == nil {
				c = &calls{}
				w.found.Commands[args[0]] = c
			}
			*into(c) = append(*into(c), r.wall)
		}
	}
	return nil
}

// profileCollect runs gc in this process, on a copy.
func (b *bench) profileCollect(ctx context.Context) (err error) {
	home := filepath.Join(b.dir, "profiled")
	if err := os.CopyFS(home, os.DirFS(b.home)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	if err := engine.SetConfig(engine.Home{Dir: home}, b.tree, "gc.keep_all", []string{"forever"}); err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Home{Dir: home}, b.tree, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	end, err := b.profiled("collect")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	began, used := time.Now(), cpuOf(os.Getpid())
	r, err := collect(ctx, e, engine.GCOptions{Older: b.opt.span / 2})
	if err != nil {
		return err
	}
	b.say("gc: %v, cpu %v, peak %d MB: %+v", time.Since(began).Round(time.Millisecond), cpuOf(os.Getpid())-used, peakOf(os.Getpid())>>20, *r)
	return nil
}

// profiled begins a profile of the processor, and ends it with one of what was allocated.
func (b *bench) profiled(name string) (end func() error, err error) {
	if b.opt.profile == "" {
		return func() error { return nil }, nil
	}
	runtime.MemProfileRate = 64 << 10
	cpu, err := os.Create(filepath.Join(b.opt.profile, name+".cpu"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		allocs, err := os.Create(filepath.Join(b.opt.profile, name+".allocs"))
		if err == nil {
			err = errors.Join(pprof.Lookup("allocs").WriteTo(allocs, 0), allocs.Close())
		}
		return errors.Join(cpu.Close(), err)
	}, nil
}

// collect is gc in this process, with the heap growing as the daemon has it meanwhile.
func collect(ctx context.Context, e *engine.Engine, o engine.GCOptions) (*engine.Collected, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	return e.GC(ctx, o)
}
