package capture

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"rewind/internal/worktreefs"
	"rewind/refs"
	"rewind/tree"
)

// Missing gives the paths that a target did not capture (then) and that are not on disk: no restore can bring them
// back. now is what is not captured now, asked limits the paths. What is most likely to be missed comes first.
func Missing(root worktreefs.Dir, then, now []tree.Skip, asked refs.PathSet) ([]tree.Skip, error) {
	there := map[string]bool{}
	for _, s := range now {
		there[s.Path] = true
	}
	var out []tree.Skip
	for _, s := range Visible(then) {
		if there[s.Path] || !asked.Has(s.Path) || missed(s.Reason) == 0 {
			continue
		}
		if _, is, err := OnDisk(root, s.Path); err != nil && !errors.Is(err, worktreefs.ErrBadName) {
			return nil, err
		} else if !is {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b tree.Skip) int {
		return cmp.Or(missed(a.Reason)-missed(b.Reason), tree.ComparePaths(a.Path, b.Path))
	})
	return out, nil
}

// missed is the rank of a reason in Missing's order; 0: such a path is not listed.
func missed(reason byte) int {
	switch reason {
	case tree.ReasonSecret:
		return 1
	case tree.ReasonUnreadable:
		return 2
	case tree.ReasonSize:
		return 3
	case tree.ReasonPurged:
		return 4
	case tree.ReasonIgnored:
		return 5
	case tree.ReasonPipe, tree.ReasonSocket, tree.ReasonDevice:
		return 6
	}
	return 0
}

// OnDisk reports whether something is at path, and whether it is a directory. What cannot be looked at counts as a
// file.
func OnDisk(root worktreefs.Dir, path string) (isDir, there bool, err error) {
	parent, name, err := worktreefs.OpenParent(root, path)
	switch {
	case errors.Is(err, worktreefs.ErrNotExist), errors.Is(err, worktreefs.ErrNotDir):
		return false, false, nil
	case errors.Is(err, fs.ErrPermission):
		return false, true, nil
	case err != nil:
		return false, false, err
	}
	defer parent.Close()
	st, err := parent.Lstat(name)
	switch {
	case errors.Is(err, worktreefs.ErrNotExist):
		return false, false, nil
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return false, false, err
	}
	return err == nil && st.Type == worktreefs.TypeDir, true, nil
}
