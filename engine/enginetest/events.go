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

func (p *Project) Agent(id string) *Agent { return p.AgentIn(id, "balanced") }

func (p *Project) AgentIn(id, tier string) *Agent {
	p.T.Helper()
	t, err := hooks.LoadTier(tier)
	p.Must(err)
	return &Agent{p: p, ID: id, Tier: t}
}

func (a *Agent) Name() string { return "claude/" + a.ID }

func (a *Agent) Send(ev hooks.Event, o capture.HandleOptions) *capture.Handled {
	a.p.T.Helper()
	ev.Agent, ev.Session, ev.Cwd, o.Tier = hooks.Claude, a.ID, a.p.Root, a.Tier
	h, err := a.p.E.Worktree.Handle(Bg, ev, o)
	if err != nil {
		a.p.T.Fatalf("handle %d of %s: %v", ev.Kind, a.ID, err)
	}
	return h
}

func (a *Agent) Start() *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.SessionStart, Source: "startup"}, capture.HandleOptions{})
}

func (a *Agent) Prompt(text string) *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, capture.HandleOptions{})
}

func (a *Agent) Stop() *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.Stop}, capture.HandleOptions{})
}

func (a *Agent) Before(call string) *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
}

func (a *Agent) After(call string) *capture.Handled {
	return a.Send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
}

// Run is a tool call that does something.
func (a *Agent) Run(call string, do func()) *capture.Handled {
	a.Before(call)
	do()
	return a.After(call)
}

func (p *Project) Get(h *capture.Handled) *model.Checkpoint {
	p.T.Helper()
	cp, err := p.E.Log.Checkpoint(h.Checkpoint)
	p.Must(err)
	return cp
}

// Big is content that no rule folds.
func Big(s string) string { return strings.Repeat(s+"\n", 40) }

func (p *Project) Read(name string) string {
	p.T.Helper()
	b, err := os.ReadFile(p.Path(name))
	p.Must(err)
	return string(b)
}

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
