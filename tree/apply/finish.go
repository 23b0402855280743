package apply

import (
	"errors"
	"strings"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// checkPlaced looks once more at every path that was written. One that has changed since is a racing editor's, and
// becomes a conflict.
func (a *applier) checkPlaced() error {
	a.w.forgetNames()
	a.begin("checking", len(a.jobs))
	gone := "" // a removed directory: nothing below it exists
	for _, j := range a.jobs {
		a.advance()
		if j.state != jobPlaced {
			continue
		}
		if gone != "" && strings.HasPrefix(j.Path, gone+"/") {
			j.state = jobDone
			continue
		}
		dir, name := tree.Split(j.Path)
		var st worktreefs.Stat
		parent, _, err := a.w.open(dir)
		if err == nil {
			st, err = parent.Lstat(name)
		}
		if err == nil && j.New == nil {
			exact, serr := a.w.hasExactName(name)
			if serr != nil {
				return serr
			}
			if !exact {
				// The file system holds the name for that of another entry.
				j.state, gone = jobDone, j.Path
				continue
			}
		}
		switch {
		case err != nil && !worktreefs.IsLocal(err):
			return err
		case j.New == nil && err != nil:
			j.state, gone = jobDone, j.Path
		case j.New == nil:
			a.conflict(j, "created again after it was removed")
		case err != nil:
			a.conflict(j, "removed again after it was written")
		case j.New.Type == tree.TypeDir && st.Type == worktreefs.TypeDir && st.Ino == j.staged.Ino:
			j.state = jobDone
		case j.New.Type == tree.TypeDir || !sameFile(st, j.staged):
			a.conflict(j, "changed again after it was written")
		case j.New.Type == tree.TypeFile && st.Perm != j.perm:
			a.conflict(j, "its permissions are not what was set")
		default:
			j.state = jobDone
		}
	}
	a.w.close()
	return nil
}

// syncDirs makes the new names durable, before anything that was displaced is unlinked.
func (a *applier) syncDirs() error {
	if len(a.touched) == 0 {
		return nil
	}
	a.begin("waiting for the disk", 0)
	if len(a.touched) > syncEach {
		return a.syncStages()
	}
	paths := sortedPaths(a.touched)
	return atOnce(len(paths), func(i int) error {
		d, err := worktreefs.OpenPath(a.Root, paths[i])
		if err == nil {
			err = errors.Join(d.Sync(), d.Close())
		}
		if err != nil && worktreefs.IsLocal(err) {
			return nil
		}
		return err
	})
}

// dropStages removes the stages on other file systems, which Run made.
func (a *applier) dropStages() error {
	for _, s := range a.stages {
		if s.main || s.dir == nil {
			continue
		}
		s.close()
		top, err := worktreefs.OpenPath(a.Root, s.top)
		if err != nil {
			return err
		}
		err = top.Rmdir(s.name)
		top.Close()
		if err != nil && !worktreefs.IsLocal(err) {
			return err
		}
	}
	return nil
}

// OpenStage makes the directory at path below root with mode 0700, and the missing ones above it, and opens it. The
// caller closes it.
func OpenStage(root worktreefs.Dir, path string) (worktreefs.Dir, error) {
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		d, name, err := worktreefs.OpenParent(root, path[:i])
		if err != nil {
			return nil, err
		}
		err = d.Mkdir(name, 0o700)
		if err == nil {
			err = d.Sync()
		}
		d.Close()
		if err != nil && !errors.Is(err, worktreefs.ErrExist) {
			return nil, err
		}
	}
	return worktreefs.OpenPath(root, path)
}

// RemoveStage removes the empty directory at path below root; worktreefs.ErrNotEmpty when it holds saved bytes.
func RemoveStage(root worktreefs.Dir, path string) error {
	d, name, err := worktreefs.OpenParent(root, path)
	if err != nil {
		return err
	}
	return errors.Join(d.Rmdir(name), d.Close())
}
