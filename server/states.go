package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/server/ndjson"
)

// states answers what the states of a project are, and keeps one.
type states struct{ *server }

func (s states) routes() {
	handle(s.server, api.Save, s.save)
	handle(s.server, api.List, s.list)
	handle(s.server, api.Density, s.density)
	handle(s.server, api.Compare, s.compare)
	handle(s.server, api.Show, s.show)
	handle(s.server, api.Diff, s.diff)
	handle(s.server, api.Entries, s.entries)
	handle(s.server, api.Ops, s.ops)
	handle(s.server, api.Tag, s.tag)
	handle(s.server, api.Tags, s.tags)
	handle(s.server, api.Projects, s.listProjects)
	handle(s.server, api.Names, s.names)
	handle(s.server, api.Files, s.files)
	s.mux.HandleFunc("GET "+api.CatPath, s.cat)
}

func (s states) save(ctx context.Context, req api.SaveRequest, p model.Progress) (out api.SaveResponse, err error) {
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

func (s states) diff(ctx context.Context, req api.DiffRequest, p model.Progress) (out api.DiffResponse, err error) {
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
func (s states) diffAt(
	ctx context.Context, req api.DiffRequest, from, to place, p model.Progress,
) (out api.DiffResponse, err error) {
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

func (s states) cat(w http.ResponseWriter, r *http.Request) {
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
		if notices := e.Project().Notices; len(notices) > 0 {
			b, _ := json.Marshal(notices)
			w.Header().Set(api.NoticesHeader, string(b))
		}
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
	if err == nil && *damaged != nil { // the bytes are right; what else is there is not
		b, _ := json.Marshal(*damaged)
		w.Header().Set(http.TrailerPrefix+api.ErrorTrailer, string(b))
	}
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
}

func (s states) ops(ctx context.Context, req api.OpsRequest, _ model.Progress) (out api.OpsResponse, err error) {
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

func (s states) tag(ctx context.Context, req api.TagRequest, _ model.Progress) (out api.TagResponse, err error) {
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

func (s states) tags(ctx context.Context, req api.TagsRequest, _ model.Progress) (out api.TagsResponse, err error) {
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
