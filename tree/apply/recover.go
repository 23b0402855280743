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

// inspect compares what lies in the stage. Here a file may be made readable for a moment; one that stays unreadable equals nothing.
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

// known: what lies in the stage can be unlinked without losing bytes: it equals From or To of its step, or is an empty directory.
func (s *stage) known(j *job, name string) (bool, error) {
	f, err := s.inspect(name, j.From, j.To)
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
	return !f.exists || f.sameBytes(j.From) || f.sameBytes(j.To), nil
}

// discard unlinks what lies in the stage, if it is known and nobody can still write to it; else it is kept and reported.
// This is the only way that anything which has been in the tree is unlinked.
func (a *applier) discard(j *job, name string) error {
	s := j.stage
	st, err := s.dir.Lstat(name)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// Writers are looked for before the bytes: once there are none, there will be none, for nobody else opens this name.
	if st.Type == worktreefs.TypeFile && st.Nlink <= 1 {
		held, err := a.held(s, name)
		if err != nil {
			return err
		}
		if held {
			return a.keep(j, name, "another program still has the earlier file open for writing")
		}
	}
	known, err := s.known(j, name)
	if err != nil {
		return err
	}
	if !known {
		return a.keep(j, name, "written to while it was being replaced")
	}
	if st.Type != worktreefs.TypeDir {
		return s.dir.Remove(name)
	}
	if err := s.dir.Rmdir(name); !errors.Is(err, worktreefs.ErrNotEmpty) {
		return err
	}
	return a.keep(j, name, "written to while it was being replaced")
}

// held waits a little for writers to finish: most hold a file for as long as one save takes.
func (a *applier) held(s *stage, name string) (bool, error) {
	for {
		f, _, err := s.dir.Open(name)
		if err != nil {
			if worktreefs.IsLocal(err) {
				return false, nil // unreadable: known says no
			}
			return false, err
		}
		w, err := f.Writers()
		f.Close()
		if errors.Is(err, worktreefs.ErrUnsupported) {
			return false, nil
		}
		if err != nil || !w || a.patience == 0 {
			return w, err
		}
		a.patience--
		time.Sleep(5 * time.Millisecond)
	}
}

// keep gives bytes in the stage a name that no run takes back, and reports it.
func (a *applier) keep(j *job, name, why string) error {
	for i := 1; ; i++ {
		kept := j.key + sufKept + strconv.Itoa(i)
		err := j.stage.dir.Move(name, j.stage.dir, kept)
		if errors.Is(err, worktreefs.ErrExist) {
			continue
		}
		if err == nil {
			a.saved(j, kept, why)
		}
		return err
	}
}

func (a *applier) saved(j *job, name, why string) {
	a.conflicts = append(a.conflicts, value.Conflict{Path: value.Text(j.Path), Reason: why, SavedAs: value.Text(j.stage.dir.Name() + "/" + name)})
}

// recover deals with what an earlier run left for a path: drops what is known, puts what was displaced and is not, back. parent is
// nil when the path's directory is not there.
func (a *applier) recover(j *job, parent worktreefs.Dir, name string) error {
	s := j.stage
	if len(s.left) == 0 || s.dir == nil {
		return nil
	}
	for i := 1; s.left[j.key+sufKept+strconv.Itoa(i)]; i++ {
		a.saved(j, j.key+sufKept+strconv.Itoa(i), "saved by an earlier run that was cut short")
	}
	j.swept = true
	if s.left[j.key+sufTmp] {
		if err := removeTree(s.dir, j.key+sufTmp); err != nil {
			return err
		}
	}
	for _, suf := range []string{sufNew, sufOld} {
		n := j.key + suf
		if !s.left[n] {
			continue
		}
		if err := a.recoverOne(j, n, suf, parent, name); err != nil {
			return err
		}
	}
	a.w.forget()
	return nil
}

func (a *applier) recoverOne(j *job, n, suf string, parent worktreefs.Dir, name string) error {
	known, err := j.stage.known(j, n)
	if err != nil {
		return err
	}
	// A file moved out to make place for another: its absence from the tree is ours, so it goes back to be displaced again.
	between := suf == sufOld && j.From != nil && j.To != nil && j.From.Type != tree.TypeDir && j.To.Type != tree.TypeDir
	if known && suf == sufNew && parent != nil {
		fits, err := j.fits(n, parent, name)
		if err != nil {
			return err
		}
		if fits {
			j.hasNew, j.ready = true, true
			return nil
		}
	}
	if known && !between || parent == nil {
		return a.discard(j, n)
	}
	cur, err := inspect(parent, name, j.From, j.To)
	if err != nil {
		return err
	}
	dir, _ := tree.Split(j.Path)
	switch {
	case !cur.exists:
		if err := a.writable(dir); err != nil {
			return err
		}
		a.touched[dir] = true
		err := j.stage.dir.Move(n, parent, name)
		if !errors.Is(err, worktreefs.ErrExist) {
			return err
		}
	case !known && cur.st.Type != worktreefs.TypeDir && (cur.sameBytes(j.From) || cur.sameBytes(j.To)):
		// A racing edit was exchanged with the new content and the run was cut short before it was seen.
		if err := a.writable(dir); err != nil {
			return err
		}
		a.touched[dir] = true
		err := j.stage.dir.Exchange(n, parent, name)
		if err != nil && !worktreefs.IsLocal(err) {
			return err
		}
	}
	return a.discard(j, n)
}

// fits says that a file in the stage is all that the step wants, and has owner, group and attributes of the file at the path: when a run is
// taken back it is the very file that was there, with its links and times, so it goes back itself.
func (j *job) fits(n string, parent worktreefs.Dir, name string) (bool, error) {
	if j.From == nil || j.To == nil || j.From.Type != tree.TypeFile || j.To.Type != tree.TypeFile {
		return false, nil
	}
	f, err := inspect(j.stage.dir, n, j.To)
	if err != nil || f.sealed || !f.sameBytes(j.To) {
		return false, ifNotLocal(err)
	}
	there, attrs, err := natureOf(parent, name)
	if err != nil {
		return false, ifNotLocal(err)
	}
	st, has, err := natureOf(j.stage.dir, n)
	if err != nil {
		return false, ifNotLocal(err)
	}
	j.staged = st
	return st.Perm == j.To.Perm && st.Uid == there.Uid && st.Gid == there.Gid && slices.EqualFunc(attrs, has, sameAttr), nil
}

// natureOf gives what a file is besides its bytes.
func natureOf(d worktreefs.Dir, name string) (worktreefs.Stat, []worktreefs.Attr, error) {
	f, st, err := d.Open(name)
	if err != nil {
		return st, nil, err
	}
	defer f.Close()
	attrs, err := f.Attrs()
	return st, attrs, err
}
