package restore

import (
	"errors"
	"fmt"
	"path/filepath"

	"rewind/engine/register"
	"rewind/internal/worktreefs"
)

// A restore holds the project's root directory as one handle from its plan to its end, and everything that it does to
// the tree goes through that. So whoever has another directory, or a link to one, take the root's place meanwhile has
// nothing written there. That they did is seen before the first change and before the operation is recorded.

// ErrExchanged is returned when the project's path leads to another directory than the one that is being restored.
var ErrExchanged = errors.New("another directory has taken the place of the project's")

// HoldRoot opens the worktree's root for a restore: the directory that the project's path names through no link. The
// caller closes it.
func (rs *stager) HoldRoot() (worktreefs.Dir, error) {
	root, err := rs.log.Root()
	if err != nil {
		return nil, err
	}
	if err := rs.checkRoot(root); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// checkRoot fails with ErrExchanged if the project's path does not lead, through no link, to the directory that root
// holds (device and inode).
func (rs *stager) checkRoot(root worktreefs.Dir) error {
	exchanged := func(why string) error {
		return rs.restoreError(fmt.Errorf("%w: %s", ErrExchanged, why))
	}
	real, err := filepath.EvalSymlinks(rs.log.Project.Root)
	if err != nil {
		return exchanged(register.PathCause(err).Error())
	}
	if real != rs.log.Project.Root { // the root of a project is a path without links
		return exchanged("it leads to " + real)
	}
	now, err := worktreefs.OpenRoot(rs.log.Project.Root)
	if err != nil {
		return exchanged(register.PathCause(err).Error())
	}
	defer now.Close()
	held, err := root.Stat()
	if err != nil {
		return rs.restoreError(err)
	}
	st, err := now.Stat()
	if err != nil {
		return rs.restoreError(err)
	}
	if st.Dev != held.Dev || st.Ino != held.Ino {
		return exchanged("it is not the directory that it was")
	}
	return nil
}
