package capture

import (
	"path/filepath"

	"rewind/engine/project"
	"rewind/tree/snapshot"
)

// Uncaptured says, in words, why nothing that happens in dir, an absolute path, is captured here, and which directory
// is left out. why is "" where dir is captured, or lies outside. The log's lock is taken.
func (wt *Worktree) Uncaptured(dir string) (why, at string, err error) {
	p := wt.log.Project.Root
	if !project.Within(dir, p) {
		return "", "", nil
	}
	rel, err := filepath.Rel(p, dir)
	if err != nil {
		return "", "", nil //nolint:nilerr // it is not in the project
	}
	defer wt.log.Hold()()
	r, err := wt.rulesNow(true)
	if err != nil {
		return "", "", err
	}
	root, err := wt.log.Root()
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	s, by, ok := snapshot.Uncaptured(wt.Source(root, r), filepath.ToSlash(rel))
	if !ok {
		return "", "", nil
	}
	return project.WhyUncaptured(s, by), filepath.Join(p, filepath.FromSlash(s.Path)), nil
}
