package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/internal/programs"
	"rewind/internal/textdiff"
	"rewind/internal/value"
)

func (s setup) setHooks(
	ctx context.Context, req api.HooksRequest, _ model.Progress,
) (out api.HooksResponse, err error) {
	o := register.Options{Remove: req.Remove, Refresh: req.Refresh, DryRun: req.DryRun, Agents: req.Agents}
	for _, agent := range req.Agents {
		if !slices.Contains(value.Agents(), agent) {
			return out, &value.OpError{
				Op: "agent", Subject: string(agent), Typed: true,
				Err: model.Usagef("known are %s", agentNames()),
			}
		}
	}
	if p, err := s.find(ctx, req.ProjectDir()); err == nil {
		o.Root = p.Root
	}
	if req.Remove && !req.DryRun {
		if err := s.fromPersonAnywhere(ctx, req.ProjectDir()); err != nil {
			return out, err
		}
	}
	r, err := register.SetHooks(ctx, s.home, req.Env, o)
	return hooksResponse(r), tellHooks(r, err)
}

func agentNames() string {
	var names []string
	for _, a := range value.Agents() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// tellHooks adds the remedy, and what had been done before an error.
func tellHooks(r *register.Result, err error) error {
	if err == nil {
		return nil
	}
	told := *tell(err)
	if errors.Is(err, register.ErrNoProgram) {
		told.Hint = programs.InstallRemedy + ": it builds and installs it"
	}
	if r == nil {
		return &told
	}
	for _, a := range r.Agents {
		for _, c := range a.Changes {
			told.Message += fmt.Sprintf("\n  already written: %s", c.Path)
		}
	}
	return &told
}

// settingsContext is how many lines a difference shows around a change.
const settingsContext = 3

func hooksResponse(r *register.Result) api.HooksResponse {
	if r == nil {
		return api.HooksResponse{}
	}
	out := api.HooksResponse{Program: api.Text(r.Program), Tier: r.Tier, Agents: []api.AgentHooks{}, Copied: r.Copied}
	if r.CopyErr != nil {
		out.CopyErr = tell(r.CopyErr)
	}
	for _, a := range r.Agents {
		h := api.AgentHooks{
			Agent: a.Agent, Dir: api.Text(a.Dir), Installed: a.Installed, File: api.Text(a.File), Hooks: a.Hooks,
			SwitchedOff: a.SwitchedOff, Server: api.Text(a.Server), Commands: value.Texts(a.Commands),
			Left: value.Texts(a.Left),
		}
		for _, c := range a.Changes {
			h.Changes = append(h.Changes, settingsDiff(c))
		}
		if a.Err != nil {
			h.Error = tell(a.Err)
		}
		out.Agents = append(out.Agents, h)
	}
	return out
}

func settingsDiff(c register.SettingsChange) api.FileDiff {
	f := api.FileDiff{Change: api.Change{
		Path: api.Text(c.Path), Status: "modified", OldSize: int64(len(c.Before)),
		NewSize: int64(len(c.After)),
	}}
	switch {
	case c.Before == nil:
		f.Status = "added"
	case c.After == nil:
		f.Status = "deleted"
	}
	d := textdiff.Diff(c.Before, c.After, settingsContext)
	f.Added, f.Removed = textdiff.Stat(d.Hunks)
	f.Hunks = d.Hunks
	return f
}

// keptHint is the remedy of a removal that would take kept bytes with it.
const keptHint = "move them out of .agent/rewind/stage first"

func (s setup) remove(
	ctx context.Context, req api.RemoveRequest, _ model.Progress,
) (out api.RemoveResponse, err error) {
	if !req.DryRun {
		if err := s.fromPerson(ctx, req.ProjectDir()); err != nil {
			return out, err
		}
	}
	r, err := s.removal(ctx, req.ProjectDir(), &out)
	if err != nil {
		return out, err
	}
	if r.Last {
		done, err := s.removeHooks(ctx, req)
		if err != nil {
			return out, tellHooks(done, err)
		}
		gone := hooksResponse(done)
		out.Hooks = &gone
		for _, a := range done.Agents {
			if len(a.Changes) > 0 {
				r.Hooks = append(r.Hooks, a.Agent)
			}
		}
	}
	if req.DryRun {
		return out, nil
	}
	s.degraded.clear(&r.Project)
	noted := s.home.NoteRemoved(r.Project.Root)
	if noted != nil && !req.Now { // what frees a full disk goes on
		return out, noted
	}
	o := s.engineOptions()
	return out, s.stores.Without(ctx, r.Project.Store, func() error {
		t, err := engine.Remove(ctx, s.home, r, req.Now, o)
		if t == nil && !req.Now {
			t, _ = s.home.FindTrashed(r.Project.ID, o.Clock()) // by a removal that was cut short
		}
		out.Trash = stores(s).inTrash(t)
		return err
	})
}

// removeHooks takes the hooks of all agents out with the last project, or those of none: hooks without a project would
// stay for ever.
func (s setup) removeHooks(ctx context.Context, req api.RemoveRequest) (*register.Result, error) {
	o := register.Options{Remove: true, DryRun: true}
	plan, err := register.SetHooks(ctx, s.home, req.Env, o)
	if err = errors.Join(err, plan.Err()); err != nil {
		return nil, err
	}
	if req.DryRun {
		return plan, nil
	}
	o.DryRun = false
	done, err := register.SetHooks(ctx, s.home, req.Env, o)
	return done, errors.Join(err, done.Err())
}

// removal finds the project that is to go, and refuses what must not.
func (s setup) removal(ctx context.Context, dir string, out *api.RemoveResponse) (r *project.Removal, err error) {
	err = s.withLockWait(ctx, func(wait time.Duration) error {
		r, err = project.FindRemoval(ctx, s.home, dir, project.Options{LockWait: wait})
		return err
	})
	if err != nil {
		return nil, err
	}
	p := r.Project
	*out = api.RemoveResponse{Root: api.Text(p.Root), Mode: string(p.Mode), Store: api.Text(p.Store), Last: r.Last}
	err = s.read(withoutDamage(ctx), p.Root, func(e *engine.Engine) error {
		if err := e.CheckRemoval(); err != nil {
			return err
		}
		n, bytes, err := e.Footprint()
		out.Checkpoints, out.DiskBytes = n, bytes
		return err
	})
	switch {
	case errors.Is(err, model.ErrStoreGone):
		return r, nil
	case errors.Is(err, project.ErrKeptBytes):
		return nil,
			&api.Error{Code: api.CodeOf(api.WordUnsaved), Word: api.WordUnsaved, Message: clean(err), Hint: keptHint}
	}
	return r, err
}
