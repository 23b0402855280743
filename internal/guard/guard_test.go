package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"rewind/internal/guard"
)

var place = guard.Context{Home: "/home/u/.rewind", User: "/home/u", Cwd: "/home/u/p", Links: func(path string) string {
	return strings.Replace(path, "/home/u/p/link", "/home/u/.rewind/storage", 1)
}}

func payload(tool string, input map[string]any) []byte {
	b, err := json.Marshal(map[string]any{
		"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/home/u/p", "tool_name": tool,
		"tool_input": input,
	})
	if err != nil {
		panic(err)
	}
	return b
}

// TestCommands: which command lines are refused, in the form that each agent sends.
func TestCommands(t *testing.T) {
	refused := []string{
		"rewind undo",
		"rewind undo 3",
		"/usr/local/bin/rewind checkout @-",
		"~/go/bin/rewind restore 3f2a91c4 -- src",
		"./rewind redo",
		"rewind undo-restore",
		"rewind rewind 4",
		"rewind forward",
		"rewind gc",
		"rewind purge secret.txt --yes",
		"rewind init --remove --yes",
		"rewind init --adopt --yes",
		"rewind stores join 1a2b3c4d",
		"rewind stores remove 1a2b3c4d -y",
		"rewind fork turn:3 --checkout", "rewind bisect run -- env A=1 rewind undo",
		"rewind verify --repair",
		"rewind config --unregister-hooks",
		"rewind config hooks.guard false --global",
		"rewind daemon stop",
		"rewindd serve",
		"printf 'POST /v1/purge HTTP/1.1' | ~/.rewind/system/rewindd serve",
		"rewind --json undo",
		"rewind --session claude/x checkout @~2",
		"FOO=1 BAR='x y' rewind undo",
		"env -i PATH=/bin rewind undo", "env - rewind undo",
		"sudo -u me rewind undo",
		"timeout 5 rewind undo",
		"nice -n 10 nohup rewind undo &",
		"sh -c 'rewind undo'",
		`bash -lc "cd x && rewind undo"`,
		`bash -c "sh -c 'rewind undo'"`,
		"eval rewind undo",
		"git status && rewind undo",
		"git status; rewind undo",
		"true || rewind undo",
		"yes | rewind checkout @-",
		"(rewind undo)",
		"{ rewind undo; }",
		"echo $(rewind undo)",
		"echo `rewind undo`",
		`echo "it is $(rewind undo)"`,
		"if true; then rewind undo; fi",
		"for i in 1 2; do rewind undo; done",
		"! rewind undo",
		"echo @- | xargs -n 1 rewind checkout",
		"find . -name x -exec rewind checkout {} \\;",
		"rewind \\\n  undo",
		"r'e'wind un\"do\"",
		// a flag has the value that the program reads
		"rewind checkout @- --dry-run=false", "rewind undo --dry-run=0", "rewind purge a.txt --help=false",
		"rewind gc -n=F",
		"rewind undo --dry-run --dry-run=false", "rewind undo -hn=0 -h=0", "rewind --help=false undo",
		"rewind undo -- --dry-run",
		"rewind checkout --session --dry-run @-", "rewind checkout @- --tag --help", "rewind purge --text-file -n",
		"rewind gc --keep 3 -yn=0",
		"rewind --json=true --color=never undo", "rewind -C. undo", "rewind -C --help undo",
		"rewind --directory=x stores -C y remove 1a2b",
		"rewind init --remove=1", "rewind config --unset=true x", "rewind config --tier=minimal",
		"rewind forks --json delete x",
		// what is no command may be an alias, whatever it is given
		"rewind oops", "rewind oops --dry-run", "rewind --json oops --help", "rewind '' ; rewind oops -n",
		// who runs it
		"env X=1 rewind undo", "env -u X rewind undo", "env -S 'rewind undo'", "env --split-string='rewind undo'",
		"command rewind undo",
		"nice -n 5 rewind undo", "nice -5 rewind undo", "timeout -s KILL 5 rewind undo",
		"timeout --signal KILL 5 rewind undo",
		"timeout 5s sh -c 'rewind undo'", "sudo -n bash -c 'rewind undo'", "sudo -u me -- rewind undo",
		"exec -a x rewind undo",
		"script -qec 'rewind undo' /dev/null", "script -c 'rewind undo'", "su me -c 'rewind undo'",
		"flock f rewind undo",
		"flock f -c 'rewind undo'", "watch -n 1 rewind undo", "trap 'rewind undo' EXIT", "busybox sh -c 'rewind undo'",
		"xargs -I {} -- rewind undo < x", "parallel rewind checkout ::: @-", "time -p rewind undo",
		"stdbuf -o L rewind undo",
		"setsid nohup rewind undo", "systemd-run --user rewind undo", "coproc rewind undo", "$(rewind undo)",
		"\"$(cd x; rewind undo)\"",
		"rewind bisect run -- sh -c 'rewind undo'", "rewind bisect last-good timeout 5 rewind undo --dry-run=false",
		"cat > notes <<EOF\nhello\nEOF\nrewind undo",
		"rm -rf ~/.rewind",
		"rm -rf /home/u/.rewind/storage/x",
		"rm -rf $HOME/.rewind/storage",
		`rm -rf "${REWIND_HOME}/storage"`,
		"rm -rf ~",
		"rm -rf .agent",
		"rm -rf .agent/rewind/store",
		"mv ~/.rewind /tmp/x",
		"cd ~/.rewind && rm -rf storage",
		"cd .agent; rm -r rewind",
		"echo x > ~/.rewind/config.json",
		"echo x >> .agent/rewind/config.json",
		"echo x 2>.agent/rewind/id",
		"echo x | tee ~/.rewind/config.json",
		"cp x ~/.rewind/config.json",
		"sed -i s/a/b/ ~/.rewind/config.json",
		"find ~/.rewind -delete",
		"truncate -s 0 .agent/rewind/store/format",
		"dd if=/dev/zero of=/home/u/.rewind/storage/x/format",
		"rm -rf link/x",
		"rm -rf ../p/./.agent/rewind",
		"touch .AGENT/Rewind/x",
	}
	passed := []string{
		"", " ", "#", "rewind", "rewind status", "rewind list --all", "rewind diff", "rewind show @-",
		"rewind cat @-:f > f.old",
		"rewind save before",
		"rewind undo --dry-run=true", "rewind undo --dry-run=false -n", "rewind undo --dry-run=maybe",
		"rewind undo --nosuch",
		"rewind undo -nh",
		"rewind -C x undo -n=T", "rewind purge --dry-run a --text-file=--dry-run=false", "rewind list -n 3",
		"rewind gc --keep",
		"rewind -h undo", "rewind init --remove=false", "rewind init --remove --dry-run", "rewind stores list",
		"rewind bisect run -- sh -c make",
		"rewind config --global x", "rewind --plain", "rewind -- undo", "command -v rewind", "which rewind",
		"env rewind status",
		"timeout 5 rewind list", "watch rewind status", "script -c 'rewind status' /dev/null", "trap - EXIT",
		"rewind turns", "rewind undo --dry-run", "rewind checkout -n @-", "rewind help undo", "rewind undo --help",
		"rewind fork turn:3",
		"rewind bisect run -- make undo",
		"rewind init", "rewind verify",
		"rewind config tier", "rewind daemon status", "rewindd", "rewindd daemon",
		"echo rewind undo", "git commit -m 'rewind undo'", "grep -r 'rewind undo' .", "man rewind undo",
		"cat rewind undo", "# rewind undo",
		"git rewind undo",
		"cat > doc.md <<EOF\nrewind undo\nEOF", "cat <<'X' | wc\nrewind undo\nX\necho done",
		"ls ~/.rewind", "cat .agent/rewind/id", "du -sh ~/.rewind", "find ~/.rewind -name x",
		"cp ~/.rewind/config.json .",
		"grep x ~/.rewind/config.json > out",
		"rm -rf build", "echo x > out", "echo 2>&1", "cd ~/.rewind && ls 2>&1", "sed s/a/b/ ~/.rewind/config.json",
		"rm .agentrc",
		"rm -rf ~/.rewinder", "mv a b",
		"echo 'unclosed", "echo \"unclosed", "$(", "`", "((((", "a\\", "\x00\xff", "bash -c", "env", "sudo",
		"timeout 5", "<<", "> ", "2>",
	}
	forms := func(command string) map[string][]byte {
		return map[string][]byte{
			"claude": payload("Bash", map[string]any{"command": command, "description": "x"}),
			"codex":  payload("shell", map[string]any{"command": []string{"bash", "-lc", command}}),
			"exec":   payload("exec_command", map[string]any{"cmd": command}),
			"gemini": payload("run_shell_command", map[string]any{"command": command}),
			"droid":  payload("Execute", map[string]any{"command": command, "timeout": 60}),
		}
	}
	for _, c := range refused {
		for agent, b := range forms(c) {
			if guard.Check(b, place) == "" {
				t.Errorf("%s: %q passes", agent, c)
			}
		}
	}
	for _, c := range passed {
		for agent, b := range forms(c) {
			if why := guard.Check(b, place); why != "" {
				t.Errorf("%s: %q is refused: %s", agent, c, why)
			}
		}
	}
}

// TestFiles: which files a tool may not write.
func TestFiles(t *testing.T) {
	for _, tool := range []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Create", "write_file", "replace"} {
		for path, want := range map[string]bool{
			"/home/u/.rewind/config.json": true, "/home/u/p/.agent/rewind/config.json": true, ".agent/rewind/id": true,
			"../.rewind/x": true, "link/a": true,
			"/home/u/p/main.go": false, "/home/u/.rewinder": false, ".agent/notes": false, "": false,
		} {
			for _, key := range []string{"file_path", "path", "notebook_path"} {
				if got := guard.Check(payload(tool, map[string]any{key: path, "content": "rewind undo"}), place) != ""; got != want {
					t.Errorf("%s %s %q: refused %v", tool, key, path, got)
				}
			}
		}
	}
	patch := "*** Begin Patch\n*** Update File: src/a.go\n@@\n-a\n+rewind undo\n*** Add File: .agent/rewind/x\n+b\n*** End Patch\n"
	for _, key := range []string{"input", "command"} {
		if guard.Check(payload("apply_patch", map[string]any{key: patch}), place) == "" {
			t.Errorf("a patch of the store in %s passes", key)
		}
		if why := guard.Check(payload("apply_patch",
			map[string]any{key: strings.Replace(patch, ".agent/rewind/x", "x", 1)}), place); why != "" {
			t.Errorf("a patch in %s: %s", key, why)
		}
	}
	for _, tool := range []string{"Read", "read_file", "Grep", "mcp__x__y", ""} {
		if why := guard.Check(payload(tool,
			map[string]any{"file_path": "/home/u/.rewind/config.json", "path": ".agent/rewind/id"}), place); why != "" {
			t.Errorf("%s: %s", tool, why)
		}
	}
}

// TestBrokenPayload: what cannot be read passes.
func TestBrokenPayload(t *testing.T) {
	whole := string(payload("Bash", map[string]any{"command": "rewind undo"}))
	if guard.Check([]byte("\xef\xbb\xbf"+whole), place) == "" {
		t.Error("a byte order mark lets it pass")
	}
	for i := range len(whole) {
		if why := guard.Check([]byte(whole[:i]), place); why != "" {
			t.Errorf("cut at %d: %s", i, why)
		}
	}
	for _, b := range []string{
		"", "null", "[]", "1", `{"tool_name":1,"tool_input":2}`, `{"tool_input":{"command":{}}}`,
		`{"tool_input":{"command":[1,null]}}`, strings.Repeat("[", 1<<20), `{"x":` + strings.Repeat("[", 5000),
	} {
		if why := guard.Check([]byte(b), place); why != "" {
			t.Errorf("%.40q: %s", b, why)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("rewind undo", "Bash")
	f.Add("sh -c \"$(rewind `x` ${HOME} <<EOF\n'a\nEOF\n)\" > ~/.rewind/x", "shell")
	f.Add("*** Add File: .agent/rewind", "apply_patch")
	f.Fuzz(func(t *testing.T, command, tool string) {
		b := payload(tool, map[string]any{"command": command, "file_path": command})
		guard.Check(b, place)
		guard.Check([]byte(command), place)
	})
}

// FuzzJSON: where encoding/json reads a payload, the guard reads the same.
func FuzzJSON(f *testing.F) {
	f.Add(`{"cwd":"/","tool_name":"Write","tool_input":{"file_path":"\u002fhome\/u\/.rewind\ud83d\ude00"}}`)
	f.Add(`{"tool_input":[{"a":[1,-2.5e3,true,null,{}]}],"tool_name":"Write","tool_name":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want struct {
			Tool  string `json:"tool_name"`
			Input struct {
				Path string `json:"file_path"`
			} `json:"tool_input"`
		}
		if json.Unmarshal([]byte(text), &want) != nil || want.Tool != "Write" ||
			!strings.HasPrefix(want.Input.Path, "/home/u/.rewind/") {
			return
		}
		if strings.Contains(strings.ToLower(text), "tool_input") && strings.Count(text, "file_path") == 1 &&
			strings.Count(text, "tool_name") == 1 && strings.Count(text, "tool_input") == 1 &&
			!strings.Contains(want.Input.Path, "..") {
			if guard.Check([]byte(text), place) == "" {
				t.Errorf("%q passes", text)
			}
		}
	})
}
