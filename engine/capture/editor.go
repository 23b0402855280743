package capture

import (
	"errors"
	"io"
	"strings"

	"rewind/engine/project"
	"rewind/internal/worktreefs"
	"rewind/tree"
	"rewind/tree/ignore"
)

// maxRules is how many bytes of an ignore file are read, as a snapshot does.
const maxRules = 1 << 20

// LeavesOut reports whether path is left out as an editor's lock or swap file. It must have such a name
// (ignore.IsEditors), git must not track it, and no ignore file above it may include it. Checkpoints of older versions
// have such files.
func (wt *Worktree) LeavesOut(root worktreefs.Dir, path string) (bool, error) {
	dir, name := tree.Split(path)
	if !ignore.IsEditors(name) {
		return false, nil
	}
	r, err := wt.Rules()
	if err != nil {
		return false, err
	}
	if r.Tracked != nil && r.Tracked.File(path) {
		return false, nil
	}
	at := withRules(root, "", r.Dir)
	here := ""
	for part := range strings.SplitSeq(dir, "/") {
		if part != "" {
			here = tree.Join(here, part)
			at = withRules(root, here, at.Child(part))
		}
	}
	ignored, by := at.Match(name, false)
	return ignored && by.Builtin(), nil
}

// withRules adds the ignore files of a directory to the rules above it. What cannot be read excludes nothing.
func withRules(root worktreefs.Dir, path string, above *ignore.Dir) *ignore.Dir {
	d, err := worktreefs.OpenPath(root, path)
	if err != nil {
		return above
	}
	defer d.Close()
	var files [2]ignore.File
	for i, name := range project.RuleFiles {
		if data, err := readRules(d, name); err == nil {
			files[i] = ignore.File{Path: tree.Join(path, name), Data: data}
		}
	}
	return above.WithFiles(files[0], files[1])
}

func readRules(d worktreefs.Dir, name string) ([]byte, error) {
	f, st, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	if st.Size > maxRules {
		return nil, errors.New("too large")
	}
	return io.ReadAll(io.LimitReader(f, maxRules))
}
