package gitinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What can be unfinished in a working tree.
const (
	stateMerge      = "merge"
	stateRebase     = "rebase" // git am as well
	stateCherryPick = "cherry-pick"
	stateRevert     = "revert"
	stateBisect     = "bisect"
)

// errNotDirectory is what a path through a file gives.
var errNotDirectory error = syscall.ENOTDIR

// state tells which operation is unfinished, or "". Of several it is the innermost that git would have to end first: a
// rebase that stopped in a merge or in picking a commit is a rebase.
func (r *Repo) state() (string, error) {
	for _, s := range []struct{ name, state string }{
		{"rebase-merge", stateRebase},
		{"rebase-apply", stateRebase},
		{"MERGE_HEAD", stateMerge},
		{"CHERRY_PICK_HEAD", stateCherryPick},
		{"REVERT_HEAD", stateRevert},
	} {
		_, err := os.Lstat(filepath.Join(r.gitDir, s.name))
		if err == nil {
			return s.state, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read state of %s: %w", r.root, err)
		}
	}
	// Between two commits of a series neither head is there, but the list of what is left.
	todo, err := readFile(filepath.Join(r.gitDir, "sequencer", "todo"), maxConfigFile)
	if err != nil && !absent(err) {
		return "", fmt.Errorf("read state of %s: %w", r.root, err)
	}
	switch word, _, _ := strings.Cut(string(todo), " "); word {
	case "pick", "p":
		return stateCherryPick, nil
	case "revert":
		return stateRevert, nil
	}
	switch _, err := os.Lstat(filepath.Join(r.gitDir, "BISECT_LOG")); {
	case err == nil:
		return stateBisect, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read state of %s: %w", r.root, err)
	}
	return "", nil
}
