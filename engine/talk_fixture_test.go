package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/value"
	"rewind/transcript"
)

// talker is a session of Claude Code: it calls the hooks, and writes its session file as the client does.
type talker struct {
	*agent
	file   string
	parent string // uuid of the newest line
	n      int    // of uuids
}

// claudeID is the n-th session id.
func claudeID(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }

// user is the home directory of the one whose agents these are.
func (p *fixture) user() string {
	return filepath.Join(filepath.Dir(p.home.Dir), filepath.Base(p.home.Dir)+"-user")
}

func (p *fixture) env() value.AgentEnv { return value.AgentEnv{Home: value.Text(p.user())} }

// chats is the folder of Claude's sessions of the project.
func (p *fixture) chats() string {
	return filepath.Join(p.user(), ".claude", "projects", strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, p.root))
}

// talker begins a session; its file is there with its first line.
func (p *fixture) talker(n int) *talker {
	p.t.Helper()
	p.must(os.MkdirAll(p.chats(), 0o700))
	return &talker{agent: p.agent(claudeID(n)), file: filepath.Join(p.chats(), claudeID(n)+".jsonl")}
}

// begun is a project with a session in which nothing was said yet; the file f is its code.
func begun(t *testing.T) (*fixture, *talker) {
	t.Helper()
	p := newProject(t)
	p.write("f", big("0"))
	p.save("first")
	return p, p.talker(1)
}

// twoTurns is begun with two turns that each changed the code.
func twoTurns(t *testing.T) (*fixture, *talker) {
	t.Helper()
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	k.take("two", p.edits("f", "2"))
	return p, k
}

// opened is the session of a fork, as the agent goes on with it.
func (p *fixture) opened(f *model.Fork) *talker {
	p.t.Helper()
	_, id := model.SplitSession(f.Session)
	k := &talker{agent: p.agent(id), file: f.Path, n: 100_000}
	for line := range strings.Lines(p.slurp(f.Path)) {
		var l struct{ UUID, Type string }
		p.must(json.Unmarshal([]byte(line), &l))
		if l.UUID != "" && l.Type != "custom-title" {
			k.parent = l.UUID
		}
	}
	return k
}

func (p *fixture) slurp(path string) string {
	p.t.Helper()
	b, err := os.ReadFile(path)
	p.must(err)
	return string(b)
}

func (k *talker) send(ev hooks.Event, o capture.HandleOptions) *capture.Handled {
	k.p.t.Helper()
	ev.Transcript = k.file
	return k.agent.send(ev, o)
}

// line appends a record to the session's file.
func (k *talker) line(typ, message string) {
	k.p.t.Helper()
	k.n++
	uuid := fmt.Sprintf("%08x-1111-4111-8111-%s", k.n, k.id[:8]+"0000")
	parent := "null"
	if k.parent != "" {
		parent = `"` + k.parent + `"`
	}
	k.append(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-11-20T10:00:%02d.%03dZ","cwd":%q,"sessionId":%q,"version":"2.1.328"}`+"\n",
		parent, typ, message, uuid, k.n/1000%60, k.n%1000, k.p.root, k.id))
	k.parent = uuid
}

func (k *talker) append(text string) {
	k.p.t.Helper()
	f, err := os.OpenFile(k.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	k.p.must(err)
	_, err = f.WriteString(text)
	k.p.must(err)
	k.p.must(f.Close())
}

// ask is a prompt: the hook comes first, then the line.
func (k *talker) ask(text string) *capture.Handled {
	k.p.t.Helper()
	h := k.send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, capture.HandleOptions{})
	k.line("user", fmt.Sprintf(`{"role":"user","content":%q}`, text))
	return h
}

// work is a call of a tool.
func (k *talker) work(do func()) *capture.Handled {
	k.p.t.Helper()
	call := fmt.Sprintf("toolu_%s_%d", k.id[:8], k.n)
	k.line("assistant", fmt.Sprintf(`{"id":"msg_%s","type":"message","role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"x"}}],"stop_reason":"tool_use"}`, call, call))
	k.send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
	do()
	h := k.send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
	k.line("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"done"}]}`, call))
	return h
}

// say is the last reply of a turn.
func (k *talker) say(text string) {
	k.p.t.Helper()
	k.line("assistant", fmt.Sprintf(`{"id":"msg_%s_%d","type":"message","role":"assistant","content":[{"type":"text","text":%q}],"stop_reason":"end_turn"}`, k.id[:8], k.n, text))
}

func (k *talker) stop() *capture.Handled {
	return k.send(hooks.Event{Kind: hooks.Stop}, capture.HandleOptions{})
}

// take is a turn: prompt, a call of a tool if there is anything to do, reply, stop.
func (k *talker) take(text string, do func()) *capture.Handled {
	k.p.t.Helper()
	k.ask(text)
	if do != nil {
		k.work(do)
	}
	k.say("done: " + text)
	return k.stop()
}

// edits gives something to do.
func (p *fixture) edits(name, content string) func() {
	return func() { p.write(name, big(content)) }
}

// session is what the engine knows of a session.
func (p *fixture) session(name string) model.Session {
	p.t.Helper()
	all, err := p.e.Log.Sessions()
	p.must(err)
	i := slices.IndexFunc(all, func(s model.Session) bool { return s.Name == name })
	if i < 0 {
		p.t.Fatalf("no session %s", name)
	}
	return all[i]
}

// talk is what is stored of a conversation.
func (p *fixture) talk(s model.Session) []byte {
	p.t.Helper()
	b := readAll(p.t, p.e.Log.Objs, s.Cursor.Transcript)
	if int64(len(b)) != s.Cursor.Length {
		p.t.Fatalf("%d bytes are stored, the cursor says %d", len(b), s.Cursor.Length)
	}
	return b
}

// wholeLines is what is captured of a file.
func wholeLines(b []byte) []byte { return b[:bytes.LastIndexByte(b, '\n')+1] }

func (p *fixture) settle() {
	p.t.Helper()
	_, err := p.e.Worktree.FollowUp(bg)
	p.must(err)
}

// prompts are the prompts in a session file, and the last thing that the model said.
func (p *fixture) prompts(path string) (asked []string, last string) {
	p.t.Helper()
	b := p.slurp(path)
	list, err := transcript.Messages(transcript.Claude, transcript.Source{ReaderAt: strings.NewReader(b), Size: int64(len(b)), Name: path}, 1000)
	p.must(err)
	for _, m := range list {
		switch {
		case m.Who == "user":
			asked = append(asked, m.Text)
		case m.Text != "":
			last = m.Text
		}
	}
	return asked, last
}

// wantTalk holds what a session file says.
func (p *fixture) wantTalk(path, last string, asked ...string) {
	p.t.Helper()
	got, end := p.prompts(path)
	equal(p.t, "prompts in "+filepath.Base(path), got, asked)
	if end != last {
		p.t.Fatalf("%s ends with %q, want %q", filepath.Base(path), end, last)
	}
}

// files are the session files that are there.
func (p *fixture) files() []string {
	p.t.Helper()
	list, err := os.ReadDir(p.chats())
	p.must(err)
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func (p *fixture) fork(name string, o restore.Options) *restore.Forked {
	p.t.Helper()
	o.Env = p.env()
	f, err := p.e.Restorer.Fork(bg, name, o)
	if err != nil {
		p.t.Fatalf("fork %s: %v", name, err)
	}
	return f
}

// back is a checkout with the conversation.
func (p *fixture) back(name string, o restore.Options) *restore.Result {
	p.t.Helper()
	o.Env = p.env()
	return p.checkout(name, o)
}

func (p *fixture) verify() {
	p.t.Helper()
	_, err := p.e.Checker.Verify(bg, true, nil, func(err error) { p.t.Fatalf("verify: %v", err) })
	p.must(err)
}
