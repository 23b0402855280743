package apply

import (
	"errors"
	"strconv"
	"strings"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// Names in a stage begin with the key of a path. What each can hold is what makes a run resumable:
const (
	// sufTmp: content being written, or a new directory with its content. It has never been in the tree: it is removed
	// without a look.
	sufTmp = ".tmp"
	// sufNew: a complete and durable new file or link; after the exchange, what it replaced.
	sufNew = ".new"
	// sufOld: what was moved out of the tree without an exchange.
	sufOld = ".old"
	// sufKept and a number: bytes of a racing edit, until the user takes them.
	sufKept = ".kept"
	// sufPerm and four octal digits: a marker, an empty file, of the true permissions of a directory that is widened.
	sufPerm = ".perm"
)

// stage is where new content waits and displaced content lies, on one file system.
type stage struct {
	dir       worktreefs.Dir // nil: not made yet
	vol       worktreefs.Volume
	main      bool
	top       string          // the path of the directory that it is in, unless main
	name      string          // its name in that directory
	leftovers map[string]bool // names that an earlier run left

	permsKnown, keepsPerms bool // see keepsPermissions
}

func (s *stage) close() {
	if s.dir != nil && !s.main {
		s.dir.Close()
	}
	s.dir = nil
}

// openStages lists what an earlier run left in Options.Stage, and adopts its markers.
func (a *applier) openStages() error {
	vol, err := a.Stage.Volume()
	if err != nil {
		return err
	}
	s := &stage{dir: a.Stage, vol: vol, main: true}
	if err := s.list(); err != nil {
		return err
	}
	a.stages = append(a.stages, s)
	if err := a.noteVolume("", a.Root); err != nil {
		return err
	}
	for n := range s.leftovers {
		key, rest, ok := strings.Cut(n, sufPerm)
		perm, err := strconv.ParseUint(rest, 8, 16)
		if ok && err == nil {
			a.markers[key] = uint16(perm)
		}
	}
	return a.adoptMarkers()
}

// list sets leftovers.
func (s *stage) list() error {
	list, err := s.dir.ReadDir()
	if err != nil {
		return err
	}
	s.leftovers = make(map[string]bool, len(list))
	for _, e := range list {
		s.leftovers[e.Name] = true
	}
	return nil
}

// pickStage sets the stage of a step: the one on the file system of the nearest existing directory above its path.
func (a *applier) pickStage(j *job) error {
	up, _ := tree.Split(j.Path)
	vol, ok := a.volumes[up]
	for ; !ok; vol, ok = a.volumes[up] {
		up, _ = tree.Split(up)
	}
	if vol == a.stages[0].vol {
		j.stage = a.stages[0]
		return nil
	}
	for up != "" {
		above, _ := tree.Split(up)
		if a.volumes[above] != vol {
			break
		}
		up = above
	}
	for _, s := range a.stages[1:] {
		if s.vol == vol && s.top == up {
			j.stage = s
			return nil
		}
	}
	s := &stage{vol: vol, top: up, name: tree.StagePrefix + a.Op}
	a.stages = append(a.stages, s)
	j.stage = s
	top, err := worktreefs.OpenPath(a.Root, up)
	if err != nil {
		return err
	}
	defer top.Close()
	s.dir, err = top.OpenDir(s.name)
	if errors.Is(err, worktreefs.ErrNotExist) {
		s.dir = nil
		return nil
	}
	if err != nil {
		return err
	}
	return s.list()
}

// makeStage makes and opens a stage that does not exist yet.
func (a *applier) makeStage(s *stage) error {
	if s.dir != nil {
		return nil
	}
	if err := a.writable(s.top); err != nil {
		return err
	}
	top, err := worktreefs.OpenPath(a.Root, s.top)
	if err != nil {
		return err
	}
	defer top.Close()
	if err := top.Mkdir(s.name, 0o700); err != nil && !errors.Is(err, worktreefs.ErrExist) {
		return err
	}
	s.dir, err = top.OpenDir(s.name)
	if err == nil {
		a.touched[s.top] = true
	}
	return err
}

// dropStageACLs takes off the access control lists that the stages inherited: they are not those of the places where
// their files go.
func (a *applier) dropStageACLs() error {
	for _, s := range a.stages {
		if s.dir == nil {
			continue
		}
		if err := s.dir.NoDefaultACL(); err != nil {
			return err
		}
	}
	return nil
}

// fillStage writes all new content, and returns when it is durable and under a name in the stage that says that it is
// complete. An error about one path is an error of the whole run: nothing in the tree was touched, so nothing is half
// done.
func (a *applier) fillStage() error {
	alone := a.groupNew()
	for _, j := range alone {
		if err := a.makeStage(j.stage); err != nil {
			return err
		}
		j.hasTmp = true
	}
	for _, n := range a.tops {
		if err := a.makeStage(n.job.stage); err != nil {
			return err
		}
		n.job.hasTmp = true
	}
	if len(alone) == 0 && len(a.tops) == 0 {
		return nil
	}
	if err := a.dropStageACLs(); err != nil {
		return err
	}
	if err := a.build(alone); err != nil {
		return err
	}
	named := map[*stage]bool{}
	a.leaveBelow(alone)
	for _, j := range alone {
		if j.cannot != "" {
			j.hasTmp = false
			continue
		}
		if err := worktreefs.MoveOrRename(j.stage.dir, j.key+sufTmp, j.stage.dir, j.key+sufNew); err != nil {
			return err
		}
		j.hasTmp, j.hasNew = false, true
		named[j.stage] = true
	}
	for _, s := range a.stages {
		if named[s] {
			if err := s.dir.Sync(); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaveBelow leaves what is below a directory that stays, since what was to replace it cannot be had.
func (a *applier) leaveBelow(replacing []*job) {
	for _, j := range replacing {
		if j.cannot == "" || !j.removesFirst() {
			continue
		}
		for _, below := range a.jobs {
			if below.state == jobPending && strings.HasPrefix(below.Path, j.Path+"/") {
				a.conflict(below, "its directory stays, for what was to replace it cannot be made")
				below.cannot = value.KeptBelow
			}
		}
	}
}

// syncStages makes the file systems of all stages durable.
func (a *applier) syncStages() error {
	for _, s := range a.stages {
		if s.dir == nil {
			continue
		}
		if err := worktreefs.SyncFS(s.dir); err != nil && !errors.Is(err, worktreefs.ErrUnsupported) {
			return err
		}
	}
	return nil
}

// emptyStage discards what was displaced, and removes what was not placed. What an earlier run moved out goes only once
// the steps are carried out.
func (a *applier) emptyStage(carriedOut bool) error {
	a.begin("clearing away", len(a.jobs))
	for _, j := range a.jobs {
		a.advance()
		if j.stage == nil {
			j.stage = a.stages[0] // refused paths have no directory to look for another
		}
		if j.stage.dir == nil {
			continue
		}
		if !j.recovered {
			if err := a.recover(j, nil, ""); err != nil {
				return err
			}
		}
		if j.hasTmp {
			if err := RemoveTree(j.stage.dir, j.key+sufTmp); err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
				return err
			}
		}
		if j.hasNew {
			if err := a.discard(j, j.key+sufNew); err != nil {
				return err
			}
		}
		if j.hasOld || j.isOut && carriedOut {
			if err := a.discard(j, j.key+sufOld); err != nil {
				return err
			}
		}
		j.hasTmp, j.hasNew, j.hasOld = false, false, false
	}
	return nil
}
