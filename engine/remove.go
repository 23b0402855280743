package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/refs"
)

// ErrKeptBytes is returned by a removal that would take bytes with it that restores kept and nothing else has.
var ErrKeptBytes = errors.New("bytes of racing edits are kept in the project's marker")

// removedName begins the name of a store that goes, or is not made yet.
const removedName = ".removed-"

// Removal is a project that goes.
type Removal struct {
	Project Project
	Last    bool // no other is known
}

// FindRemoval finds the project to remove. It is there also when its store is gone already, as after a removal that was interrupted.
func FindRemoval(ctx context.Context, home Home, dir string, o Options) (*Removal, error) {
	p, err := Find(ctx, home, dir, o.LockWait)
	if errors.Is(err, ErrStoreGone) {
		p, err = findMarker(home, err)
	}
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(home.projects(), func(root string) bool { return root == p.Root })
	return &Removal{Project: *p, Last: len(others) == 0}, nil
}

// findMarker is Find for a project without a store: of a record, or of a marker that is this user's and names one that is not here.
func findMarker(home Home, err error) (*Project, error) {
	var taken *StoreTakenError
	if errors.As(err, &taken) {
		return &taken.Project, nil
	}
	var marked *UntrustedError
	if errors.As(err, &marked) && marked.Gone() && marked.Passed[0].names != "" {
		p := marked.Passed[0]
		return &Project{Root: p.Root, ID: p.names, Mode: ModeGlobal, Store: home.storeDir(p.names)}, nil
	}
	return nil, err
}

// CheckRemoval refuses while the worktree needs the store, or the marker holds what nothing else does.
func (e *Engine) CheckRemoval() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	j, err := e.readJournal()
	if err != nil {
		return err
	}
	if j != nil {
		return &HalfDoneError{j.Target}
	}
	kept, err := e.stages()
	if err != nil {
		return err
	}
	if len(kept) > 0 {
		return fmt.Errorf("engine: remove %s: %w: %s", e.project.Root, ErrKeptBytes, strings.Join(kept, ", "))
	}
	return nil
}

// Extent is how many checkpoints the log has, safety checkpoints included, and how many bytes the store takes on disk.
func (e *Engine) Extent() (checkpoints int, diskBytes int64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	err = e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety {
			checkpoints++
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	use, err := e.db.Usage()
	return checkpoints, use.DiskBytes, err
}

// Remove takes away a project's store and its marker, and nothing else. The store must be open nowhere. Killed anywhere it leaves a project
// or a marker without a store, and a second call does the rest: the store gets another name first, the marker's id goes last. (A kill between the
// id and the end leaves the marker's directory, empty.)
func Remove(ctx context.Context, home Home, r *Removal, o Options) error {
	p := &r.Project
	unlock, err := home.lock(ctx, o.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := checkClosed(ctx, home, p, o); err != nil {
		return err
	}
	trash := filepath.Join(filepath.Dir(p.Store), removedName+p.ID) // in project mode that is the marker, where all goes
	if _, err := os.Lstat(p.Store); err == nil {
		if err := os.RemoveAll(filepath.Join(home.storage(), removedName+p.ID)); err != nil {
			return removal(p, err)
		}
		if err := renameDir(p.Store, trash); err != nil {
			return removal(p, err)
		}
	}
	home.sweepRemoved(p.Root)
	if err := os.Remove(filepath.Join(home.Dir, projectsDir, p.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return removal(p, err)
	}
	if err := os.RemoveAll(home.stageDir(p.ID)); err != nil {
		return removal(p, err)
	}
	if err := removeMarker(p); err != nil {
		return removal(p, err)
	}
	return nil
}

func removal(p *Project, err error) error { return fmt.Errorf("engine: remove %s: %w", p.Root, err) }

// sweepRemoved does the rest of removals of stores, interrupted ones too, here and below the marker of root; the home directory is locked. What
// cannot go now goes the next time.
func (h Home) sweepRemoved(root string) {
	list, _ := os.ReadDir(h.storage())
	for _, e := range list {
		if id, ok := strings.CutPrefix(e.Name(), removedName); ok && validStoreID(id) {
			_ = os.RemoveAll(filepath.Join(h.storage(), e.Name()))
		}
	}
	if !ourMarker(root) {
		return
	}
	_ = inMarker(root, func(_, dir worktreefs.Dir) error {
		return removeBut(dir, func(name string) bool { return !strings.HasPrefix(name, removedName) })
	})
}

// inMarker gives fn the root and its marker, reached without following a link; it does nothing where there is none.
func inMarker(path string, fn func(root, dir worktreefs.Dir) error) error {
	root, err := worktreefs.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := worktreefs.OpenPath(root, markerDir)
	if errors.Is(err, worktreefs.ErrNotExist) || errors.Is(err, worktreefs.ErrNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return fn(root, dir)
}

// removeBut empties a directory but for what is kept.
func removeBut(dir worktreefs.Dir, keep func(name string) bool) error {
	list, err := dir.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range list {
		if keep(e.Name) {
			continue
		}
		if err := removeTree(dir, e.Name); err != nil {
			return err
		}
	}
	return nil
}

func removeTree(dir worktreefs.Dir, name string) error {
	err := dir.Remove(name)
	if !errors.Is(err, worktreefs.ErrIsDir) {
		return err
	}
	sub, err := dir.OpenDir(name)
	if err != nil {
		return err
	}
	err = removeBut(sub, func(string) bool { return false })
	sub.Close()
	if err != nil {
		return err
	}
	return dir.Rmdir(name)
}

// checkClosed opens and closes the store: another process that has it, or a restore that began meanwhile, refuses the removal. A damaged
// store cannot be asked.
func checkClosed(ctx context.Context, home Home, p *Project, o Options) error {
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

// ourMarker reports whether a marker's directory is this user's, and nothing in it git's, as far as git can say.
func ourMarker(root string) bool {
	m := readMarker(root)
	tracked, err := trackedMarker(root)
	return m.why == "" && (err != nil || !tracked)
}

// removeMarker takes away the marker, its id last, and the directory above it when it is empty by then. What names other stores stays for them; a
// marker that is not ours stays as it is.
func removeMarker(p *Project) error {
	if !ourMarker(p.Root) {
		return nil
	}
	m := readMarker(p.Root)
	if len(m.ids) > 0 && !m.names(p.ID) {
		return nil // another project's
	}
	return inMarker(p.Root, func(root, dir worktreefs.Dir) error {
		others := slices.DeleteFunc(slices.Clone(m.ids), func(id string) bool { return id == p.ID })
		if len(others) > 0 {
			return replaceIn(dir, markerID, []byte(strings.Join(others, "\n")+"\n"))
		}
		if err := removeBut(dir, func(name string) bool { return name == markerID || name == markerStore }); err != nil {
			return err
		}
		if err := dir.Remove(markerID); err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
			return err
		}
		if err := dir.Sync(); err != nil {
			return err
		}
		above, name, err := worktreefs.OpenParent(root, markerDir)
		if err != nil {
			return err
		}
		err = above.Rmdir(name)
		above.Close()
		if errors.Is(err, worktreefs.ErrNotEmpty) { // a store that is somebody else's
			return nil
		}
		if err != nil {
			return err
		}
		if err := root.Rmdir(path.Dir(markerDir)); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) {
			return err
		}
		return root.Sync()
	})
}
