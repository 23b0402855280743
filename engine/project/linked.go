package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/internal/osfile"
	"rewind/internal/value"
)

// LinkedError is a model.ErrNoProject of a directory in a working tree that git has linked to a repository ('git
// worktree add'). It is a project of its own, also where it lies in another one, which does not capture it.
type LinkedError struct{ Top string }

func (e *LinkedError) Error() string {
	return fmt.Sprintf("find project of %s: %v: git has linked this worktree to a repository, so it is a project of its own",
		e.Top, model.ErrNoProject)
}

// Is makes it a model.ErrNoProject.
func (e *LinkedError) Is(target error) bool { return target == model.ErrNoProject }

// isLinkedTop reports whether a directory is the top of a linked working tree.
func isLinkedTop(dir string) bool {
	dot := filepath.Join(dir, ".git")
	if fi, err := os.Lstat(dot); err != nil || !fi.Mode().IsRegular() {
		return false
	}
	data, err := osfile.ReadSmall(dot, maxMarker)
	return err == nil && gitinfo.IsLinked(dir, data)
}

// PlanLinked finds the project that the linked working tree around dir is set up from, by itself: of the same
// repository, or of another working tree of it. root is the tree's top. An error says why a person must decide. The
// tree is not linked on both sides: a clone or an archive could have brought it. Or part of it is another user's, none
// of the repository's trees is set up, it was removed on purpose, or Init refuses.
func PlanLinked(ctx context.Context, home Home, dir string, wait time.Duration) (of *Project, root string, err error) {
	start, err := resolve(dir)
	if err != nil {
		return nil, "", err
	}
	l, ok := gitinfo.LinkedTop(start)
	if !ok {
		return nil, "", &value.OpError{Op: "init", Subject: start, Err: fmt.Errorf("%w: it is no linked worktree", errNotByItself)}
	}
	refuse := func(why string) (*Project, string, error) {
		return nil, "", &value.OpError{Op: "init", Subject: l.Top, Err: fmt.Errorf("%w: %s", errNotByItself, why)}
	}
	owned, err := home.owns(l.Top, filepath.Join(l.Top, ".git"), l.Common)
	if err != nil {
		return nil, "", err
	}
	if !owned {
		return refuse("it is another user's")
	}
	if _, err := os.Lstat(home.removed(l.Top)); err == nil {
		return refuse("its history was removed here")
	}
	if err := checkRoot(home, l.Top, ModeGlobal); err != nil {
		return nil, "", err
	}
	for _, top := range l.Others {
		p, err := Find(ctx, home, top, wait)
		if err == nil && p.Root == top {
			return p, l.Top, nil
		}
		if err != nil && !errors.Is(err, model.ErrNoProject) && !errors.Is(err, os.ErrNotExist) {
			return nil, "", err
		}
	}
	return refuse("no working tree of its repository is set up")
}

// owns reports whether all of these, and what links among them lead to, are of the user whose Home it is.
func (h Home) owns(paths ...string) (bool, error) {
	us, err := os.Lstat(h.Dir)
	if err != nil {
		return false, err
	}
	for _, path := range paths {
		for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
			fi, err := look(path)
			if err != nil {
				return false, err
			}
			if !osfile.SameOwner(fi, us) {
				return false, nil
			}
		}
	}
	return true, nil
}
