package project

import (
	"fmt"
	"path/filepath"
	"strings"

	"rewind/internal/gitinfo"
	"rewind/internal/worktreefs"
	"rewind/tree"
	"rewind/tree/ignore"
	"rewind/tree/snapshot"
)

// RuleFiles are the names of the ignore files in every directory; the second beats the first.
var RuleFiles = []string{".gitignore", ".rewindignore"}

// RulesAtRoot returns the rules at the root of a project before its ignore files are read: the exclusions of the
// settings, then git's own files outside of the tree.
func RulesAtRoot(exclusions []string, files []gitinfo.File, foldCase bool) *ignore.Dir {
	base := []ignore.File{{Path: ignore.BuiltinPath, Data: []byte(strings.Join(exclusions, "\n") + "\n")}}
	for _, f := range files {
		base = append(base, ignore.File{Path: f.Path, Data: f.Data})
	}
	return ignore.New(ignore.Options{FoldCase: foldCase}, base...)
}

// WhyUncaptured says in words why a directory is not captured, by what snapshot.Uncaptured gave.
func WhyUncaptured(s tree.Skip, by *ignore.Rule) string {
	switch {
	case by.Builtin():
		return "rewind ignores it by itself (" + by.Pattern + ")"
	case by != nil:
		return fmt.Sprintf("%s:%d ignores it (%s)", by.File, by.Line, by.Pattern)
	case s.Size == tree.BuiltinWorktree:
		return "git has linked it to a repository, so it is a project of its own"
	}
	return "it is git's or rewind's own"
}

// uncaptured says why a project whose root is, or would be, root captures nothing in dir below it; "": it does, or it
// cannot be told.
func uncaptured(home Home, root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	c, err := LoadConfig(home, root)
	if err != nil {
		return ""
	}
	at, err := worktreefs.OpenRoot(root)
	if err != nil {
		return ""
	}
	defer at.Close()
	var reader gitinfo.Reader
	git := reader.Read(root, false)
	src := snapshot.Source{
		Root: at, Rules: RulesAtRoot(c.Exclusions(), git.Files, git.FoldCase), RuleFiles: RuleFiles, GitDirs: git.Dirs,
		Linked: func(path string, dotGit []byte) bool {
			return gitinfo.IsLinked(filepath.Join(root, filepath.FromSlash(path)), dotGit)
		},
	}
	if git.Tracked != nil {
		src.Tracked = git.Tracked
	}
	if s, by, ok := snapshot.Uncaptured(src, filepath.ToSlash(rel)); ok {
		return WhyUncaptured(s, by)
	}
	return ""
}
