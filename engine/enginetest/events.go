package enginetest

import (
	"os"
	"strings"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/hooks"
)

// Agent calls the hooks of one session.
type Agent struct {
	p    *Project
	ID   string
	Tier hooks.Tier
}

// Agent is a session of Claude Code whose hooks are called in the balanced tier.
func (p *Project) Agent(id string) *Agent { return p.AgentIn(id, "balanced") }

// AgentIn is Agent in a tier of one's choice.
func (p *Project) AgentIn(id, tier string) *Agent {
	p.T.Helper()
	t, err := hooks.LoadTier(tier)
	p.Must(err)
	return &Agent{p: p, ID: id, Tier: t}
}

// Name is the session's name, agent/id.
func (a *Agent) Name() string { return "claude/" + a.ID }

// Send calls a hook, and fails the test if that fails.
func (a *Agent) Send(ev hooks.Event, o capture.HandleOptions) *capture.Handled {
	a.p.T.Helper()
	ev.Agent, ev.Session, ev.Cwd, o.Tier = hooks.Claude, a.ID, a.p.Root, a.Tier
	h, err := a.p.E.Worktree.Handle(Bg, ev, o)
	if err != nil {
		a.p.T.Fatalf("handle %d of %s: %v", ev.Kind, a.ID, err)
	}
	return h
}

// Start is the beginning of the session.
func (a *Agent) Start() *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.SessionStart, Source: "startup"}, capture.HandleOptions{})
}

// Prompt is a prompt of its person.
func (a *Agent) Prompt(text string) *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, capture.HandleOptions{})
}

// Stop is the end of a turn.
func (a *Agent) Stop() *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.Stop}, capture.HandleOptions{})
}

// Before announces a shell call.
func (a *Agent) Before(call string) *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
}

// After is the end of a shell call.
func (a *Agent) After(call string) *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
}

// Run is a tool call that does something.
func (a *Agent) Run(call string, do func()) *capture.Handled {
	a.Before(call)
	do()
	return a.After(call)
}

// Get is the checkpoint that an event made.
func (p *Project) Get(h *capture.Handled) *model.Checkpoint {
	p.T.Helper()
	cp, err := p.E.Log.Checkpoint(h.Checkpoint)
	p.Must(err)
	return cp
}

// Big is content that no rule folds.
func Big(s string) string { return strings.Repeat(s+"\n", 40) }

// Read gives what a file of the project holds.
func (p *Project) Read(name string) string {
	p.T.Helper()
	b, err := os.ReadFile(p.Path(name))
	p.Must(err)
	return string(b)
}

// Edits is a call of an edit tool that names its files.
func (a *Agent) Edits(call string, do func(), paths ...string) *capture.Handled {
	a.p.T.Helper()
	tool := hooks.Tool{Name: "Write", Call: call, Class: hooks.Editor}
	for _, p := range paths {
		tool.Paths = append(tool.Paths, a.p.Path(p))
	}
	a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	do()
	return a.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{})
}
