package bisect

import (
	"errors"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// Link is a directory of the worktree that no checkpoint has, and that is in the scratch directory as well, or why it
// is not.
type Link struct {
	Path string `json:"path"`
	How  How    `json:"how,omitempty"` // "": that is decided when it is needed first
	Why  string `json:"why,omitempty"` // it is left out; "": it is there
}

// links settles which directories are in the scratch directory: those that were asked for are linked, those that the
// tip's note says are ignored at the root are private. What is a link itself leads anywhere: only asking for it has it.
func (b *Bisector) links(tip *model.Checkpoint, r *record) (list []Link, err error) {
	if r.NoLinks {
		return nil, nil
	}
	root, err := b.log.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, path := range r.Asked {
		if path, err = b.linkable(root, tip, path); err != nil {
			return nil, err
		}
		list = append(list, Link{Path: path, How: linked})
	}
	private, err := b.private(root, tip, list)
	return append(list, private...), err
}

// linkable cleans the path of a directory that is to be linked.
func (b *Bisector) linkable(root worktreefs.Dir, tip *model.Checkpoint, path string) (string, error) {
	fail := func(why string) (string, error) {
		return "", &value.OpError{Op: "link", Subject: path, Typed: true, Err: model.Usagef("%s", why)}
	}
	path, err := model.CleanPath(path)
	if err != nil {
		return "", err
	}
	if path == "" {
		return fail("it is the whole project")
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") || part == ".agent" {
			return fail("a command in the scratch directory must not write there")
		}
	}
	if _, err := b.log.Lookup(tip, path); err == nil {
		return fail("checkpoints have it, so it is there already")
	}
	parent, name, err := worktreefs.OpenParent(root, path)
	if err == nil {
		defer parent.Close()
		_, err = parent.Lstat(name)
	}
	if errors.Is(err, worktreefs.ErrNotExist) || errors.Is(err, worktreefs.ErrNotDir) {
		return fail("the project has no such directory now")
	}
	return path, err
}

// setLink makes a link, unless something is there: what a command has put in its place.
func (b *Bisector) setLink(in worktreefs.Dir, path string) error {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		if err := mkdir(in, path[:i]); err != nil {
			return err
		}
	}
	parent, name, err := worktreefs.OpenParent(in, path)
	if err != nil {
		return err
	}
	defer parent.Close()
	err = parent.Symlink(filepath.Join(b.log.Project.Root, filepath.FromSlash(path)), name)
	if errors.Is(err, worktreefs.ErrExist) {
		return nil
	}
	return err
}

// mkdir makes a directory that may be there.
func mkdir(in worktreefs.Dir, path string) error {
	parent, name, err := worktreefs.OpenParent(in, path)
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := parent.Mkdir(name, 0o700); err != nil && !errors.Is(err, worktreefs.ErrExist) {
		return err
	}
	return nil
}
