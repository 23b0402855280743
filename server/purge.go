package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/purge"
)

func (s *server) purge(ctx context.Context, req api.PurgeRequest, p model.Progress) (out api.PurgeResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		r, err := e.Purger.Purge(ctx, purge.Options{Paths: paths, Blobs: req.Blobs, Text: []byte(req.Text), DryRun: req.DryRun, Progress: p})
		if err != nil {
			return err
		}
		out = api.PurgeResponse{DryRun: req.DryRun, Purged: *r, Notices: e.Project().Notices}
		return nil
	})
	return out, err
}
