package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rewind/internal/value"
	"rewind/transcript"
)

// serve plays `codex app-server`: what it is asked goes to the file "asked" in its folder, and how it answers stands in
// "answers".
func serve() {
	mode, _ := os.ReadFile("answers")
	log, err := os.OpenFile("asked", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	fmt.Fprintf(log, "%v HOME=%s CODEX_HOME=%s\n", os.Args[1:], os.Getenv("HOME"), os.Getenv("CODEX_HOME"))
	fmt.Println("a line that is no message")
	fmt.Fprintln(os.Stderr, "WARNING: nobody is to see this")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Fprintln(log, in.Text())
		var q struct {
			ID     *int   `json:"id"`
			Method string `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &q) != nil || q.ID == nil {
			continue
		}
		fmt.Printf(`{"method":"note","params":{}}`+"\n"+`{"id":%d,"method":"ask/back"}`+"\n"+`{"id":999,"result":{}}`+"\n", *q.ID)
		switch m := string(mode); {
		case m == "silent":
		case m == "ends":
			return
		case m == "refuses" && q.Method != "initialize":
			fmt.Printf(`{"id":%d,"error":{"code":-32600,"message":"no rollout\u001b[2J found"}}`+"\n", *q.ID)
		default:
			fmt.Printf(`{"id":%d,"result":{}}`+"\n", *q.ID)
		}
	}
	if string(mode) == "stays" {
		select {}
	}
}

func init() { plays["serve"] = serve }

// standIn puts a program into a directory of its own that plays Codex; npm's is a script as well.
func standIn(t *testing.T, mode string) (env value.AgentEnv, root string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, root := t.TempDir(), t.TempDir()
	// The background job of a script has no input of its own.
	script := put(t, filepath.Join(bin, "codex"),
		fmt.Sprintf("#!/bin/sh\nexec 3<&0\nREWIND_TEST_PLAY=serve %q \"$@\" <&3 &\necho $! >>\"$CODEX_HOME/pids\"\nexec 3<&-\nwait\n",
			self))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	if mode != "" {
		put(t, filepath.Join(root, "answers"), mode)
	}
	return value.AgentEnv{
		Home: "/home/dev",
		Path: value.Text(bin + string(os.PathListSeparator) + os.Getenv("PATH")),
	}, root
}

// left reports whether a program that was started still runs.
func left(t *testing.T, root string) bool {
	t.Helper()
	for line := range strings.Lines(get(t, filepath.Join(root, "pids"))) {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err != nil {
			t.Fatal(err)
		}
		for try := 0; ; try++ {
			if _, runs := startOf(pid); !runs {
				break
			}
			if try == 100 {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return false
}

func TestListedCodex(t *testing.T) {
	defer goleak.VerifyNone(t)
	env, root := standIn(t, "")
	if err := Listed(context.Background(), transcript.Codex, env, root, "", session, " a \"title\" <b> "); err != nil {
		t.Fatal(err)
	}
	want := "[app-server] HOME=/home/dev CODEX_HOME=" + root + "\n" +
		`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"rewind","version":"1"}}}` + "\n" +
		`{"method":"initialized"}` + "\n" +
		`{"id":2,"method":"thread/name/set","params":{"name":"a \"title\" \u003cb\u003e","threadId":"` + session + `"}}` + "\n"
	if got := get(t, filepath.Join(root, "asked")); got != want {
		t.Errorf("asked:\n%s\nwant:\n%s", got, want)
	}
	if left(t, root) {
		t.Error("a program was left running")
	}
}

func TestListedCodexUntitled(t *testing.T) {
	env, root := standIn(t, "")
	if err := Listed(context.Background(), transcript.Codex, env, root, "", session, " "); err != nil {
		t.Fatal(err)
	}
	if got := get(t, filepath.Join(root, "asked")); !strings.HasSuffix(got,
		`{"id":2,"method":"thread/read","params":{"threadId":"`+session+`"}}`+"\n") {
		t.Errorf("asked:\n%s", got)
	}
}

func TestListedCodexFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	for mode, want := range map[string]string{
		"refuses": `thread/name/set: codex says: "no rollout\x1b[2J found"`,
		"ends":    "initialize: codex ended without an answer",
	} {
		t.Run(mode, func(t *testing.T) {
			env, root := standIn(t, mode)
			err := Listed(context.Background(), transcript.Codex, env, root, "", session, "title")
			if err == nil || !strings.Contains(err.Error(), want) ||
				!strings.HasPrefix(err.Error(), "list codex session "+session) {
				t.Errorf("got %v, want %s", err, want)
			}
			if left(t, root) {
				t.Error("a program was left running")
			}
		})
	}
}

// TestListedCodexSilent holds that nothing is waited for longer than was said, and that what does not end by itself is
// ended.
func TestListedCodexSilent(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, mode := range []string{"silent", "stays"} {
		env, root := standIn(t, mode)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		begin := time.Now()
		err := Listed(ctx, transcript.Codex, env, root, "", session, "title")
		if (err != nil) != (mode == "silent") {
			t.Errorf("%s: %v", mode, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: took %v", mode, took)
		}
		if left(t, root) {
			t.Errorf("%s: a program was left running", mode)
		}
	}
}

func TestListedNoProgram(t *testing.T) {
	for _, path := range []string{"", t.TempDir(), "bin"} {
		err := Listed(context.Background(), transcript.Codex, value.AgentEnv{Home: "/home/dev", Path: value.Text(path)},
			t.TempDir(), "", session, "title")
		if !errors.Is(err, errNoProgram) {
			t.Errorf("PATH %q: %v", path, err)
		}
	}
}

func TestListedOthers(t *testing.T) {
	for _, agent := range []transcript.Agent{transcript.Gemini, transcript.Droid, "nobody"} {
		if err := Listed(context.Background(), agent, value.AgentEnv{}, "", "", session, "title"); err != nil {
			t.Errorf("%s: %v", agent, err)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aéb", 2, "a"}, {"é", 1, ""}, {"", 0, ""}} {
		if got := cut(tt.s, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
