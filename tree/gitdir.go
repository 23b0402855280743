package tree

// What makes a directory one that nothing below is captured or written of, whatever its name: Skip.Size of its line in a note, whose reason
// is ReasonBuiltin. For a name that is git's or rewind's own (.git, .agent/rewind) it is 0.
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

// IsGitDir reports whether git would take a directory with these names for one of its own: it has a HEAD, objects and refs, as
// is_git_directory in git's setup.c asks. What HEAD says is not looked at: one that a power cut emptied is still git's. Where a repository
// has its objects elsewhere, names and sizes tell: info, pack, and directories of two hex digits, and nothing else. dir is the directory's
// own name: Google's repo tool keeps repositories, and the objects that they share, in .repo.
func IsGitDir(dir string, names func(yield func(DirName) bool)) bool {
	const head, objects, refs = 1, 2, 4
	const info, pack, fan = 1, 2, 4
	repository, store, shared := 0, 0, false
	for n := range names {
		switch {
		case n.Name == "HEAD" && !n.Dir:
			repository |= head
		case n.Name == "objects" && !n.File:
			repository |= objects
		case n.Name == "refs" && !n.File:
			repository |= refs
		}
		switch {
		case n.File:
			store = -1
		case store < 0:
		case n.Name == "info":
			store |= info
		case n.Name == "pack":
			store |= pack
		case isHexPair(n.Name):
			store |= fan
		default:
			store = -1
		}
		shared = shared || dir == ".repo" && !n.File && isRepoTool(n.Name)
	}
	return repository == head|objects|refs || store == info|pack|fan || shared
}

func isHexPair(name string) bool { return len(name) == 2 && isHexDigit(name[0]) && isHexDigit(name[1]) }

func isHexDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// isRepoTool reports whether a name in .repo is one of the directories in which the repo tool has git's.
func isRepoTool(name string) bool {
	switch name {
	case "manifests.git", "projects", "project-objects":
		return true
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
