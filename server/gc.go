package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/server/work"
)

func (s *server) gc(ctx context.Context, req api.GCRequest, p model.Progress) (out api.GCResponse, err error) {
	o := gc.Options{DryRun: req.DryRun, Keep: req.Keep, Progress: p}
	if req.MaxSize != "" {
		if o.MaxSize, err = project.ParseSize(req.MaxSize); err != nil {
			return out, err
		}
	}
	if req.Older != "" {
		if o.Older, err = project.ParseAge(req.Older); err != nil {
			return out, err
		}
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		defer work.TightHeap()()
		r, err := e.Collector.GC(ctx, o)
		if err != nil {
			return err
		}
		out = api.GCResponse{DryRun: req.DryRun, Collected: *r, Notices: e.Project().Notices}
		return nil
	})
	return out, err
}

func (s *server) purge(ctx context.Context, req api.PurgeRequest, p model.Progress) (out api.PurgeResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		r, err := e.Purger.Purge(ctx, purge.Options{
			Paths: paths, Blobs: req.Blobs, Text: []byte(req.Text), DryRun: req.DryRun,
			Progress: p,
		})
		if err != nil {
			return err
		}
		out = api.PurgeResponse{DryRun: req.DryRun, Purged: *r, Notices: e.Project().Notices}
		return nil
	})
	return out, err
}
