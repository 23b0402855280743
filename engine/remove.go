package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
)

// CheckRemoval refuses while the worktree needs the store, or the marker holds what nothing else does.
func (e *Engine) CheckRemoval() error {
	e.Log.Lock()
	defer e.Log.Unlock()
	j, err := e.Log.ReadJournal()
	if err != nil {
		return err
	}
	if j != nil {
		return &model.HalfDoneError{Target: j.Target}
	}
	kept, err := e.stages()
	if err != nil {
		return err
	}
	if len(kept) > 0 {
		return &value.OpError{
			Op: "remove", Subject: e.Log.Project.Root,
			Err: fmt.Errorf("%w: %s", project.ErrKeptBytes, strings.Join(kept, ", ")),
		}
	}
	return nil
}

// Footprint is how many checkpoints the log has, safety checkpoints included, and how many bytes the store takes on
// disk.
func (e *Engine) Footprint() (checkpoints int, diskBytes int64, err error) {
	e.Log.Lock()
	defer e.Log.Unlock()
	steps, safety, _, err := e.Log.Counted()
	if err != nil {
		return 0, 0, err
	}
	use, err := e.Log.DB.Usage()
	return steps + safety, use.DiskBytes, err
}

// Remove takes away a project's store and its marker, and nothing else: the store into the trash, of which it says what
// lies there, or at once for good (now). The store must be open nowhere. Killed anywhere it leaves a project or a
// marker without a store, and a second call does the rest: the store gets another name first, the marker's id goes
// last. (A kill between the id and the end leaves the marker's directory, empty.)
func Remove(
	ctx context.Context, home project.Home, r *project.Removal, now bool, o project.Options,
) (t *project.Trashed, err error) {
	p := &r.Project
	unlock, err := home.Lock(ctx, o.LockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := checkClosed(ctx, home, p, o); err != nil {
		return nil, err
	}
	home.SweepTrash(o.Clock())
	if _, err := os.Lstat(p.Store); err == nil {
		if t, err = takeStore(home, r, now, o); err != nil {
			return nil, project.RemovalError(p, err)
		}
	}
	home.SweepRemoved(p.Root)
	if err := os.Remove(filepath.Join(home.Dir, project.ProjectsDir, p.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return t, project.RemovalError(p, err)
	}
	if err := errors.Join(os.RemoveAll(home.StageDir(p.ID)), os.RemoveAll(home.BisectDir(p.ID))); err != nil {
		return t, project.RemovalError(p, err)
	}
	if err := project.RemoveMarker(p); err != nil {
		return t, project.RemovalError(p, err)
	}
	return t, nil
}

// takeStore takes a store from its place: into the trash, or to where the next sweep takes it away.
func takeStore(home project.Home, r *project.Removal, now bool, o project.Options) (*project.Trashed, error) {
	p := &r.Project
	if !now {
		return home.PutInTrash(project.Trashed{Record: home.RecordOf(p), Mode: p.Mode, Removed: o.Clock(), Hooks: r.Hooks}, p.Store)
	}
	// in project mode that is the marker, where all goes
	going := filepath.Join(filepath.Dir(p.Store), project.RemovedName+p.ID)
	if err := os.RemoveAll(filepath.Join(home.Storage(), project.RemovedName+p.ID)); err != nil {
		return nil, err
	}
	return nil, project.RenameDir(p.Store, going)
}

// checkClosed opens and closes the store: another process that has it, or a restore that began meanwhile, refuses the
// removal. A damaged store cannot be asked.
func checkClosed(ctx context.Context, home project.Home, p *project.Project, o project.Options) error {
	if _, err := os.Lstat(p.Store); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	quiet := *p
	quiet.Notices = nil
	e, err := OpenProject(ctx, home, &quiet, o)
	if errors.Is(err, kv.ErrCorrupt) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(e.CheckRemoval(), e.Close())
}
