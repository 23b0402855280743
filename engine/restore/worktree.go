package restore

import (
	"rewind/engine/model"
	"rewind/engine/project"
)

// elsewhere is the root of the project in which a session goes on, where that is not this one but one that this worktree was made of; "":
// it goes on here.
func (rs *Restorer) elsewhere(s *model.Session) string {
	if of := rs.log.Project.From; of != nil {
		for _, root := range of.Roots {
			if s.Cwd == root || project.Within(s.Cwd, root) {
				return root
			}
		}
	}
	return ""
}
