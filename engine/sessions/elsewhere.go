package sessions

import (
	"strings"

	"rewind/engine/model"
)

// Elsewhere returns the root of the project in which a session goes on, if that is one that this worktree was made of.
// "": it goes on here. A worktree may lie in the project that it was made of.
func (ss *Sessions) Elsewhere(s *model.Session) string {
	of := ss.log.Project.From
	if of == nil || isIn(s.Cwd, ss.log.Project.Root) {
		return ""
	}
	for _, root := range of.Roots {
		if isIn(s.Cwd, root) {
			return root
		}
	}
	return ""
}

func isIn(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/")
}
