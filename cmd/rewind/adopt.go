package main

import (
	"context"
	"fmt"
	"io"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// runAdopt is init --adopt: what lies in the project is shown before it is opened for the first time.
func runAdopt(ctx context.Context, a *app, o initOptions) error {
	req := api.AdoptRequest{Project: a.project(), DryRun: true}
	r, err := call(ctx, a, api.Adopt, req, "")
	if err != nil {
		return err
	}
	if !a.json {
		a.showAdoption(a.Out, r)
	}
	if !o.dryRun {
		if !o.yes {
			if err := a.confirmAdoption(r); err != nil {
				return err
			}
		}
		req.DryRun = false
		if r, err = call(ctx, a, api.Adopt, req, "first checkpoint"); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(r)
	}
	a.Notices(r.Notices)
	if !o.dryRun {
		fmt.Fprintf(a.Out, "adopted; current checkpoint %s  %s\n", a.Styled(term.ID, r.Checkpoint.Short), render.Tally(*r.Checkpoint))
	}
	return nil
}

func (a *app) showAdoption(w io.Writer, r api.AdoptResponse) {
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-14s %s\n", name, term.Sanitize(text))
		}
	}
	row("store", term.Quote(string(r.Store))+" ("+r.Mode+" mode)")
	row("not believed", string(r.Why))
	row("says it is", string(r.ID))
	row("says it is of", string(r.Of))
	if !r.Created.IsZero() {
		row("says made", a.Time(r.Created))
	}
	row("changed", a.Time(r.Changed))
	row("holds", fmt.Sprintf("%s, %s", render.Count(r.Files, "file"), term.Size(r.DiskBytes)))
	row("owner", string(r.Owner))
}

// confirmAdoption asks a person; who is none has to have said it.
func (a *app) confirmAdoption(r api.AdoptResponse) error {
	ask := "From now on rewind opens this store and believes what it says. Only yes if you know where it comes from."
	return a.confirm(ask, &api.Error{
		Word: api.WordUsage, Message: "init --adopt takes over " + term.Quote(string(r.Store)) + ", which nothing says is yours",
		Hint: "--yes does it without asking, if you know where it comes from",
	}, "nothing was adopted")
}
