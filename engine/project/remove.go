package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// ErrKeptBytes is returned by a removal that would take bytes with it that restores kept and nothing else has.
var ErrKeptBytes = errors.New("bytes of racing edits are kept in the project's marker")

// RemovedName begins the name of a store that goes, or is not made yet.
const RemovedName = ".removed-"

// Removal is a project that goes.
type Removal struct {
	Project Project
	Last    bool // no other is known

	Hooks []value.Agent // of agents, that go with it
}

// FindRemoval finds the project to remove. It is there also when its store is gone already, as after a removal that was
// interrupted.
func FindRemoval(ctx context.Context, home Home, dir string, o Options) (*Removal, error) {
	p, err := Find(ctx, home, dir, o.LockWait)
	if errors.Is(err, model.ErrStoreGone) {
		p, err = findMarker(home, err)
	}
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(home.Projects(), func(root string) bool { return root == p.Root })
	return &Removal{Project: *p, Last: len(others) == 0}, nil
}

// findMarker is Find for a project without a store: of a record, or of a marker that is this user's and names one that
// is not here.
func findMarker(home Home, err error) (*Project, error) {
	var taken *StoreTakenError
	if errors.As(err, &taken) {
		return &taken.project, nil
	}
	var marked *untrustedError
	if errors.As(err, &marked) && marked.storeMissing() && marked.passed[0].names != "" {
		p := marked.passed[0]
		return &Project{Root: p.root, ID: p.names, Mode: ModeGlobal, Store: home.storeDir(p.names)}, nil
	}
	return nil, err
}

// RemovalError says which project could not be removed.
func RemovalError(p *Project, err error) error {
	return &value.OpError{Op: "remove", Subject: p.Root, Err: err}
}

// SweepRemoved does the rest of removals of stores, interrupted ones too, here and below the marker of root; the home
// directory is locked. What cannot go now goes the next time.
func (h Home) SweepRemoved(root string) {
	list, _ := os.ReadDir(h.Storage())
	for _, e := range list {
		if id, ok := strings.CutPrefix(e.Name(), RemovedName); ok && validStoreID(id) {
			_ = os.RemoveAll(filepath.Join(h.Storage(), e.Name()))
		}
	}
	if !ourMarker(root) {
		return
	}
	_ = inMarker(root, func(_, dir worktreefs.Dir) error {
		return removeBut(dir, func(name string) bool { return !strings.HasPrefix(name, RemovedName) })
	})
}

// inMarker gives fn the root and its marker, reached without following a link; it does nothing where there is none.
func inMarker(path string, fn func(root, dir worktreefs.Dir) error) error {
	root, err := worktreefs.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := worktreefs.OpenPath(root, MarkerDir)
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

// ourMarker reports whether a marker's directory is this user's, and nothing in it git's, as far as git can say.
func ourMarker(root string) bool {
	m := readMarker(root)
	tracked, err := trackedMarker(root)
	return m.why == "" && (err != nil || !tracked)
}

// RemoveMarker takes away the marker, its id last, and the directory above it when it is empty by then. What names
// other stores stays for them; a marker that is not ours stays as it is.
func RemoveMarker(p *Project) error {
	if !ourMarker(p.Root) {
		return nil
	}
	m := readMarker(p.Root)
	if len(m.ids) > 0 && !m.Names(p.ID) {
		return nil // another project's
	}
	return inMarker(p.Root, func(root, dir worktreefs.Dir) error {
		others := slices.DeleteFunc(slices.Clone(m.ids), func(id string) bool { return id == p.ID })
		if len(others) > 0 {
			return replaceIn(dir, markerID, []byte(strings.Join(others, "\n")+"\n"))
		}
		trash, err := trashIn(dir)
		if err != nil {
			return err
		}
		keep := func(name string) bool {
			if name == markerID || name == markerStore {
				return true
			}
			return trash && (name == markerIgnore || isTrash(name))
		}
		if err := removeBut(dir, keep); err != nil {
			return err
		}
		if err := dir.Remove(markerID); err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
			return err
		}
		if err := dir.Sync(); err != nil || trash {
			return err
		}
		above, name, err := worktreefs.OpenParent(root, MarkerDir)
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
		if err := root.Rmdir(path.Dir(MarkerDir)); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) {
			return err
		}
		return root.Sync()
	})
}

func isTrash(name string) bool { return strings.HasPrefix(name, besideTrash) }

// trashIn reports whether a marker has a removed store in it.
func trashIn(dir worktreefs.Dir) (bool, error) {
	list, err := dir.ReadDir()
	return slices.ContainsFunc(list, func(e worktreefs.Dirent) bool { return isTrash(e.Name) }), err
}

// RemoveStore takes away a store whose directory is not its project any more, and its record: into the trash, or at
// once for good (now). It must be open nowhere. A store that is a project's goes with Remove, which looks at the
// project, too.
func (h Home) RemoveStore(ctx context.Context, s *value.Store, now bool, o Options) (*Trashed, error) {
	fail := func(err error) (*Trashed, error) {
		return nil, &value.OpError{Op: "remove store", Subject: s.ID, Err: err}
	}
	unlock, err := h.Lock(ctx, o.LockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	h.SweepTrash(o.Clock())
	r, err := h.record(s.ID)
	if err != nil {
		return fail(err)
	}
	if r.Root != string(s.Root) {
		return fail(model.Usagef("it belongs to %s now", r.Root))
	}
	if r.Mode == ModeGlobal {
		if IsStore(h.storeDir(r.ID)) {
			db, err := kv.Open(ctx, h.storeDir(r.ID), o.StoreOptions()) // another process may have it
			if err == nil {
				err = db.Close()
			}
			if errors.Is(err, kv.ErrBusy) {
				return fail(err)
			}
		}
	}
	var t *Trashed
	if !now {
		lies := Trashed{Record: *r, Mode: r.Mode, Removed: o.Clock(), NoStore: r.Mode == ModeProject}
		if t, err = h.PutInTrash(lies, h.storeDir(r.ID)); err != nil {
			return fail(err)
		}
	} else if err := h.removeNow(r); err != nil {
		return fail(err)
	}
	if r.Mode == ModeProject {
		if err := os.Remove(h.recordPath(r.ID, r.Mode)); err != nil {
			return fail(err)
		}
	}
	if err := errors.Join(os.RemoveAll(h.StageDir(r.ID)), os.RemoveAll(h.BisectDir(r.ID))); err != nil {
		return fail(err)
	}
	return t, nil
}

// removeNow takes a store of Home's away for good. One in project mode, wherever that is, is not Home's.
func (h Home) removeNow(r *Record) error {
	if r.Mode == ModeProject {
		return nil
	}
	trash := filepath.Join(h.Storage(), RemovedName+r.ID)
	return errors.Join(os.RemoveAll(trash), RenameDir(h.storeDir(r.ID), trash), os.RemoveAll(trash))
}

// removed is the file that says that a person has removed the project of a directory.
func (h Home) removed(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(h.Dir, "removed", hex.EncodeToString(sum[:16]))
}

// NoteRemoved remembers that a person removed the project of a directory, so that it does not come back by itself.
func (h Home) NoteRemoved(root string) error {
	path := h.removed(root)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return WriteFile(path, []byte(root+"\n"))
}

// ForgetRemoved is for a directory that a person sets up again.
func (h Home) ForgetRemoved(root string) error {
	if err := os.Remove(h.removed(root)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
