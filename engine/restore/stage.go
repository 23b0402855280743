package restore

import (
	"errors"
	"os"

	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree/apply"
)

// stages is a directory that holds the directories in which restores' steps work, one for each restore: in the marker, so on the
// worktree's file system and out of every capture; or, where the marker is not this user's, in Home. What does not lie on the file
// system of either apply.Run puts beside its path.
type stages struct {
	base worktreefs.Dir // what path begins at; closed by close
	path string         // below base, with slashes
	Name string         // for people: from the project's root, or absolute
	Own  bool           // base is closed with it
}

// marked is where stages are by default.
func marked(root worktreefs.Dir) *stages {
	return &stages{base: root, path: project.MarkerDir + "/" + project.MarkerStage, Name: project.MarkerDir + "/" + project.MarkerStage}
}

// private is where they are else; nil: there are none.
func (rs *Restorer) private() (*stages, error) {
	d, err := worktreefs.OpenRoot(rs.log.Home.Dir)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, rs.restoring(err)
	}
	return &stages{base: d, path: project.MarkerStage + "/" + rs.log.Project.ID, Name: rs.log.Home.StageDir(rs.log.Project.ID), Own: true}, nil
}

func (s *stages) Close() {
	if s.Own {
		_ = s.base.Close()
	}
}

func (s *stages) of(op string) string { return s.path + "/" + op }

// Open opens the directory of all stages.
func (s *stages) Open() (worktreefs.Dir, error) { return worktreefs.OpenPath(s.base, s.path) }

// Places are where stages of this project can be, private ones first; the caller closes them. A marker that does not name the project
// holds none of its.
func (rs *Restorer) Places(root worktreefs.Dir) ([]*stages, error) {
	list := []*stages{}
	p, err := rs.private()
	if err != nil {
		return nil, err
	}
	if p != nil {
		list = append(list, p)
	}
	if m := project.ReadMarkerIn(root); m.Names(rs.log.Project.ID) {
		list = append(list, marked(root))
	}
	return list, nil
}

// placeOf is where the stage of an operation is, or is to be made.
func (rs *Restorer) placeOf(root worktreefs.Dir, op string) (*stages, error) {
	list, err := rs.Places(root)
	if err != nil {
		return nil, err
	}
	var at *stages
	for _, s := range list {
		d, err := worktreefs.OpenPath(s.base, s.of(op))
		if err == nil && at == nil {
			at = s
		} else {
			s.Close()
		}
		if err == nil {
			d.Close()
		}
	}
	if at != nil {
		return at, nil
	}
	if project.WriteMarkerIn(root, rs.log.Project.Root, rs.log.Project.ID, "") == nil { // it may be what somebody just removed
		return marked(root), nil
	}
	if err := os.MkdirAll(rs.log.Home.Dir, 0o700); err != nil {
		return nil, rs.restoring(err)
	}
	return rs.private()
}

// MakeStage makes the directory that a restore's steps work in. Its name is durable when durable, which must be called, has returned:
// the file system does that while something else is being made durable.
func (rs *Restorer) MakeStage(root worktreefs.Dir, op string) (durable func() error, err error) {
	place, err := rs.placeOf(root, op)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	dir, err := apply.OpenStage(place.base, place.path)
	if err == nil {
		if err = dir.Mkdir(op, 0o700); err != nil && !errors.Is(err, worktreefs.ErrExist) {
			err = errors.Join(err, dir.Close())
		} else {
			err = nil
		}
	}
	if err != nil {
		return nil, rs.restoring(err)
	}
	return rs.syncing(dir), nil
}

// removeStage removes the stage of an operation; worktreefs.ErrNotEmpty when it holds bytes that were saved.
func (rs *Restorer) removeStage(root worktreefs.Dir, op string) error {
	place, err := rs.placeOf(root, op)
	if err != nil {
		return err
	}
	defer place.Close()
	err = apply.RemoveStage(place.base, place.of(op))
	if err == nil && place.Own {
		_ = apply.RemoveStage(place.base, place.path) // when it is empty
	}
	return err
}

// syncing has a directory synced meanwhile; it is closed.
func (rs *Restorer) syncing(d worktreefs.Dir) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Sync(), d.Close()) }()
	return func() error { return rs.restoring(<-done) }
}

func (rs *Restorer) restoring(err error) error {
	if err != nil {
		err = &value.OpError{Op: "restore", Subject: rs.log.Project.Root, Err: err}
	}
	return err
}

// Kept lists what restores left in their stages.
func (s *stages) Kept() (out []string, err error) {
	fail := func(err error) error {
		return &value.OpError{Op: "list stages in", Subject: s.Name, Err: register.PathCause(err)}
	}
	dir, err := s.Open()
	if errors.Is(err, worktreefs.ErrNotExist) || errors.Is(err, worktreefs.ErrNotDir) {
		return nil, nil
	}
	if err != nil {
		return nil, fail(err)
	}
	defer dir.Close()
	ops, err := dir.ReadDir()
	if err != nil {
		return nil, fail(err)
	}
	for _, op := range ops {
		stage, err := dir.OpenDir(op.Name)
		if err != nil {
			continue // not one of ours
		}
		files, err := stage.ReadDir()
		stage.Close()
		if err != nil {
			return nil, fail(err)
		}
		for _, f := range files {
			out = append(out, s.Name+"/"+op.Name+"/"+f.Name)
		}
	}
	return out, nil
}
