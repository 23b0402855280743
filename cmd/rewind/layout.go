package main

import (
	"context"
	"fmt"
	"path/filepath"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// layOut is a checkout into a directory of its own.
func layOut(ctx context.Context, a *app, walk api.Walk, checkpoint api.Text, into string, paths []api.Text) error {
	if !filepath.IsAbs(into) {
		into = filepath.Join(a.dir, into)
	}
	req := api.LayOutRequest{Project: a.project(), Walk: walk, Checkpoint: checkpoint, Paths: paths, Into: api.Text(into)}
	r, said, err := ask(ctx, a, api.LayOut, req, "writing")
	if err != nil {
		return err
	}
	if !said {
		a.Notices(r.Notices)
		fmt.Fprintf(a.Out, "wrote %s (%s, %s) to %s: %s\n", a.Styled(term.ID, r.Checkpoint.Short), a.Time(r.Checkpoint.Time),
			term.Sanitize(render.What(r.Checkpoint)),
			term.Quote(string(r.Into)), render.Count(r.Paths, "path"))
		a.TellKept(r.Left, render.StaysApart)
		a.TellWithout(r.Without)
	}
	if n := len(r.Left); n > 0 {
		return &api.Error{Word: api.WordPartial, Message: render.Count(n, "path") + " could not be made", Hint: "the list above says why"}
	}
	return nil
}
