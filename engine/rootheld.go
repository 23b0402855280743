package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"rewind/internal/worktreefs"
)

// A restore holds the project's root directory as one handle from its plan to its end, and everything that it does to the tree goes through
// that. So whoever has another directory, or a link to one, take the root's place meanwhile has nothing written there. That they did is
// seen before the first change and before the end is recorded.

// ErrExchanged is returned when the project's path leads to another directory than the one that is being restored.
var ErrExchanged = errors.New("another directory has taken the place of the project's")

// holdRoot opens the working tree for a restore: the directory that the project's path names through no link.
func (e *Engine) holdRoot() (worktreefs.Dir, error) {
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	if err := e.sameRoot(root); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// sameRoot refuses to go on when the project's path does not lead to the directory that is held: device and inode, through no link.
func (e *Engine) sameRoot(root worktreefs.Dir) error {
	gone := func(why string) error {
		return fmt.Errorf("engine: restore %s: %w: %s", e.project.Root, ErrExchanged, why)
	}
	real, err := filepath.EvalSymlinks(e.project.Root)
	if err != nil {
		return gone(pathCause(err).Error())
	}
	if real != e.project.Root { // it was, when the project was found
		return gone("it leads to " + real)
	}
	now, err := worktreefs.OpenRoot(e.project.Root)
	if err != nil {
		return gone(pathCause(err).Error())
	}
	defer now.Close()
	held, err := root.Stat()
	if err != nil {
		return e.restoring(err)
	}
	st, err := now.Stat()
	if err != nil {
		return e.restoring(err)
	}
	if st.Dev != held.Dev || st.Ino != held.Ino {
		return gone("it is not the directory that it was")
	}
	return nil
}

// keepMarker makes again what is missing of the marker, which somebody may just have removed, below the root that is held. What is there
// stays as it is.
func (e *Engine) keepMarker(root worktreefs.Dir) error {
	dir, err := makeDirIn(root, path.Dir(markerDir), 0o755)
	if err != nil {
		return e.noMarker(err)
	}
	defer dir.Close()
	own, err := makeDirIn(dir, path.Base(markerDir), 0o700)
	if err != nil {
		return e.noMarker(err)
	}
	defer own.Close()
	// The id comes last: a marker without one is no marker.
	return e.noMarker(errors.Join(makeFile(own, markerIgnore, "*\n"), makeFile(own, markerID, e.project.ID+"\n")))
}

func (e *Engine) noMarker(err error) error {
	if errors.Is(err, worktreefs.ErrNotDir) {
		return fmt.Errorf("engine: make marker: %w: %w", ErrBadRoot, err)
	}
	return e.restoring(err)
}

// makeDirIn opens a directory, and makes it first where nothing has its name.
func makeDirIn(dir worktreefs.Dir, name string, perm uint16) (worktreefs.Dir, error) {
	if d, err := dir.OpenDir(name); !errors.Is(err, worktreefs.ErrNotExist) {
		return d, err
	}
	err := dir.Mkdir(name, perm)
	if err == nil {
		err = dir.Sync()
	}
	if err != nil && !errors.Is(err, worktreefs.ErrExist) {
		return nil, err
	}
	return dir.OpenDir(name)
}

// makeFile makes a file of ours durably, where nothing has its name.
func makeFile(dir worktreefs.Dir, name, text string) error {
	if _, err := dir.Lstat(name); !errors.Is(err, worktreefs.ErrNotExist) {
		return err
	}
	tmp := ".new-" + rand.Text()
	f, err := dir.CreateFile(tmp, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write([]byte(text)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		if err = dir.Move(tmp, dir, name); errors.Is(err, worktreefs.ErrExist) {
			return dir.Remove(tmp) // another process was faster
		}
	}
	if err != nil {
		return errors.Join(err, dir.Remove(tmp))
	}
	return dir.Sync()
}
