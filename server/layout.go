package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
)

func (s restores) layOut(
	ctx context.Context, req api.LayOutRequest, _ model.Progress,
) (out api.LayOutResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		name, err := e.History.Named(req.Walk, string(req.Checkpoint))
		if err != nil {
			return err
		}
		r, err := e.Layouts.LayOut(ctx, name, string(req.Into), paths)
		if err != nil {
			return err
		}
		cp, err := listed(e, r.Checkpoint)
		if err != nil {
			return err
		}
		out = api.LayOutResponse{
			Checkpoint: *cp, Into: api.Text(r.Dir), Paths: r.Paths, Left: r.Left, Without: without(r.Without),
			Notices: e.Project().Notices,
		}
		for i := range out.Left {
			out.Left[i].Dir = false // told only of what stays
		}
		return nil
	})
	return out, err
}
