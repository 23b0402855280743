package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGuard: the guard is the one thing that exits with 2, and only for a call that it refuses; nothing else of it is
// heard.
func TestGuard(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(filepath.Join(home, "storage"), 0o700); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(home, filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	run := func(payload string, args ...string) (code int, out, errs string) {
		cmd := exec.Command(filepath.Join(programs, "smart-checkpoint"), args...)
		cmd.Dir, cmd.Stdin = work, strings.NewReader(payload)
		cmd.Env = []string{"REWIND_HOME=" + home, "HOME=" + work}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	}
	bash := func(command string) string {
		return `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"` + command + `"}}`
	}
	for _, agent := range []string{"claude", "codex", "gemini", "droid"} {
		for payload, want := range map[string]int{
			bash("rewind undo"):               2,
			bash("rm -rf $REWIND_HOME"):       2,
			bash("rm -rf link/storage/new/x"): 2,
			`{"tool_name":"Write","tool_input":{"file_path":"` + home + `/config.json"}}`: 2,
			`{"tool_name":"Write","tool_input":{"file_path":"link/config.json"}}`:         2,
			bash("rewind status"):    0,
			bash("ls"):               0,
			"":                       0,
			"{":                      0,
			bash("rewind undo")[:40]: 0,
			bash(strings.Repeat("x", 5<<20) + "; rewind undo"): 0,
		} {
			code, out, errs := run(payload, "guard", "--agent", agent)
			if code != want || out != "" || (errs != "") != (want == 2) ||
				want == 2 && !strings.HasPrefix(errs, "rewind guard: it would ") {
				t.Errorf("%s: %.80q: %d, %q, %q", agent, payload, code, out, errs)
			}
		}
	}
	// It waits for nobody.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd := exec.Command(filepath.Join(programs, "smart-checkpoint"), "guard", "--agent", "claude", "--deadline", "200")
	cmd.Stdin, cmd.Env = r, []string{"REWIND_HOME=" + home}
	began := time.Now()
	if err := cmd.Run(); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("a payload that does not end: %v after %v", err, time.Since(began))
	}
	r.Close()
	if list, err := os.ReadDir(home); err != nil || len(list) != 1 {
		t.Errorf("left in the home: %v, %v", list, err)
	}
}
