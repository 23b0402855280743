package restore

import "rewind/internal/worktreefs"

// Found has the worktree's file system count as one that lacks these.
func (rs *Restorer) Found(lacks worktreefs.Lacks) error {
	root, err := rs.log.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	st, err := root.Stat()
	rs.state.tried, rs.state.dev, rs.state.lacks = true, st.Dev, lacks
	return err
}
