package tree

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"rewind/internal/worktreefs"
	"rewind/objstore"
)

// Names in a stage begin with the key of a path. What each can hold is what makes a run resumable:
const (
	// sufTmp: content being written. It has never been in the tree, so it may be dropped unseen.
	sufTmp = ".tmp"
	// sufNew: complete and durable new content, or what was exchanged with it: bytes from the tree.
	sufNew = ".new"
	// sufOld: what was moved out of the tree.
	sufOld = ".old"
	// sufKept and a number: bytes that are saved for the user, until somebody takes them.
	sufKept = ".kept"
	// sufPerm and four octal digits, empty: the true permissions of a directory that is wider for the time being.
	sufPerm = ".perm"
)

// stage is where new content waits and displaced content lies, on one file system.
type stage struct {
	dir  worktreefs.Dir // nil: not made yet
	vol  worktreefs.Volume
	main bool
	top  string          // the directory that holds it, unless main
	name string          // its name there
	left map[string]bool // what an earlier run left
	used bool            // holds something of this run
}

func (s *stage) close() {
	if s.dir != nil && !s.main {
		s.dir.Close()
	}
	s.dir = nil
}

// openStages reads what an earlier run left in the stage.
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
	if err := a.seeVolume("", a.Root); err != nil {
		return err
	}
	for n := range s.left {
		key, rest, ok := strings.Cut(n, sufPerm)
		perm, err := strconv.ParseUint(rest, 8, 16)
		if ok && err == nil {
			a.markers[key] = uint16(perm)
		}
	}
	return a.adoptMarkers()
}

func (s *stage) list() error {
	list, err := s.dir.ReadDir()
	if err != nil {
		return err
	}
	s.left = make(map[string]bool, len(list))
	for _, e := range list {
		s.left[e.Name] = true
	}
	return nil
}

// pickStage finds the stage on the file system of the nearest directory above the path that exists.
func (a *applier) pickStage(j *job) error {
	up, _ := Split(j.Path)
	vol, ok := a.volumes[up]
	for ; !ok; vol, ok = a.volumes[up] {
		up, _ = Split(up)
	}
	if vol == a.stages[0].vol {
		j.stage = a.stages[0]
		return nil
	}
	for up != "" {
		above, _ := Split(up)
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
	s := &stage{vol: vol, top: up, name: StagePrefix + a.Op}
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

// ready makes a stage that is not there yet.
func (a *applier) ready(s *stage) error {
	s.used = true
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

// fillStage writes all new content, and returns when it is durable and complete under its final name in the stage. An error
// that concerns one path is an error of the whole: nothing was touched, so nothing need be half done.
func (a *applier) fillStage() error {
	files := 0
	for _, j := range a.jobs {
		if j.state == jobAct && j.comes() && j.To.Type == TypeFile {
			files++
		}
	}
	wrote := false
	for _, j := range a.jobs {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if j.state != jobAct || !j.comes() {
			continue
		}
		if err := a.ready(j.stage); err != nil {
			return err
		}
		j.hasTmp = j.To.Type != TypeDir
		if err := a.stageOne(j, files <= applySyncEach); err != nil {
			return fmt.Errorf("stage %s: %w", quotePath(j.Path), err)
		}
		wrote = true
	}
	if !wrote {
		return nil
	}
	if files > applySyncEach {
		if err := a.syncStages(); err != nil {
			return err
		}
	}
	for _, j := range a.jobs {
		if j.state == jobAct && j.comes() && j.To.Type != TypeDir {
			if err := j.stage.dir.Move(j.key+sufTmp, j.stage.dir, j.key+sufNew); err != nil {
				return err
			}
			j.hasTmp, j.hasNew = false, true
		}
	}
	for _, s := range a.stages {
		if s.used {
			if err := s.dir.Sync(); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncStages makes whole file systems durable.
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

// stageOne writes one entry.
func (a *applier) stageOne(j *job, sync bool) (err error) {
	s := j.stage.dir
	if j.To.Type == TypeDir {
		// Wide enough to be filled; its permissions become exact at the end. It is empty, so it needs no second name.
		if err := s.Mkdir(j.key+sufNew, j.To.Perm|0o700); err != nil {
			return err
		}
		j.hasNew = true
		j.staged, err = s.Lstat(j.key + sufNew)
		return err
	}
	r, err := a.Open(j.To.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	if j.To.Type == TypeSymlink {
		target, err := io.ReadAll(io.LimitReader(r, MaxSymlink+1))
		if err != nil {
			return err
		}
		if objstore.Sum(objstore.Blob, target) != j.To.ID {
			return fmt.Errorf("content is not that of blob %s", j.To.ID)
		}
		if err := s.Symlink(string(target), j.key+sufTmp); err != nil {
			return err
		}
		j.staged, err = s.Lstat(j.key + sufTmp)
		return err
	}
	w, err := s.CreateFile(j.key+sufTmp, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	h := objstore.NewHasher()
	buf := applyBuffers.Get().(*[]byte)
	defer applyBuffers.Put(buf)
	var size int64
	for {
		n, rerr := io.ReadFull(r, *buf)
		_, _ = h.Write((*buf)[:n])
		if n > 0 {
			if _, err := w.Write((*buf)[:n]); err != nil {
				return err
			}
			size += int64(n)
		}
		if rerr == io.EOF || rerr == io.ErrUnexpectedEOF {
			break
		}
		if rerr != nil {
			return rerr
		}
	}
	if h.Sum() != j.To.ID || size != j.To.Size {
		return fmt.Errorf("content is not that of blob %s", j.To.ID)
	}
	if err := w.Chmod(j.To.Perm); err != nil {
		return err
	}
	if sync {
		if err := w.Sync(); err != nil {
			return err
		}
	}
	j.staged, err = w.Stat()
	return err
}

// emptyStage discards what was displaced and what was not placed.
func (a *applier) emptyStage() error {
	for _, j := range a.jobs {
		if j.stage == nil {
			j.stage = a.stages[0] // refused paths have no directory to look for another
		}
		if j.stage.dir == nil {
			continue
		}
		if !j.swept {
			if err := a.recover(j, nil, ""); err != nil {
				return err
			}
		}
		if j.hasTmp {
			if err := j.stage.dir.Remove(j.key + sufTmp); err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
				return err
			}
		}
		for _, suf := range []string{sufNew, sufOld} {
			if suf == sufNew && j.hasNew || suf == sufOld && j.hasOld {
				if err := a.discard(j, j.key+suf); err != nil {
					return err
				}
			}
		}
		j.hasTmp, j.hasNew, j.hasOld = false, false, false
	}
	return nil
}
