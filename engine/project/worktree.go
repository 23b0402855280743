package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// errNotWorktree is for a directory that is no worktree which was made of this project's family.
var errNotWorktree = fmt.Errorf("%w in this project's family", ErrNoWorktree)

// ErrNoWorktree is returned for a directory that is no worktree of a family, or one that cannot be asked now; it is a
// model.ErrNotFound.
var ErrNoWorktree = fmt.Errorf("%w", model.ErrNotFound)

// errHasGit is for a directory that is not removed.
var errHasGit = errors.New("it has a .git of its own, which rewind does not remove")

// worktreeError says of which worktree an error is; nil: there is none.
func worktreeError(dir string, err error) error {
	if err == nil {
		return nil
	}
	return &value.OpError{Op: "worktree", Subject: dir, Typed: true, Err: err}
}

// PlanWorktree checks that a worktree can be made at dir, and returns its path with links above it resolved. dir must
// not exist, the directory above must. dir must be in no project and around none.
func (h Home) PlanWorktree(dir string) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", worktreeError(dir, model.Usagef(format, args...))
	}
	above, err := resolve(filepath.Dir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return refuse("the directory above it does not exist")
	}
	if err != nil {
		return "", worktreeError(dir, err)
	}
	root := filepath.Join(above, filepath.Base(dir))
	if _, err := os.Lstat(root); err == nil {
		return refuse("it exists already; name a new directory")
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", worktreeError(dir, err)
	}
	var bad *value.OpError
	if err := checkRoot(h, root, ModeGlobal); errors.As(err, &bad) {
		return "", worktreeError(dir, bad.Err)
	}
	for _, p := range h.Projects() {
		switch {
		case !isDir(p):
		case Within(root, p):
			return refuse("it lies in the project %s, which would capture it, too; name a directory beside that", p)
		}
	}
	return root, nil
}

// A Cloner is an open store.
type Cloner interface {
	Clone(dst string) error
	LastSeq() uint64 // at least one of these is in a clone that is made later
}

// MakeWorktree makes a directory, in which the files are, the project of a worktree of another project: with a clone of
// that one's store, and a record. unfinished is what that says until FinishWorktree. Nothing is left behind by an
// error.
func (h Home) MakeWorktree(ctx context.Context, of *Project, root string, store Cloner, unfinished bool, wait time.Duration,
) (id string, err error) {
	unlock, err := h.Lock(ctx, wait)
	if err != nil {
		return "", err
	}
	defer unlock()
	from := &Origin{Store: of.ID, Roots: []string{of.Root}, Since: store.LastSeq(), Unfinished: unfinished}
	if of.From != nil {
		from.Roots = append(from.Roots, of.From.Roots...)
	}
	r := (&Record{ID: NewStoreID(), Created: time.Now().UTC().Truncate(time.Second), Mode: ModeGlobal, From: from}).At(root)
	making := h.storeDir(r.ID) + ".new"
	if err = store.Clone(making); err == nil {
		if err = r.writeTo(filepath.Join(making, projectFile)); err == nil {
			err = RenameDir(making, h.storeDir(r.ID))
		}
	}
	if err != nil {
		return "", worktreeError(root, errors.Join(err, os.RemoveAll(making)))
	}
	if err := WriteMarker(root, r.ID, ""); err != nil && !errors.Is(err, errMarker) { // only a hint
		return r.ID, worktreeError(root, err)
	}
	return r.ID, nil
}

// FinishWorktree notes that all files of a worktree are there, and which of them are no checkpoint's.
func (h Home) FinishWorktree(id string, brought []string) error {
	r, err := h.record(id)
	if err != nil {
		return &value.OpError{Op: "worktree", Subject: id, Err: err}
	}
	if r.From == nil {
		return worktreeError(r.Root, errNotWorktree)
	}
	r.From.Unfinished, r.From.Brought = false, brought
	return r.Write(h)
}

// Worktrees lists the family of a store: the project that all were made of first, then by time.
func (h Home) Worktrees(id string) []value.Worktree {
	return slices.DeleteFunc(h.Family(id), func(w value.Worktree) bool { return w.Root == "" })
}

// Family is Worktrees with those that were removed, whose stores stay.
func (h Home) Family(id string) []value.Worktree {
	all := h.records()
	by := map[string]*Record{}
	for _, r := range all {
		by[r.ID] = r
	}
	owners := h.ByRoot()
	var out []value.Worktree
	for _, r := range all {
		if first(by, r.ID) != first(by, id) {
			continue
		}
		why, _ := r.wrong(h, owners)
		w := value.Worktree{
			ID: r.ID, Root: value.Text(r.Root), Created: r.Created.UTC(), Wrong: value.Text(why), Here: r.ID == id,
		}
		if r.From != nil {
			w.Of, w.Unfinished = r.From.Store, r.From.Unfinished
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b value.Worktree) int {
		if a.Of == "" || b.Of == "" {
			return len(a.Of) - len(b.Of)
		}
		return a.Created.Compare(b.Created)
	})
	return out
}

// first is the store that all of a family were cloned from, as far as Home still knows; records may name each other in
// a circle.
func first(by map[string]*Record, id string) string {
	for range by {
		r := by[id]
		if r == nil || r.From == nil {
			break
		}
		id = r.From.Store
	}
	return id
}

// SplitWorktree divides a name that begins with a directory, "<dir>" or "<dir>:<name>" with an absolute path, at the
// longest directory of the family of a store. A path may have colons, too.
func (h Home) SplitWorktree(id, name string) (w *value.Worktree, rest string, err error) {
	for dir := name; ; {
		if w, err = h.FindWorktree(id, dir); err == nil {
			return w, strings.TrimPrefix(name[len(dir):], ":"), nil
		}
		i := strings.LastIndexByte(dir, ':')
		if i <= 0 {
			return nil, "", err
		}
		dir = dir[:i]
	}
}

// FindWorktree finds a member of the family of a store, by its directory.
func (h Home) FindWorktree(id, dir string) (*value.Worktree, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, worktreeError(dir, err)
	}
	if real, err := resolve(dir); err == nil {
		path = real
	}
	for _, w := range h.Worktrees(id) {
		if string(w.Root) == path {
			return &w, nil
		}
	}
	return nil, worktreeError(dir, errNotWorktree)
}

// OrphanWorktree leaves the store of a worktree whose directory goes: it can be joined to another one, or removed.
func (h Home) OrphanWorktree(ctx context.Context, id string, wait time.Duration) error {
	unlock, err := h.Lock(ctx, wait)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := h.record(id)
	if err != nil {
		return &value.OpError{Op: "worktree", Subject: id, Err: err}
	}
	return r.At("").Write(h)
}

// DropWorktree takes away the store of a worktree that was being made: nothing else has its history, but what it was
// cloned from.
func (h Home) DropWorktree(ctx context.Context, id string, wait time.Duration) error {
	unlock, err := h.Lock(ctx, wait)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := h.record(id)
	if err != nil || r.From == nil || !r.From.Unfinished {
		return err
	}
	return errors.Join(h.removeNow(r), os.RemoveAll(h.StageDir(id)))
}

// RemoveWorktreeDir takes the directory of a worktree away, with all that is in it: first from its place, so that a
// kill leaves none that looks whole. One that is not there is no error. One that leads to a repository of git is
// refused.
func RemoveWorktreeDir(root string) error {
	above, err := worktreefs.OpenRoot(filepath.Dir(root))
	if err != nil {
		return worktreeError(root, err)
	}
	defer above.Close()
	in, err := above.OpenDir(filepath.Base(root))
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return worktreeError(root, err)
	}
	_, err = in.Lstat(".git")
	in.Close()
	if err == nil {
		return worktreeError(root, errHasGit)
	}
	going := ".rewind" + RemovedName + filepath.Base(root)
	if err := removeTree(above, going); err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
		return worktreeError(root, err)
	}
	if err := worktreefs.MoveOrRename(above, filepath.Base(root), above, going); err != nil {
		return worktreeError(root, err)
	}
	return worktreeError(root, removeTree(above, going))
}
