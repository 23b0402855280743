package enginetest

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

// At is the code of a point: the first byte of f.
func (p *Project) At(k *Talker, name string) string {
	p.T.Helper()
	pt, err := p.E.History.Moment(k.Name(), name)
	p.Must(err)
	if pt.Checkpoint == nil {
		return "none"
	}
	return p.Cat(pt.Checkpoint, "f")[:1]
}

// Talker is a session of Claude Code: it calls the hooks, and writes its session file as the client does.
type Talker struct {
	*Agent
	File   string
	Parent string // uuid of the newest line
	N      int    // of uuids
}

// ClaudeID is the n-th session id.
func ClaudeID(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }

// User is the home directory of the one whose agents these are.
func (p *Project) User() string {
	return filepath.Join(filepath.Dir(p.Home.Dir), filepath.Base(p.Home.Dir)+"-user")
}

// Env is the environment of the project's person.
func (p *Project) Env() value.AgentEnv { return value.AgentEnv{Home: value.Text(p.User())} }

// Chats is the folder of Claude's sessions of the project.
func (p *Project) Chats() string {
	return filepath.Join(p.User(), ".claude", "projects", dashed(p.Root))
}

// Talker begins a session; its file is there with its first line.
func (p *Project) Talker(n int) *Talker {
	p.T.Helper()
	p.Must(os.MkdirAll(p.Chats(), 0o700))
	return &Talker{Agent: p.Agent(ClaudeID(n)), File: filepath.Join(p.Chats(), ClaudeID(n)+".jsonl")}
}

// Begun is a project with a session in which nothing was said yet; the file f is its code.
func Begun(t *testing.T) (*Project, *Talker) {
	t.Helper()
	p := NewProject(t)
	p.Write("f", Big("0"))
	p.Save("first")
	return p, p.Talker(1)
}

// TwoTurns is begun with two turns that each changed the code.
func TwoTurns(t *testing.T) (*Project, *Talker) {
	t.Helper()
	p, k := Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", p.Edits("f", "2"))
	return p, k
}

// Opened is the session of a fork, as the agent goes on with it.
func (p *Project) Opened(f *model.Fork) *Talker {
	p.T.Helper()
	_, id := model.SplitSession(f.Session)
	k := &Talker{Agent: p.Agent(id), File: f.Path, N: 100_000}
	for line := range strings.Lines(p.Slurp(f.Path)) {
		var l struct{ UUID, Type string }
		p.Must(json.Unmarshal([]byte(line), &l))
		if l.UUID != "" && l.Type != "custom-title" {
			k.Parent = l.UUID
		}
	}
	return k
}

// Slurp gives what any file holds.
func (p *Project) Slurp(path string) string {
	p.T.Helper()
	b, err := os.ReadFile(path)
	p.Must(err)
	return string(b)
}

// Send calls a hook of the session with its session file.
func (k *Talker) Send(ev hooks.Event, o capture.HandleOptions) *capture.Handled {
	k.p.T.Helper()
	ev.Transcript = k.File
	return k.Agent.Send(ev, o)
}

// Line appends a record to the session's file.
func (k *Talker) Line(typ, message string) {
	k.p.T.Helper()
	k.N++
	uuid := fmt.Sprintf("%08x-1111-4111-8111-%s", k.N, k.ID[:8]+"0000")
	parent := "null"
	if k.Parent != "" {
		parent = `"` + k.Parent + `"`
	}
	k.Append(fmt.Sprintf(
		`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-11-20T10:00:%02d.%03dZ","cwd":%q,"sessionId":%q,"version":"2.1.328"}`+"\n",
		parent, typ, message, uuid, k.N/1000%60, k.N%1000, k.p.Root, k.ID))
	k.Parent = uuid
}

// Append appends text to the session file.
func (k *Talker) Append(text string) {
	k.p.T.Helper()
	f, err := os.OpenFile(k.File, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	k.p.Must(err)
	_, err = f.WriteString(text)
	k.p.Must(err)
	k.p.Must(f.Close())
}

// Ask is a prompt: the hook comes first, then the line.
func (k *Talker) Ask(text string) *capture.Handled {
	k.p.T.Helper()
	h := k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, capture.HandleOptions{})
	k.Line("user", fmt.Sprintf(`{"role":"user","content":%q}`, text))
	return h
}

// Work is a call of a tool.
func (k *Talker) Work(do func()) *capture.Handled {
	k.p.T.Helper()
	call := fmt.Sprintf("toolu_%s_%d", k.ID[:8], k.N)
	k.Line("assistant",
		fmt.Sprintf(
			`{"id":"msg_%s","type":"message","role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"x"}}],"stop_reason":"tool_use"}`, call, call))
	k.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
	do()
	h := k.Send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
	k.Line("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"done"}]}`, call))
	return h
}

// Say is the last reply of a turn.
func (k *Talker) Say(text string) {
	k.p.T.Helper()
	k.Line("assistant",
		fmt.Sprintf(`{"id":"msg_%s_%d","type":"message","role":"assistant","content":[{"type":"text","text":%q}],"stop_reason":"end_turn"}`,
			k.ID[:8], k.N, text))
}

// Stop is the end of a turn.
func (k *Talker) Stop() *capture.Handled {
	return k.Send(hooks.Event{Kind: hooks.Stop}, capture.HandleOptions{})
}

// Take is a turn: prompt, a call of a tool if there is anything to do, reply, stop.
func (k *Talker) Take(text string, do func()) *capture.Handled {
	k.p.T.Helper()
	k.Ask(text)
	if do != nil {
		k.Work(do)
	}
	k.Say("done: " + text)
	return k.Stop()
}

// Edits gives something to do.
func (p *Project) Edits(name, content string) func() {
	return func() { p.Write(name, Big(content)) }
}

// Session is what the engine knows of a session.
func (p *Project) Session(name string) model.Session {
	p.T.Helper()
	all, err := p.E.Log.Sessions()
	p.Must(err)
	i := slices.IndexFunc(all, func(s model.Session) bool { return s.Name == name })
	if i < 0 {
		p.T.Fatalf("no session %s", name)
	}
	return all[i]
}

// Talk is what is stored of a conversation.
func (p *Project) Talk(s model.Session) []byte {
	p.T.Helper()
	b := ReadAll(p.T, p.E.Log.Objs, s.Cursor.Transcript)
	if int64(len(b)) != s.Cursor.Length {
		p.T.Fatalf("%d bytes are stored, the cursor says %d", len(b), s.Cursor.Length)
	}
	return b
}

// WholeLines is what is captured of a file.
func WholeLines(b []byte) []byte { return b[:bytes.LastIndexByte(b, '\n')+1] }

// Settle does what the events have left to be done later.
func (p *Project) Settle() {
	p.T.Helper()
	_, err := p.E.Worktree.FollowUp(Bg)
	p.Must(err)
}

// Prompts are the prompts in a session file, and the last thing that the model said.
func (p *Project) Prompts(path string) (asked []string, last string) {
	p.T.Helper()
	b := p.Slurp(path)
	list, err := transcript.Messages(transcript.Claude,
		transcript.Source{ReaderAt: strings.NewReader(b), Size: int64(len(b)), Name: path}, 1000)
	p.Must(err)
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

// WantTalk holds what a session file says.
func (p *Project) WantTalk(path, last string, asked ...string) {
	p.T.Helper()
	got, end := p.Prompts(path)
	Equal(p.T, "prompts in "+filepath.Base(path), got, asked)
	if end != last {
		p.T.Fatalf("%s ends with %q, want %q", filepath.Base(path), end, last)
	}
}

// Files are the session files that are there.
func (p *Project) Files() []string {
	p.T.Helper()
	list, err := os.ReadDir(p.Chats())
	p.Must(err)
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// Fork forks, and fails the test if that fails.
func (p *Project) Fork(name string, o restore.Options) *restore.Forked {
	p.T.Helper()
	o.Env = p.Env()
	f, err := p.E.Restorer.Fork(Bg, name, o)
	if err != nil {
		p.T.Fatalf("fork %s: %v", name, err)
	}
	return f
}

// Back is a checkout with the conversation.
func (p *Project) Back(name string, o restore.Options) *restore.Result {
	p.T.Helper()
	o.Env = p.Env()
	return p.Checkout(name, o)
}

// Verify holds that the store is whole.
func (p *Project) Verify() {
	p.T.Helper()
	_, err := p.E.Checker.Verify(Bg, true, nil, func(err error) { p.T.Fatalf("verify: %v", err) })
	p.Must(err)
}

// Used says that somebody has gone on with a session.
func (k *Talker) Used(text string) {
	k.Line("user", fmt.Sprintf(`{"role":"user","content":%q}`, text))
}
