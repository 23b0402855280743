package apply

import (
	"errors"
	"slices"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// openParent opens the directory of a step's path anew, so that one that was exchanged since is noticed, and widens it.
func (a *applier) openParent(j *job) (d worktreefs.Dir, name string, err error) {
	dir, _ := tree.Split(j.Path)
	if err := a.writable(dir); err != nil {
		return nil, "", err
	}
	a.touched[dir] = true
	return worktreefs.OpenParent(a.Root, j.Path)
}

// remove takes away what is to go, deepest first. Files and links are moved into the stage; directories are removed if
// they are empty.
func (a *applier) remove() error {
	wanted := func(j *job) bool { return j.removesFirst() && j.database == nil }
	return a.each(slices.Backward(a.jobs), wanted, func(j *job) error {
		parent, name, err := a.openParent(j)
		if err != nil {
			return err
		}
		defer parent.Close()
		if j.Old.Type == tree.TypeDir {
			err := parent.Rmdir(name)
			switch {
			case errors.Is(err, worktreefs.ErrNotEmpty):
				a.kept = append(a.kept, j.Path)
				if j.New != nil {
					a.conflict(j, "the directory there still holds something")
				} else {
					j.state = jobKept
				}
				return nil
			case err != nil && !errors.Is(err, worktreefs.ErrNotExist):
				return err
			}
		} else {
			if err := a.makeStage(j.stage); err != nil {
				return err
			}
			out, err := a.moveOut(j, parent, name)
			if err != nil || !out {
				return err
			}
		}
		j.present = false
		if j.New == nil {
			j.state = jobPlaced
		}
		return nil
	})
}

// moveOut moves a path's entry into the stage. If it is not what the step expects it goes back, and out is false.
func (a *applier) moveOut(j *job, parent worktreefs.Dir, name string) (out bool, err error) {
	old := j.key + sufOld
	err = worktreefs.MoveOrRename(parent, name, j.stage.dir, old)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return true, nil // removed by somebody else, as it was to be
	}
	if err != nil {
		return false, err
	}
	ok, err := a.isExpected(j, old)
	if err != nil {
		return false, err
	}
	if ok {
		j.hasOld = true
		return true, nil
	}
	a.conflict(j, "changed while it was being replaced")
	return false, a.moveBack(j, old, parent, name)
}

// isExpected reports whether what was displaced is what the step expects, From or To: the bytes of both are stored.
func (a *applier) isExpected(j *job, name string) (bool, error) {
	f, err := j.stage.inspect(name, j.Old, j.New)
	if err != nil {
		return false, err
	}
	f.permless = j.stage.permsKnown && !j.stage.keepsPerms
	known := f.sameBytes(j.Old) || f.sameBytes(j.New)
	if j.inherits() && (f.st.Uid != j.was.Uid || f.st.Gid != j.was.Gid) {
		return false, nil // the new file has the owner that the survey saw
	}
	return known && f.st.Type != worktreefs.TypeDir &&
		(f.equals(j.Old, f.st.Perm) || resemblingPerm(j.Old.Type, f.st.Perm, j.Old.Perm)), nil
}

// moveBack returns what was displaced to its path. If the name is taken by now the bytes stay saved, and are reported.
func (a *applier) moveBack(j *job, name string, parent worktreefs.Dir, to string) error {
	err := worktreefs.MoveOrRename(j.stage.dir, name, parent, to)
	if err != nil && worktreefs.IsLocal(err) {
		return a.keepBytes(j, name, "replaced once more while it was put back")
	}
	return err
}

// makeDirs moves the tops into the tree, with all that was built in them.
func (a *applier) makeDirs() error {
	for _, n := range a.tops {
		wanted := func(j *job) bool { return j == n.job }
		err := a.each(slices.All([]*job{n.job}), wanted, func(j *job) error {
			parent, name, err := a.openParent(j)
			if err != nil {
				return err
			}
			defer parent.Close()
			return a.placeTop(n, parent, name)
		})
		if err != nil {
			return err
		}
		a.conflictBelow(n)
	}
	return nil
}

// placeTop moves a top into the tree. One that its owner may not write gets a marker first, since it comes in widened.
func (a *applier) placeTop(n *newDir, parent worktreefs.Dir, name string) error {
	j := n.job
	narrow := j.perm&0o700 != 0o700
	if narrow {
		if err := a.writeMarker(j.Path, j.perm); err != nil {
			return err
		}
	}
	err := a.moveDirIn(n, j.stage.dir, j.key+sufTmp, parent, name)
	if j.state == jobPlaced {
		j.hasTmp = false
		a.usable[j.Path] = true
		if narrow {
			a.perms[j.Path] = j.perm
		}
		return nil
	}
	if narrow && (err == nil || worktreefs.IsLocal(err)) {
		if uerr := a.removeMarker(j.Path, j.perm); uerr != nil {
			return uerr
		}
	}
	return err
}

// dirExists deals with a new directory whose name is taken: by a directory of that very name, which is used; by another
// entry that the file system takes for the name, or by something else, which are conflicts.
func (a *applier) dirExists(j *job, parent worktreefs.Dir, name string) error {
	list, err := parent.ReadDir()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(e worktreefs.Dirent) bool { return e.Name == name }) {
		a.blocked[j.Path] = true
		a.conflict(j, "its name means another entry on this file system")
		return nil
	}
	st, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	if st.Type == worktreefs.TypeDir && resemblingPerm(tree.TypeDir, st.Perm, j.New.Perm) {
		j.perm = st.Perm
		j.state = jobDone
		return nil
	}
	a.conflict(j, "something else is there now: a "+st.Type.String())
	return nil
}

// placeNew moves new files and links into the tree, or exchanges them with what is there.
func (a *applier) placeNew() error {
	wanted := func(j *job) bool {
		placesLeaf := j.placesNew() && j.New.Type != tree.TypeDir
		return placesLeaf && j.inside == nil && j.database == nil
	}
	return a.each(slices.All(a.jobs), wanted, func(j *job) error {
		parent, name, err := a.openParent(j)
		if err != nil {
			return err
		}
		defer parent.Close()
		return a.placeOne(j, parent, name)
	})
}

// placeOne moves a new file or link to its path, or exchanges it with what is there.
func (a *applier) placeOne(j *job, parent worktreefs.Dir, name string) error {
	if !j.present {
		return a.moveIn(j, parent, name)
	}
	if j.inherits() {
		same, err := j.metadataUnchanged(parent, name)
		if err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
			return err
		}
		if err == nil && !same {
			a.conflict(j, "its owner or attributes changed since")
			return nil
		}
	}
	err := j.stage.dir.Exchange(j.key+sufNew, parent, name)
	switch {
	case errors.Is(err, worktreefs.ErrUnsupported):
		return a.replaceInTwo(j, parent, name)
	case errors.Is(err, worktreefs.ErrNotExist):
		a.conflict(j, "deleted since")
		return nil
	case err != nil:
		return err
	}
	ok, err := a.isExpected(j, j.key+sufNew)
	if err != nil {
		return err
	}
	if !ok {
		a.conflict(j, "changed while it was being replaced")
		return a.exchangeBack(j, parent, name)
	}
	j.state, j.exchanged = jobPlaced, true
	return nil
}

// replaceInTwo replaces a file or link where the file system cannot exchange two: the old one moves into the stage,
// then the new one to its place. For a moment nothing is at the path; a run that is cut short there puts the old one
// back.
func (a *applier) replaceInTwo(j *job, parent worktreefs.Dir, name string) error {
	out, err := a.moveOut(j, parent, name)
	if err != nil || !out {
		return err
	}
	err = a.moveIn(j, parent, name)
	if err == nil || !worktreefs.IsLocal(err) || !j.hasOld {
		return err
	}
	j.hasOld = false
	return errors.Join(err, a.moveBack(j, j.key+sufOld, parent, name))
}

// moveIn moves a new file or link to a name that must be free.
func (a *applier) moveIn(j *job, parent worktreefs.Dir, name string) error {
	err := badName(parent, worktreefs.MoveOrRename(j.stage.dir, j.key+sufNew, parent, name))
	if errors.Is(err, worktreefs.ErrExist) {
		a.conflict(j, "something else took the name meanwhile")
		return nil
	}
	if err != nil {
		return err
	}
	j.hasNew = false
	j.state, j.movedIn = jobPlaced, true
	return nil
}

// badName is err, of a rename of something that is there into the directory to, as ErrBadName where it says that there
// is no such entry.
func badName(to worktreefs.Dir, err error) error {
	if errors.Is(err, worktreefs.ErrNotExist) && isNameError(to, err) {
		return errors.Join(worktreefs.ErrBadName, err)
	}
	return err
}

// exchangeBack returns a racing edit to its path. If the path has been written once more, that stays, and the earlier
// edit is saved. Either way what is in the stage is looked at again before it is discarded.
func (a *applier) exchangeBack(j *job, parent worktreefs.Dir, name string) error {
	st, err := parent.Lstat(name)
	switch {
	case errors.Is(err, worktreefs.ErrNotExist):
		j.hasNew = false
		return a.moveBack(j, j.key+sufNew, parent, name)
	case err != nil && !worktreefs.IsLocal(err):
		return err
	case err == nil && sameFile(st, j.staged):
		err := j.stage.dir.Exchange(j.key+sufNew, parent, name)
		if err == nil || !worktreefs.IsLocal(err) {
			return err
		}
	}
	j.hasNew = false
	return a.keepBytes(j, j.key+sufNew, "replaced once more while it was put back")
}

// sameFile reports whether st is still the staged file, and not written since.
func sameFile(st, staged worktreefs.Stat) bool {
	same := st.Type == staged.Type && st.Ino == staged.Ino
	return same && st.Size == staged.Size && st.Mtime == staged.Mtime
}

// chmod gives a path its permissions, or as many as its file system has.
func (a *applier) chmod(j *job, parent worktreefs.Dir, name string) error {
	err := parent.Chmod(name, j.perm)
	if err != nil && !refused(err) {
		return err
	}
	st, serr := parent.Lstat(name)
	if serr != nil {
		return serr
	}
	if err == nil && st.Perm == j.perm {
		return nil
	}
	keeps, kerr := a.keepsPermissions(j)
	if kerr != nil || keeps {
		return errors.Join(err, kerr)
	}
	j.acceptPerm(j.perm, st.Perm)
	return nil
}

// changePerms sets the permissions of files whose content stays.
func (a *applier) changePerms() error {
	wanted := func(j *job) bool { return j.permOnly() && j.New.Type == tree.TypeFile }
	return a.each(slices.All(a.jobs), wanted, func(j *job) error {
		parent, name, err := a.openParent(j)
		if err != nil {
			return err
		}
		defer parent.Close()
		before, err := parent.Lstat(name)
		if err != nil {
			return err
		}
		if before.Type != worktreefs.TypeFile || before.Perm != j.now {
			a.conflict(j, "changed since")
			return nil
		}
		if err := a.chmod(j, parent, name); err != nil {
			return err
		}
		if j.staged, err = parent.Lstat(name); err != nil {
			return err
		}
		if !sameFile(j.staged, before) {
			a.conflict(j, "changed since")
			return nil
		}
		j.state = jobPlaced
		return nil
	})
}
