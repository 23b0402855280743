package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/server/work"
)

func (s *Server) gc(ctx context.Context, req api.GCRequest, p engine.Progress) (out api.GCResponse, err error) {
	o := engine.GCOptions{DryRun: req.DryRun, Keep: req.Keep, Progress: p}
	if req.MaxSize != "" {
		if o.MaxSize, err = engine.ParseSize(req.MaxSize); err != nil {
			return out, err
		}
	}
	if req.Older != "" {
		if o.Older, err = engine.ParseAge(req.Older); err != nil {
			return out, err
		}
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		defer work.TightHeap()()
		r, err := e.GC(ctx, o)
		if err != nil {
			return err
		}
		out = api.GCResponse{
			DryRun: req.DryRun, Checkpoints: r.Checkpoints, Safety: r.Safety, Kept: r.Kept, Young: r.Young, Grace: r.Grace, Objects: r.Objects, Bytes: r.Bytes,
			DiskBefore: r.DiskBefore, DiskAfter: r.DiskAfter, Fits: r.Fits, Notices: e.Project().Notices,
		}
		return nil
	})
	return out, err
}
