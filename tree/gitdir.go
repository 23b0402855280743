package tree

// What makes a directory one that nothing below is captured or written of, whatever its name: Skip.Size of its line in
// a note, whose reason is ReasonBuiltin. For a name that is git's or rewind's own (.git, .agent/rewind) it is 0.
const (
	BuiltinGit      int64 = 1 // git's: a repository, or where one keeps its objects
	BuiltinWorktree int64 = 2 // a working tree that git has linked to a repository
)

// Foreign reports whether a line of a note names a directory that is another's for what lies in it.
func (s *Skip) Foreign() bool { return s.Reason == ReasonBuiltin && s.Size != 0 }

// Word is ReasonWord of a line, of a foreign directory what it is.
func (s *Skip) Word() string {
	switch {
	case !s.Foreign():
		return ReasonWord(s.Reason)
	case s.Size == BuiltinGit:
		return "git"
	}
	return "worktree"
}

// Bytes is the size of what was left out; 0: it is not known.
func (s *Skip) Bytes() int64 {
	if s.Foreign() {
		return 0
	}
	return s.Size
}

// A DirName is one name of a directory, and whether a directory has it. Of a link it is not known: neither is false.
type DirName struct {
	Name      string
	File, Dir bool
}

// IsGitDir reports whether git would take a directory with these names for one of its own: it has a HEAD, objects and
// refs, as is_git_directory in git's setup.c asks. What HEAD says is not looked at: one that a power cut emptied is
// still git's. dir is the directory's own name.
//
// Where a repository has its objects elsewhere, that place counts too. It is told by its names: info, pack and
// directories of two hex digits, and nothing else. Google's repo tool keeps repositories, and the objects that they
// share, in .repo.
func IsGitDir(dir string, names func(yield func(DirName) bool)) bool {
	var repository, store nameSet
	shared := false
	for n := range names {
		repository.add(repositoryPart(n))
		store.add(storePart(n))
		shared = shared || dir == ".repo" && isRepoTool(n)
	}
	isStore := store.has == allParts && !store.other
	return repository.has == allParts || isStore || shared
}

// nameSet is which of three parts a directory has, and whether it has anything else.
type nameSet struct {
	has   int // bits
	other bool
}

const allParts = 1 | 2 | 4

func (s *nameSet) add(part int) {
	s.has |= part
	s.other = s.other || part == 0
}

// repositoryPart is which part of a repository a name is; 0: none.
func repositoryPart(n DirName) int {
	switch {
	case n.Name == "HEAD" && !n.Dir:
		return 1
	case n.Name == "objects" && !n.File:
		return 2
	case n.Name == "refs" && !n.File:
		return 4
	}
	return 0
}

// storePart is which part of a place for objects a name is; 0: none.
func storePart(n DirName) int {
	switch {
	case n.File:
		return 0
	case n.Name == "info":
		return 1
	case n.Name == "pack":
		return 2
	case isHexPair(n.Name):
		return 4
	}
	return 0
}

func isHexPair(name string) bool { return len(name) == 2 && isHexDigit(name[0]) && isHexDigit(name[1]) }

func isHexDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// isRepoTool reports whether a name in .repo is one of the directories in which the repo tool has git's.
func isRepoTool(n DirName) bool {
	switch n.Name {
	case "manifests.git", "projects", "project-objects":
		return !n.File
	}
	return false
}

// GitDirIn reports whether a stored directory is git's. Stores of before such directories were left out have them.
func GitDirIn(dir string, entries []Entry) bool {
	return IsGitDir(dir, func(yield func(DirName) bool) {
		for i := range entries {
			e := &entries[i]
			if !yield(DirName{Name: e.Name, File: e.Type == TypeFile, Dir: e.Type == TypeDir}) {
				return
			}
		}
	})
}
