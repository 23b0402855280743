package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/gitinfo"
	"rewind/server/rundir"
)

// An agent works blind where its directory lies in a project that captures nothing of it: below an ignored directory,
// or in a worktree of git's or a repository that is not set up. Its events belong to no project there, for a history
// that says "no change" would be a lie. The agent's user is told at the first event, and the project around it has a
// finding.

// blindError is a model.ErrNoProject of a directory in which nothing is captured.
type blindError struct {
	holder *project.Project // the project that says so
	dir    string           // where the agent works
	at     string           // the directory that is left out: dir, or one above
	why    string
}

func (e *blindError) Error() string {
	return fmt.Sprintf("nothing in %s is captured by the project %s: %s", e.at, e.holder.Root, e.why)
}

// Is makes it a model.ErrNoProject.
func (e *blindError) Is(target error) bool { return target == model.ErrNoProject }

// seeing is projectOf for what the project captures: of a place where it captures nothing a *blindError.
func (s intake) seeing(ctx context.Context, ev hooks.Event, call *hookCall, dir string) (*project.Project, error) {
	p, err := s.projectOf(ctx, ev, call, dir)
	place := dir
	if tellsBeginning[ev.Agent] && filepath.IsAbs(call.began) {
		place = call.began
	}
	if err == nil && s.began.root(ev) == p.Root {
		return p, nil // it was seen there
	}
	return s.look(ctx, p, err, place, call)
}

// look finds out whether a directory is captured by its project, which find gave, or find's error. It can wait for the
// log's lock; call, if not nil, is the hook that is answered meanwhile.
func (s *server) look(
	ctx context.Context, p *project.Project, err error, dir string, call *hookCall,
) (*project.Project, error) {
	var linked *project.LinkedError
	if errors.As(err, &linked) {
		if holder := s.holder(ctx, linked.Top); holder != nil {
			return nil, &blindError{
				holder, dir, linked.Top,
				"git has linked this worktree to a repository, so it is a project of its own",
			}
		}
	}
	if err != nil || dir == p.Root || s.sights.seen(dir) {
		return p, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real == p.Root {
		return p, nil //nolint:nilerr // a directory that has gone is seen as far as it was
	}
	why, at := "", ""
	err = s.opened(ctx, p, false, func(e *engine.Engine) (err error) {
		if call != nil {
			call.engine.Store(e)
		}
		why, at, err = e.Worktree.Uncaptured(real)
		return err
	})
	if why == "" || err != nil {
		s.sights.add(dir)
		return p, nil //nolint:nilerr // the capture says it, if it fails, too
	}
	return nil, &blindError{p, real, at, why}
}

// mayAct refuses what changes something where another tree than the project's is meant: in a repository, or a directory
// in which an agent worked, of which the project captures nothing. In any other ignored directory, as build/, the
// project around it is meant.
func (s *server) mayAct(ctx context.Context, p *project.Project, dir string) error {
	if dir == p.Root {
		return nil
	}
	var blind *blindError
	if _, err := s.look(ctx, p, nil, dir, nil); !errors.As(err, &blind) {
		return nil
	}
	if blind.ownTree() {
		return blind
	}
	s.blind.mu.Lock()
	defer s.blind.mu.Unlock()
	for _, b := range s.blind.read(p.ID) {
		if b.Dir == blind.dir || project.Within(blind.dir, b.Dir) {
			return blind
		}
	}
	return nil
}

// ownTree reports whether the place is in a working tree of git's of its own, and not only in a directory that is
// ignored.
func (e *blindError) ownTree() bool {
	top, isGit, err := gitinfo.Toplevel(e.dir)
	inGit := err == nil && isGit
	return inGit && top != e.holder.Root && !project.Within(e.holder.Root, top)
}

// holder is the project whose user should know of a linked worktree that is not set up: that around it, else that of
// its repository; nil: none.
func (s *server) holder(ctx context.Context, top string) *project.Project {
	if p, err := s.find(ctx, filepath.Dir(top)); err == nil {
		return p
	}
	if p, _, err := project.PlanLinked(ctx, s.home, top, 0); err == nil {
		return p
	}
	return nil
}

// besides checks the directory in which an agent works now. It may be another one than the session's. If it is a
// worktree that is set up, that worktree gets the event, too, and is added to dirs. If nothing is captured there,
// besides says so. An agent that looks into build/ has not moved there.
func (s intake) besides(ctx context.Context, p *project.Project, dir string, dirs []string, ev hooks.Event, call *hookCall,
) (hookSay, []string) {
	visited := dir + "\x00visited" // by a session of elsewhere; one that begins there is looked at
	if dir == "" || dir == p.Root {
		return hookSay{}, dirs
	}
	if s.sights.seen(dir) || s.sights.seen(visited) {
		return hookSay{}, dirs
	}
	q, err := s.find(ctx, dir)
	q, err = s.look(ctx, q, err, dir, call)
	var blind *blindError
	if errors.As(err, &blind) {
		if !blind.ownTree() {
			s.sights.add(visited)
			return hookSay{}, dirs
		}
		if q = s.setUp(ctx, ev, dir); q == nil {
			return s.sayBlind(ctx, ev, blind), dirs
		}
	}
	if q != nil && q.Root != p.Root && q.From != nil {
		dirs = append(slices.Clone(dirs), q.Root)
	}
	return hookSay{}, dirs
}

// passOn hands an event of an agent that works where nothing is captured to the projects that capture files which its
// call names, and to those that have heard of a turn which it ends.
func (s intake) passOn(ctx context.Context, ev hooks.Event, call *hookCall, from string) error {
	var failed error
	told := map[string]bool{}
	dirs := s.began.ending(ev)
	for _, path := range ev.Tool.Paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(from, path)
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		p, err := s.find(ctx, dir)
		if p, err = s.look(ctx, p, err, dir, call); err != nil || told[p.Root] {
			continue
		}
		told[p.Root] = true
		_, err = s.takeIn(ctx, p, ev, call, capture.HandleOptions{Recount: s.began.fresh(ev, p.Root)})
		failed = errors.Join(failed, err)
	}
	return failed
}

// sayBlind notes that an agent works where nothing is captured, and what its user is told of it, once a session.
func (s intake) sayBlind(ctx context.Context, ev hooks.Event, b *blindError) hookSay {
	s.blind.add(b.holder.ID, blindPlace{
		Session: string(ev.Agent) + "/" + ev.Session, Dir: b.dir, At: b.at, Why: b.why,
		Last: time.Now().UTC().Truncate(time.Second),
	})
	if ctx.Err() != nil || !s.firstWarning(ev, "blind\x00"+b.at) {
		return hookSay{}
	}
	text := fmt.Sprintf("rewind: no checkpoints here: %s: %s; run 'rewind init' in %s", printable(b.at),
		printable(b.why), printable(b.dir))
	if ev.Agent != hooks.Claude {
		return hookSay{line: text}
	}
	screen, err := json.Marshal(map[string]string{"systemMessage": text})
	if err != nil {
		return hookSay{line: text}
	}
	return hookSay{line: text, screen: string(screen) + "\n"}
}

// blindPlace is where an agent worked blind.
type blindPlace struct {
	Session string    `json:"session"` // agent/id
	Dir     string    `json:"dir"`
	At      string    `json:"at"`
	Why     string    `json:"why"`
	Last    time.Time `json:"last"`
}

const (
	maxBlind = 16                 // places that are kept of a project, the newest
	blindAge = 7 * 24 * time.Hour // after which one at which nobody works any more is no finding
)

// blindness keeps where agents worked blind, by store id: in files of the run directory, which outlive the process.
type blindness struct {
	home string // where the run directory is made: without a daemon it may not be there
	dir  rundir.Dir
	mu   sync.Mutex
}

func blindName(id string) string { return "blind-" + id + ".json" }

// read gives the places of a store. mu is held.
func (b *blindness) read(id string) (list []blindPlace) {
	if data, err := b.dir.Read(blindName(id)); err == nil && json.Unmarshal(data, &list) != nil {
		return nil
	}
	return list
}

// add notes a place. Within a minute one that is known is not written again.
func (b *blindness) add(id string, p blindPlace) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.read(id)
	i := slices.IndexFunc(list, func(o blindPlace) bool { return o.Session == p.Session && o.At == p.At })
	if i >= 0 && p.Last.Sub(list[i].Last) < time.Minute {
		return
	}
	if i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if list = append(list, p); len(list) > maxBlind {
		list = list[len(list)-maxBlind:]
	}
	b.write(id, list)
}

// write keeps the places of a store. mu is held.
func (b *blindness) write(id string, list []blindPlace) {
	if len(list) == 0 {
		b.dir.Remove(blindName(id))
		return
	}
	data, err := json.Marshal(list)
	if err != nil {
		return
	}
	if _, err := rundir.Make(b.home); err == nil {
		_ = b.dir.Write(blindName(id), append(data, '\n'))
	}
}

// sights remembers for a short time which directories are captured, so that an agent in a directory of a project costs
// a look now and then.
type sights struct {
	mu sync.Mutex
	at map[string]time.Time
}

const (
	sightAge  = 10 * time.Second
	maxSights = 256
)

func (k *sights) seen(dir string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.at[dir]
	return ok && time.Since(t) < sightAge
}

func (k *sights) add(dir string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == nil || len(k.at) >= maxSights {
		k.at = map[string]time.Time{}
	}
	k.at[dir] = time.Now()
}
