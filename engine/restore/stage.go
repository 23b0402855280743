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

// stageDir is a directory that holds the directories in which restores' steps work, one for each restore: in the marker, so on the
// worktree's file system and out of every capture; or, where the marker is not this user's, in Home. What does not lie on the file
// system of either apply.Run puts beside its path.
type stageDir struct {
	base worktreefs.Dir // what path begins at; closed by close
	path string         // below base, with slashes
	Name string         // for people: from the project's root, or absolute
	Own  bool           // base is closed with it
}

// markerStages is where stages are by default.
func markerStages(root worktreefs.Dir) *stageDir {
	return &stageDir{base: root, path: project.MarkerDir + "/" + project.MarkerStage, Name: project.MarkerDir + "/" + project.MarkerStage}
}

// homeStages is where they are else; nil: there are none.
func (rs *Restorer) homeStages() (*stageDir, error) {
	d, err := worktreefs.OpenRoot(rs.log.Home.Dir)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, rs.restoreError(err)
	}
	return &stageDir{base: d, path: project.MarkerStage + "/" + rs.log.Project.ID, Name: rs.log.Home.StageDir(rs.log.Project.ID), Own: true}, nil
}

func (s *stageDir) Close() {
	if s.Own {
		_ = s.base.Close()
	}
}

func (s *stageDir) pathOf(op string) string { return s.path + "/" + op }

// Open opens the directory of all stages.
func (s *stageDir) Open() (worktreefs.Dir, error) { return worktreefs.OpenPath(s.base, s.path) }

// StageDirs are where stages of this project can be, private ones first; the caller closes them. A marker that does not name the project
// holds none of its.
func (rs *Restorer) StageDirs(root worktreefs.Dir) ([]*stageDir, error) {
	list := []*stageDir{}
	home, err := rs.homeStages()
	if err != nil {
		return nil, err
	}
	if home != nil {
		list = append(list, home)
	}
	if m := project.ReadMarkerIn(root); m.Names(rs.log.Project.ID) {
		list = append(list, markerStages(root))
	}
	return list, nil
}

// stageDirOf is where the stage of an operation is, or is to be made.
func (rs *Restorer) stageDirOf(root worktreefs.Dir, op string) (*stageDir, error) {
	list, err := rs.StageDirs(root)
	if err != nil {
		return nil, err
	}
	var at *stageDir
	for _, s := range list {
		d, err := worktreefs.OpenPath(s.base, s.pathOf(op))
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
		return markerStages(root), nil
	}
	if err := os.MkdirAll(rs.log.Home.Dir, 0o700); err != nil {
		return nil, rs.restoreError(err)
	}
	return rs.homeStages()
}

// MakeStage makes the directory that a restore's steps work in. Its name is durable when durable, which must be called, has returned:
// the file system does that while something else is being made durable.
func (rs *Restorer) MakeStage(root worktreefs.Dir, op string) (durable func() error, err error) {
	stages, err := rs.stageDirOf(root, op)
	if err != nil {
		return nil, err
	}
	defer stages.Close()
	dir, err := apply.OpenStage(stages.base, stages.path)
	if err == nil {
		if err = dir.Mkdir(op, 0o700); err != nil && !errors.Is(err, worktreefs.ErrExist) {
			err = errors.Join(err, dir.Close())
		} else {
			err = nil
		}
	}
	if err != nil {
		return nil, rs.restoreError(err)
	}
	return rs.syncInBackground(dir), nil
}

// removeStage removes the stage of an operation; worktreefs.ErrNotEmpty when it holds bytes that were saved.
func (rs *Restorer) removeStage(root worktreefs.Dir, op string) error {
	stages, err := rs.stageDirOf(root, op)
	if err != nil {
		return err
	}
	defer stages.Close()
	err = apply.RemoveStage(stages.base, stages.pathOf(op))
	if err == nil && stages.Own {
		_ = apply.RemoveStage(stages.base, stages.path) // when it is empty
	}
	return err
}

// syncInBackground has a directory synced meanwhile; it is closed.
func (rs *Restorer) syncInBackground(d worktreefs.Dir) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Sync(), d.Close()) }()
	return func() error { return rs.restoreError(<-done) }
}

func (rs *Restorer) restoreError(err error) error {
	if err != nil {
		err = &value.OpError{Op: "restore", Subject: rs.log.Project.Root, Err: err}
	}
	return err
}

// Leftovers lists what restores left in their stages.
func (s *stageDir) Leftovers() (out []string, err error) {
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
