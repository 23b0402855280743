package main

import (
	"context"
	"fmt"
	"strings"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// runRemove is init --remove. After a day nothing brings a history back, so it asks.
func runRemove(ctx context.Context, a *app, o initOptions) error {
	req := api.RemoveRequest{Project: a.project(), Env: agentEnv(), Now: o.now, DryRun: true}
	r, err := call(ctx, a, api.Remove, req, "")
	if err != nil {
		return err
	}
	if !o.dryRun {
		if !o.yes {
			if err := a.confirmRemoval(r, o.now); err != nil {
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
	a.trashNote(r.Trash)
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
func (a *app) confirmRemoval(r api.RemoveResponse, now bool) error {
	text, final := a.removalText(r), "It cannot be undone"
	if !now {
		final = trashText + ". " + final + " after that"
	}
	refused := &api.Error{
		Word: api.WordUsage, Message: "init --remove takes " + text + "; " + lower(final), Hint: "--yes does it without asking",
	}
	return a.confirm("This takes "+text+". "+final+"; the project's files stay.", refused, "nothing was removed")
}

// trashText says what becomes of a removed store.
const trashText = "It lies in the trash for a day, from where 'rewind stores restore' brings it back"

// lower is a text that begins with a pronoun, in the middle of a sentence.
func lower(text string) string {
	return strings.ReplaceAll(strings.Replace(text, "It", "it", 1), ". It", "; it")
}

// trashNote says until when a store can be brought back.
func (a *app) trashNote(t *api.Removed) {
	if t != nil {
		a.Say("hint: 'rewind stores restore %.8s' brings it back, until %s", t.ID, a.Time(t.Goes))
	}
}
