package server

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/hooks"
)

// sessionHomes knows in which project each session of an agent began: it stays with that one, wherever the agent's
// working directory goes.
type sessionHomes struct {
	mu    sync.Mutex
	in    map[string]string   // root of the project, by agent and session
	heard map[string][]string // roots of projects that have heard of a session since it was asked something, see fresh
}

// maxBegan bounds how many are known. One that is forgotten is found again as it was the first time.
const maxBegan = 4096

func sessionKey(ev hooks.Event) string { return string(ev.Agent) + "\x00" + ev.Session }

func (b *sessionHomes) root(ev hooks.Event) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.in[sessionKey(ev)]
}

// at says that an event's session is at home in a project.
func (b *sessionHomes) at(ev hooks.Event, root string) {
	if ev.Session == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in == nil || len(b.in) >= maxBegan {
		b.in = map[string]string{}
	}
	b.in[sessionKey(ev)] = root
}

// asked says that a session is asked something.
func (b *sessionHomes) asked(ev hooks.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.heard, sessionKey(ev))
}

// fresh reports whether a project hears of a session for the first time since that was asked something, or since this
// daemon began: which turn that is it has to find out.
func (b *sessionHomes) fresh(ev hooks.Event, root string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := sessionKey(ev)
	if slices.Contains(b.heard[key], root) {
		return false
	}
	if b.heard == nil || len(b.heard) >= maxBegan {
		b.heard = map[string][]string{}
	}
	b.heard[key] = append(b.heard[key], root)
	return true
}

// ending are the roots of projects that have heard of the turn which an event ends; nil: it ends none.
func (b *sessionHomes) ending(ev hooks.Event) []string {
	ends := ev.Kind == hooks.Stop || ev.Kind == hooks.SessionEnd
	if !ends || ev.Subagent != "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.heard[sessionKey(ev)])
}

// tellsBeginning are the agents that tell their hooks in the environment where the session began. Of another one the
// variable is of the agent around it.
var tellsBeginning = map[hooks.Agent]bool{hooks.Claude: true, hooks.Gemini: true, hooks.Droid: true}

// projectOf finds the project that an event goes to: where its session began. dir is where the agent works now.
func (s intake) projectOf(ctx context.Context, ev hooks.Event, call *hookCall, dir string) (*project.Project, error) {
	opens := ev.Kind == hooks.SessionStart && ev.Source != "compact"
	var places []string
	if tellsBeginning[ev.Agent] && filepath.IsAbs(call.began) {
		places = append(places, call.began)
	}
	if root := s.began.root(ev); root != "" && !opens {
		places = append(places, root)
	}
	for _, place := range places {
		if p, err := s.find(ctx, place); err == nil || !errors.Is(err, model.ErrNoProject) {
			return p, err
		}
	}
	p, err := s.find(ctx, dir)
	no := err != nil || opens
	if no || len(places) > 0 || ev.Session == "" {
		return p, err
	}
	return s.around(ctx, ev, p), nil
}

// around is the project around p if that is the one that knows an event's session: the session began there, and no
// agent or daemon is left that could tell.
func (s intake) around(ctx context.Context, ev hooks.Event, p *project.Project) *project.Project {
	outer, err := s.find(ctx, filepath.Dir(p.Root))
	none := err != nil || outer.Root == p.Root
	if none || s.knows(ctx, p, ev) || !s.knows(ctx, outer, ev) {
		return p
	}
	return outer
}

func (s intake) knows(ctx context.Context, p *project.Project, ev hooks.Event) (known bool) {
	_ = s.opened(ctx, p, false, func(e *engine.Engine) (err error) {
		known, err = e.Worktree.Knows(ev)
		return err
	})
	return known
}

// elsewhere hands an event to the projects that have files which its call names, and to those that have heard of a turn
// which it ends: what the session does there is in their history, too. They hear of no prompt, so they are told which
// turn it is.
func (s intake) elsewhere(
	ctx context.Context, p *project.Project, h capture.Handled, ev hooks.Event, call *hookCall,
) error {
	var failed error
	told := map[string]bool{p.Root: true}
	for _, dir := range slices.Concat(h.Elsewhere, s.began.ending(ev)) {
		q, err := s.find(ctx, dir)
		if err != nil || told[q.Root] {
			continue
		}
		told[q.Root] = true
		s.began.fresh(ev, q.Root)
		_, err = s.takeIn(ctx, q, ev, call, capture.HandleOptions{Turn: h.Turn, Recount: true})
		failed = errors.Join(failed, err)
	}
	return failed
}

// setUp sets up the project in which an agent works, where init.worktrees or init.auto asks for that, and returns it;
// nil: it is left to a person. A process of one command has no time for that.
func (s intake) setUp(ctx context.Context, ev hooks.Event, dir string) *project.Project {
	if s.daemon == nil || dir == "" {
		return nil
	}
	c, err := project.LoadConfig(s.home, "")
	if err != nil || !c.HooksEnabled() {
		return nil
	}
	linked := c.LinkedInit() && s.linkUp(ctx, dir)
	if linked || c.AutoInit() && s.initAuto(ctx, ev, dir) {
		if p, err := s.find(ctx, dir); err == nil {
			return p
		}
	}
	return nil
}

// linkUp sets up the working tree around dir that git has linked to a repository which is set up: as a worktree of that
// project, with the state that is there now as its first checkpoint.
func (s intake) linkUp(ctx context.Context, dir string) bool {
	of, root, err := project.PlanLinked(ctx, s.home, dir, hookPatience)
	if err != nil {
		s.log.Debug("init.worktrees", "error", clean(err))
		return false
	}
	s.linking.Lock()
	defer s.linking.Unlock()
	if p, err := s.find(ctx, root); err == nil && p.Root == root {
		return true // another event was first
	}
	err = s.opened(ctx, of, false, func(e *engine.Engine) error {
		from := e.Project()
		_, err := s.home.MakeWorktree(ctx, &from, root, e.Log.DB, false, s.o.lockWait)
		return err
	})
	if err == nil {
		err = s.project(ctx, root, func(e *engine.Engine) error {
			if err := e.RecordWorktree(ctx); err != nil {
				return err
			}
			return e.Worktree.Begin(ctx, nil)
		})
	}
	if err != nil {
		s.log.Error("init.worktrees", "error", clean(err))
	}
	return err == nil
}

// initAuto is init.auto. It is done when a prompt has come, not when an agent is merely started: while the model thinks
// the first checkpoint is taken, before any tool changes a file.
func (s intake) initAuto(ctx context.Context, ev hooks.Event, dir string) bool {
	switch ev.Kind {
	case hooks.Prompt, hooks.BeforeTool, hooks.AfterTool:
	default:
		return false
	}
	root, err := project.PlanAuto(ctx, s.home, dir, hookPatience)
	if err != nil {
		s.log.Info("init.auto", "error", clean(err))
		return false
	}
	req := api.InitRequest{Project: api.Project{Dir: api.Text(root)}}
	if _, err := setup(s).init(ctx, req, func(int, int64) {}); err != nil {
		s.log.Error("init.auto", "error", clean(err))
		return false
	}
	return true
}
