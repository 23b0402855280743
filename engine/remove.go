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

// Names in the home directory.
const (
	projectsDir = "projects" // <store id>: the root of a project whose store is not here
	removedName = ".removed-"
)

// projects are the roots of all projects that are known, also those whose directory is gone. Stores in global mode say it themselves; those
// below a marker were noted when they were set up.
func (h Home) projects() []string {
	var roots []string
	for root := range h.byRoot() {
		roots = append(roots, root)
	}
	list, _ := os.ReadDir(filepath.Join(h.Dir, projectsDir))
	for _, e := range list {
		if b, err := os.ReadFile(filepath.Join(h.Dir, projectsDir, e.Name())); err == nil && validStoreID(e.Name()) {
			roots = append(roots, strings.TrimSuffix(string(b), "\n"))
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// noteProject makes a project in project mode known.
func (h Home) noteProject(id, root string) error {
	dir := filepath.Join(h.Dir, projectsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("engine: note project %s: %w", root, err)
	}
	return writeFile(filepath.Join(dir, id), []byte(root+"\n"))
}

// Removal is a project that goes.
type Removal struct {
	Project Project
	Last    bool // no other is known
}

// FindRemoval finds the project to remove. It is there also when its store is gone already, as after a removal that was interrupted.
func FindRemoval(ctx context.Context, home Home, dir string, o Options) (*Removal, error) {
	p, err := Find(ctx, home, dir, o.LockWait)
	if errors.Is(err, ErrStoreGone) {
		p, err = findMarker(home, dir)
	}
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(home.projects(), func(root string) bool { return root == p.Root })
	return &Removal{Project: *p, Last: len(others) == 0}, nil
}

// findMarker is Find for a marker without a store.
func findMarker(home Home, dir string) (*Project, error) {
	start, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	for d := start; ; d = filepath.Dir(d) {
		if id, err := readMarker(d); err == nil {
			return &Project{Root: d, ID: id, Mode: ModeGlobal, Store: home.storeDir(id)}, nil
		}
		if d == filepath.Dir(d) {
			return nil, fmt.Errorf("engine: find project of %s: %w", start, ErrNoProject)
		}
	}
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

// removeMarker takes away the marker, its id last, and the directory above it when it is empty by then.
func removeMarker(p *Project) error {
	return inMarker(p.Root, func(root, dir worktreefs.Dir) error {
		if id, err := readMarker(p.Root); err == nil && id != p.ID {
			return nil // another project's
		}
		if err := removeBut(dir, func(name string) bool { return name == markerID }); err != nil {
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
		if err != nil {
			return err
		}
		if err := root.Rmdir(path.Dir(markerDir)); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) {
			return err
		}
		return root.Sync()
	})
}
