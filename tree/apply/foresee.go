package apply

import (
	"errors"
	"os"
	"slices"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// Foresee tells what Run would set without something, as far as that can be known before: what the system will refuse
// is judged by who we are. perms are as Result's. Nothing is changed.
func Foresee(root worktreefs.Dir, steps []tree.Change) (lost []value.Without, perms map[string]uint16, err error) {
	steps = slices.Clone(steps)
	slices.SortFunc(steps, func(x, y tree.Change) int { return tree.ComparePaths(x.Path, y.Path) })
	made := map[string]uint16{} // new directories
	perms = map[string]uint16{}
	for _, s := range steps {
		if s.New == nil || s.New.Type == tree.TypeSymlink {
			continue
		}
		j := &job{Change: s}
		if s.Old != nil && s.Old.Type == s.New.Type {
			j.present, j.now = true, s.Old.Perm
		}
		switch {
		case j.permOnly():
			j.perm = restoredPerm(s.New.Type, s.New.Perm, s.Old.Perm)
		case s.New.Type == tree.TypeDir:
			up, _ := tree.Split(s.Path)
			perm, ok := made[up]
			if !ok {
				if perm, err = permOf(root, up); err != nil {
					return nil, nil, err
				}
			}
			j.perm = s.New.Perm&(permOwn|permSticky) | perm&permSetgid
			made[s.Path] = j.perm
		default:
			j.perm = s.New.Perm & permOwn
			if j.inherits() {
				if err := j.foresee(root); err != nil {
					return nil, nil, err
				}
			}
		}
		if w, ok := j.without(); ok {
			lost = append(lost, w)
		}
		if j.perm != s.New.Perm {
			perms[s.Path] = j.perm
		}
	}
	return lost, perms, nil
}

// permOf is a directory's permissions; 0 when it does not exist.
func permOf(root worktreefs.Dir, path string) (uint16, error) {
	d, err := worktreefs.OpenPath(root, path)
	if err != nil {
		return 0, ignoreLocal(err)
	}
	defer d.Close()
	st, err := d.Stat()
	return st.Perm, err
}

// ignoreLocal passes err on, unless it is about one path alone.
func ignoreLocal(err error) error {
	if worktreefs.IsLocal(err) {
		return nil
	}
	return err
}

// foresee judges what a file that replaces the one at the path will not inherit.
func (j *job) foresee(root worktreefs.Dir) error {
	parent, name, err := worktreefs.OpenParent(root, j.Path)
	if err != nil {
		return ignoreLocal(err)
	}
	defer parent.Close()
	f, st, err := parent.Open(name)
	switch {
	case errors.Is(err, worktreefs.ErrPermission):
		j.addLost(lostAttributes)
		if st, err = parent.Lstat(name); err != nil {
			return ignoreLocal(err)
		}
	case err != nil:
		return ignoreLocal(err)
	default:
		j.attrs, err = f.Attrs()
		f.Close()
		if err != nil {
			return err
		}
	}
	if st.Nlink > 1 {
		j.addLost(lostLinks)
	}
	me := os.Geteuid()
	if me == 0 || me < 0 { // root, or a system without users
		j.perm |= j.New.Perm & st.Perm & permSpecial
		return nil
	}
	group := inGroup(int(st.Gid))
	if !group {
		j.addLost(lostGroup)
	}
	if int(st.Uid) != me {
		j.addLost(lostOwner)
	} else if j.perm |= j.New.Perm & st.Perm & (permSetuid | permSticky); group {
		j.perm |= j.New.Perm & st.Perm & permSetgid
	}
	if slices.ContainsFunc(j.attrs, func(x worktreefs.Attr) bool { return x.Name == worktreefs.CapabilityAttr }) {
		j.addLost(lostCapabilities)
	}
	return nil
}

// inGroup reports whether this process belongs to a group.
func inGroup(gid int) bool {
	groups, _ := os.Getgroups()
	return gid == os.Getegid() || slices.Contains(groups, gid)
}
