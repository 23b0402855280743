package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/refs"
	"rewind/tree"
)

// RecordWorktree writes into the log of a worktree's store what it was made of.
func (e *Engine) RecordWorktree(ctx context.Context) error {
	return e.Log.Record(ctx, refs.Operation{Kind: refs.KindCopy, Message: "worktree of " + e.Log.Project.From.Roots[0]})
}

// Bring gives a worktree a directory, or a file, of the project that it was made of which no checkpoint has: a link to it, or a copy. why it
// does not have it now is for people; "": it has.
func (e *Engine) Bring(path string, copied bool) (why string, err error) {
	of := e.Log.Project.From
	path, err = model.CleanPath(path)
	switch {
	case err != nil:
		return "", err
	case path == "":
		return "it is the whole project", nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") || part == ".agent" {
			return "it is what git or rewind keeps there", nil
		}
	}
	src := filepath.Join(of.Roots[0], filepath.FromSlash(path))
	fi, err := os.Lstat(src)
	if errors.Is(err, fs.ErrNotExist) {
		return "the project does not have it", nil
	}
	if err != nil {
		return "", err
	}
	root, err := e.Log.Root()
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := above(root, path); err != nil {
		return "", err
	}
	in, name, err := worktreefs.OpenParent(root, path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	if _, err := in.Lstat(name); err == nil {
		return "it is there already", nil
	}
	switch {
	case !copied:
		err = in.Symlink(src, name)
	case fi.IsDir():
		err = os.CopyFS(filepath.Join(e.Log.Project.Root, filepath.FromSlash(path)), os.DirFS(src))
	default:
		return "only a directory is copied", nil
	}
	return "", err
}

// above makes the directories above a path that are not there.
func above(root worktreefs.Dir, path string) error {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		in, name, err := worktreefs.OpenParent(root, path[:i])
		if err != nil {
			return err
		}
		err = in.Mkdir(name, 0o755)
		in.Close()
		if err != nil && !errors.Is(err, worktreefs.ErrExist) {
			return err
		}
	}
	return nil
}

// Leaving is what the removal of a worktree's directory finds there.
type Leaving struct {
	Saved  *model.Checkpoint // its last state; nil: it was not asked for
	Lost   []string          // paths that no checkpoint has and that were not brought by Bring
	AtWork []value.AtWork    // the agents at work there
}

// Leave says what would go with the directory of a worktree, and with save makes its state a checkpoint.
func (e *Engine) Leave(ctx context.Context, save bool, p model.Progress) (*Leaving, error) {
	out := &Leaving{}
	err := func() error {
		defer e.Log.Hold()()
		if err := e.Log.LoadSessions(); err != nil {
			return err
		}
		for _, s := range e.Log.Records {
			if s.Cwd != e.Log.Project.Root && !project.Within(s.Cwd, e.Log.Project.Root) {
				continue
			}
			if w, ok := e.Sessions.AtWork(s, e.Log.Processes()); ok {
				out.AtWork = append(out.AtWork, w)
			}
		}
		return nil
	}()
	if err != nil || !save {
		return out, err
	}
	r, err := e.Worktree.Save(ctx, "", "before the worktree was removed", p)
	if err != nil {
		return out, err
	}
	out.Saved = r.Checkpoint
	for _, s := range r.Skips {
		if s.Path != project.MarkerDir && s.Path != ".agent" && s.Path != ".git" && !e.brought(s) {
			out.Lost = append(out.Lost, s.Path)
		}
	}
	return out, nil
}

// brought reports whether what no checkpoint has came by Bring, so that the project has it.
func (e *Engine) brought(s tree.Skip) bool {
	return e.Log.Project.From != nil && slices.Contains(e.Log.Project.From.Brought, s.Path)
}
