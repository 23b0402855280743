package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/transcript"
)

// keep opens the file of its first argument and keeps it open.
func keep() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	wait()
	_ = f.Close()
}

func init() { plays["keep"] = keep }

func running(t *testing.T, agent transcript.Agent, root string) Live {
	t.Helper()
	live, err := look(agent, root, session)
	if err != nil {
		t.Fatal(err)
	}
	return live
}

func TestProcesses(t *testing.T) {
	project := t.TempDir()
	t.Chdir(project) // children begin here
	type setup struct {
		agent transcript.Agent
		root  string
		file  string
	}
	sessions := func(t *testing.T) []setup {
		claude, gemini, droid, hashed := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
		chat := "session-2026-11-20T10-00-11111111.jsonl"
		put(t, filepath.Join(gemini, "tmp", "proj", ".project_root"), project)
		return []setup{
			{transcript.Claude, claude, put(t, filepath.Join(claude, "projects", claudeFolder(project), session+".jsonl"), "{}\n")},
			{transcript.Gemini, gemini, put(t, filepath.Join(gemini, "tmp", "proj", "chats", chat), "{}\n")},
			{transcript.Gemini, hashed, put(t, filepath.Join(hashed, "tmp", hashName(project), "chats", chat), "{}\n")},
			{transcript.Droid, droid, put(t, filepath.Join(droid, "sessions", "-p", session+".jsonl"),
				fmt.Sprintf("{\"type\":\"session_start\",\"cwd\":%q}\n", project))},
		}
	}
	for _, s := range sessions(t) {
		t.Run(string(s.agent), func(t *testing.T) {
			if live := running(t, s.agent, s.root); live.Running {
				t.Fatalf("nothing runs: %+v", live)
			}
			t.Run("in its folder", func(t *testing.T) {
				cmd := child(t, "wait", "/usr/bin/"+string(s.agent))
				if live := running(t, s.agent, s.root); !live.Running || !live.Guess || live.PID != cmd.Process.Pid {
					t.Errorf("got %+v", live)
				}
			})
			t.Run("on its file", func(t *testing.T) {
				cmd := child(t, "keep", string(s.agent), s.file)
				if live := running(t, s.agent, s.root); !live.Running || live.Guess || live.PID != cmd.Process.Pid {
					t.Errorf("got %+v", live)
				}
			})
			t.Run("by its id", func(t *testing.T) {
				t.Chdir("/")
				cmd := child(t, "wait", string(s.agent), "--resume", session)
				if live := running(t, s.agent, s.root); !live.Running || live.Guess || live.PID != cmd.Process.Pid {
					t.Errorf("got %+v", live)
				}
			})
			t.Run("by its id, a script", func(t *testing.T) {
				t.Chdir("/")
				child(t, "wait", "node", "--no-warnings", "/opt/node_modules/.bin/"+string(s.agent), "--resume="+session)
				if live := running(t, s.agent, s.root); !live.Running || live.Guess {
					t.Errorf("got %+v", live)
				}
			})
			t.Run("elsewhere", func(t *testing.T) {
				t.Chdir("/")
				child(t, "wait", string(s.agent))
				if live := running(t, s.agent, s.root); live.Running {
					t.Errorf("got %+v", live)
				}
			})
			t.Run("another program", func(t *testing.T) {
				child(t, "wait", "vi", s.file)
				child(t, "wait", "node", "server.js", string(s.agent), session)
				if live := running(t, s.agent, s.root); live.Running {
					t.Errorf("got %+v", live)
				}
			})
		})
	}
}

// TestProcessesTold holds that a Claude that says on which session it is counts for that one only.
func TestProcessesTold(t *testing.T) {
	project, root := t.TempDir(), t.TempDir()
	t.Chdir(project)
	put(t, filepath.Join(root, "projects", claudeFolder(project), session+".jsonl"), "{}\n")
	cmd := child(t, "wait", "claude", "--resume", session)
	note(t, root, cmd.Process.Pid, `{"pid":%d,"sessionId":"another"}`, cmd.Process.Pid)
	if live := running(t, transcript.Claude, root); live.Running {
		t.Errorf("got %+v", live)
	}
}

// TestProcessesCodex holds that a Codex without locks is seen by the file that it keeps open, and no other one is taken
// for it.
func TestProcessesCodex(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	file := put(t, filepath.Join(root, "sessions", "2026", "11", "20", "rollout-2026-11-20T10-00-00-"+session+".jsonl"), "{}\n")
	t.Run("in its folder", func(t *testing.T) {
		child(t, "wait", "codex")
		if live := running(t, transcript.Codex, root); live.Running {
			t.Errorf("got %+v", live)
		}
	})
	cmd := child(t, "keep", "codex", file)
	if live := running(t, transcript.Codex, root); !live.Running || live.Guess || live.PID != cmd.Process.Pid {
		t.Errorf("got %+v", live)
	}
}

// One look tells of all sessions at one moment: what begins or opens a file later is seen by the next look, and the
// list of processes, and of what one of them has open, is read once, however many sessions are asked for.
func TestProcessesOneLook(t *testing.T) {
	t.Chdir("/")
	root := t.TempDir()
	const many = 300
	file := func(n int) string {
		return put(t, filepath.Join(root, "sessions", "-p", fmt.Sprintf("11111111-0000-4000-8000-%012d.jsonl", n)),
			"{\"type\":\"session_start\",\"cwd\":\"/p\"}\n")
	}
	for n := range many {
		file(n)
	}
	child(t, "keep", "droid", file(7))
	l := new(Processes)
	asks := func(l *Processes, n int) bool {
		live, err := l.Running(transcript.Droid, root, fmt.Sprintf("11111111-0000-4000-8000-%012d", n))
		if err != nil {
			t.Fatal(err)
		}
		return live.Running
	}
	calls := readCalls(t)
	if asks(l, 0) || !asks(l, 7) {
		t.Fatal("only the session whose file is open is running")
	}
	first := readCalls(t) - calls
	child(t, "keep", "droid", file(8))
	calls = readCalls(t)
	for n := range many {
		if asks(l, n) != (n == 7) {
			t.Fatalf("session %d at the moment of the look: %v", n, n != 7)
		}
	}
	// A read for the head of each session, which says where its program would run. Looking at the processes again is
	// one for each of them.
	if more := readCalls(t) - calls; more > 2*many {
		t.Errorf("%d reads for %d more sessions, %d for the first two", more, many, first)
	}
	if !asks(new(Processes), 8) {
		t.Error("the next look does not see what was opened")
	}
}

// readCalls is how many reads this process has made.
func readCalls(t *testing.T) (n int) {
	t.Helper()
	for line := range strings.Lines(get(t, "/proc/self/io")) {
		if _, err := fmt.Sscanf(line, "syscr: %d", &n); err == nil {
			return n
		}
	}
	t.Fatal("the system does not tell")
	return 0
}
