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
	// Accept says that the directory is not the one it was, and is taken for the project all the same.
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
	start, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	top, isGit, err := gitinfo.Toplevel(start)
	if err != nil {
		return nil, err
	}
	own := ""
	if isGit && top != start && isHome(top) {
		own, isGit = "the repository around it is a home directory", false
	}
	if !isGit {
		top = start
	}
	p, err := Find(ctx, home, start, lockWait)
	if around := top; own == "" {
		if err == nil && (!isGit || Within(p.Root, top)) {
			around = p.Root
		}
		if own = uncaptured(home, around, start); own != "" {
			own = "not part of " + around + ": " + own
			top, isGit, p, err = start, true, nil, model.ErrNoProject
		}
	}
	var passed []Passed
	var other *NotMountedError
	var untrusted *untrustedError
	switch {
	case err == nil && (!isGit || p.Root == top || Within(p.Root, top)):
		if mode != "" && mode != p.Mode {
			return nil, &value.OpError{Op: "init", Subject: p.Root, Err: model.Usagef("the project exists in mode %s", p.Mode)}
		}
		return &InitPlan{Root: p.Root, Mode: p.Mode, Store: p.Store, Exists: true, Passed: p.Passed}, nil
	case err == nil:
		passed = p.Passed
	case errors.As(err, &other) && other.Project.Mode == ModeGlobal &&
		(!isGit || other.Project.Root == top || Within(other.Project.Root, top)):
		o := other.Project
		return &InitPlan{Root: o.Root, Mode: o.Mode, Store: o.Store, Exists: true, Accept: true}, nil
	case errors.As(err, &untrusted):
		passed = untrusted.passed
	case !errors.Is(err, model.ErrNoProject) && !errors.Is(err, model.ErrStoreGone) && other == nil:
		return nil, err
	}
	if mode == "" {
		mode = ModeGlobal
	}
	if err := checkRoot(home, top, mode); err != nil {
		return nil, err
	}
	plan := &InitPlan{Root: top, Mode: mode, Store: filepath.Join(home.Storage(), "<new>"), Passed: passed, Own: own}
	if mode == ModeProject {
		plan.Store = filepath.Join(Marker(top), markerStore)
		if err := checkOwnMarker(top); err != nil {
			return nil, err
		}
	}
	plan.Offers = home.offers(top)
	return plan, nil
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
