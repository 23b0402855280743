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
	switch {
	case err == nil && (!isGit || p.Root == top || strings.HasPrefix(p.Root, top+string(filepath.Separator))):
		if mode != "" && mode != p.Mode {
			return nil, fmt.Errorf("engine: init %s: %w: the project exists in mode %s", p.Root, ErrUsage, p.Mode)
		}
		return &InitPlan{Root: p.Root, Mode: p.Mode, Store: p.Store, Exists: true}, nil
	case err != nil && !errors.Is(err, ErrNoProject) && !errors.Is(err, ErrStoreGone):
		return nil, err
	}
	if mode == "" {
		mode = ModeGlobal
	}
	if err := checkRoot(home, top, mode); err != nil {
		return nil, err
	}
	if err := checkMarker(top); err != nil {
		return nil, err
	}
	plan := &InitPlan{Root: top, Mode: mode, Store: filepath.Join(home.storage(), "<new>")}
	if mode == ModeProject {
		plan.Store = filepath.Join(marker(top), markerStore)
	}
	return plan, nil
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
	if err != nil || plan.Exists && plan.Mode == ModeGlobal {
		return plan, err
	}
	if plan.Exists {
		id, err := readMarker(plan.Root)
		if err != nil {
			return plan, err
		}
		return plan, home.noteProject(id, plan.Root) // it may have moved
	}
	unlock, err := home.lock(ctx, o.LockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if isSetUp(home, plan.Root) {
		plan.Exists = true // another init was faster
		return plan, nil
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

// isSetUp reports whether root has a marker and the store it names.
func isSetUp(home Home, root string) bool {
	id, err := readMarker(root)
	if err != nil {
		return false
	}
	for _, store := range []string{filepath.Join(marker(root), markerStore), home.storeDir(id)} {
		if _, err := readProjectRecord(store); err == nil {
			return true
		}
	}
	return false
}

func create(ctx context.Context, home Home, plan *InitPlan, o Options) error {
	id := newStoreID()
	if plan.Mode == ModeGlobal {
		plan.Store = home.storeDir(id)
	} else if err := os.MkdirAll(marker(plan.Root), 0o700); err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	if err := os.MkdirAll(plan.Store, 0o700); err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	db, err := kv.Open(ctx, plan.Store, o.kv())
	if err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("engine: init %s: %w", plan.Root, err)
	}
	if err := writeProjectRecord(plan.Store, projectRecord{ID: id, Root: plan.Root, Created: time.Now().UTC().Truncate(time.Second)}); err != nil {
		return err
	}
	if plan.Mode == ModeProject {
		if err := home.noteProject(id, plan.Root); err != nil {
			return err
		}
	}
	return writeMarker(plan.Root, id) // last: it makes the directory a project
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
