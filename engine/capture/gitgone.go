package capture

import (
	"fmt"
	"strings"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/refs"
)

// A repository that was there and is gone, for somebody removed .git, is a fact of the checkpoint that finds it so:
// that one has no HEAD, and the one before it has. It is said as long as nobody has saved without it. Rewind never
// brings a repository back.

// repoSeen is whether the newest state that was committed has a repository.
type repoSeen int8

const (
	repoUnknown repoSeen = iota
	repoThere
	repoNone
)

// lostRepo reports whether a capture is the first that finds the user's repository gone. The log's lock is held.
func (wt *Worktree) lostRepo(c *Capture) bool {
	if c.Repo || wt.repoSeen == repoNone {
		return false
	}
	if wt.repoSeen == repoThere {
		return true
	}
	at, err := wt.lastRepo()
	return err == nil && at != nil
}

// lastRepo is the newest step if it has a HEAD; of those without one the newest before them, up to one that a person
// has saved. nil: none.
func (wt *Worktree) lastRepo() (at *model.Checkpoint, err error) {
	const steps = 256 // more than that lie behind somebody who has not missed it
	n, read := 0, wt.log.Checkpoints()
	_, err = wt.log.NewestMade(0, func(op *refs.Operation) (bool, error) {
		if op.Kind != refs.KindCheckpoint {
			return false, nil
		}
		cp, err := read(op.Checkpoint)
		if err != nil {
			return false, err
		}
		if cp.Git != (model.GitHead{}) {
			at = cp
		}
		n++
		byHand := cp.Cause.Event == model.EventSave || cp.Cause.Event == model.EventInit
		return at != nil || n == steps || byHand, nil
	})
	return at, err
}

// checkRepo is a finding if the project had a repository and has none; nil: it has, or never had.
func (wt *Worktree) checkRepo() *value.Check {
	at, err := wt.lastRepo()
	if err != nil || at == nil {
		return nil
	}
	return &value.Check{
		Name: "git", Level: value.LevelFinding,
		Text:   value.Textf("the repository is gone: %s was there at checkpoint %s, at %s", gitDir, at.ID.Short(), headWords(at.Git)),
		Remedy: "clone or fetch it again, or 'git init': rewind has the files, not git's history; 'rewind save' says that it is to be so",
	}
}

// headWords are a branch and how its commit begins.
func headWords(h model.GitHead) string {
	return strings.TrimSpace(fmt.Sprintf("%s %.8s", h.Branch, h.Commit))
}
