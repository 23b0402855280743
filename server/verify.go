package server

import (
	"context"
	"errors"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/fsck"
	"rewind/engine/model"
	"rewind/internal/kv"
)

// upkeep looks whether a store is whole, mends it, and makes it smaller.
type upkeep struct{ *server }

func (s upkeep) routes() {
	handle(s.server, api.Verify, s.verify)
	handle(s.server, api.Repair, s.repair)
	handle(s.server, api.Purge, s.purge)
	handle(s.server, api.GC, s.gc)
}

func (s upkeep) verify(
	ctx context.Context, req api.VerifyRequest, p model.Progress,
) (out api.VerifyResponse, err error) {
	begun := false
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		begun = true
		found, err := e.Checker.Verify(ctx, !req.Quick, p, nil)
		if err == nil {
			out = verified(found)
			if len(found.Faults) == 0 { // else what is told of forks may be the damage's
				out.Forks, err = e.CheckForkPoints(ctx, found.Affected)
			}
			out.Notices = e.Project().Notices
		}
		return err
	})
	if !begun && needsFiles(err) { // not even to be read
		return api.VerifyResponse{Faults: []api.Text{api.Text(clean(err))}}, nil
	}
	return out, err
}

// needsFiles reports whether a store is not open because of what is wrong with its files.
func needsFiles(err error) bool {
	return errors.Is(err, kv.ErrCorrupt) || errors.Is(err, kv.ErrForeign)
}

func verified(f *fsck.Faults) api.VerifyResponse {
	return api.VerifyResponse{
		Checked: f.Checked, Faults: texts(f.Faults), Lost: f.Lost, LostOps: f.LostOps,
		Affected: f.Affected,
	}
}

func texts(errs []error) []api.Text {
	out := []api.Text{}
	for _, err := range errs {
		out = append(out, api.Text(clean(err)))
	}
	return out
}

// repair repairs first the files, if the store does not open or its tables are damaged, while nobody has it open; then
// what is in it, beside the events of agents.
func (s upkeep) repair(
	ctx context.Context, req api.RepairRequest, p model.Progress,
) (out api.RepairResponse, err error) {
	project, err := s.find(ctx, req.ProjectDir())
	if err != nil {
		return out, err
	}
	var r *fsck.RepairResult
	inside := func(files *kv.Repaired) error {
		return s.opened(ctx, project, false, func(e *engine.Engine) error {
			r, err = e.Checker.Repair(ctx, files, p)
			out.Notices = e.Project().Notices
			return err
		})
	}
	if err = inside(nil); needsFiles(err) {
		var files *kv.Repaired
		err = s.stores.Without(ctx, project.Store, func() (err error) {
			files, err = fsck.RepairFiles(ctx, project, s.engineOptions(), p)
			return err
		})
		if err == nil {
			err = inside(files)
		}
	}
	if err != nil {
		return out, err
	}
	notices := out.Notices
	out = api.RepairResponse{
		VerifyResponse: verified(r.Left), Found: []api.Text{}, Done: []api.Text{},
		Quarantine: api.Text(r.Quarantine),
	}
	out.Notices = notices
	if r.Files != nil {
		out.Found, out.Rebuilt = texts(r.Files.Damage), r.Files.Rebuilt
		for _, name := range r.Files.Files {
			out.Done = append(out.Done, api.Text("the file "+name+" of the store was written again"))
		}
	}
	for _, d := range r.Done {
		out.Done = append(out.Done, api.Text(d))
	}
	if r.Operation != nil {
		out.Operation = r.Operation.Seq
	}
	return out, nil
}
