package snapshot

import (
	"slices"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// A foreign directory is in the project's and not of it: git's own, by any name, or the working tree of another branch,
// which has its own index and its own changes. Nothing below is captured, whatever tracks or names it, so no restore
// finds anything to write there. The directory is listed and watched all the same, since what it is can change.

// dotGit is the name of git's directory, or of the file that names it.
const dotGit = ".git"

// maxDotGit is the size of a file .git that is read; git itself writes a path into it.
const maxDotGit = 64 << 10

// tellsForeign reports whether one of the names that say what a directory is may have changed.
func (t *todo) tellsForeign() bool {
	for _, name := range [...]string{dotGit, "HEAD", "objects", "refs", "info", "pack"} {
		if t.names[name] != 0 {
			return true
		}
	}
	return false
}

// whatForeign is what a directory below the root is, by all of its names: tree.BuiltinGit, tree.BuiltinWorktree; 0: it
// is the project's. Where only some names were listed, it was decided before.
func (s *scan) whatForeign(n *node, names []worktreefs.Dirent) int64 {
	switch {
	case n.parent == nil, n.base != nil:
		return 0
	case slices.Contains(s.GitDirs, n.path), isGitDir(n.name, names):
		return tree.BuiltinGit
	case s.Linked != nil && lists(names, dotGit) && s.isLinked(n):
		return tree.BuiltinWorktree
	}
	return 0
}

func isGitDir(name string, names []worktreefs.Dirent) bool {
	return tree.IsGitDir(name, func(yield func(tree.DirName) bool) {
		for _, e := range names {
			if !yield(tree.DirName{Name: e.Name, File: e.Type == worktreefs.TypeFile, Dir: e.Type == worktreefs.TypeDir}) {
				return
			}
		}
	})
}

// isLinked reports whether git has linked the directory to a repository. What cannot be read makes it the project's:
// more is captured then.
func (s *scan) isLinked(n *node) bool {
	f, st, err := n.dir.Open(dotGit)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	if st.Size > maxDotGit {
		return false
	}
	data, err := readAtMost(f, maxDotGit)
	return err == nil && s.Linked(n.path, data)
}
