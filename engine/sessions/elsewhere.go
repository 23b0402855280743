package sessions

import (
	"strings"

	"rewind/engine/model"
)

// Elsewhere is the root of the project in which a session goes on, where that is not this one but one that this worktree was made of; "":
// it goes on here.
func (ss *Sessions) Elsewhere(s *model.Session) string {
	if of := ss.log.Project.From; of != nil {
		for _, root := range of.Roots {
			if s.Cwd == root || strings.HasPrefix(s.Cwd, strings.TrimSuffix(root, "/")+"/") {
				return root
			}
		}
	}
	return ""
}
