package engine

import (
	"context"

	"rewind/internal/gitinfo"
	"rewind/internal/value"
)

// CheckForkPoints returns a finding for each fork whose fork point is not whole. Its code is missing, or part of it is
// lost (affected), or the user's repository no longer has the commit of that time. None of it is a fault of the store.
// The log's lock is not held.
func (e *Engine) CheckForkPoints(ctx context.Context, affected []value.Affected) ([]value.Check, error) {
	points, err := e.History.ForkPoints(ctx)
	if err != nil || len(points) == 0 {
		return nil, err
	}
	lost := map[string]bool{}
	for _, a := range affected {
		lost[a.Checkpoint] = a.Whole || len(a.Paths) > 0
	}
	git := e.commits()
	var out []value.Check
	for i := range points {
		l := &points[i]
		found := func(remedy, format string, args ...any) {
			out = append(out, value.Check{
				Name: l.Child, Level: value.LevelFinding, Text: value.Textf(format, args...), Remedy: value.Text(remedy),
			})
		}
		switch {
		case l.Checkpoint == "":
			found("the conversation alone can be gone back to: rewind fork turn:<n> --session <session>",
				"no code of where it was forked: %s", l.NoCode)
		case lost[l.Checkpoint]:
			found("rewind checkout fork:<session> -- <path> restores the paths that are whole",
				"checkpoint %.8s, where it was forked, cannot be restored whole", l.Checkpoint)
		}
		if gone, err := git.lacks(l.Commit); err != nil {
			found("see what 'git fsck' says", "whether commit %.12s, where it was forked, is in git cannot be read: %v", l.Commit, err)
		} else if gone {
			found("the code of then is in the checkpoint; git may have the commit in another clone",
				"commit %.12s, on which it was forked, is not in git any more", l.Commit)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// commits answers which commits the user's repository has, asking git once for each.
type commits struct {
	repo  *gitinfo.Repo // nil: there is none that can be opened
	err   error
	known map[string]bool
}

func (e *Engine) commits() *commits {
	c := &commits{known: map[string]bool{}}
	if top, ok, err := gitinfo.Toplevel(e.Project().Root); err == nil && ok {
		c.repo, c.err = gitinfo.Open(top)
	} else if err != nil {
		c.err = err
	}
	return c
}

// lacks reports whether a commit is not there; "" is no commit.
func (c *commits) lacks(commit string) (bool, error) {
	if commit == "" || c.repo == nil && c.err == nil {
		return commit != "", nil
	}
	if c.err != nil {
		return false, c.err
	}
	has, known := c.known[commit]
	if !known {
		var err error
		if has, err = c.repo.Has(commit); err != nil {
			c.err = err // it is said of each, and git is not asked again
			return false, err
		}
		c.known[commit] = has
	}
	return !has, nil
}
