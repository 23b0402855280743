package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"rewind/internal/value"
	"rewind/transcript"
)

// child starts a process that lives until the test ends.
func child(t *testing.T, play string, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = name
	cmd.Env = append(os.Environ(), "REWIND_TEST_PLAY="+play)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is ready
		t.Fatal(err)
	}
	return cmd
}

// wait is a program that says that it is there and lives until its input ends.
func wait() {
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func init() { plays["wait"] = wait }

func note(t *testing.T, root string, pid int, format string, args ...any) {
	t.Helper()
	put(t, filepath.Join(root, "sessions", strconv.Itoa(pid)+".json"), fmt.Sprintf(format, args...))
}

func dead(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestRunningClaude(t *testing.T) {
	self := os.Getpid()
	start, ok := startOf(self)
	if !ok {
		t.Fatal("this process does not run")
	}
	now, later := time.Now().UnixMilli(), "18446744073709551615"
	gone := dead(t)
	type row struct {
		name string
		pid  int
		note string
		want Live
	}
	tests := []row{
		{"living", self, fmt.Sprintf(`{"pid":%d,"sessionId":%q,"status":"idle"}`, self, session), Live{Running: true, PID: self}},
		{"living since then", self, fmt.Sprintf(`{"pid":%d,"sessionId":%q,"startedAt":%d,"procStart":"%d"}`, self, session, now,
			start.ticks), Live{Running: true, PID: self}},
		{
			"of here", self, fmt.Sprintf(`{"pid":%d,"sessionId":%q,"pidDomain":%q}`, self, session, pidDomain()),
			Live{Running: true, PID: self},
		},
		{"another session", self, fmt.Sprintf(`{"pid":%d,"sessionId":"x%s"}`, self, session), Live{}},
		{"another pid inside", self, fmt.Sprintf(`{"pid":%d,"sessionId":%q}`, self+1, session), Live{}},
		{"half written", self, fmt.Sprintf(`{"pid":%d,"sessionId":%q`, self, session), Live{}},
		{"dead", gone, fmt.Sprintf(`{"pid":%d,"sessionId":%q}`, gone, session), Live{}},
	}
	if start.ticks != 0 {
		tests = append(tests, row{
			"pid used again", self, fmt.Sprintf(`{"pid":%d,"sessionId":%q,"procStart":%q}`, self, session, later),
			Live{},
		})
	}
	if pidDomain() != "" {
		tests = append(tests, row{
			"another machine", self,
			fmt.Sprintf(`{"pid":%d,"sessionId":%q,"pidDomain":"linux:00:pid:[1]"}`, self, session),
			Live{Running: true, Guess: true},
		})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			note(t, root, tt.pid, "%s", tt.note)
			put(t, filepath.Join(root, "sessions", "readme.json"), "{}")
			got, err := look(transcript.Claude, root, session)
			if err != nil {
				t.Fatal(err)
			}
			got.How = ""
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestRunningNothing(t *testing.T) {
	for _, agent := range append(value.Agents(), "nobody") {
		if live, err := look(agent, filepath.Join(t.TempDir(), "none"), session); err != nil || live.Running {
			t.Errorf("%s: %+v, %v", agent, live, err)
		}
		if _, err := look(agent, t.TempDir(), "../"+session); err == nil {
			t.Errorf("%s: an id that leads elsewhere was taken", agent)
		}
	}
}

// TestRunningUnread holds that a sign that cannot be read is an error.
func TestRunningUnread(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "sessions"), "a file")
	if _, err := look(transcript.Claude, root, session); err == nil {
		t.Error("sessions is no directory, and nothing was said")
	}
}
