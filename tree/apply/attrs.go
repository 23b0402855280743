package apply

import (
	"errors"
	"slices"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// What a step wants and a path does not get, or what a file that was replaced had and the new one has not.
const (
	lostSetuid       = "setuid"
	lostSetgid       = "setgid"
	lostSticky       = "sticky"
	lostOwner        = "owner"
	lostGroup        = "group"
	lostCapabilities = "capabilities"
	lostAttributes   = "attributes" // extended ones, a security label
	lostLinks        = "links"      // its other names are still the earlier file
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

// restPerm is what permissions want becomes on something whose permissions are now, content aside: a restore gives no file a right that it
// has not got, so setuid, setgid and sticky only stay; a directory keeps those that it has, and may become sticky, which takes rights away.
func restPerm(t tree.Type, want, now uint16) uint16 {
	if t == tree.TypeDir {
		return want&(permOwn|permSticky) | now&permSpecial
	}
	return want&permOwn | want&now&permSpecial
}

// Rests says that setting what is there to want would change nothing: they are the same but for bits that a restore does not touch.
func Rests(there, want *tree.Entry) bool {
	if there == nil || want == nil || there.Type != want.Type || there.Type != tree.TypeDir && there.ID != want.ID {
		return tree.Same(there, want)
	}
	return there.Type == tree.TypeSymlink || restPerm(there.Type, want.Perm, there.Perm) == there.Perm
}

// Withheld names what rests of want is not there, when Rests.
func Withheld(path string, there, want *tree.Entry) (value.Without, bool) {
	w := value.Without{Path: value.Text(path)}
	if there != nil && want != nil && want.Type != tree.TypeSymlink {
		w.What = lostBits(want.Perm, there.Perm)
		slices.Sort(w.What)
	}
	return w, len(w.What) > 0
}

// IsLeft says that a restore of want may have left this: want itself, or want with fewer rights.
func IsLeft(there, want *tree.Entry) bool {
	return there != nil && want != nil && there.Type == want.Type && there.ID == want.ID && nearPerm(there.Type, there.Perm, want.Perm)
}

// nearPerm says that permissions may be what Run made of want.
func nearPerm(t tree.Type, perm, want uint16) bool {
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

// heir says that a file takes the place of a file, whose owner, group and attributes it gets.
func (j *job) heir() bool {
	return j.present && j.From != nil && j.To != nil && j.From.Type == tree.TypeFile && j.To.Type == tree.TypeFile && j.From.ID != j.To.ID
}

// choosePerm settles what permissions a path gets. Those that a file inherits are put on when it is made.
func (a *applier) choosePerm(j *job) {
	switch {
	case j.To == nil || j.To.Type == tree.TypeSymlink:
	case j.ready:
		j.perm = j.staged.Perm
	case j.permOnly():
		j.perm = restPerm(j.To.Type, j.To.Perm, j.now)
	case j.To.Type == tree.TypeFile:
		j.perm = j.To.Perm & permOwn
	default:
		j.perm = j.To.Perm & (permOwn | permSticky)
		up, _ := tree.Split(j.Path)
		_, inherits := a.setgid[up]
		if above := a.byPath[up]; above != nil && above.To != nil && above.To.Type == tree.TypeDir && above.comes() {
			inherits = above.perm&permSetgid != 0
		}
		if inherits {
			j.perm |= permSetgid // as the system does it for what is made there
		}
	}
}

// seeGroup notes a directory that gives its group to what is made in it.
func (a *applier) seeGroup(path string, d worktreefs.Dir) error {
	st, err := d.Stat()
	if err == nil && st.Perm&permSetgid != 0 {
		a.setgid[path] = st.Gid
	}
	return err
}

// adoptGroup gives a new directory that comes by itself the group that one made in its place would have. What is made in it follows
// by itself.
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
		n.job.lose(lostGroup)
		n.noSetgid()
		return nil
	}
	at, name := n.spot()
	return at.Chmod(name, n.job.perm|0o700) // a change of group takes setgid away on some systems
}

// noSetgid: the group that they would give is not ours to give.
func (n *newDir) noSetgid() {
	n.job.perm &^= permSetgid
	for _, d := range n.dirs {
		d.noSetgid()
	}
}

// endow gives a new file, complete and not yet named, what it inherits: owner, group and attributes of the file that it replaces, and
// then those of the bits of To that this file has, too; where there is none, the group of a directory that gives its own.
func (a *applier) endow(j *job, w worktreefs.WFile) error {
	st := j.staged
	if !j.heir() {
		up, _ := tree.Split(j.Path)
		gid, ok := a.setgid[up]
		if !ok || j.inside != nil || st.Gid == gid {
			return nil
		}
		if err := w.Chown(-1, int64(gid)); err != nil {
			return j.unless(err, lostGroup)
		}
		return a.finishPerm(j, w)
	}
	if j.was.Nlink > 1 {
		j.lose(lostLinks)
	}
	owner, group := st.Uid == j.was.Uid, st.Gid == j.was.Gid
	if owner && group && len(j.attrs) == 0 && j.To.Perm&j.was.Perm&permSpecial == 0 {
		return nil
	}
	if err := w.Chmod(0o600); err != nil { // attributes can be set by who may write
		return err
	}
	if !owner {
		err := w.Chown(int64(j.was.Uid), int64(j.was.Gid))
		owner, group = err == nil, group || err == nil
		if err := j.unless(err, lostOwner); err != nil {
			return err
		}
	}
	if !group {
		err := w.Chown(-1, int64(j.was.Gid))
		group = err == nil
		if err := j.unless(err, lostGroup); err != nil {
			return err
		}
	}
	for _, x := range j.attrs {
		if x.Name == worktreefs.CapabilityAttr {
			continue
		}
		err := w.SetAttr(x)
		if err != nil && x.Name == worktreefs.ACLAttr && worktreefs.IsLocal(err) {
			a.refuse(j, "what replaces it cannot have its access control list")
			return nil
		}
		if err := j.unless(err, lostAttributes); err != nil {
			return err
		}
	}
	if !group { // another group's rights are not for this one
		j.perm &^= permGroup &^ (j.perm & 0o007 << 3)
	}
	if bits := j.To.Perm & j.was.Perm; owner {
		j.perm |= bits & (permSetuid | permSticky)
		if group {
			j.perm |= bits & permSetgid
		}
	}
	if err := a.finishPerm(j, w); err != nil {
		return err
	}
	for _, x := range j.attrs {
		if x.Name == worktreefs.CapabilityAttr { // last: everything else takes it away
			if err := j.unless(w.SetAttr(x), lostCapabilities); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishPerm sets a file's permissions; a system that holds a special bit back has the last word.
func (a *applier) finishPerm(j *job, w worktreefs.WFile) error {
	err := w.Chmod(j.perm)
	if err != nil && j.perm&permSpecial != 0 && worktreefs.IsLocal(err) {
		err = w.Chmod(j.perm & permOwn)
	}
	if err != nil {
		return err
	}
	if j.staged, err = w.Stat(); err == nil {
		j.perm &= j.staged.Perm | permOwn
	}
	return err
}

// lose notes what a path does not get.
func (j *job) lose(what string) {
	if !slices.Contains(j.lost, what) {
		j.lost = append(j.lost, what)
	}
}

// unless notes what is lost when the system refuses it, and passes other errors on.
func (j *job) unless(err error, what string) error {
	if err == nil || !worktreefs.IsLocal(err) {
		return err
	}
	j.lose(what)
	return nil
}

// unchanged looks whether the file that is to be replaced still has the owner, group and attributes that were handed on.
func (j *job) unchanged(parent worktreefs.Dir, name string) (bool, error) {
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
	st, attrs, err := natureOf(parent, name)
	return err == nil && st.Uid == j.was.Uid && st.Gid == j.was.Gid && slices.EqualFunc(attrs, j.attrs, sameAttr), err
}

func sameAttr(x, y worktreefs.Attr) bool { return x.Name == y.Name && slices.Equal(x.Value, y.Value) }

// without is what a finished step did not get.
func (j *job) without() (value.Without, bool) {
	w := value.Without{Path: value.Text(j.Path), What: slices.Clone(j.lost)}
	if j.To != nil && j.To.Type != tree.TypeSymlink {
		w.What = append(w.What, lostBits(j.To.Perm, j.perm)...)
	}
	slices.Sort(w.What)
	return w, len(w.What) > 0
}
