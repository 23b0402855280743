package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/torture"
)

// usual is a hook with the deadline that agents have.
func (s *site) usual(event, payload string) result {
	return finish(s.client(int(defaultDeadline/time.Millisecond), event, payload))
}

// store is the directory of the project's store.
func (s *site) store() string {
	s.Helper()
	list, err := filepath.Glob(filepath.Join(s.home, "storage", "*"))
	s.check(err)
	if len(list) != 1 {
		s.Fatalf("stores: %q", list)
	}
	return list[0]
}

// newest is the newest file in the store's database whose name ends so.
func (s *site) newest(suffix string) string {
	s.Helper()
	list, err := filepath.Glob(filepath.Join(s.store(), "db", "*"+suffix))
	s.check(err)
	if len(list) == 0 {
		s.Fatalf("no %s in the store", suffix)
	}
	return slices.Max(list)
}

// flip turns bits in a file, in every 512 bytes from the first quarter on.
func (s *site) flip(path string) {
	s.Helper()
	b, err := os.ReadFile(path)
	s.check(err)
	for i := len(b) / 4; i < len(b); i += 512 {
		b[i] ^= 0x55
	}
	s.check(os.WriteFile(path, b, 0o600))
}

// TestPromise03CorruptStore damages a store that no process has open. Hooks go on as if nothing had happened; status,
// or its refusal, says why nothing is captured.
func TestPromise03CorruptStore(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(s *site)
		says   string // what status says, on either stream
		killed bool   // the daemon does not end in order: the log holds something
	}{
		{"tables flipped", func(s *site) {
			list, err := filepath.Glob(filepath.Join(s.store(), "db", "*.sst"))
			s.check(err)
			if len(list) == 0 {
				s.Fatal("no table")
			}
			for _, path := range list {
				s.flip(path)
			}
		}, "corrupt|damaged|checksum", false},
		{"newest log cut", func(s *site) {
			path := s.newest(".log")
			fi, err := os.Stat(path)
			s.check(err)
			s.check(os.Truncate(path, fi.Size()/2))
		}, "corrupt|damaged|history", true},
		{"manifest gone", func(s *site) {
			s.check(os.Remove(s.newest("MANIFEST-" + strings.TrimPrefix(filepath.Base(s.manifest()), "MANIFEST-"))))
		}, "corrupt|damaged|missing", false},
		{"marker gone", func(s *site) { s.check(os.Remove(s.marker())) }, "corrupt|damaged|missing|lost", false},
		{"manifest flipped", func(s *site) { s.flip(s.manifest()) }, "corrupt|damaged", false},
		{
			"format garbled",
			func(s *site) { s.check(os.WriteFile(filepath.Join(s.store(), "format"), []byte("???"), 0o600)) },
			"format|else",
			false,
		},
		{"newer format", func(s *site) {
			s.check(os.WriteFile(filepath.Join(s.store(), "format"), []byte("rewind format 999 999\n"), 0o600))
		}, "newer|upgrade", false},
		{
			"database gone", func(s *site) { s.check(os.RemoveAll(filepath.Join(s.store(), "db"))) },
			"corrupt|damaged|missing|lost", false,
		},
		{"store gone", func(s *site) { s.check(os.RemoveAll(s.store())) }, "put the store back", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write("a", noise(1, 200<<10))
			s.must("init")
			for i := range 3 {
				s.edit(fmt.Sprint("call-", i))
				s.mustCapture("session", fmt.Sprint("call-", i))
			}
			if c.killed {
				// the log is fsynced within a second: what is missing of it then is a damage
				time.Sleep(1500 * time.Millisecond)
				s.kill()
			} else {
				s.stop()
			}
			c.damage(s)
			for i := range 3 {
				call := fmt.Sprint("late-", i)
				s.edit(call)
				s.inTime(s.usual("post-tool-use", s.payload("session", call)))
			}
			r := s.rewind("status")
			if text := r.stdout + r.stderr; !regexp.MustCompile("(?i)" + c.says).MatchString(text) {
				t.Errorf("status, exit %d, does not say why:\n%s", r.code, text)
			} else {
				t.Logf("exit %d: %s", r.code, regexp.MustCompile("(?i)[^\n]*("+c.says+")[^\n]*").FindString(text))
			}
		})
	}
}

func (s *site) manifest() string {
	s.Helper()
	list, err := filepath.Glob(filepath.Join(s.store(), "db", "MANIFEST-*"))
	s.check(err)
	return slices.Max(list)
}

// marker is the file whose name says which manifest counts.
func (s *site) marker() string {
	s.Helper()
	list, err := filepath.Glob(filepath.Join(s.store(), "db", "marker.manifest.*"))
	s.check(err)
	return slices.Max(list)
}

// TestPromise03Surrounded has the places that a hook needs be hostile.
func TestPromise03Surrounded(t *testing.T) {
	start := func(t *testing.T, env ...string) *site {
		s := newSite(t, env...)
		s.must("init")
		s.edit("before")
		s.mustCapture("session", "before")
		return s
	}
	t.Run("read-only home", func(t *testing.T) {
		s := newSite(t)
		s.onSmallDisk()
		s.must("init")
		s.stop()
		s.check(syscall.Mount("", s.home, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		if err := os.WriteFile(filepath.Join(s.home, "x"), nil, 0o600); !errors.Is(err, syscall.EROFS) {
			t.Fatalf("it can be written: %v", err)
		}
		s.edit("call")
		s.inTime(s.usual("post-tool-use", s.payload("session", "call")))
		if r := s.rewind("status"); !strings.Contains(r.stdout+r.stderr, "read-only file system") {
			t.Errorf("status: exit %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		s.check(syscall.Mount("", s.home, "", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", smallDisk)))
		s.clean()
	})
	t.Run("project deleted meanwhile", func(t *testing.T) {
		s := start(t)
		in, out := io.Pipe()
		cmd := s.client(int(defaultDeadline/time.Millisecond), "post-tool-use", "")
		cmd.Stdin = in
		payload := s.payload("session", "call")
		done := make(chan result)
		go func() { done <- finish(cmd) }()
		_, err := io.WriteString(out, payload[:10]) // it runs
		s.check(err)
		s.check(os.RemoveAll(s.project))
		_, err = io.WriteString(out, payload[10:])
		s.check(err, out.Close())
		s.inTime(<-done)
		cmd = s.client(int(defaultDeadline/time.Millisecond), "post-tool-use", payload)
		cmd.Dir = s.base
		s.inTime(finish(cmd))
		// it is made again, and works again
		s.check(os.Mkdir(s.project, 0o755))
		s.must("init")
		s.clean()
	})
	t.Run("daemon hangs", func(t *testing.T) {
		s := start(t)
		pid := s.daemon()
		s.freeze(pid)
		s.edit("call")
		r := s.usual("post-tool-use", s.payload("session", "call"))
		s.inTime(r)
		if r.took < defaultDeadline/2 {
			t.Errorf("it did not hang: %v", r.took)
		}
		s.check(syscall.Kill(pid, syscall.SIGCONT))
		s.clean()
		s.recorded([]string{"before", "final"}, map[string]bool{"before": true, "call": true, "final": true})
	})
	for name, make := range map[string]func(path string) error{
		"not there":      func(string) error { return nil },
		"garbage":        func(path string) error { return os.WriteFile(path, []byte("\x7fELFgarbage"), 0o755) },
		"may not be run": func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"hangs":          func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 5\n"), 0o755) },
		"a directory":    func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.stop()
			whole := s.bin
			s.bin = filepath.Join(s.base, "bin")
			s.check(os.Mkdir(s.bin, 0o755),
				os.Link(filepath.Join(whole, "smart-checkpoint"), filepath.Join(s.bin, "smart-checkpoint")),
				make(filepath.Join(s.bin, "rewind")), make(filepath.Join(s.bin, "rewindd")))
			s.edit("call")
			r := s.usual("post-tool-use", s.payload("session", "call"))
			s.inTime(r)
			if r.stderr == "" && r.took < defaultDeadline/2 {
				t.Error("nothing was wrong")
			}
			s.bin = whole
			s.clean()
		})
	}
}

// TestPromise03HostilePayloads sends what no agent should. A hook is a reason for a checkpoint all the same.
func TestPromise03HostilePayloads(t *testing.T) {
	s := newSite(t)
	s.must("init")
	deep := strings.Repeat(`{"a":[`, 100_000)
	for i, p := range []string{
		"", " \n", "\x00", "{", "}", "null", "[]", "0", `"x"`, "{}{}", "not json", "\xff\xfe\xfd", deep,
		`{"session_id":"../../x","cwd":"/"}`, `{"session_id":"\u0000","cwd":"\u0000"}`, `{"session_id":1,"cwd":[],"hook_event_name":{}}`,
		`{"session_id":"` + strings.Repeat("x", 1<<20) + `"}`, `{"cwd":"` + strings.Repeat("/x", 1<<19) + `"}`,
		`{"hook_event_name":"Stop","hook_event_name":"PostToolUse","session_id":"a","session_id":"b","cwd":"` + s.project + `"}`,
		`{"session_id":"s","cwd":"` + s.project + `","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"` +
			strings.Repeat("😀", 10_000) + `"}`,
		`{"session_id":"s","cwd":"` + s.project + `","hook_event_name":"NoSuch","tool_name":"` + "\x1b[31m" + `"}`,
	} {
		for _, event := range []string{"post-tool-use", "stop", "no such event"} {
			s.edit(fmt.Sprint("hostile-", i))
			s.inTime(s.usual(event, p))
		}
	}
	s.serves()
	if r := s.rewind("list", "--all"); r.code != 0 || strings.Contains(r.stdout, "\x1b") {
		t.Errorf("list: exit %d, %q", r.code, r.stdout)
	}

	pid := s.daemon()
	cmd := s.client(int(defaultDeadline/time.Millisecond), "post-tool-use", "")
	cmd.Stdin = io.MultiReader(strings.NewReader(`{"x":"`), io.LimitReader(ones{}, 100<<20),
		strings.NewReader(`",`+s.payload("session", "large")[1:]))
	r := finish(cmd)
	s.inTime(r)
	t.Logf("100 MiB: %v, %q", r.took, r.stderr)
	if s.daemon() != pid {
		t.Error("the daemon is another one now")
	}
	if peak := mostResident(t, pid); peak == 0 || peak > 300<<10 {
		t.Errorf("the daemon took %d KiB", peak)
	}
	s.clean()
}

// TestPromise03WithoutDaemon has the same events captured by the daemon and without it: the log and the trees are the
// same.
func TestPromise03WithoutDaemon(t *testing.T) {
	logs := map[string][]string{}
	for _, env := range []string{"REWIND_DAEMON=on", "REWIND_DAEMON=off"} {
		s := newSite(t, env)
		s.write("a.txt", "one\n")
		s.must("init")
		payload := func(event, call string) string {
			text := strings.Replace(s.payload("session", call), "PostToolUse", event, 1)
			return strings.Replace(text, "{", `{"prompt":"do it",`, 1)
		}
		for i, e := range []struct{ word, name, call, write string }{
			{"session-start", "SessionStart", "", ""},
			{"user-prompt-submit", "UserPromptSubmit", "", ""},
			{"pre-tool-use", "PreToolUse", "c1", ""},
			{"post-tool-use", "PostToolUse", "c1", "b.txt"},
			{"pre-tool-use", "PreToolUse", "c2", ""},
			{"post-tool-use", "PostToolUse", "c2", ""},
			{"stop", "Stop", "", "d/e.txt"},
			{"session-end", "SessionEnd", "", ""},
		} {
			if e.write != "" {
				s.write(e.write, e.name)
			}
			if r := finish(s.client(unlimited, e.word, payload(e.name, e.call))); !s.acked(r) {
				t.Errorf("%s, event %d: %+v", env, i, r)
			}
		}
		if running := len(s.daemons()) > 0; running != strings.HasSuffix(env, "on") {
			t.Errorf("%s: a daemon runs: %v", env, running)
		}
		var list struct {
			Checkpoints []struct {
				ID, Tree, Event, Agent string
				Turn                   uint64
				By                     []string
				Added, Modified        int
			}
		}
		s.decode(&list, "list", "--all", "--limit", "0")
		trees := map[string]string{}
		for _, c := range list.Checkpoints {
			trees[c.ID] = c.Tree
			logs[env] = append(logs[env],
				fmt.Sprintf("%s %s %s turn %d by %v +%d ~%d", c.Tree, c.Event, c.Agent, c.Turn, c.By, c.Added,
					c.Modified))
		}
		for _, e := range s.events() {
			logs[env] = append(logs[env],
				fmt.Sprintf("%s %s %s at %s, made %v", e.Session, e.Event, e.Call, trees[e.Checkpoint], e.Made))
		}
	}
	if on, off := logs["REWIND_DAEMON=on"], logs["REWIND_DAEMON=off"]; !slices.Equal(on, off) || len(on) < 10 {
		t.Errorf("with a daemon:\n%s\nwithout:\n%s", strings.Join(on, "\n"), strings.Join(off, "\n"))
	}
}

// TestPromise03BigTree has the first capture of many files take longer than an agent waits: the hook is answered in
// time, and the capture goes on.
func TestPromise03BigTree(t *testing.T) {
	s := newSite(t)
	s.must("init")
	files, deadline := 30_000, 150
	if torture.Full() {
		files, deadline = 100_000, 300
	}
	for i := range files / 100 {
		dir := filepath.Join(s.project, "many", fmt.Sprint(i%20), fmt.Sprint(i))
		s.check(os.MkdirAll(dir, 0o755))
		for j := range 100 {
			s.check(os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), fmt.Appendf(nil, "%d %d\n", i, j), 0o644))
		}
	}
	r := finish(s.client(deadline, "post-tool-use", s.payload("session", "first")))
	s.inTime(r)
	began := time.Now()
	pid := s.daemon()
	v := s.status()
	for ; v.Activity != nil; v = s.status() { // it says what is under way instead of waiting for it
		time.Sleep(100 * time.Millisecond)
	}
	if len(v.Changes) != 0 {
		t.Errorf("the capture did not go on: %d unsaved", len(v.Changes))
	}
	t.Logf("the hook took %v, the capture %v more", r.took, time.Since(began))
	if list := s.events(); len(list) != 1 || list[0].Call != "first" || !list[0].Made {
		t.Errorf("%+v", list)
	}
	var list struct {
		Checkpoints []struct {
			Files int
			Late  bool
		}
	}
	s.decode(&list, "list", "--limit", "1")
	if c := list.Checkpoints[0]; c.Files < files || !c.Late { // else the hook has waited for it
		t.Errorf("%+v", c)
	}
	if s.daemon() != pid {
		t.Error("the daemon is another one now")
	}
	s.clean()
}

// freeze stops a process. Each of its threads goes on until the system comes to it, so one could still answer.
func (s *site) freeze(pid int) {
	s.Helper()
	s.check(syscall.Kill(pid, syscall.SIGSTOP))
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		s.check(err)
		awake := 0
		for _, file := range tasks {
			b, err := os.ReadFile(file)
			if _, state, _ := strings.Cut(string(b), ") "); err == nil && !strings.HasPrefix(state, "T") {
				awake++
			}
		}
		switch {
		case awake == 0 && len(tasks) > 0:
			return
		case time.Now().After(deadline):
			s.Fatalf("%d of %d threads of %d do not stop", awake, len(tasks), pid)
		}
	}
}
