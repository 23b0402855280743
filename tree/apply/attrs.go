package apply

import (
	"errors"
	"slices"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// What a path can lack: something that its step wants, or that the replaced file had.
const (
	lostSetuid       = "setuid"
	lostSetgid       = "setgid"
	lostSticky       = "sticky"
	lostOwner        = "owner"
	lostGroup        = "group"
	lostCapabilities = "capabilities"
	lostAttributes   = "attributes" // extended attributes, a security label
	lostPermissions  = "permissions"
	lostLinks        = "links" // the other names of a file still lead to the replaced one
)

// The bits of permissions that say more than who may do what.
const (
	permSetuid  = 0o4000
	permSetgid  = 0o2000
	permSticky  = 0o1000
	permSpecial = permSetuid | permSetgid | permSticky
	permGroup   = 0o070
	permOwn     = 0o777
)

// restoredPerm is what the permissions want become on something that has the permissions now. No file gets a right that
// it has not got: setuid, setgid and sticky can only stay. A directory keeps those that it has, and may become sticky,
// which takes rights away.
func restoredPerm(t tree.Type, want, now uint16) uint16 {
	if t == tree.TypeDir {
		return want&(permOwn|permSticky) | now&permSpecial
	}
	return want&permOwn | want&now&permSpecial
}

// UpToDate reports whether a restore of want would change nothing of what is there: both are the same but for bits that
// a restore gives to nothing.
func UpToDate(there, want *tree.Entry) bool {
	if there == nil || want == nil || there.Type != want.Type {
		return tree.Same(there, want)
	}
	if there.Type != tree.TypeDir && there.ID != want.ID {
		return false
	}
	return there.Type == tree.TypeSymlink || restoredPerm(there.Type, want.Perm, there.Perm) == there.Perm
}

// Withheld names the special bits of want that are not there, for a path that is UpToDate; false: none.
func Withheld(path string, there, want *tree.Entry) (value.Without, bool) {
	w := value.Without{Path: value.Text(path)}
	if there != nil && want != nil && want.Type != tree.TypeSymlink {
		w.What = lostBits(want.Perm, there.Perm)
		slices.Sort(w.What)
	}
	return w, len(w.What) > 0
}

// MatchesRestored reports whether a restore of want may have left what is there: want itself, or want with fewer
// rights.
func MatchesRestored(there, want *tree.Entry) bool {
	if there == nil || want == nil || there.Type != want.Type {
		return false
	}
	return there.ID == want.ID && resemblingPerm(there.Type, there.Perm, want.Perm)
}

// resemblingPerm reports whether Run may have made the permissions perm where a step wanted want.
func resemblingPerm(t tree.Type, perm, want uint16) bool {
	switch t {
	case tree.TypeDir:
		return perm&permOwn == want&permOwn && want&permSticky&^perm == 0
	case tree.TypeFile:
		return perm&^want == 0 && (perm^want)&^(permSpecial|permGroup) == 0
	}
	return true
}

// lostBits names the special bits that are in want and not in perm.
func lostBits(want, perm uint16) (what []string) {
	for _, b := range []struct {
		bit  uint16
		name string
	}{{permSetuid, lostSetuid}, {permSetgid, lostSetgid}, {permSticky, lostSticky}} {
		if want&^perm&b.bit != 0 {
			what = append(what, b.name)
		}
	}
	return what
}

// inherits reports whether a file replaces a file, whose owner, group and attributes it gets.
func (j *job) inherits() bool { return j.present && j.replacesFile() }

// replacesFile reports whether a file with another content is to replace a file.
func (j *job) replacesFile() bool {
	if j.Old == nil || j.New == nil {
		return false
	}
	return j.Old.Type == tree.TypeFile && j.New.Type == tree.TypeFile && j.Old.ID != j.New.ID
}

// choosePerm sets the permissions that a path gets, but for the special bits of a file that inherits: setInherited adds
// those.
func (a *applier) choosePerm(j *job) {
	switch {
	case j.New == nil || j.New.Type == tree.TypeSymlink:
	case j.newReady:
		j.perm = j.staged.Perm
	case j.permOnly():
		j.perm = restoredPerm(j.New.Type, j.New.Perm, j.now)
	case j.New.Type == tree.TypeFile:
		j.perm = j.New.Perm & permOwn
	default:
		j.perm = j.New.Perm & (permOwn | permSticky)
		up, _ := tree.Split(j.Path)
		_, inherits := a.setgid[up]
		if above := a.byPath[up]; above != nil && above.New != nil && above.New.Type == tree.TypeDir && above.placesNew() {
			inherits = above.perm&permSetgid != 0
		}
		if inherits {
			j.perm |= permSetgid // as the system does for directories made there
		}
	}
}

// noteSetgid notes a directory that gives its group to what is made in it.
func (a *applier) noteSetgid(path string, d worktreefs.Dir) error {
	st, err := d.Stat()
	if err == nil && st.Perm&permSetgid != 0 {
		a.setgid[path] = st.Gid
	}
	return err
}

// adoptGroup gives a top the group that a directory made at its final place would get. What is made in it gets that
// group by itself.
func (a *applier) adoptGroup(n *newDir) error {
	if n.parent != nil || n.job.perm&permSetgid == 0 {
		return nil
	}
	up, _ := tree.Split(n.job.Path)
	st, err := n.dir.Stat()
	if err != nil || st.Gid == a.setgid[up] {
		return err
	}
	if err := n.dir.Chgrp(a.setgid[up]); err != nil {
		if !errors.Is(err, worktreefs.ErrPermission) {
			return err
		}
		n.job.addLost(lostGroup)
		n.noSetgid()
		return nil
	}
	at, name := n.buildLocation()
	return at.Chmod(name, n.job.perm|0o700) // a change of group takes setgid away on some systems
}

// noSetgid takes setgid from a new directory and those below it, since their group could not be set.
func (n *newDir) noSetgid() {
	n.job.perm &^= permSetgid
	for _, d := range n.dirs {
		d.noSetgid()
	}
}

// setInherited gives a new file, written but not yet named, what it inherits: owner, group and attributes of the file
// that it replaces, then those special bits of To that the replaced file has. A file that replaces none gets the group
// of a directory that gives its own.
func (a *applier) setInherited(j *job, w worktreefs.WFile) error {
	if !j.inherits() {
		return a.setGroupOfDir(j, w)
	}
	if j.was.Nlink > 1 {
		j.addLost(lostLinks)
	}
	st := j.staged
	owner, group := st.Uid == j.was.Uid, st.Gid == j.was.Gid
	isAlike := owner && group && len(j.attrs) == 0
	if isAlike && j.New.Perm&j.was.Perm&permSpecial == 0 {
		return nil
	}
	if err := w.Chmod(0o600); err != nil && !refused(err) { // setting attributes needs the right to write
		return err
	}
	owner, group, err := j.setOwner(w, owner, group)
	if err != nil {
		return err
	}
	if fits, err := a.setAttrs(j, w); err != nil || !fits {
		return err
	}
	j.inheritBits(owner, group)
	if err := a.finishPerm(j, w); err != nil {
		return err
	}
	return j.setCapability(w)
}

// setOwner gives a file the owner and the group that it has not yet, and says which it has then.
func (j *job) setOwner(w worktreefs.WFile, owner, group bool) (bool, bool, error) {
	if !owner {
		err := w.Chown(int64(j.was.Uid), int64(j.was.Gid))
		owner, group = err == nil, group || err == nil
		if err := j.lostIfRefused(err, lostOwner); err != nil {
			return owner, group, err
		}
	}
	if !group {
		err := w.Chown(-1, int64(j.was.Gid))
		group = err == nil
		if err := j.lostIfRefused(err, lostGroup); err != nil {
			return owner, group, err
		}
	}
	return owner, group, nil
}

// setGroupOfDir gives a file that replaces none the group of its directory, where that gives it.
func (a *applier) setGroupOfDir(j *job, w worktreefs.WFile) error {
	up, _ := tree.Split(j.Path)
	gid, ok := a.setgid[up]
	if !ok || j.inside != nil || j.staged.Gid == gid {
		return nil
	}
	if err := w.Chown(-1, int64(gid)); err != nil {
		return j.lostIfRefused(err, lostGroup)
	}
	return a.finishPerm(j, w)
}

// setAttrs sets the attributes but for capabilities; false: there is a conflict.
func (a *applier) setAttrs(j *job, w worktreefs.WFile) (bool, error) {
	for _, x := range j.attrs {
		if x.Name == worktreefs.CapabilityAttr {
			continue
		}
		err := w.SetAttr(x)
		if err != nil && x.Name == worktreefs.ACLAttr && worktreefs.IsLocal(err) {
			a.conflictLocked(j, "what replaces it cannot have its access control list")
			return false, nil
		}
		if err := j.lostIfRefused(err, lostAttributes); err != nil {
			return false, err
		}
	}
	return true, nil
}

// inheritBits chooses the special bits, by whether owner and group are those of the file that is replaced.
func (j *job) inheritBits(owner, group bool) {
	if !group { // the group could not be kept: this one gets no more than others have
		j.perm &^= permGroup &^ (j.perm & 0o007 << 3)
	}
	if bits := j.New.Perm & j.was.Perm; owner {
		j.perm |= bits & (permSetuid | permSticky)
		if group {
			j.perm |= bits & permSetgid
		}
	}
}

// setCapability sets capabilities, which any other change of the file would remove.
func (j *job) setCapability(w worktreefs.WFile) error {
	for _, x := range j.attrs {
		if x.Name != worktreefs.CapabilityAttr {
			continue
		}
		if err := j.lostIfRefused(w.SetAttr(x), lostCapabilities); err != nil {
			return err
		}
	}
	return nil
}

// finishPerm sets a file's permissions. A special bit that the system refuses is left out.
func (a *applier) finishPerm(j *job, w worktreefs.WFile) error {
	err := w.Chmod(j.perm)
	if err != nil && j.perm&permSpecial != 0 && worktreefs.IsLocal(err) {
		err = w.Chmod(j.perm & permOwn)
	}
	if err != nil && !refused(err) {
		return err
	}
	if j.staged, err = w.Stat(); err == nil {
		j.perm &= j.staged.Perm | permOwn
	}
	return err
}

// refused reports whether a change of permissions was refused, as by a file system that keeps none.
func refused(err error) bool { return err != nil && worktreefs.IsLocal(err) }

// acceptPerm takes the permissions that the system gave to what was made for a step, where they are not those that were
// asked for: the file system keeps none, or fewer.
func (j *job) acceptPerm(asked, got uint16) {
	if got&permOwn != asked&permOwn {
		j.perm = got
		j.addLost(lostPermissions)
	}
}

// keepsPermissions reports whether the file system of a step's stage gives a file the permissions that it is asked for.
// It is asked once, of a file in the stage, and only where something has others than it should.
func (a *applier) keepsPermissions(j *job) (bool, error) {
	s := j.stage
	if s == nil || s.permsKnown {
		return s == nil || s.keepsPerms, nil
	}
	if err := a.makeStage(s); err != nil {
		return true, ignoreLocal(err)
	}
	name := j.key + sufTmp // what a kill leaves of it is removed as any such name
	w, err := s.dir.CreateFile(name, 0o600)
	if err != nil {
		return true, ignoreLocal(err)
	}
	s.permsKnown, s.keepsPerms = true, true
	for _, perm := range []uint16{0o600, 0o711} {
		err := w.Chmod(perm)
		st, serr := w.Stat()
		if serr != nil {
			return true, errors.Join(serr, w.Close())
		}
		if refused(err) || err == nil && st.Perm != perm {
			s.keepsPerms = false
		}
	}
	return s.keepsPerms, errors.Join(w.Close(), s.dir.Remove(name))
}

// addLost notes what a path does not get.
func (j *job) addLost(what string) {
	if !slices.Contains(j.lost, what) {
		j.lost = append(j.lost, what)
	}
}

// lostIfRefused notes what is lost if err is a refusal of the system, and passes other errors on.
func (j *job) lostIfRefused(err error, what string) error {
	if err == nil || !worktreefs.IsLocal(err) {
		return err
	}
	j.addLost(what)
	return nil
}

// metadataUnchanged reports whether the file that is to be replaced still has the owner, group and attributes that
// setInherited has copied.
func (j *job) metadataUnchanged(parent worktreefs.Dir, name string) (bool, error) {
	st, err := parent.Lstat(name)
	if err != nil {
		return false, err
	}
	if st.Ino == j.was.Ino && st.Ctime == j.was.Ctime {
		return true, nil
	}
	if st.Type != worktreefs.TypeFile || st.Uid != j.was.Uid || st.Gid != j.was.Gid {
		return false, nil
	}
	st, attrs, err := metadataOf(parent, name)
	owned := err == nil && st.Uid == j.was.Uid
	return owned && st.Gid == j.was.Gid && slices.EqualFunc(attrs, j.attrs, sameAttr), err
}

func sameAttr(x, y worktreefs.Attr) bool { return x.Name == y.Name && slices.Equal(x.Value, y.Value) }

// without is what a finished step did not get.
func (j *job) without() (value.Without, bool) {
	w := value.Without{Path: value.Text(j.Path), What: slices.Clone(j.lost)}
	if j.New != nil && j.New.Type != tree.TypeSymlink {
		w.What = append(w.What, lostBits(j.New.Perm, j.perm)...)
	}
	slices.Sort(w.What)
	return w, len(w.What) > 0
}
