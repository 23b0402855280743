package engine

import (
	"context"
	"path"
	"path/filepath"

	"rewind/engine/find"
	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/objstore"
)

// GrepNow searches the files as they are now. The log's lock is held while they are captured, not while they are
// searched: what nothing has stored is in the memory of the capture, which nobody changes any more.
func (e *Engine) GrepNow(ctx context.Context, o find.GrepOptions, p model.Progress) (*find.GrepResult, error) {
	files, root, err := e.capturedNow(ctx, p)
	if err != nil {
		return nil, err
	}
	return e.Finder.GrepTree(ctx, files, root, o)
}

// capturedNow captures the worktree in order to read it: its tree, and what has the objects of it.
func (e *Engine) capturedNow(ctx context.Context, p model.Progress) (objstore.Getter, objstore.ID, error) {
	defer e.Log.Hold()()
	c, err := e.captureToCompare(ctx, p)
	if err != nil {
		return nil, objstore.ID{}, err
	}
	defer e.Worktree.EndCompare(c)
	return c.Get, c.Res.Root, nil
}

// Blame is find.Finder.Blame, with what the user's git repository knows of lines that are older than the first
// checkpoint. The log's lock is not held.
func (e *Engine) Blame(ctx context.Context, o find.BlameOptions) (*find.Blamed, error) {
	root := e.Project().Root
	if top, ok, err := gitinfo.Toplevel(root); err == nil && ok {
		below, err := filepath.Rel(top, root)
		if repo, bad := gitinfo.Open(top); err == nil && bad == nil {
			o.Git = repositoryBelow{repo, filepath.ToSlash(below)}
		}
	}
	return e.Finder.Blame(ctx, o)
}

// repositoryBelow is a repository as a project in one of its directories sees it.
type repositoryBelow struct {
	*gitinfo.Repo
	dir string // from the top
}

// FileAt implements find.Repository.
func (r repositoryBelow) FileAt(commit, name string, max int64) ([]byte, error) {
	return r.Repo.FileAt(commit, path.Join(r.dir, name), max)
}

// BlameAt implements find.Repository.
func (r repositoryBelow) BlameAt(
	commit, name string, ranges [][2]int, anySpace bool,
) (map[int]gitinfo.CommitLine, error) {
	return r.Repo.BlameAt(commit, path.Join(r.dir, name), ranges, anySpace)
}
