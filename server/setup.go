package server

import (
	"context"
	"slices"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
)

// setup answers what sets a project, its settings and the agents' hooks up, and takes them out.
type setup struct{ *server }

func (s setup) routes() {
	handle(s.server, api.Init, s.init)
	handle(s.server, api.Config, s.config)
	handle(s.server, api.SetConfig, s.setConfig)
	handle(s.server, api.SetHooks, s.setHooks)
	handle(s.server, api.Remove, s.remove)
	handle(s.server, api.Version, s.version)
}

func (s setup) init(ctx context.Context, req api.InitRequest, p model.Progress) (out api.InitResponse, err error) {
	var plan *project.InitPlan
	o := s.engineOptions()
	err = s.withLockWait(ctx, func(wait time.Duration) error {
		o.LockWait = wait
		if plan, err = project.PlanInit(ctx, s.home, req.ProjectDir(), project.Mode(req.Mode), wait); err != nil ||
			req.DryRun {
			return err
		}
		if err = s.askSettings(plan, req.Settings); err == nil {
			plan, err = engine.SetUp(ctx, s.home, req.ProjectDir(), project.Mode(req.Mode), o)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	if err := s.home.ForgetRemoved(plan.Root); err != nil {
		return out, err
	}
	out = initResponse(plan)
	notes := append(append(initNotices(plan), s.settingsThere(plan)...), s.removedHere(plan)...)
	if req.DryRun {
		out.Notices, out.Doubtful = notes, s.doubtfulThere(plan)
		return out, nil
	}
	err = s.project(ctx, plan.Root, func(e *engine.Engine) error {
		out.Store = api.Text(e.Project().Store)
		if err := e.RecordInit(ctx, plan); err != nil {
			return err
		}
		first, err := e.Worktree.FirstCheckpoint(ctx, p)
		if err != nil {
			return err
		}
		out.Notices = append(notes,
			slices.DeleteFunc(e.Project().Notices, func(n string) bool { return slices.Contains(notes, n) })...)
		if w := e.Restorer.Weaker(); w != "" {
			out.Notices = append(out.Notices, w)
		}
		out.Skips = skips(first.Skips)
		out.Checkpoint, err = listed(e, first.Checkpoint)
		s.scanNow(ctx, e)
		return err
	})
	return out, err
}

func initResponse(p *project.InitPlan) api.InitResponse {
	return api.InitResponse{
		Root: api.Text(p.Root), Mode: string(p.Mode), Store: api.Text(p.Store), Exists: p.Exists,
		Offers: p.Offers,
	}
}

// initNotices is what a person should know of how a project was set up.
func initNotices(p *project.InitPlan) (list []string) {
	for _, o := range p.Passed {
		list = append(list, o.String())
	}
	if p.Own != "" {
		list = append(list, "this directory is set up by itself: "+p.Own)
	}
	if p.Unmarked != "" {
		list = append(list, p.Unmarked+
			": the project is found by where it lies, so 'rewind stores join' has to tell when it moves")
	}
	if p.Accept {
		list = append(list,
			"the directory is not the one that was set up, and is taken for the project all the same: "+
				"'rewind checkout @' brings back what was there")
	}
	if p.Mode == project.ModeProject && !p.Exists {
		list = append(list,
			"'git clean -fdx' takes the store along, for good, and 'git stash -a' until 'git stash pop'; "+
				"without --mode project it lies out of their reach")
	}
	return list
}
