package restore

import (
	"path"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// foreignDirs knows the directories that no restore writes below, --exact neither:
//
//   - git's, by any name, and a worktree that git has linked. The capture leaves them out, and says so in its note;
//   - git's, as the target has them. Older versions captured them, and a repository does not get its old refs back;
//   - a repository of its own of which the target has no file. It would be emptied, and its .git would stay.
type foreignDirs struct {
	now    []tree.Skip     // of the worktree, by path
	whole  map[string]bool // directories with a repository of their own of which the target has nothing
	get    objstore.Getter
	target map[string]*targetDir // those of the target that were asked for, by path
}

// targetDir is a directory of the target.
type targetDir struct {
	entries []tree.Entry
	git     bool
}

func foreignOf(c *capture.Capture, target *model.Checkpoint, get objstore.Getter) (*foreignDirs, error) {
	f := &foreignDirs{now: c.Res.Skips, whole: map[string]bool{}, get: get, target: map[string]*targetDir{}}
	root, err := f.read("", target.Tree)
	if err != nil {
		return nil, err
	}
	f.target[""] = root
	for _, s := range f.now {
		dir, ok := ownRepository(s)
		if !ok {
			continue
		}
		if d, err := f.inTarget(dir); err != nil {
			return nil, err
		} else if d == nil || len(d.entries) == 0 {
			f.whole[dir] = true
		}
	}
	return f, nil
}

// ownRepository gives the directory below the root that has a repository of its own, if a line of a note says so.
func ownRepository(s tree.Skip) (dir string, ok bool) {
	dir, name := tree.Split(s.Path)
	return dir, s.Reason == tree.ReasonBuiltin && name == ".git" && dir != ""
}

func (f *foreignDirs) read(dir string, id objstore.ID) (*targetDir, error) {
	entries, err := tree.List(f.get, id)
	if err != nil {
		return nil, err
	}
	return &targetDir{entries: entries, git: dir != "" && tree.GitDirIn(path.Base(dir), entries)}, nil
}

// inTarget gives a directory of the target; nil: there is none.
func (f *foreignDirs) inTarget(dir string) (*targetDir, error) {
	if d, ok := f.target[dir]; ok {
		return d, nil
	}
	above, name := tree.Split(dir)
	in, err := f.inTarget(above)
	if err != nil || in == nil {
		return nil, err
	}
	i := tree.Find(in.entries, name)
	if i < 0 || in.entries[i].Type != tree.TypeDir {
		return nil, nil
	}
	d, err := f.read(dir, in.entries[i].ID)
	if err == nil {
		f.target[dir] = d
	}
	return d, err
}

// around finds the foreign directory that a path is, or lies in, and why it is kept; "": there is none.
func (f *foreignDirs) around(p string) (dir string, why value.KeptReason, err error) {
	for end := range len(p) + 1 {
		if end < len(p) && p[end] != '/' {
			continue
		}
		dir = p[:end]
		if why, err = f.why(dir); why != "" || err != nil {
			return dir, why, err
		}
	}
	return "", "", nil
}

func (f *foreignDirs) why(dir string) (value.KeptReason, error) {
	if f.whole[dir] {
		return value.KeptTree, nil
	}
	if s, ok := lineOf(f.now, dir); ok {
		if s.Size == tree.BuiltinGit {
			return value.KeptGit, nil
		}
		return value.KeptTree, nil
	}
	d, err := f.inTarget(dir)
	if err == nil && d != nil && d.git {
		return value.KeptGit, nil
	}
	return "", err
}

// lineOf gives the line of a note that says of a path that it is a foreign directory.
func lineOf(skips []tree.Skip, p string) (tree.Skip, bool) {
	s, ok := model.Covering(skips, p)
	return s, ok && s.Path == p && s.Foreign()
}

// keepForeign keeps the foreign directory around a path, if there is one.
func (pl *planner) keepForeign(p string) (kept bool, err error) {
	dir, why, err := pl.foreign.around(p)
	if err != nil || why == "" {
		return false, err
	}
	pl.keep(dir, why, true)
	return true, nil
}
