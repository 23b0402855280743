package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"rewind/internal/gitinfo"
	"rewind/internal/kv"
	"rewind/refs"
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
	// Offers are stores without a directory, one of which could be this project's.
	Offers []StoreInfo
}

// PlanInit chooses the root: the project that dir is in, else the top level of its git repository, else dir. mode ""
// stands for the existing project's, else global.
func PlanInit(ctx context.Context, home Home, dir string, mode Mode, lockWait time.Duration) (*InitPlan, error) {
	if mode != "" && mode != ModeGlobal && mode != ModeProject {
		return nil, fmt.Errorf("engine: init %s: %w: mode %q is neither global nor project", dir, ErrUsage, mode)
	}
	start, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	top, isGit, err := gitinfo.Toplevel(start)
	if err != nil {
		return nil, err
	}
	if !isGit {
		top = start
	}
	p, err := Find(ctx, home, start, lockWait)
	var passed []Passed
	var other *NotMountedError
	var untrusted *UntrustedError
	switch {
	case err == nil && (!isGit || p.Root == top || within(p.Root, top)):
		if mode != "" && mode != p.Mode {
			return nil, fmt.Errorf("engine: init %s: %w: the project exists in mode %s", p.Root, ErrUsage, p.Mode)
		}
		return &InitPlan{Root: p.Root, Mode: p.Mode, Store: p.Store, Exists: true, Passed: p.Passed}, nil
	case err == nil:
		passed = p.Passed
	case errors.As(err, &other) && (!isGit || other.Project.Root == top || within(other.Project.Root, top)):
		o := other.Project
		return &InitPlan{Root: o.Root, Mode: o.Mode, Store: o.Store, Exists: true, Accept: true}, nil
	case errors.As(err, &untrusted):
		passed = untrusted.Passed
	case !errors.Is(err, ErrNoProject) && !errors.Is(err, ErrStoreGone) && other == nil:
		return nil, err
	}
	if mode == "" {
		mode = ModeGlobal
	}
	if err := checkRoot(home, top, mode); err != nil {
		return nil, err
	}
	plan := &InitPlan{Root: top, Mode: mode, Store: filepath.Join(home.storage(), "<new>"), Passed: passed}
	if mode == ModeProject {
		plan.Store = filepath.Join(marker(top), markerStore)
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
		return fmt.Errorf("engine: init %s: %w: a store cannot lie in %s: %s", root, ErrBadRoot, marker(root), why)
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

// Init makes the store and the marker; an existing project is left as it is. The first checkpoint is the caller's.
func Init(ctx context.Context, home Home, dir string, mode Mode, o Options) (*Engine, *InitPlan, error) {
	plan, err := SetUp(ctx, home, dir, mode, o)
	if err != nil {
		return nil, nil, err
	}
	e, err := Open(ctx, home, plan.Root, o)
	if err != nil {
		return nil, nil, err
	}
	if err := e.RecordInit(ctx, plan); err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, plan, nil
}

// SetUp is the part of Init that makes things; the store is not open afterwards, and RecordInit is the caller's.
func SetUp(ctx context.Context, home Home, dir string, mode Mode, o Options) (*InitPlan, error) {
	plan, err := PlanInit(ctx, home, dir, mode, o.LockWait)
	if err != nil || plan.Exists && !plan.Accept {
		return plan, err
	}
	if plan.Accept {
		f := &finder{home: home, wait: o.LockWait, accept: true}
		_, err := find(ctx, f, plan.Root)
		return plan, err
	}
	unlock, err := home.lock(ctx, o.LockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r := home.byRoot()[plan.Root]; r != nil && (r.mode == ModeGlobal || isStore(r.store(home))) {
		if why, err := r.sealed(plan.Root); r.mode == ModeGlobal || err == nil && why == "" {
			plan.Exists, plan.Mode, plan.Store = true, r.mode, r.store(home) // another init was faster
			return plan, nil
		}
	}
	home.sweepRemoved(plan.Root)
	return plan, create(ctx, home, plan, o)
}

// RecordInit writes into the log that SetUp made the project.
func (e *Engine) RecordInit(ctx context.Context, plan *InitPlan) error {
	if plan.Exists {
		return nil
	}
	return e.record(ctx, refs.Operation{Kind: refs.KindInit, Message: plan.Root})
}

func create(ctx context.Context, home Home, plan *InitPlan, o Options) error {
	r := (&projectRecord{ID: newStoreID(), Created: time.Now().UTC().Truncate(time.Second), mode: plan.Mode}).at(plan.Root)
	plan.Store = r.store(home)
	making := plan.Store
	if plan.Mode == ModeProject {
		r.Seal = newSeal()
		// Under a name that the next removal sweeps, until Home says whose it is: a store that nothing names would be nobody's.
		making = filepath.Join(marker(plan.Root), removedName+r.ID)
		if err := makeOwn(plan.Root, filepath.Base(making)); err != nil {
			return fmt.Errorf("engine: init %s: %w", plan.Root, err)
		}
	} else if err := os.MkdirAll(making, 0o700); err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	db, err := kv.Open(ctx, making, o.kv())
	if err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	if plan.Mode == ModeProject {
		err = r.sealIn(plan.Root, filepath.Base(making))
	}
	if err == nil {
		err = r.write(home)
	}
	if err == nil && making != plan.Store {
		err = renameDir(making, plan.Store)
	}
	if err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	if err := writeMarker(plan.Root, r.ID, ""); err != nil { // last, and only a hint
		plan.Unmarked = strings.TrimPrefix(err.Error(), "engine: ")
	}
	return nil
}

// makeOwn makes a directory in the marker.
func makeOwn(root, name string) error {
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
		return fmt.Errorf("engine: init %s: %w: it is %s", root, ErrBadRoot, why)
	}
	if filepath.Dir(root) == root {
		return refuse("a file system root")
	}
	homes := []string{}
	if d, err := os.UserHomeDir(); err == nil {
		homes = append(homes, d)
	}
	if u, err := user.Current(); err == nil {
		homes = append(homes, u.HomeDir)
	}
	for _, h := range homes {
		if h, err := resolve(h); err == nil && filepath.Dir(h) != h {
			if h == root {
				return refuse("a home directory")
			}
			if within(h, root) {
				return refuse("above a home directory")
			}
		}
	}
	if dir, err := resolve(home.Dir); err == nil {
		if dir == root || within(root, dir) {
			return refuse("rewind's own directory")
		}
		if within(dir, root) && mode == ModeGlobal {
			return refuse("above rewind's own directory " + dir)
		}
	}
	return nil
}

// within reports whether path lies below dir.
func within(path, dir string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
