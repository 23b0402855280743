package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/internal/detach"
	"rewind/internal/osfile"
	"rewind/internal/owner"
	"rewind/internal/value"
)

// health answers how a project stands, and what is wrong with it.
type health struct{ *server }

func (s health) routes() {
	handle(s.server, api.Status, s.status)
	handle(s.server, api.Validate, s.validate)
}

// validate looks at everything. What keeps a project from being opened is a finding like any other.
func (s health) validate(
	ctx context.Context, req api.ValidateRequest, _ model.Progress,
) (out api.ValidateResponse, err error) {
	var checks []value.Check
	root, began, agents := "", time.Time{}, []model.Session(nil)
	var here *project.Project
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		p := e.Project()
		root, began, out.Notices = p.Root, e.Began(), p.Notices
		var err error
		if agents, err = e.Log.Sessions(); err != nil {
			return err
		}
		more, err := e.CheckProject(req.Quick)
		checks = append(checks, more...)
		here = &p
		if d := s.degraded.get(&p); d != nil {
			checks = append(checks, value.Check{
				Name: "degraded", Level: value.LevelFinding, Remedy: "rewind save",
				Text: value.Textf("hooks could not do their work, since %s, %d times, last: %s",
					d.Since.Format(time.RFC3339), d.Count, d.Error),
			})
		}
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			return out, err
		}
		told := tell(err)
		checks = append(checks, value.Check{
			Name: "project", Level: value.LevelFinding, Text: value.Text(told.Message),
			Remedy: value.Text(told.Hint),
		})
	}
	if here != nil {
		checks = append(checks, s.checkBlind(ctx, here)...)
	}
	checks = append(append(checks, s.checkDaemon()), s.checkLimits()...)
	checks = append(checks, s.checkKilled()...)
	if c, some := register.Unanswered(s.home, root); some {
		checks = append(checks, c)
	}
	if !req.Quick {
		checks = append(checks, s.checkOwners()...)
	}
	checks = append(checks, engine.CheckAgents(ctx, s.home, req.Env, root, began, agents, req.Quick)...)
	out.Checks = checks
	for _, c := range checks {
		if c.Level == value.LevelFinding {
			out.Findings++
		}
	}
	return out, nil
}

// checkLimits looks at what the process that answers may do.
func (s health) checkLimits() []value.Check {
	var out []value.Check
	for _, l := range detach.Limits() {
		c := value.Check{Name: "limits", Level: value.LevelNote, Text: value.Text(l.Text)}
		if l.Serious {
			c.Level, c.Remedy = value.LevelFinding,
				"raise the limit where this command was called; who may not raise it starts another shell"
			if s.daemon != nil {
				c.Remedy = "rewind daemon stop, then run a command where that limit is higher"
			}
		}
		out = append(out, c)
	}
	return out
}

func (s health) checkDaemon() value.Check {
	c := value.Check{Name: "daemon", Level: value.LevelNote, Text: "not running; the next event of an agent starts one"}
	if d := s.daemonInfo(); d.Running {
		c.Level, c.Text = value.LevelOK, value.Textf("process %d, version %s", d.PID, d.Version)
	}
	return c
}

// checkKilled tells of a daemon that ended without a word. It is a finding where the kernel says that it has killed for
// memory; else somebody may have done it on purpose.
func (s health) checkKilled() []value.Check {
	k := s.run.Killed()
	if k == nil {
		return nil
	}
	c := value.Check{
		Name: "killed", Level: value.LevelNote,
		Text: value.Textf("the daemon before this one, process %d, ended without a word, found at %s", k.PID,
			k.Found.Format(time.RFC3339)),
	}
	if k.Limit == 0 {
		return []value.Check{c}
	}
	c.Text += value.Textf(", perhaps for memory (limit %d MiB", k.Limit>>20)
	if k.Kills > 0 {
		c.Level = value.LevelFinding
		c.Remedy = "give it more memory, or keep large files out (limits.file_size, .rewindignore); " +
			"'rewind daemon stop' ends this finding"
		c.Text += value.Textf("; processes that the kernel has killed here: %d", k.Kills)
	}
	c.Text += ")"
	return []value.Check{c}
}

func (s health) status(
	ctx context.Context, req api.StatusRequest, p model.Progress,
) (out api.StatusResponse, err error) {
	open, look := s.project, func(e *engine.Engine) (*engine.Status, error) { return e.Status(ctx, p) }
	var env api.AgentEnv
	if req.Env != nil {
		env = *req.Env
	}
	if req.Glance {
		open, look, req.Env = s.read, (*engine.Engine).Glance, nil
	}
	err = open(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		// it takes the log's lock, and whoever asks while a restore runs is not to wait
		if req.Env != nil && e.Log.HeldFor() == 0 {
			e.Tidy(env)
		}
		st, err := look(e)
		if err != nil {
			return err
		}
		pr := st.Project
		out = api.StatusResponse{
			Root: api.Text(pr.Root), Mode: string(pr.Mode), StoreID: pr.ID, Store: api.Text(pr.Store),
			DiskBytes:   st.DiskBytes,
			Checkpoints: st.Checkpoints, Safety: st.Safety, Changes: changes(st.Changes, st.Skips),
			Skips:    skips(st.Skips),
			Position: st.Position, Ahead: st.Ahead, Stages: value.Texts(st.Stages), Notices: pr.Notices,
			Daemon: s.daemonInfo(), Degraded: s.degraded.get(&pr), Sessions: sessionsOf(e, st.Sessions),
			Leaks: append([]api.Leak{},
				st.Leaks...), SaidLeaks: st.Said,
			Watcher: st.Watching, Activity: st.Activity, AtWork: st.AtWork, SessionCount: len(st.Sessions),
		}
		out.At = turnAt(st.Standing)
		for i := range st.Sessions {
			out.SessionBytes += st.Sessions[i].Cursor.Length
		}
		if st.Current != nil {
			cp := checkpoint(*st.Current)
			cp.Prompt = cmp.Or(cp.Prompt, promptOf(out.Sessions, cp.Session, cp.Turn))
			out.Current = &cp
		}
		if st.HalfDone != nil {
			out.HalfDone = st.HalfDone.String()
		}
		if st.LastOp != nil {
			op := operation(st.LastOp)
			op.CanUndo = op.CanUndo && e.CanUndo(ctx, st.LastOp, env)
			out.LastOp = &op
		}
		if st.Pruned != nil {
			op := operation(st.Pruned)
			out.Pruned = &op
		}
		return nil
	})
	if err != nil || req.Env == nil || out.Activity != nil { // to look would be to wait
		return out, err
	}
	v, err := s.validate(ctx, api.ValidateRequest{Project: req.Project, Env: *req.Env, Quick: true}, p)
	out.Checks = v.Checks
	return out, err
}

// turnAt is where the project stands, as an answer has it.
func turnAt(at *history.Standing) *api.TurnAt {
	if at == nil {
		return nil
	}
	session, turn := at.Taken()
	return &api.TurnAt{Session: session, Turn: turn, Whose: at.Whose, Prompt: api.Text(at.Prompt)}
}

// checkBlind lists where agents work and nothing is captured, and forgets what has been mended since.
func (s health) checkBlind(ctx context.Context, p *project.Project) (checks []value.Check) {
	s.blind.mu.Lock()
	list := s.blind.read(p.ID)
	s.blind.mu.Unlock()
	mended := map[blindPlace]bool{}
	for _, b := range list {
		q, err := s.find(ctx, b.Dir)
		var blind *blindError
		if _, err = s.look(ctx, q, err, b.Dir, nil); !errors.As(err, &blind) || time.Since(b.Last) > blindAge {
			mended[b] = true
			continue
		}
		agent, id, _ := strings.Cut(b.Session, "/")
		checks = append(checks, value.Check{
			Name: "blind", Level: value.LevelFinding, Last: &b.Last,
			Text:   value.Textf("%s %.8s works in %s, outside of what is captured: %s", agent, id, b.Dir, blind.why),
			Remedy: value.Textf("run 'rewind init' in %s", b.Dir),
		})
	}
	if len(mended) > 0 {
		s.blind.mu.Lock()
		defer s.blind.mu.Unlock()
		s.blind.write(p.ID, slices.DeleteFunc(s.blind.read(p.ID), func(b blindPlace) bool { return mended[b] }))
	}
	return checks
}

// checkOwners looks for what in rewind's own directory is another user's.
func (s health) checkOwners() []value.Check {
	r, err := owner.Find(s.home.Dir)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP)
	switch {
	// a link to it is not followed here
	case gone || err == nil && r.Foreign() == 0:
		return nil
	case err != nil:
		return []value.Check{{
			Name: "files", Level: value.LevelFinding, Text: value.Text(clean(err)),
			Remedy: value.Text("look at it: ls -la " + s.home.Dir),
		}}
	}
	text, n := "", 0
	for _, list := range [][]owner.Entry{r.Left, r.Given, r.Aside, r.Removed} {
		for _, e := range list {
			if n++; n <= foreignNamed {
				text += fmt.Sprintf("\n  %s (%s)", e.Path, osfile.UserName(e.UID))
			}
		}
	}
	if n > foreignNamed {
		text += fmt.Sprintf("\n  and %d more", n-foreignNamed)
	}
	c := value.Check{
		Name: "files", Level: value.LevelFinding,
		Text:   value.Text("in " + s.home.Dir + " are files of other users:" + text),
		Remedy: "rewind doctor --mend",
	}
	if len(r.Left) > 0 {
		c.Remedy = value.Text("sudo env REWIND_HOME=" + s.home.Dir + " rewind doctor --mend")
	}
	return []value.Check{c}
}

// promptOf is the prompt of a session's newest turn, where that is the one asked for.
func promptOf(list []api.Session, session string, turn uint64) api.Text {
	i := slices.IndexFunc(list, func(s api.Session) bool { return s.Session == session && s.Turn == turn })
	if i < 0 {
		return ""
	}
	return list[i].Prompt
}
