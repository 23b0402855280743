package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// mendOptions are the flags of doctor that are about files of other users.
type mendOptions struct{ mend, yes, dryRun bool }

// runMend is doctor --mend. It asks no daemon, and opens no store. Root is asked first: who owns the directory has had
// every chance to put something there that root did not leave.
func runMend(ctx context.Context, a *app, o mendOptions) error {
	mend := func(dryRun bool) (api.MendResponse, error) {
		r, err := api.Call(ctx, a.client, api.Mend, api.MendRequest{DryRun: dryRun}, nil)
		if err == nil && r.Error != nil {
			err = r.Error
		}
		return r, err
	}
	r, err := mend(true)
	if err == nil && !o.dryRun && len(r.Given)+len(r.Removed)+len(r.Aside) > 0 {
		if !o.yes && len(r.Given) > 0 && os.Geteuid() == 0 {
			if err := a.confirmMend(r); err != nil {
				return err
			}
		}
		r, err = mend(false)
	}
	r.DryRun = o.dryRun
	if err != nil {
		a.tellMend(a.Err, r)
		return err
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		a.tellMend(a.Out, r)
	}
	if err == nil && len(r.Left) > 0 {
		left := render.Count(len(r.Left), "file") + " of other users left in " + string(r.Home)
		return &api.Error{Word: api.WordPartial, Message: left, Hint: "each line says why"}
	}
	return err
}

func (a *app) tellMend(w io.Writer, r api.MendResponse) {
	if a.json || r.Home == "" {
		return
	}
	gave, removed, moved := "gave back", "removed", "moved out of the way"
	if r.DryRun {
		gave, removed, moved = "would give back", "would remove", "would move out of the way"
	}
	for _, part := range []struct {
		what string
		list []api.MendEntry
	}{{gave, r.Given}, {removed, r.Removed}, {moved, r.Aside}, {"left", r.Left}} {
		for _, e := range part.list {
			line := fmt.Sprintf("%s %s, which was %s's", part.what, term.Quote(string(e.Path)), term.Sanitize(e.Owner))
			if e.Why != "" {
				line = fmt.Sprintf("%s %s, which is %s's: %s", part.what, term.Quote(string(e.Path)), term.Sanitize(e.Owner),
					term.Sanitize(e.Why))
			}
			fmt.Fprintln(w, line)
		}
	}
	if len(r.Given)+len(r.Removed)+len(r.Aside)+len(r.Left) == 0 {
		fmt.Fprintf(w, "all of %s is %s's\n", term.Quote(string(r.Home)), term.Sanitize(r.Owner))
	}
}

// confirmMend shows root what would be given away, and asks.
func (a *app) confirmMend(r api.MendResponse) error {
	who := term.Sanitize(r.Owner)
	if a.asks() {
		a.tellMend(a.Err, r)
	}
	return a.confirm("They can be read and changed by "+who+" then.", &api.Error{
		Word: api.WordUsage, Message: fmt.Sprintf("doctor --mend would give %s to %s", render.Count(len(r.Given), "file"), who),
		Hint: "--yes does it without asking, --dry-run lists them",
	}, "nothing was changed")
}
