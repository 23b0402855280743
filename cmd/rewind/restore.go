package main

import (
	"context"

	"rewind/api"
	"rewind/internal/render"
)

// doRestore sends a restore and tells what it did.
func doRestore[Req any](
	ctx context.Context, a *app, route api.Route[Req, api.RestoreResponse], req Req, g again,
) error {
	r, said, err := ask(ctx, a, route, req, "comparing")
	if err != nil {
		return err
	}
	if !said {
		a.Notices(r.Notices)
		a.TellRestore(r, g.merging(r))
	}
	return render.Partial(r)
}
