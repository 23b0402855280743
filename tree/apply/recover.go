package apply

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// inspect is inspect of a name in the stage. A file that may not be read is made readable for a moment; one that stays
// unreadable equals no entry.
func (s *stage) inspect(name string, with ...*tree.Entry) (found, error) {
	f, err := inspect(s.dir, name, with...)
	if err != nil || !f.sealed {
		return f, err
	}
	perm := f.st.Perm
	if err := s.dir.Chmod(name, perm|0o400); err == nil {
		if f, err = inspect(s.dir, name, with...); err != nil {
			return f, err
		}
		f.st.Perm = perm
		if err := s.dir.Chmod(name, perm); err != nil {
			return f, err
		}
	}
	f.sealed = false
	return f, nil
}

// discardable reports whether a name in the stage can be unlinked without losing bytes: it equals From or To of its
// step, or is an empty directory, or is not there.
func (s *stage) discardable(j *job, name string) (bool, error) {
	f, err := s.inspect(name, j.Old, j.New)
	if err != nil {
		return false, err
	}
	if f.st.Type == worktreefs.TypeDir {
		d, err := s.dir.OpenDir(name)
		if err != nil {
			return false, nil
		}
		defer d.Close()
		list, err := d.ReadDir()
		return len(list) == 0, err
	}
	return !f.exists || f.sameBytes(j.Old) || f.sameBytes(j.New), nil
}

// discard unlinks a name in the stage if it is discardable and nobody can still write to it; else its bytes are kept
// and reported. Nothing that has been in the tree is unlinked in any other way.
func (a *applier) discard(j *job, name string) error {
	s := j.stage
	st, err := s.dir.Lstat(name)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// Writers are looked for before the bytes: once there are none, there will be none, for nobody else opens this
	// name.
	if st.Type == worktreefs.TypeFile && st.Nlink <= 1 {
		held, err := a.heldByWriter(s.dir, name)
		if err != nil {
			return err
		}
		if held {
			return a.keepBytes(j, name, "another program still has the earlier file open for writing")
		}
	}
	discardable, err := s.discardable(j, name)
	if err != nil {
		return err
	}
	if !discardable {
		return a.keepBytes(j, name, "written to while it was being replaced")
	}
	if st.Type != worktreefs.TypeDir {
		return s.dir.Remove(name)
	}
	if err := s.dir.Rmdir(name); !errors.Is(err, worktreefs.ErrNotEmpty) {
		return err
	}
	return a.keepBytes(j, name, "written to while it was being replaced")
}

// heldByWriter reports whether a program has the file open for writing, after some waiting: most do so only while they
// save.
func (a *applier) heldByWriter(in worktreefs.Dir, name string) (bool, error) {
	for {
		f, _, err := in.Open(name)
		if err != nil {
			if worktreefs.IsLocal(err) {
				return false, nil // unreadable: not discardable
			}
			return false, err
		}
		w, err := f.Writers()
		f.Close()
		if errors.Is(err, worktreefs.ErrUnsupported) {
			return false, nil
		}
		if err != nil || !w || a.writerWaits == 0 {
			return w, err
		}
		a.writerWaits--
		time.Sleep(5 * time.Millisecond)
	}
}

// keepBytes gives a name in the stage another one, which no run takes back, and reports it as a conflict.
func (a *applier) keepBytes(j *job, name, why string) error {
	for i := 1; ; i++ {
		kept := j.key + sufKept + strconv.Itoa(i)
		err := worktreefs.MoveOrRename(j.stage.dir, name, j.stage.dir, kept)
		if errors.Is(err, worktreefs.ErrExist) {
			continue
		}
		if err == nil {
			a.reportKept(j, kept, why)
		}
		return err
	}
}

// reportKept adds the conflict of bytes that were saved under a name of the stage.
func (a *applier) reportKept(j *job, name, why string) {
	a.conflicts = append(a.conflicts, value.Conflict{
		Path: value.Text(j.Path), Reason: why,
		SavedAs: value.Text(j.stage.dir.Name() + "/" + name),
	})
}

// recover deals with what an earlier run left in the stage for a path: discardable bytes are unlinked, others that were
// displaced go back. parent is nil when the path's directory does not exist.
func (a *applier) recover(j *job, parent worktreefs.Dir, name string) error {
	s := j.stage
	if len(s.leftovers) == 0 || s.dir == nil {
		return nil
	}
	for i := 1; s.leftovers[j.key+sufKept+strconv.Itoa(i)]; i++ {
		a.reportKept(j, j.key+sufKept+strconv.Itoa(i), "saved by an earlier run that was cut short")
	}
	j.recovered = true
	if s.leftovers[j.key+sufTmp] {
		if err := RemoveTree(s.dir, j.key+sufTmp); err != nil {
			return err
		}
	}
	for _, suf := range []string{sufNew, sufOld} {
		n := j.key + suf
		if !s.leftovers[n] {
			continue
		}
		if err := a.recoverOne(j, n, suf, parent, name); err != nil {
			return err
		}
	}
	a.w.forgetNames()
	return nil
}

// recoverOne is recover for one name n in the stage, with its suffix.
func (a *applier) recoverOne(j *job, n, suf string, parent worktreefs.Dir, name string) error {
	discardable, err := j.stage.discardable(j, n)
	if err != nil {
		return err
	}
	// A file that was moved out for another one: the run had made its place empty, so it goes back and is displaced
	// again.
	between := suf == sufOld && j.replacesLeaf()
	if _, ok := tree.CompanionOf(j.Path); ok && between && discardable {
		return a.recoverCompanion(j, n, parent, name)
	}
	if discardable && suf == sufNew && parent != nil {
		matches, err := j.matchesTarget(n, parent, name)
		if err != nil {
			return err
		}
		if matches {
			j.hasNew, j.newReady = true, true
			return nil
		}
	}
	if discardable && !between || parent == nil {
		return a.discard(j, n)
	}
	if done, err := a.returnStaged(j, n, parent, name, discardable); err != nil || done {
		return err
	}
	return a.discard(j, n)
}

// replacesLeaf reports whether something that is no directory replaces something that is none.
func (j *job) replacesLeaf() bool {
	if j.Old == nil || j.New == nil {
		return false
	}
	return j.Old.Type != tree.TypeDir && j.New.Type != tree.TypeDir
}

// returnStaged puts what lies in the stage back to its place, if that is free, or has what a run put there. done:
// nothing is left in the stage.
func (a *applier) returnStaged(
	j *job, n string, parent worktreefs.Dir, name string, discardable bool,
) (done bool, err error) {
	cur, err := inspect(parent, name, j.Old, j.New)
	if err != nil {
		return false, err
	}
	dir, _ := tree.Split(j.Path)
	if !cur.exists {
		if err := a.writable(dir); err != nil {
			return false, err
		}
		a.touched[dir] = true
		err := worktreefs.MoveOrRename(j.stage.dir, n, parent, name)
		if !errors.Is(err, worktreefs.ErrExist) {
			return true, err
		}
		return false, nil
	}
	isOurs := cur.sameBytes(j.Old) || cur.sameBytes(j.New)
	if discardable || cur.st.Type == worktreefs.TypeDir || !isOurs {
		return false, nil
	}
	// A racing edit was exchanged with the new content and the run was cut short before it was seen.
	if err := a.writable(dir); err != nil {
		return false, err
	}
	a.touched[dir] = true
	err = j.stage.dir.Exchange(n, parent, name)
	if err != nil && !worktreefs.IsLocal(err) {
		return false, err
	}
	return false, nil
}

// recoverCompanion is recoverOne for what was moved out of the place of a companion. It does not go back: until the
// database itself is set, or back, nothing lies beside it that it may not know. It stays in the stage to the end of the
// run: were this one cut short, too, it tells the next that the place is empty because of us.
func (a *applier) recoverCompanion(j *job, n string, parent worktreefs.Dir, name string) error {
	if parent == nil {
		return a.discard(j, n)
	}
	_, err := parent.Lstat(name)
	if errors.Is(err, worktreefs.ErrNotExist) {
		j.isOut = true
		return nil
	}
	return a.discard(j, n)
}

// matchesTarget reports whether a file n in the stage is all that the step wants, and has owner, group and attributes
// of the file at the path. When a run is taken back it is the very file that was there, with its other names and times,
// so it goes back itself.
func (j *job) matchesTarget(n string, parent worktreefs.Dir, name string) (bool, error) {
	one := j.Old == nil || j.New == nil
	if one || j.Old.Type != tree.TypeFile || j.New.Type != tree.TypeFile {
		return false, nil
	}
	f, err := inspect(j.stage.dir, n, j.New)
	if err != nil || f.sealed || !f.sameBytes(j.New) {
		return false, ignoreLocal(err)
	}
	there, attrs, err := metadataOf(parent, name)
	if err != nil {
		return false, ignoreLocal(err)
	}
	st, has, err := metadataOf(j.stage.dir, n)
	if err != nil {
		return false, ignoreLocal(err)
	}
	j.staged = st
	owned := st.Perm == j.New.Perm && st.Uid == there.Uid
	return owned && st.Gid == there.Gid && slices.EqualFunc(attrs, has, sameAttr), nil
}

// metadataOf is the stat and the attributes of a file.
func metadataOf(d worktreefs.Dir, name string) (worktreefs.Stat, []worktreefs.Attr, error) {
	f, st, err := d.Open(name)
	if err != nil {
		return st, nil, err
	}
	defer f.Close()
	attrs, err := f.Attrs()
	return st, attrs, err
}
