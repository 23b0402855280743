package snapshot

import (
	"fmt"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// Overlooked reports whether one of the files and links at paths has changed without a report since the newest snapshot
// took it over from the one before (see Watcher). Paths that the snapshot looked at itself, or does not have, are not
// looked at. paths are sorted; each costs one lstat. It is called after a snapshot, before Committed or Discard. The
// error is one of root.
func (c *Cache) Overlooked(root worktreefs.Dir, paths []string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.staged
	if s == nil || s.sight == nil {
		return false, nil
	}
	look := lookup{c: c, s: s}
	var dir worktreefs.Dir
	at := ""
	defer func() {
		if dir != nil {
			dir.Close()
		}
	}()
	for _, path := range paths {
		f := look.find(path)
		if f == nil {
			continue
		}
		up, name := tree.Split(path)
		if dir == nil || up != at {
			if dir != nil {
				dir.Close()
			}
			var err error
			if dir, err = worktreefs.OpenPath(root, up); err != nil {
				return unlike(path, err)
			}
			at = up
		}
		st, err := dir.Lstat(name)
		if err != nil {
			return unlike(path, err)
		}
		kind := cachedFile
		if st.Type == worktreefs.TypeSymlink {
			kind = cachedSymlink
		}
		if f.stamp.kind != cachedSecret && stampOf(kind, st) != f.stamp {
			return true, nil
		}
	}
	return false, nil
}

// unlike turns an error about one path into the answer that the path has changed.
func unlike(path string, err error) (bool, error) {
	if worktreefs.IsLocal(err) {
		return true, nil
	}
	return false, fmt.Errorf("look at %.80q: %w", path, err)
}
