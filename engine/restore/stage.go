package restore

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"strings"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree/apply"
)

// stageDir is a directory with a stage for each restore. It is in the marker's directory, so on the worktree's file
// system and in no capture. If the marker's directory is not this user's, it is in Home. For paths on another file
// system apply.Run makes a stage beside them.
type stageDir struct {
	base worktreefs.Dir // what path is relative to
	path string         // below base, with slashes
	Name string         // for people: from the project's root, or absolute
	Own  bool           // base is Home's: Close closes it, and Name is absolute
}

// markerStages is the stageDir in the marker's directory, the usual one.
func markerStages(root worktreefs.Dir) *stageDir {
	return &stageDir{base: root, path: project.MarkerDir + "/" + project.MarkerStage, Name: project.MarkerDir + "/" + project.MarkerStage}
}

// homeStages is the stageDir in Home; nil: Home does not exist.
func (rs *stager) homeStages() (*stageDir, error) {
	d, err := worktreefs.OpenRoot(rs.log.Home.Dir)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, rs.restoreError(err)
	}
	return &stageDir{
		base: d, path: project.MarkerStage + "/" + rs.log.Project.ID, Name: rs.log.Home.StageDir(rs.log.Project.ID),
		Own: true,
	}, nil
}

// Close closes base, if it is not the project's root.
func (s *stageDir) Close() {
	if s.Own {
		_ = s.base.Close()
	}
}

// pathOf is the path below base of the stage named op.
func (s *stageDir) pathOf(op string) string { return s.path + "/" + op }

// Open opens the directory itself. The caller closes it.
func (s *stageDir) Open() (worktreefs.Dir, error) { return worktreefs.OpenPath(s.base, s.path) }

// StageDirs are the directories where stages of this project can be, Home's first; the caller closes them. The one in
// the project is left
// out if the marker does not name this project.
func (rs *stager) StageDirs(root worktreefs.Dir) ([]*stageDir, error) {
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

// stageDirOf is the directory that has the stage named op, or in which it is to be made. The caller closes it.
func (rs *stager) stageDirOf(root worktreefs.Dir, op string) (*stageDir, error) {
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
	// somebody may have removed the marker
	if project.WriteMarkerIn(root, rs.log.Project.Root, rs.log.Project.ID, "") == nil {
		return markerStages(root), nil
	}
	if err := os.MkdirAll(rs.log.Home.Dir, 0o700); err != nil {
		return nil, rs.restoreError(err)
	}
	return rs.homeStages()
}

// NewStageName makes a random name for a stage, of model.StageNameLength digits.
func NewStageName() string {
	var b [model.StageNameLength / 2]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

// MakeStage makes the stage named op. durable must be called: it waits until the stage's name is on disk. The sync runs
// beside what the caller does meanwhile.
func (rs *stager) MakeStage(root worktreefs.Dir, op string) (durable func() error, err error) {
	rs.dropEmptyStages(root)
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

// removeStage removes the stage named op; worktreefs.ErrNotEmpty when it holds saved bytes.
func (rs *stager) removeStage(root worktreefs.Dir, op string) error {
	stages, err := rs.stageDirOf(root, op)
	if err != nil {
		return err
	}
	defer stages.Close()
	err = apply.RemoveStage(stages.base, stages.pathOf(op))
	if err == nil && stages.Own {
		_ = apply.RemoveStage(stages.base, stages.path) // fails while other stages are in it
	}
	return err
}

// DropEmptyStages removes the empty stages of restores that were killed, unless a restore is under way or half done.
func (rs *stager) DropEmptyStages() {
	if rs.log.Damage() != nil || !rs.log.TryLock() {
		return
	}
	defer rs.log.Unlock()
	if rs.log.CheckWhole() != nil {
		return
	}
	root, err := rs.HoldRoot()
	if err != nil {
		return
	}
	defer root.Close()
	rs.dropEmptyStages(root)
}

// dropEmptyStages is DropEmptyStages with the log's lock held: no stage is in use but one that is made anew where it is
// missing.
func (rs *stager) dropEmptyStages(root worktreefs.Dir) {
	list, err := rs.StageDirs(root)
	if err != nil {
		return
	}
	for _, stages := range list {
		if dir, err := stages.Open(); err == nil {
			names, _ := dir.ReadDir() // what cannot be listed stays
			for _, ent := range names {
				if len(ent.Name) == model.StageNameLength && strings.Trim(ent.Name, "0123456789abcdef") == "" {
					_ = dir.Rmdir(ent.Name) // fails where bytes of a racing edit are in it
				}
			}
			dir.Close()
		}
		if stages.Own {
			_ = apply.RemoveStage(stages.base, stages.path) // fails while others are in it
		}
		stages.Close()
	}
}

// syncInBackground syncs and closes a directory in a goroutine of its own; wait returns the error.
func (rs *stager) syncInBackground(d worktreefs.Dir) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Sync(), d.Close()) }()
	return func() error { return rs.restoreError(<-done) }
}

// restoreError adds to an error that a restore of this project failed with it; nil stays nil.
func (rs *stager) restoreError(err error) error {
	if err != nil {
		err = &value.OpError{Op: "restore", Subject: rs.log.Project.Root, Err: err}
	}
	return err
}

// Leftovers lists the files that restores left in their stages, as paths for people.
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
			continue // no directory, or one that cannot be opened: no stage
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
