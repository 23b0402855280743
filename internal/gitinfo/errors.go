package gitinfo

import "errors"

var (
	// ErrNoRepo is for a directory that is not the top of a working tree of git.
	ErrNoRepo = errors.New("not a git repository")
	// ErrNoGit is for a question that only the git program answers, where there is none.
	ErrNoGit = errors.New("needs the git program, which is not installed")
	// ErrCorrupt is for a file of the repository that cannot be what git wrote.
	ErrCorrupt = errors.New("malformed")

	// errNeedsGit is for an index that decodeIndex does not read.
	errNeedsGit = errors.New("index form left to git")
)
