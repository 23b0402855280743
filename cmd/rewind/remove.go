package main

import (
	"context"
	"fmt"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// runRemove is init --remove. Nothing brings a history back, so it is the one command that asks.
func runRemove(ctx context.Context, a *app, o initOptions) error {
	req := api.RemoveRequest{Project: a.project(), Env: agentEnv(), DryRun: true}
	r, err := call(ctx, a, api.Remove, req, "")
	if err != nil {
		return err
	}
	if !o.dryRun {
		if !o.yes {
			if err := a.confirmRemoval(r); err != nil {
				return err
			}
		}
		req.DryRun = false
		if r, err = call(ctx, a, api.Remove, req, ""); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(r)
	}
	head := "removed"
	if o.dryRun {
		head = "would remove"
	}
	fmt.Fprintf(a.Out, "%s %s\n", head, a.removalText(r))
	if r.Hooks != nil {
		return a.showHooks(a.Out, *r.Hooks, api.HooksRequest{Remove: true, DryRun: o.dryRun})
	}
	return nil
}

func (a *app) removalText(r api.RemoveResponse) string {
	return fmt.Sprintf("the history of %s: %s, %s in %s", term.Quote(string(r.Root)), render.Count(r.Checkpoints, "checkpoint"),
		term.Size(r.DiskBytes), term.Quote(string(r.Store)))
}

// confirmRemoval asks a person; who is none has to have said it.
func (a *app) confirmRemoval(r api.RemoveResponse) error {
	text := a.removalText(r)
	refused := &api.Error{
		Word: api.WordUsage, Message: "init --remove takes " + text + "; it cannot be undone",
		Hint: "--yes does it without asking",
	}
	return a.confirm("This takes "+text+". It cannot be undone; the project's files stay.", refused, "nothing was removed")
}
