package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/purge"
	"rewind/internal/value"
)

func (s *Server) purge(ctx context.Context, req api.PurgeRequest, p model.Progress) (out api.PurgeResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		r, err := e.Purger.Purge(ctx, purge.Options{Paths: paths, Blobs: req.Blobs, Text: []byte(req.Text), DryRun: req.DryRun, Progress: p})
		if err != nil {
			return err
		}
		out = api.PurgeResponse{
			DryRun: req.DryRun, Operation: r.Operation, Contents: r.Contents, Bytes: r.Bytes, Before: r.Before, Paths: value.Texts(r.Paths),
			Checkpoints: r.Checkpoints, Sessions: r.Sessions, Present: value.Texts(r.Present), AgentFiles: value.Texts(r.AgentFiles),
			Files: value.Texts(r.Files), Prompts: r.Prompts, Unread: r.Unread, Notices: e.Project().Notices,
		}
		if out.Paths == nil {
			out.Paths = []api.Text{}
		}
		return nil
	})
	return out, err
}
