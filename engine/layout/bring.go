package layout

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/internal/treecopy"
	"rewind/internal/worktreefs"
)

// Bring gives a worktree a directory, or a file, of the project that it was made of which no checkpoint has: a link to
// it, or a copy. why is, for people, why it does not have it now; "": it has.
func (l *Layouts) Bring(ctx context.Context, path string, copied bool) (why string, err error) {
	of := l.log.Project.From
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
	root, err := l.log.Root()
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
		err = l.copyOf(ctx, of.Roots[0], path)
	default:
		return "only a directory is copied", nil
	}
	return "", err
}

// copyOf copies a directory of the project: by reflinks where the file system has them.
func (l *Layouts) copyOf(ctx context.Context, project, path string) error {
	from, err := os.OpenRoot(project)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(l.log.Project.Root)
	if err != nil {
		return err
	}
	defer to.Close()
	c := treecopy.Copier{From: from, To: to, FromPath: project, Clone: treecopy.Reflink}
	if err = c.Copy(ctx, filepath.FromSlash(path)); errors.Is(err, treecopy.ErrNoReflink) {
		c.Clone = nil
		err = c.Copy(ctx, filepath.FromSlash(path))
	}
	return err
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
