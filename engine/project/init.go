package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/internal/value"
	"rewind/tree"
)

// InitPlan is what Init would do.
type InitPlan struct {
	Root   string
	Mode   Mode
	Store  string
	Exists bool // the project is set up already
	Passed []Passed
	// Accept says that the directory is not the one that was set up, and is taken for the project all the same.
	Accept bool
	// Unmarked is why the project has no marker; "": it has one. It is found by its directory alone then.
	Unmarked string
	// Own is why the directory is a project by itself, and not part of the one, or the repository, around it; "": there
	// is none.
	Own string
	// Offers are stores without a directory, one of which could be this project's.
	Offers []value.Store
}

// PlanInit chooses the root: the project that dir is in, else the top level of its git repository, else dir. Dir it is
// also where those would capture nothing of it, and where the repository is a home directory. mode "" stands for the
// existing project's, else global.
func PlanInit(ctx context.Context, home Home, dir string, mode Mode, lockWait time.Duration) (*InitPlan, error) {
	if mode != "" && mode != ModeGlobal && mode != ModeProject {
		return nil, &value.OpError{Op: "init", Subject: dir, Err: model.Usagef("mode %q is neither global nor project", mode)}
	}
	c, err := chooseRoot(ctx, home, dir, lockWait)
	if err != nil {
		return nil, err
	}
	plan, passed, err := c.existing(mode)
	if plan != nil || err != nil {
		return plan, err
	}
	if mode == "" {
		mode = ModeGlobal
	}
	if err := checkRoot(home, c.top, mode); err != nil {
		return nil, err
	}
	plan = &InitPlan{Root: c.top, Mode: mode, Store: filepath.Join(home.Storage(), "<new>"), Passed: passed, Own: c.own}
	if mode == ModeProject {
		plan.Store = filepath.Join(Marker(c.top), markerStore)
		if err := checkOwnMarker(c.top); err != nil {
			return nil, err
		}
	}
	plan.Offers = home.offers(c.top)
	return plan, nil
}

// choice is the root that a new project would get, and the project that the directory is in.
type choice struct {
	top   string
	isGit bool
	own   string // why the directory is a project by itself; "": it is not
	p     *Project
	err   error // why there is no p
}

func chooseRoot(ctx context.Context, home Home, dir string, lockWait time.Duration) (c choice, err error) {
	start, err := resolve(dir)
	if err != nil {
		return c, err
	}
	if c.top, c.isGit, err = gitinfo.Toplevel(start); err != nil {
		return c, err
	}
	if c.isGit && c.top != start && isHome(c.top) {
		c.own, c.isGit = "the repository around it is a home directory", false
	}
	if !c.isGit {
		c.top = start
	}
	c.p, c.err = Find(ctx, home, start, lockWait)
	if c.own != "" {
		return c, nil
	}
	around := c.top
	if c.err == nil && (!c.isGit || Within(c.p.Root, c.top)) {
		around = c.p.Root
	}
	if why := uncaptured(home, around, start); why != "" {
		c = choice{top: start, isGit: true, own: "not part of " + around + ": " + why, err: model.ErrNoProject}
	}
	return c, nil
}

// holds reports whether the root of a project is the one chosen, or in it.
func (c choice) holds(root string) bool {
	return !c.isGit || root == c.top || Within(root, c.top)
}

// existing is the plan for the project that the directory is in; nil: a new one is to be made. passed are projects
// around it.
func (c choice) existing(mode Mode) (plan *InitPlan, passed []Passed, err error) {
	var other *NotMountedError
	var untrusted *untrustedError
	switch {
	case c.err == nil && c.holds(c.p.Root):
		if mode != "" && mode != c.p.Mode {
			err := model.Usagef("the project exists in mode %s", c.p.Mode)
			return nil, nil, &value.OpError{Op: "init", Subject: c.p.Root, Err: err}
		}
		return &InitPlan{Root: c.p.Root, Mode: c.p.Mode, Store: c.p.Store, Exists: true, Passed: c.p.Passed}, nil, nil
	case c.err == nil:
		return nil, c.p.Passed, nil
	case errors.As(c.err, &other) && other.Project.Mode == ModeGlobal && c.holds(other.Project.Root):
		o := other.Project
		return &InitPlan{Root: o.Root, Mode: o.Mode, Store: o.Store, Exists: true, Accept: true}, nil, nil
	case errors.As(c.err, &untrusted):
		return nil, untrusted.passed, nil
	}
	isKnown := errors.Is(c.err, model.ErrNoProject) || errors.Is(c.err, model.ErrStoreGone) || other != nil
	if !isKnown {
		return nil, nil, c.err
	}
	return nil, nil, nil
}

// checkOwnMarker refuses project mode where the store could not be this user's alone.
func checkOwnMarker(root string) error {
	refuse := func(why string) error {
		return &value.OpError{
			Op: "init", Subject: root,
			Err: fmt.Errorf("%w: a store cannot lie in %s: %s", model.ErrBadRoot, Marker(root), why),
		}
	}
	m := readMarker(root)
	tracked, err := trackedMarker(root)
	switch {
	case m.why != "":
		return refuse(m.why)
	case tracked:
		return refuse("git tracks it")
	case err != nil:
		return err
	case m.store:
		return refuse("there is one that is not believed: 'rewind init --adopt' shows it")
	}
	if fi, err := os.Lstat(filepath.Join(root, agentName)); err == nil && !fi.IsDir() {
		return refuse(agentName + " is not a directory")
	}
	return nil
}

// MakeOwn makes a directory in the marker.
func MakeOwn(root, name string) error {
	dir, err := makeMarker(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	if m := readMarker(root); !m.quiet { // before git can see the store
		if err := replaceIn(dir, markerIgnore, []byte("*\n")); err != nil {
			return err
		}
	}
	sub, err := ensureDir(dir, name, 0o700)
	if err != nil {
		return err
	}
	return sub.Close()
}

// checkRoot refuses directories whose capture nobody can want: file system roots, home directories and what holds
// them, and rewind's own directory.
func checkRoot(home Home, root string, mode Mode) error {
	refuse := func(why string) error {
		return &value.OpError{Op: "init", Subject: root, Err: fmt.Errorf("%w: it is %s", model.ErrBadRoot, why)}
	}
	if filepath.Dir(root) == root {
		return refuse("a file system root")
	}
	for _, h := range homes() {
		if h == root {
			return refuse("a home directory")
		}
		if Within(h, root) {
			return refuse("above a home directory")
		}
	}
	if names, err := os.ReadDir(root); err == nil && tree.IsGitDir(filepath.Base(root), named(names)) {
		return refuse("a directory of git's own")
	}
	if dir, err := resolve(home.Dir); err == nil {
		if dir == root || Within(root, dir) {
			return refuse("rewind's own directory")
		}
		if Within(dir, root) && mode == ModeGlobal {
			return refuse("above rewind's own directory " + dir)
		}
	}
	return nil
}

func named(entries []os.DirEntry) func(yield func(tree.DirName) bool) {
	return func(yield func(tree.DirName) bool) {
		for _, e := range entries {
			if !yield(tree.DirName{Name: e.Name(), File: e.Type().IsRegular(), Dir: e.IsDir()}) {
				return
			}
		}
	}
}

// homes are the user's home directories, links resolved, by the environment and by the system.
func homes() (dirs []string) {
	var named []string
	if d, err := os.UserHomeDir(); err == nil {
		named = append(named, d)
	}
	if u, err := user.Current(); err == nil {
		named = append(named, u.HomeDir)
	}
	for _, h := range named {
		if h, err := resolve(h); err == nil && filepath.Dir(h) != h {
			dirs = append(dirs, h)
		}
	}
	return dirs
}

// isHome reports whether a directory is a home directory, or above one.
func isHome(dir string) bool {
	return slices.ContainsFunc(homes(), func(h string) bool { return h == dir || Within(h, dir) })
}

// Within reports whether path lies below dir.
func Within(path, dir string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
