package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// A directory that its owner may not write or search is widened while it is worked in. Its permissions are written down
// first, as the name of an empty file in the stage, a marker, and made durable: a run that is cut short leaves no
// directory widened without the next run knowing. A new directory is wide from the start, under a marker of the
// permissions that it is to get.

// truePerm is a directory's permissions without our widening; perm are those that it has.
func (a *applier) truePerm(path string, perm uint16) uint16 {
	if p, ok := a.perms[path]; ok {
		return p
	}
	return perm
}

// adoptMarkers finds the directories that an earlier run left widened. A marker whose directory has other permissions
// than the widened ones is stale and removed: somebody has changed them since, or they were never widened.
func (a *applier) adoptMarkers() error {
	if len(a.markers) == 0 {
		return nil
	}
	paths := map[string]bool{}
	for _, j := range a.jobs {
		if j.state != jobPending {
			continue
		}
		for p := j.Path; p != "" && !paths[p]; p, _ = tree.Split(p) {
			paths[p] = true
		}
	}
	for _, p := range sortedPaths(paths) {
		perm, ok := a.markers[keyOf(p)]
		if !ok {
			continue
		}
		dir, name := tree.Split(p)
		parent, _, err := a.w.open(dir)
		if err == nil {
			var st worktreefs.Stat
			if st, err = parent.Lstat(name); err == nil && st.Type == worktreefs.TypeDir && st.Perm == perm|0o700 {
				a.perms[p] = perm
				continue
			}
		}
		if err != nil && !worktreefs.IsLocal(err) {
			return err
		}
		if err := a.removeMarker(p, perm); err != nil {
			return err
		}
	}
	return nil
}

func sortedPaths[V any](m map[string]V) []string {
	paths := make([]string, 0, len(m))
	for p := range m {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, tree.ComparePaths)
	return paths
}

// markerName is the name of a marker: a path's key and its permissions.
func markerName(path string, perm uint16) string {
	return keyOf(path) + sufPerm + fmt.Sprintf("%04o", perm)
}

// writeMarker writes down, durably, the permissions that a directory has or is to get.
func (a *applier) writeMarker(path string, perm uint16) error {
	f, err := a.Stage.CreateFile(markerName(path, perm), 0o600)
	if errors.Is(err, worktreefs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), a.Stage.Sync())
}

func (a *applier) removeMarker(path string, perm uint16) error {
	err := a.Stage.Remove(markerName(path, perm))
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil
	}
	return err
}

// widen gives the owner all rights on a directory that lacks one of need. Where the system refuses, the operation that
// needs the right will fail.
func (a *applier) widen(parent worktreefs.Dir, parentPath, name string, need uint16) error {
	path := tree.Join(parentPath, name)
	st, err := parent.Lstat(name)
	if err != nil || st.Type != worktreefs.TypeDir || st.Perm&need == need {
		return err
	}
	perm := a.truePerm(path, st.Perm)
	if err := a.writeMarker(path, perm); err != nil {
		return err
	}
	err = parent.Chmod(name, st.Perm|0o700)
	switch {
	case err == nil:
		a.perms[path] = perm
		return nil
	case !worktreefs.IsLocal(err):
		return err
	}
	return a.removeMarker(path, perm) // another user's, or replaced: the next operation fails
}

// writable widens the directory at path so that entries can be put into it and taken from it.
func (a *applier) writable(path string) error {
	if a.usable[path] {
		return nil
	}
	cur, err := worktreefs.OpenPath(a.Root, "")
	if err != nil {
		return err
	}
	defer func() { cur.Close() }()
	at := ""
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		p := tree.Join(at, name)
		if rest == "" {
			if err := a.widen(cur, at, name, 0o700); err != nil {
				return err
			}
			break
		}
		next, err := cur.OpenDir(name)
		if errors.Is(err, worktreefs.ErrPermission) {
			if err := a.widen(cur, at, name, 0o500); err != nil {
				return err
			}
			next, err = cur.OpenDir(name)
		}
		if err != nil {
			return err
		}
		cur.Close()
		cur, at = next, p
	}
	a.usable[path] = true
	return nil
}

// restorePerms gives every widened directory its true permissions, deepest first, then removes the markers. With final
// also those directories whose permissions are a step's.
func (a *applier) restorePerms(final bool) error {
	want := map[string]uint16{}
	for p, perm := range a.perms {
		want[p] = perm
	}
	if final {
		for _, j := range a.jobs {
			if j.state == jobPending && j.permOnly() && j.New.Type == tree.TypeDir {
				want[j.Path] = j.perm
			}
		}
	}
	paths := sortedPaths(want)
	slices.Reverse(paths)
	for _, p := range paths {
		err := a.setPerm(p, want[p], len(paths) <= syncEach)
		j := a.byPath[p]
		asked := final && j != nil && j.state == jobPending
		switch {
		case err == nil && asked:
			j.state = jobDone
		case asked:
			if err := a.asConflict(j, err); err != nil {
				return err
			}
		case err != nil && !worktreefs.IsLocal(err):
			return err
		}
	}
	if len(paths) > syncEach {
		if err := a.syncStages(); err != nil {
			return err
		}
	}
	for _, p := range sortedPaths(a.perms) {
		if err := a.removeMarker(p, a.perms[p]); err != nil {
			return err
		}
		delete(a.perms, p)
	}
	return nil
}

// setPerm changes a directory's permissions and, with sync, syncs it. It is opened before the change, which may forbid
// it.
func (a *applier) setPerm(path string, perm uint16, sync bool) error {
	parent, name, err := worktreefs.OpenParent(a.Root, path)
	if err != nil {
		return err
	}
	defer parent.Close()
	st, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	if st.Type != worktreefs.TypeDir {
		return fmt.Errorf("%s: %w", quotePath(path), worktreefs.ErrNotDir)
	}
	if st.Perm == perm {
		return nil
	}
	d, err := parent.OpenDir(name)
	if err != nil && !errors.Is(err, worktreefs.ErrPermission) {
		return err
	}
	if err == nil {
		defer d.Close()
	}
	if j := a.byPath[path]; j != nil && j.state == jobPending && j.permOnly() {
		err = a.chmod(j, parent, name)
	} else {
		err = parent.Chmod(name, perm)
	}
	if err != nil {
		return err
	}
	if sync && d != nil {
		return d.Sync()
	}
	return nil
}
