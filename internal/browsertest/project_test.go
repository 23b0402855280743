package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// project is a directory with an agent (Claude Code, by its hooks) at work in it.
type project struct {
	testing.TB
	home, dir string
	agent     string // whose hooks are called
	session   string
	file      string // the session's
	last      string // its last record's id
	records   int
}

const first = "5f1c0d2e-1111-4222-8333-444455556666"

// newProject is a project with files and no session.
func newProject(t testing.TB) *project {
	t.Helper()
	needBrowser(t)
	home, err := os.MkdirTemp(scratch, "home-")
	if err != nil {
		t.Fatal(err)
	}
	p := projectIn(t, home)
	p.set()
	return p
}

// projectIn is one below a home. Its daemon ends with the test.
func projectIn(t testing.TB, home string) *project {
	p := &project{TB: t, home: home, dir: filepath.Join(home, "src", "notes"), agent: "claude"}
	t.Cleanup(func() { _ = p.command("daemon", "stop").Run() })
	return p
}

// set gives it files, and rewind.
func (p *project) set() {
	p.Helper()
	p.write("parser.go",
		"package notes\n\n// Parse splits a note.\nfunc Parse(text string) []string {\n\treturn nil\n}\n")
	p.write("README.md", "# notes\n\nA small library.\n")
	p.write("store/item.go", "package store\n\ntype Item struct{ Name string }\n")
	p.rewind("init", "--agents", "claude")
	p.begin(first)
}

// begin has the agent go on in a session, a new one or one that is there.
func (p *project) begin(session string) {
	p.session = session
	p.file = filepath.Join(p.home, ".claude", "projects", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(p.dir, "-"), session+".jsonl")
	p.last = ""
	if b, err := os.ReadFile(p.file); err == nil {
		if all := regexp.MustCompile(`"uuid":"([^"]+)"`).FindAllStringSubmatch(string(b), -1); len(all) > 0 {
			p.last = all[len(all)-1][1]
		}
	}
}

func (p *project) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, "rewind"), args...)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"HOME=" + p.home, "REWIND_HOME=" + filepath.Join(p.home, ".rewind"), "PATH=" + programs + ":" +
			os.Getenv("PATH"), "TZ=UTC",
		"LC_ALL=C.UTF-8", "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1",
	}
	return cmd
}

// rewind runs a command and gives what it prints.
func (p *project) rewind(args ...string) string {
	p.Helper()
	cmd := p.command(args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("rewind %s: %v\n%s%s", strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}

// address is one that lets a browser in.
func (p *project) address() string {
	p.Helper()
	return strings.TrimSpace(p.rewind("ui", "--no-open"))
}

func (p *project) hook(event string, more map[string]any) {
	p.Helper()
	payload := map[string]any{"session_id": p.session, "transcript_path": p.file, "cwd": p.dir}
	for k, v := range more {
		payload[k] = v
	}
	b, _ := json.Marshal(payload)
	cmd := p.command(event, "--agent", p.agent)
	cmd.Path = filepath.Join(programs, "smart-checkpoint")
	cmd.Stdin = strings.NewReader(string(b))
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("hook %s: %v\n%s", event, err, out)
	}
}

// say appends a record to the session file.
func (p *project) say(who string, content any) {
	p.Helper()
	p.records++
	id := fmt.Sprintf("f%07x-0000-4000-8000-%.12s", p.records, strings.ReplaceAll(p.session, "-", ""))
	var parent any
	if p.last != "" {
		parent = p.last
	}
	b, _ := json.Marshal(map[string]any{
		"parentUuid": parent, "isSidechain": false, "type": who,
		"message": map[string]any{"id": "msg_" + id, "role": who, "content": content}, "uuid": id,
		"timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "userType": "external", "entrypoint": "cli",
		"cwd":       p.dir,
		"sessionId": p.session, "version": "2.1.328",
	})
	p.last = id
	p.must(os.MkdirAll(filepath.Dir(p.file), 0o700))
	f, err := os.OpenFile(p.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	p.must(err)
	_, err = f.Write(append(b, '\n'))
	p.must(err, f.Close())
}

// turn is one of the agent's: a prompt, a tool that changes something, an answer.
func (p *project) turn(prompt string, change func()) {
	p.Helper()
	tool := p.open(prompt)
	change()
	p.hook("post-tool-use", tool)
	id := tool["tool_use_id"]
	p.say("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "ok"}})
	p.say("assistant", []any{map[string]any{"type": "text", "text": "Done: " + prompt}})
	p.hook("stop", map[string]any{"stop_hook_active": false})
}

// open begins a turn and leaves it where a tool runs.
func (p *project) open(prompt string) map[string]any {
	p.Helper()
	p.hook("prompt", map[string]any{"prompt": prompt})
	p.say("user", prompt)
	id := fmt.Sprintf("toolu_%d", p.records)
	p.say("assistant",
		[]any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "make"}}})
	tool := map[string]any{"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": "make"}}
	p.hook("pre-tool-use", tool)
	return tool
}

// sets is a change: it writes a file.
func (p *project) sets(path, text string) func() { return func() { p.write(path, text) } }

// usual is what most tests need: four turns, a fork with one of its own.
func usual(t testing.TB) (p *project, fork string) {
	t.Helper()
	p = newProject(t)
	p.turn("fix the parser",
		p.sets("parser.go", strings.Replace(p.read("parser.go"), "return nil", "return []string{text}", 1)))
	p.turn("document it", p.sets("README.md", "# notes\n\nA small library.\n\n## Use\n\n    notes.Parse(text)\n"))
	p.turn("make the store larger", func() {
		p.write("store/all.go", "package store\n\ntype All struct{}\n")
		p.must(os.Remove(filepath.Join(p.dir, "store", "item.go")))
	})
	p.turn("and a changelog", p.sets("CHANGES.md", "# Changes\n"))
	fork = regexp.MustCompile(`claude --resume (\S+)`).FindStringSubmatch(p.rewind("fork", "turn:2", "--title", "another way"))[1]
	p.begin(fork)
	p.turn("leave the store, say what it is", p.sets("store/doc.go", "// Package store keeps notes.\npackage store\n"))
	p.begin(first)
	return p, fork
}

func (p *project) write(path, text string) {
	p.Helper()
	path = filepath.Join(p.dir, path)
	p.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// read is a file's text; "": there is none.
func (p *project) read(path string) string {
	b, _ := os.ReadFile(filepath.Join(p.dir, path))
	return string(b)
}

func (p *project) must(errs ...error) {
	p.Helper()
	for _, err := range errs {
		if err != nil {
			p.Fatal(err)
		}
	}
}
