package gitinfo

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoRepo is for a directory that is not the top of a working tree of git.
	ErrNoRepo = errors.New("not a git repository")
	// errNoGit is for a question that only the git program answers, where there is none.
	errNoGit = errors.New("needs the git program, which is not installed")
	// errCorrupt is for a file of the repository that cannot be what git wrote.
	errCorrupt = errors.New("malformed")

	// errNeedsGit is for an index that decodeIndex does not read.
	errNeedsGit = errors.New("index form left to git")
	// errNoAnswer is for a file or a program that was waited for in vain.
	errNoAnswer = errors.New("no answer")
	// errRefused is for what git said no to, or did not answer.
	errRefused = errors.New("git refuses")
)

// corrupt is errCorrupt in words of its own.
type corrupt string

func corruptf(format string, args ...any) error { return corrupt(fmt.Sprintf(format, args...)) }

func (c corrupt) Error() string   { return string(c) }
func (c corrupt) Is(e error) bool { return e == errCorrupt }

// content describes what stands where something else should.
func content(v string) string {
	switch {
	case v == "":
		return "is empty"
	case strings.Trim(v, "\x00") == "":
		return "has zero bytes only"
	default:
		return fmt.Sprintf("has %.20q", v)
	}
}
