package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rewind/api"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
)

func (s setup) config(ctx context.Context, req api.ConfigRequest, _ model.Progress) (api.ConfigResponse, error) {
	root, err := s.configRoot(ctx, req.ProjectDir(), req.Global)
	if err != nil {
		return api.ConfigResponse{}, err
	}
	c, err := project.LoadConfig(s.home, root)
	if err != nil {
		return api.ConfigResponse{}, err
	}
	return api.ConfigResponse{Settings: c.Settings()}, nil
}

func (s setup) setConfig(ctx context.Context, req api.SetConfigRequest, p model.Progress) (api.ConfigResponse, error) {
	root, err := s.configRoot(ctx, req.ProjectDir(), req.Global)
	if err != nil {
		return api.ConfigResponse{}, err
	}
	if project.Protects(req.Key) {
		ask := s.fromPerson
		if req.Global {
			ask = s.fromPersonAnywhere
		}
		if err := ask(ctx, req.ProjectDir()); err != nil {
			return api.ConfigResponse{}, err
		}
	}
	if root == "" && !req.Global {
		return api.ConfigResponse{}, fmt.Errorf("config: %w: --global sets it for all projects", model.ErrNoProject)
	}
	if root != "" && (req.Key == "init.auto" || req.Key == "init.worktrees") {
		return api.ConfigResponse{}, fmt.Errorf("config %s: %w", req.Key, model.Usagef("it is of no project; --global sets it"))
	}
	if err := project.SetConfig(s.home, root, req.Key, req.Values); err != nil {
		return api.ConfigResponse{}, err
	}
	return s.config(ctx, api.ConfigRequest{Project: req.Project, Global: req.Global}, p)
}

// configRoot is the project whose settings are meant; "" outside of one.
func (s setup) configRoot(ctx context.Context, dir string, global bool) (string, error) {
	if global {
		return "", nil
	}
	p, err := s.find(ctx, dir)
	if errors.Is(err, model.ErrNoProject) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return p.Root, nil
}

func (s setup) version(context.Context, api.VersionRequest, model.Progress) (api.VersionResponse, error) {
	return api.About(s.o.version), nil
}

// A client says the format without a store to ask.
var _ = [1]struct{}{}[kv.FormatVersion-api.StoreFormat]

// doubtfulThere are settings that lie in a project which is to be set up, and would have rewind remember less: a line
// each.
func (s setup) doubtfulThere(p *project.InitPlan) (lines []string) {
	if p.Exists {
		return nil
	}
	c, err := project.LoadConfig(s.home, p.Root)
	if err != nil {
		return nil // said by what needs them
	}
	doubtful, err := c.Doubtful(s.home)
	if err != nil {
		return nil
	}
	for _, set := range doubtful {
		v, err := json.Marshal(set.Value)
		if err == nil {
			lines = append(lines, set.Key+" is "+string(v)+" ("+set.Help+")")
		}
	}
	return lines
}

// askSettings refuses to set up a project while nobody has said that its doubtful settings hold.
func (s setup) askSettings(p *project.InitPlan, accepted bool) error {
	lines := s.doubtfulThere(p)
	if accepted || len(lines) == 0 {
		return nil
	}
	return &api.Error{
		Word: api.WordUsage,
		Message: "settings that lay in " + p.Root + "/.agent/rewind/config.json would have rewind remember less: " +
			strings.Join(lines, "; ") + ". Nothing was set up",
		Hint: "'rewind init --yes' takes them, if you wrote them; else take them out of the file, then 'rewind init'",
	}
}

// removedHere tells of a store that a project had before, and that can be brought back.
func (s setup) removedHere(p *project.InitPlan) (notes []string) {
	for _, t := range s.home.Trash(s.engineOptions().Clock()) {
		if !p.Exists && t.Record.Root == p.Root {
			notes = append(notes, fmt.Sprintf("the history that was removed here lies in the trash until %s: 'rewind stores restore "+
				"%[2]s' brings it back, and 'rewind stores join %[2]s' then makes it this project's",
				t.Info(s.home).Goes.Format(time.RFC3339), t.Record.ID[:8]))
		}
	}
	return notes
}

// settingsThere tells of settings that lay in a project before it was set up, since whoever unpacked it there may not
// have made them.
func (s setup) settingsThere(p *project.InitPlan) []string {
	if p.Exists {
		return nil
	}
	c, err := project.LoadConfig(s.home, p.Root)
	if err != nil {
		return nil // said by what needs them
	}
	var keys []string
	for _, set := range c.Settings() {
		if set.From == "project" {
			keys = append(keys, set.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return []string{"settings that lay in " + p.Root + "/.agent/rewind/config.json hold here: " + strings.Join(keys,
		", ") + "; 'rewind config' shows them"}
}
