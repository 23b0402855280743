package apply

import (
	"errors"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// markPlaced marks the steps of all that was built in a new directory, which is in the tree now.
func (n *newDir) markPlaced() {
	n.each(func(j *job) {
		if j.state == jobPending {
			j.state = jobPlaced
		}
	})
}

// merge moves what was built in a new directory (from) into the directory of its name that somebody else has made
// meanwhile (to).
func (a *applier) merge(n *newDir, from, to worktreefs.Dir) error {
	a.touched[n.job.Path] = true
	for _, j := range n.files {
		if j.state != jobPending {
			continue
		}
		_, name := tree.Split(j.Path)
		err := worktreefs.MoveOrRename(from, name, to, name)
		switch {
		case errors.Is(err, worktreefs.ErrExist):
			a.conflict(j, "something else took the name meanwhile")
		case err == nil:
			j.state = jobPlaced
		default:
			if err := a.asConflict(j, err); err != nil {
				return err
			}
		}
	}
	for _, sub := range n.dirs {
		if sub.job.state != jobPending {
			continue
		}
		_, name := tree.Split(sub.job.Path)
		err := a.asConflict(sub.job, a.moveDirIn(sub, from, name, to, name))
		if err != nil {
			return err
		}
	}
	return nil
}

// moveDirIn moves a new directory into the tree. If its name is a directory by now, its content is merged into that.
func (a *applier) moveDirIn(n *newDir, from worktreefs.Dir, fromName string, to worktreefs.Dir, name string) error {
	err := badName(to, worktreefs.MoveOrRename(from, fromName, to, name))
	if err == nil {
		n.job.state = jobPlaced
		n.markPlaced()
		return nil
	}
	if !errors.Is(err, worktreefs.ErrExist) {
		return err
	}
	if err := a.dirExists(n.job, to, name); err != nil || a.blocked[n.job.Path] {
		return err
	}
	there, err := to.OpenDir(name)
	if err != nil {
		if n.job.state == jobConflict && worktreefs.IsLocal(err) {
			return nil // the conflict names it
		}
		return err
	}
	defer there.Close()
	built, err := from.OpenDir(fromName)
	if err != nil {
		return err
	}
	defer built.Close()
	return a.merge(n, built, there)
}

// conflictBelow makes conflicts of what was built in a directory that did not come into the tree.
func (a *applier) conflictBelow(n *newDir) {
	n.each(func(j *job) {
		if j.state == jobPending {
			a.conflict(j, "its directory "+quotePath(n.job.Path)+" could not be made")
		}
	})
}

// RemoveTree removes a file, or a directory with all below it, closed ones too: of the stage, or of another directory
// that is nobody's worktree. No link is followed.
func RemoveTree(d worktreefs.Dir, name string) error {
	err := d.Remove(name)
	if !errors.Is(err, worktreefs.ErrIsDir) {
		return err
	}
	below, err := d.OpenDir(name)
	if st, serr := d.Lstat(name); serr == nil && st.Perm&0o700 != 0o700 {
		if cerr := d.Chmod(name, st.Perm|0o700); cerr != nil {
			return cerr
		}
		if err != nil {
			below, err = d.OpenDir(name)
		}
	}
	if err != nil {
		return err
	}
	defer below.Close()
	list, err := below.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := RemoveTree(below, e.Name); err != nil {
			return err
		}
	}
	return d.Rmdir(name)
}
