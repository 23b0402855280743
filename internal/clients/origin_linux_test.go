package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/ptytest"
	"rewind/transcript"
)

// The plays of a command that asks where it comes from, and of who starts it.
func init() {
	plays["origin"] = func() { // home
		for os.Getenv("ORPHAN") != "" && os.Getppid() == parentOfOrphan() { // until its parent has gone
			time.Sleep(time.Millisecond)
		}
		b, _ := json.Marshal(OriginOf(os.Getpid(), os.Args[1]))
		fmt.Printf("origin %s\n", b)
	}
	plays["start"] = func() { // home, then how it is started
		cmd := exec.Command("/proc/self/exe", os.Args[1])
		cmd.Env = append(os.Environ(), "REWIND_TEST_PLAY=origin")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		how := strings.Join(os.Args[2:], " ")
		if strings.Contains(how, "setsid") {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		}
		if strings.Contains(how, "orphan") {
			cmd.Env = append(cmd.Env, fmt.Sprintf("ORPHAN=%d", os.Getpid()))
		}
		err := cmd.Start()
		if err == nil && !strings.Contains(how, "orphan") {
			err = cmd.Wait()
		}
		if err != nil {
			fmt.Println(err)
		}
	}
}

func parentOfOrphan() (pid int) {
	_, _ = fmt.Sscan(os.Getenv("ORPHAN"), &pid)
	return pid
}

// TestOrigin: who started a command, for each way in which an agent or a person can.
func TestOrigin(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "gemini")
	put(t, script, "#!/bin/sh\n\"$@\"\ntrue\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home", ".rewind")
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "REWIND_") || marked([]string{v})
	})
	env = append(env, "HOME="+filepath.Dir(home), "REWIND_TEST_PLAY=start")
	for _, c := range []struct {
		name, as string // argv[0] of who starts it
		how      string
		env      []string
		tty      bool
		want     transcript.Agent
		terminal bool
	}{
		{name: "a script", as: "make"},
		{name: "an agent", as: "claude", want: transcript.Claude},
		{name: "an agent, from its directory", as: "/opt/x/bin/droid", want: transcript.Droid},
		{name: "an agent that is a script", as: script, want: transcript.Gemini},
		{name: "an agent, in a session of its own", as: "codex", how: "setsid", want: transcript.Codex},
		{name: "an agent of another home", as: "claude", env: []string{"HOME=/elsewhere"}},
		{name: "an agent that names this home", as: "claude", env: []string{
			"HOME=/elsewhere",
			"REWIND_HOME=" + home,
		}, want: transcript.Claude},
		{name: "an agent in a terminal", as: "claude", tty: true, want: transcript.Claude},
		{name: "what an agent left behind", as: "claude", how: "orphan"},
		{name: "what an agent left behind in the person's terminal", as: "claude", how: "orphan", tty: true},
		{name: "a terminal", as: "bash", tty: true, terminal: true},
		{name: "a terminal that an agent opened", as: "bash", env: []string{"CLAUDECODE=1"}, tty: true},
		{name: "in a session of its own", as: "bash", how: "setsid", tty: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{home, c.how}
			cmd := exec.Command(self, args...)
			cmd.Args[0] = c.as
			if c.as == script {
				cmd = exec.Command(script, append([]string{self}, args...)...)
			}
			if c.how == "orphan" && c.tty { // the terminal is a shell's, which stays
				cmd = exec.Command("bash", append([]string{"-c", `(exec -a claude "$0" "$@"); read -r stay`, self}, args...)...)
			}
			cmd.Env = append(slices.Clone(env), c.env...)
			var got Origin
			if err := json.Unmarshal([]byte(answerOf(t, cmd, c.tty)), &got); err != nil {
				t.Fatal(err)
			}
			if got.Agent != c.want || (got.PID != 0) != (c.want != "") || got.Terminal != c.terminal {
				t.Errorf("got %+v, want agent %q, terminal %v", got, c.want, c.terminal)
			}
		})
	}
	if got := OriginOf(dead(t), home); got != (Origin{}) {
		t.Errorf("of a process that has ended: %+v", got)
	}
	if got := OriginOf(0, home); got != (Origin{}) {
		t.Errorf("of none: %+v", got)
	}
}

// answerOf runs a command, on a terminal or off it, and gives what it says of its origin.
func answerOf(t *testing.T, cmd *exec.Cmd, tty bool) string {
	t.Helper()
	var out *os.File
	var err error
	if tty {
		out, err = ptytest.Start(cmd, 24, 200)
	} else {
		var w *os.File
		if out, w, err = os.Pipe(); err == nil {
			cmd.Stdout, cmd.Stderr = w, w
			err = cmd.Start()
			w.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	for in := bufio.NewScanner(out); in.Scan(); {
		if said, ok := strings.CutPrefix(strings.TrimSpace(in.Text()), "origin "); ok {
			return said
		}
	}
	t.Fatal("nothing was said")
	return ""
}

// TestKinAgent: by what a process is known as an agent's, and by what not.
func TestKinAgent(t *testing.T) {
	for _, c := range []struct {
		p    kin
		want transcript.Agent
	}{
		{
			kin{exe: "/home/u/.local/share/claude/versions/2.1.328", args: []string{"claude", "-p", "x"}},
			transcript.Claude,
		},
		{kin{name: "codex", exe: "/usr/bin/env"}, transcript.Codex},
		{kin{exe: "/usr/local/bin/droid (deleted)", args: []string{"x"}}, transcript.Droid},
		{
			kin{exe: "/usr/bin/node", args: []string{"node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}},
			transcript.Claude,
		},
		{
			kin{exe: "/usr/bin/node", args: []string{"/usr/bin/node", "--no-warnings", "/opt/bin/gemini", "-p"}},
			transcript.Gemini,
		},
		{kin{exe: "/bin/bash", args: []string{"/bin/bash", "/usr/local/bin/claude"}}, transcript.Claude},
		{kin{exe: "/bin/bash", args: []string{"bash", "-c", "claude"}}, ""},
		{
			kin{
				exe:  "/home/claude/bin/node",
				args: []string{"node", "/home/claude/.vscode-server/out/bootstrap-fork", "--type=ptyHost"},
			}, "",
		},
		{kin{exe: "/home/claude/codex/build", args: []string{"./build", "codex"}}, ""},
		{kin{exe: "/usr/bin/vim", args: []string{"vim", "claude"}}, ""},
		{kin{}, ""},
	} {
		if got := c.p.agent(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.p, got, c.want)
		}
	}
}
