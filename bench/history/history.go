// Package history makes projects with a long history: what agents leave behind in months, by the same calls as their hooks make.
package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"rewind/bench/workload"
	"rewind/engine"
	"rewind/hooks"
)

// The shape of a history: an edit is announced and reported, a turn is a prompt, some edits and an answer.
const (
	turnEdits   = 10
	sessionSize = 500 // edits
	touched     = 64  // files that are edited, spread over the tree
)

// Fill has Claude Code's events make n checkpoints in the project at root, each of one small edit, the session changing now and then. Nothing is
// shortened: each checkpoint is captured, folded and committed as in a hook. e should be watched, or each costs a scan of the tree.
func Fill(ctx context.Context, e *engine.Engine, root string, n int) error {
	all, err := workload.Files(root)
	if err != nil {
		return err
	}
	files := workload.Editable(all)
	if len(files) == 0 {
		return fmt.Errorf("history: fill %s: no file to edit", root)
	}
	r := rand.New(rand.NewPCG(1, 'h'))
	few := make([]string, min(touched, len(files)))
	for i := range few {
		few[i] = files[r.IntN(len(files))]
	}
	tier, err := hooks.LoadTier(hooks.DefaultTier)
	if err != nil {
		return err
	}
	a := &agent{e: e, root: root, tier: tier}
	for i := range n {
		if i%sessionSize == 0 {
			a.session = fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), i)
			a.event(ctx, hooks.Event{Kind: hooks.SessionStart, Source: "startup"})
		}
		if i%turnEdits == 0 {
			a.event(ctx, hooks.Event{Kind: hooks.Prompt, Prompt: fmt.Sprintf("change number %d", i)})
		}
		if err := a.edit(ctx, few[i%len(few)], i); err != nil {
			return err
		}
		if i%turnEdits == turnEdits-1 {
			a.event(ctx, hooks.Event{Kind: hooks.Stop})
		}
		if a.err != nil {
			return a.err
		}
	}
	return nil
}

// agent sends events; err is the first that was not taken in.
type agent struct {
	e       *engine.Engine
	root    string
	tier    hooks.Tier
	session string
	sent    uint64
	err     error
}

func (a *agent) event(ctx context.Context, ev hooks.Event) *engine.Handled {
	ev.Agent, ev.Session, ev.Cwd = hooks.Claude, a.session, a.root
	a.sent++
	h, err := a.e.Handle(ctx, ev, engine.HandleOptions{ID: a.sent, Tier: a.tier})
	if err != nil && a.err == nil {
		a.err = err
	}
	return h
}

// edit replaces the end of a file, between the two events of a call.
func (a *agent) edit(ctx context.Context, file string, i int) error {
	tool := hooks.Tool{Name: "Edit", Call: fmt.Sprintf("toolu_%d", i), Class: hooks.Editor, Paths: []string{file}}
	a.event(ctx, hooks.Event{Kind: hooks.BeforeTool, Tool: tool})
	path := filepath.Join(a.root, filepath.FromSlash(file))
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("// edited %12d\n", i)
	if i >= touched && len(b) >= len(line) {
		b = b[:len(b)-len(line)]
	}
	if err := os.WriteFile(path, append(b, line...), 0o600); err != nil {
		return err
	}
	if h := a.event(ctx, hooks.Event{Kind: hooks.AfterTool, Tool: tool}); a.err == nil && !h.New {
		return fmt.Errorf("history: edit %d of %s made no checkpoint", i, file)
	}
	return a.err
}
