package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/server/ndjson"
)

func (s *server) init(ctx context.Context, req api.InitRequest, p model.Progress) (out api.InitResponse, err error) {
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
			"the directory is not the one it was, and is taken for the project all the same: 'rewind checkout @' lays out what was there")
	}
	if p.Mode == project.ModeProject && !p.Exists {
		list = append(list, "'git clean -fdx' takes the store along, for good, and 'git stash -a' until 'git stash pop'; without --mode "+
			"project it lies out of their reach")
	}
	return list
}

func (s *server) save(ctx context.Context, req api.SaveRequest, p model.Progress) (out api.SaveResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, err := e.Worktree.Save(ctx, req.Session, string(req.Message), p)
		if err != nil {
			return err
		}
		cp, err := listed(e, r.Checkpoint)
		if err != nil {
			return err
		}
		pr := e.Project()
		s.degraded.clear(&pr)
		notices := append(slices.Clip(pr.Notices), s.tellUnanswered(ctx, pr.Root)...)
		s.scanNow(ctx, e)
		out = api.SaveResponse{
			Checkpoint: *cp, Unchanged: r.Unchanged, Noted: r.Noted, Skips: skips(r.Skips),
			Uncaptured: skips(r.Uncaptured),
			Notices:    notices,
		}
		return nil
	})
	return out, err
}

func (s *server) diff(ctx context.Context, req api.DiffRequest, p model.Progress) (out api.DiffResponse, err error) {
	err = s.placed(ctx, req.ProjectDir(), []api.Text{req.From, req.To}, func(at []place) error {
		out, err = s.diffAt(ctx, req, at[0], at[1], p)
		return err
	})
	return out, err
}

// asked is a file's difference with what a request wants of it.
func asked(f api.FileDiff, d engine.FileDiff, req *api.DiffRequest) api.FileDiff {
	if req.NoHunks {
		f.Hunks = nil
	}
	if req.Back && model.IsFile(d.Old) && !d.Secret {
		f.OldID = d.Old.ID.String()
	}
	return f
}

// diffAt is diff of states that may lie in other worktrees. From is read beside the worktree in which To is, or whose
// files are meant.
func (s *server) diffAt(ctx context.Context, req api.DiffRequest, from, to place, p model.Progress) (out api.DiffResponse, err error) {
	if from.there && from.name == "" {
		from.name = "@"
	}
	if req.From == "" {
		from = to
		from.name = ""
	}
	err = s.two(ctx, to, from, s.read, func(e, beside *engine.Engine) error {
		paths, err := relative(e, to.dir, req.Paths)
		if err != nil {
			return err
		}
		out = api.DiffResponse{Files: []api.FileDiff{}}
		if req.Since {
			if out.Since, err = sinceFork(ctx, e, &req); err != nil {
				return err
			}
		}
		o := engine.DiffOptions{Paths: paths, Context: req.Context, NoText: req.NoText, Back: req.Back, Progress: p}
		if o.Beside, o.FromThere = beside, beside != e; req.Since {
			from.name, to.name = string(req.From), string(req.To)
		}
		if o.From, err = beside.History.Named(req.Walk, from.name); err != nil {
			return err
		}
		if req.To != "" {
			if o.To, err = e.History.Named(req.Walk, to.at()); err != nil {
				return err
			}
		}
		sides, err := e.Diff(ctx, o, func(d engine.FileDiff) error {
			f := asked(fileDiff(d), d, &req)
			out.Files = append(out.Files, f)
			if out.Since != nil {
				out.Since.Added, out.Since.Removed = out.Since.Added+f.Added, out.Since.Removed+f.Removed
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		out.From = checkpoint(*sides.From)
		if sides.To != nil {
			to := checkpoint(*sides.To)
			out.To = &to
		}
		out.Notices = notices(e, beside)
		return nil
	})
	return out, err
}

// catInMemory is the size in bytes up to which a file is read before it is sent.
const catInMemory = 64 << 20

func (s *server) cat(w http.ResponseWriter, r *http.Request) {
	out := ndjson.New(w)
	var req api.CatRequest
	if err := readRequest(r.Body, &req); err != nil {
		fail(out, err)
		return
	}
	begun := false
	var body []byte // a small file: the store is let go before the reader takes its time
	ctx, damaged := withDamage(r.Context())
	send := func(e *engine.Engine, at place) error {
		path, err := pathIn(e, at.dir, string(req.Path))
		if err != nil {
			return err
		}
		name, err := e.History.Named(req.Walk, at.at())
		if err != nil {
			return err
		}
		f, size, err := e.History.Cat(r.Context(), name, path)
		if err != nil {
			return err
		}
		defer f.Close()
		if size <= catInMemory {
			small, err := io.ReadAll(f)
			if err != nil {
				return err
			}
			body = small
			return nil
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		n, err := io.Copy(w, f)
		begun = n > 0
		return err
	}
	err := s.placed(ctx, req.ProjectDir(), []api.Text{req.Checkpoint}, func(at []place) error {
		return s.read(ctx, at[0].root, func(e *engine.Engine) error { return at[0].tell(e, send(e, at[0])) })
	})
	switch {
	case err == nil && !begun:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(body) // a reader that is gone needs no answer
	case err == nil:
	case !begun:
		fail(out, s.asked(ctx, req.ProjectDir(), err))
	default: // the status has been sent
		b, _ := json.Marshal(tell(err))
		w.Header().Set(http.TrailerPrefix+api.ErrorTrailer, string(b))
	}
	if err == nil && *damaged != nil { // the bytes are right; what else is there is not
		b, _ := json.Marshal(*damaged)
		w.Header().Set(http.TrailerPrefix+api.ErrorTrailer, string(b))
	}
}

func (s *server) checkout(ctx context.Context, req api.CheckoutRequest, p model.Progress) (out api.RestoreResponse, err error) {
	if err := checkTitle(req.Title); err != nil {
		return out, err
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		var r *restore.Result
		var err error
		partly := req.Continue || req.Abort || len(req.Parts) > 0 // it does not begin, or not with whole paths
		switch {
		case req.Plan != "" && partly:
			return model.Usagef("a plan is of a checkout that has a dry run")
		case req.Merging != (api.Merging{}) && partly:
			return model.Usagef("a merge is of a checkout that begins, and of whole paths")
		case req.Continue || req.Abort:
			r, err = unfinished(e, req)(ctx, req.Env)
		case len(req.Parts) > 0:
			r, err = checkoutParts(ctx, e, req, p)
		default:
			var paths []string
			if paths, err = relative(e, req.ProjectDir(), req.Paths); err != nil {
				return err
			}
			o := options(req.Walk, req.Wish, paths, p)
			o.Tag = string(req.Tag)
			if err = merging(&o, req.Merging); err != nil {
				return err
			}
			r, err = e.Restorer.Checkout(ctx, string(req.Checkpoint), o)
		}
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, refs.KindCheckout, req.DryRun, r)
		out.ContextOnly, out.Parts = req.ContextOnly, len(req.Parts) > 0
		return err
	})
	return out, err
}

// unfinished is what ends a checkout that was cut short.
func unfinished(e *engine.Engine, req api.CheckoutRequest) func(context.Context, value.AgentEnv) (*restore.Result, error) {
	switch {
	case req.Abort && req.CodeOnly:
		return e.Restorer.AbortCode
	case req.Abort:
		return e.Restorer.Abort
	case req.CodeOnly:
		return e.Restorer.ContinueCode
	}
	return e.Restorer.Continue
}

// undo of a named session takes back what that did (docs/decisions/135-undo-of-a-session-takes-back.md).
func (s *server) undo(ctx context.Context, req api.UndoRequest, p model.Progress) (api.RestoreResponse, error) {
	req.TakeBack = req.Session != ""
	return s.along(ctx, req, p, refs.KindUndo, func(e *engine.Engine) along { return e.Restorer.Undo })
}

func (s *server) redo(ctx context.Context, req api.UndoRequest, p model.Progress) (api.RestoreResponse, error) {
	req.TakeBack = false
	return s.along(ctx, req, p, refs.KindRedo, func(e *engine.Engine) along { return e.Restorer.Redo })
}

// along is what moves a worktree by a number of steps.
type along func(context.Context, int, restore.Options) (*restore.Result, error)

// along moves back or forward along the steps.
func (s *server) along(ctx context.Context, req api.UndoRequest, p model.Progress, kind refs.Kind,
	move func(*engine.Engine) along,
) (out api.RestoreResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		o := options(req.Walk, req.Wish, nil, p)
		if err := merging(&o, req.Merging); err != nil {
			return err
		}
		r, err := move(e)(ctx, max(req.Steps, 1), o)
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, kind, req.DryRun, r)
		return err
	})
	return out, err
}

func (s *server) undoRestore(ctx context.Context, req api.UndoRestoreRequest, p model.Progress) (out api.RestoreResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, err := e.Restorer.UndoRestore(ctx, req.Operation, options(api.Walk{}, req.Wish, nil, p))
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, refs.KindUndoRestore, req.DryRun, r)
		out.ContextOnly = req.ContextOnly
		return err
	})
	return out, err
}

func (s *server) ops(ctx context.Context, req api.OpsRequest, _ model.Progress) (out api.OpsResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		out = api.OpsResponse{Operations: []api.Operation{}, Notices: e.Project().Notices}
		which := history.Changing
		switch {
		case req.Restores:
			which = history.Restoring
		case req.All:
			which = history.Every
		}
		list, err := e.History.Operations(ctx, req.Limit, which)
		if err != nil {
			return err
		}
		can, err := e.Restorer.Undoable(ctx, list, req.Env)
		for i := range list {
			out.Operations = append(out.Operations, listedOperation(&list[i], can[i]))
		}
		return err
	})
	return out, err
}

func (s *server) tag(ctx context.Context, req api.TagRequest, _ model.Progress) (out api.TagResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		out = api.TagResponse{Tag: string(req.Tag), Notices: e.Project().Notices}
		if req.Delete {
			return e.History.Untag(ctx, string(req.Tag))
		}
		name := string(req.Checkpoint)
		if name == "" {
			name = "@"
		}
		name, err := e.History.Named(req.Walk, name)
		if err != nil {
			return err
		}
		cp, err := e.History.Tag(ctx, string(req.Tag), name, req.Force)
		if err != nil {
			return err
		}
		out.Checkpoint, err = listed(e, cp)
		return err
	})
	return out, err
}

func (s *server) tags(ctx context.Context, req api.TagsRequest, _ model.Progress) (out api.TagsResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		list, err := e.History.Tags(ctx)
		out = api.TagsResponse{Tags: []api.TagResponse{}, Notices: e.Project().Notices}
		for _, t := range list {
			cp := checkpoint(t.Checkpoint)
			out.Tags = append(out.Tags, api.TagResponse{Tag: t.Tag, Checkpoint: &cp})
		}
		return err
	})
	return out, err
}

func (s *server) status(ctx context.Context, req api.StatusRequest, p model.Progress) (out api.StatusResponse, err error) {
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
		for i := range st.Sessions {
			out.SessionBytes += st.Sessions[i].Cursor.Length
		}
		if st.Current != nil {
			cp := checkpoint(*st.Current)
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
