package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rewind/internal/worktreefs"
	"rewind/tree/apply"
)

// stages is a directory that holds the directories in which restores' steps work, one for each restore: in the marker, so on the
// worktree's file system and out of every capture; or, where the marker is not this user's, in Home. What does not lie on the file
// system of either apply.Run puts beside its path.
type stages struct {
	base worktreefs.Dir // what path begins at; closed by close
	path string         // below base, with slashes
	name string         // for people: from the project's root, or absolute
	own  bool           // base is closed with it
}

// stageDir is where stages of a project are that cannot be in its marker.
func (h Home) stageDir(id string) string { return filepath.Join(h.Dir, markerStage, id) }

// marked is where stages are by default.
func marked(root worktreefs.Dir) *stages {
	return &stages{base: root, path: markerDir + "/" + markerStage, name: markerDir + "/" + markerStage}
}

// private is where they are else; nil: there are none.
func (e *Engine) private() (*stages, error) {
	d, err := worktreefs.OpenRoot(e.home.Dir)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, e.restoring(err)
	}
	return &stages{base: d, path: markerStage + "/" + e.project.ID, name: e.home.stageDir(e.project.ID), own: true}, nil
}

func (s *stages) close() {
	if s.own {
		_ = s.base.Close()
	}
}

func (s *stages) of(op string) string { return s.path + "/" + op }

// open opens the directory of all stages.
func (s *stages) open() (worktreefs.Dir, error) { return worktreefs.OpenPath(s.base, s.path) }

// places are where stages of this project can be, private ones first; the caller closes them. A marker that does not name the project
// holds none of its.
func (e *Engine) places(root worktreefs.Dir) ([]*stages, error) {
	list := []*stages{}
	p, err := e.private()
	if err != nil {
		return nil, err
	}
	if p != nil {
		list = append(list, p)
	}
	if m := readMarkerIn(root); m.names(e.project.ID) {
		list = append(list, marked(root))
	}
	return list, nil
}

// placeOf is where the stage of an operation is, or is to be made.
func (e *Engine) placeOf(root worktreefs.Dir, op string) (*stages, error) {
	list, err := e.places(root)
	if err != nil {
		return nil, err
	}
	var at *stages
	for _, s := range list {
		d, err := worktreefs.OpenPath(s.base, s.of(op))
		if err == nil && at == nil {
			at = s
		} else {
			s.close()
		}
		if err == nil {
			d.Close()
		}
	}
	if at != nil {
		return at, nil
	}
	if writeMarkerIn(root, e.project.Root, e.project.ID, "") == nil { // it may be what somebody just removed
		return marked(root), nil
	}
	if err := os.MkdirAll(e.home.Dir, 0o700); err != nil {
		return nil, e.restoring(err)
	}
	return e.private()
}

// makeStage makes the directory that a restore's steps work in. Its name is durable when durable, which must be called, has returned:
// the file system does that while something else is being made durable.
func (e *Engine) makeStage(root worktreefs.Dir, op string) (durable func() error, err error) {
	place, err := e.placeOf(root, op)
	if err != nil {
		return nil, err
	}
	defer place.close()
	dir, err := apply.OpenStage(place.base, place.path)
	if err == nil {
		if err = dir.Mkdir(op, 0o700); err != nil && !errors.Is(err, worktreefs.ErrExist) {
			err = errors.Join(err, dir.Close())
		} else {
			err = nil
		}
	}
	if err != nil {
		return nil, e.restoring(err)
	}
	return e.syncing(dir), nil
}

// removeStage removes the stage of an operation; worktreefs.ErrNotEmpty when it holds bytes that were saved.
func (e *Engine) removeStage(root worktreefs.Dir, op string) error {
	place, err := e.placeOf(root, op)
	if err != nil {
		return err
	}
	defer place.close()
	err = apply.RemoveStage(place.base, place.of(op))
	if err == nil && place.own {
		_ = apply.RemoveStage(place.base, place.path) // when it is empty
	}
	return err
}

// syncing has a directory synced meanwhile; it is closed.
func (e *Engine) syncing(d worktreefs.Dir) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Sync(), d.Close()) }()
	return func() error { return e.restoring(<-done) }
}

func (e *Engine) restoring(err error) error {
	if err != nil {
		err = fmt.Errorf("engine: restore %s: %w", e.project.Root, err)
	}
	return err
}
