package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rewind/internal/gitinfo"
	"rewind/internal/value"
)

// errNotByItself is returned for a directory that only a person sets up.
var errNotByItself = errors.New("it is not set up by itself")

// undecided says what of a plan to set top up a person would have to decide.
func (p *InitPlan) undecided(top string) string {
	switch {
	case p.Exists || p.Root != top:
		return "it is part of a project"
	case len(p.Passed) > 0:
		return "a store lies there that is not believed"
	case len(p.Offers) > 0:
		return "it could be a project that was elsewhere"
	}
	return ""
}

// PlanAuto chooses the root where init.auto is true and an agent works in dir, of which nobody said a word: the top of
// a git repository of this user's. An error says why a person must decide. Init refuses (a home directory, or one
// above). Or there is a choice: a store in the directory, a store without a directory that could be its own, settings.
// Or the project was removed on purpose.
func PlanAuto(ctx context.Context, home Home, dir string, wait time.Duration) (root string, err error) {
	start, err := resolve(dir)
	if err != nil {
		return "", err
	}
	top, isGit, err := gitinfo.Toplevel(start)
	if err != nil {
		return "", err
	}
	refuse := func(why string) (string, error) {
		return "", &value.OpError{Op: "init", Subject: top, Err: fmt.Errorf("%w: %s", errNotByItself, why)}
	}
	if !isGit {
		return refuse("it is no git repository")
	}
	owned, err := home.owns(top, filepath.Join(top, ".git"))
	if err != nil {
		return "", err
	}
	if !owned {
		return refuse("it is another user's")
	}
	// A file or a link named .git leads anywhere; git itself refuses there, too.
	if owned, err := home.owns(gitinfo.Dirs(top)...); err != nil || !owned {
		return refuse("its git directory is another user's")
	}
	if _, err := os.Lstat(home.removed(top)); err == nil {
		return refuse("its history was removed here")
	}
	plan, err := PlanInit(ctx, home, top, "", wait)
	if err != nil {
		return "", err
	}
	if why := plan.undecided(top); why != "" {
		return refuse(why)
	}
	c, err := LoadConfig(home, top)
	if err != nil {
		return "", err
	}
	if doubtful, err := c.Doubtful(home); err != nil || len(doubtful) > 0 {
		return refuse("settings lie there that a person decides about")
	}
	return top, nil
}
