package history

import (
	"context"
	"fmt"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/hooks"
)

// An Agent is Claude Code at work: it sends the events of its hooks, straight to the engine. For one goroutine.
type Agent struct {
	e       *engine.Engine
	root    string
	tier    hooks.Tier
	session string
	sent    uint64
}

// NewAgent gives one that works in the project at root. e should be watched, or each call costs a scan of the tree.
func NewAgent(e *engine.Engine, root string) (*Agent, error) {
	tier, err := hooks.LoadTier(hooks.DefaultTier)
	if err != nil {
		return nil, err
	}
	return &Agent{e: e, root: root, tier: tier}, nil
}

// Begin begins a session of that id.
func (a *Agent) Begin(ctx context.Context, session string) error {
	a.session = session
	_, err := a.event(ctx, hooks.Event{Kind: hooks.SessionStart, Source: "startup"})
	return err
}

// Prompt begins a turn.
func (a *Agent) Prompt(ctx context.Context, text string) error {
	_, err := a.event(ctx, hooks.Event{Kind: hooks.Prompt, Prompt: text})
	return err
}

// Stop ends a turn.
func (a *Agent) Stop(ctx context.Context) error {
	_, err := a.event(ctx, hooks.Event{Kind: hooks.Stop})
	return err
}

// Edit announces a call that edits files, has do edit them, and reports it; made: a checkpoint came of it.
func (a *Agent) Edit(ctx context.Context, files []string, do func() error) (made bool, err error) {
	tool := hooks.Tool{Name: "Edit", Call: fmt.Sprintf("toolu_%d", a.sent), Class: hooks.Editor, Paths: files}
	if _, err := a.event(ctx, hooks.Event{Kind: hooks.BeforeTool, Tool: tool}); err != nil {
		return false, err
	}
	if err := do(); err != nil {
		return false, err
	}
	h, err := a.event(ctx, hooks.Event{Kind: hooks.AfterTool, Tool: tool})
	return err == nil && h.New, err
}

func (a *Agent) event(ctx context.Context, ev hooks.Event) (*capture.Handled, error) {
	ev.Agent, ev.Session, ev.Cwd = hooks.Claude, a.session, a.root
	a.sent++
	return a.e.Worktree.Handle(ctx, ev, capture.HandleOptions{ID: a.sent, Tier: a.tier})
}
