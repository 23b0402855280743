package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"rewind/internal/kv"
)

// Find returns the nearest project at or above dir, settled: a moved project is followed, a copied one gets a store of
// its own, a lost marker is written again. It does not open the store. Errors: ErrNoProject, ErrStoreGone, kv.ErrBusy.
func Find(ctx context.Context, home Home, dir string, lockWait time.Duration) (*Project, error) {
	start, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	var byRoot map[string]projectRecord
	for d := start; ; d = filepath.Dir(d) {
		id, err := readMarker(d)
		if err == nil {
			return settle(ctx, home, d, id, lockWait)
		}
		damaged := err
		if !errors.Is(err, ErrNoProject) && !errors.Is(err, ErrStoreGone) {
			return nil, err
		}
		if byRoot == nil {
			byRoot = home.byRoot()
		}
		if r, ok := byRoot[d]; ok {
			return findLost(home, d, r)
		}
		if p := findOwn(d); p != nil && errors.Is(damaged, ErrStoreGone) {
			return p, writeMarker(d, p.ID)
		}
		if errors.Is(damaged, ErrStoreGone) {
			return nil, damaged // a marker that names no store, and no store that names this directory
		}
		if d == filepath.Dir(d) {
			return nil, fmt.Errorf("engine: find project of %s: %w", start, ErrNoProject)
		}
	}
}

// byRoot lists the projects of all global stores by their roots; of two stores of one root the newer counts.
func (h Home) byRoot() map[string]projectRecord {
	m := map[string]projectRecord{}
	ents, err := os.ReadDir(h.storage())
	if err != nil {
		return m
	}
	for _, e := range ents {
		if !validStoreID(e.Name()) {
			continue
		}
		r, err := readProjectRecord(h.storeDir(e.Name()))
		if err != nil || r.ID != e.Name() {
			continue
		}
		if old, ok := m[r.Root]; !ok || old.Created.Before(r.Created) {
			m[r.Root] = *r
		}
	}
	return m
}

// findLost writes the marker again that somebody (git clean -fdx, rm -rf) removed.
func findLost(home Home, root string, r projectRecord) (*Project, error) {
	if err := writeMarker(root, r.ID); err != nil {
		return nil, err
	}
	return &Project{
		Root: root, ID: r.ID, Mode: ModeGlobal, Store: home.storeDir(r.ID), Created: r.Created,
		Notices: []string{"the marker " + markerDir + " was gone and has been written again"},
	}, nil
}

// findOwn is a project whose marker cannot be read and whose store, which lies below it, says which one it is; nil: it does not.
func findOwn(root string) *Project {
	store := filepath.Join(marker(root), markerStore)
	r, err := readProjectRecord(store)
	if err != nil || r.Root != root || !validStoreID(r.ID) {
		return nil
	}
	return &Project{
		Root: root, ID: r.ID, Mode: ModeProject, Store: store, Created: r.Created,
		Notices: []string{"the marker " + markerDir + " could not be read and has been written again"},
	}
}

// settle finds the store of a marker and makes sure that they belong together.
func settle(ctx context.Context, home Home, root, id string, lockWait time.Duration) (*Project, error) {
	p := &Project{Root: root, ID: id, Mode: ModeGlobal, Store: home.storeDir(id)}
	own := filepath.Join(marker(root), markerStore)
	if fi, err := os.Lstat(own); err == nil && fi.IsDir() {
		p.Mode, p.Store = ModeProject, own
	}
	r, err := readProjectRecord(p.Store)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("engine: open project %s: %w", root, err)
	}
	if err != nil {
		if _, serr := os.Lstat(filepath.Join(p.Store, "format")); serr != nil {
			return nil, fmt.Errorf("engine: open project %s: %w: %s", root, ErrStoreGone, p.Store)
		}
		// Only the record of the project is lost or damaged: the marker says what it said.
		r = &projectRecord{ID: id, Root: root, Created: time.Now().UTC().Truncate(time.Second)}
		if err := writeProjectRecord(p.Store, *r); err != nil {
			return nil, err
		}
		p.Notices = append(p.Notices, projectFile+" of the store could not be read and has been written again")
	}
	p.Created = r.Created
	if r.Root == root && r.ID == id || sameDir(r.Root, root) {
		return p, nil
	}
	unlock, err := home.lock(ctx, lockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if again, err := readMarker(root); err != nil || again != id {
		return Find(ctx, home, root, lockWait) // another process settled it meanwhile
	}
	// While the original's directory is there this is a copy, also when the original lost its marker.
	if fi, err := os.Stat(r.Root); err == nil && fi.IsDir() && r.Root != root {
		return p, p.becomeCopy(ctx, home, *r, lockWait)
	}
	p.Notices = append(p.Notices, fmt.Sprintf("the project has moved here from %s", r.Root))
	return p, writeProjectRecord(p.Store, projectRecord{ID: id, Root: root, Created: r.Created})
}

// becomeCopy gives a copied project a store of its own that begins with the history it shares with the original.
func (p *Project) becomeCopy(ctx context.Context, home Home, from projectRecord, lockWait time.Duration) error {
	id := newStoreID()
	rec := projectRecord{ID: id, Root: p.Root, Created: from.Created}
	if p.Mode == ModeGlobal {
		dst := home.storeDir(id)
		tmp := dst + ".new"
		if err := cloneStore(ctx, p.Store, tmp, lockWait); err != nil {
			return err
		}
		if err := writeProjectRecord(tmp, rec); err != nil {
			return err
		}
		if err := renameDir(tmp, dst); err != nil {
			return fmt.Errorf("engine: copy store %s: %w", from.ID, err)
		}
		p.Store = dst
	} else if err := writeProjectRecord(p.Store, rec); err != nil {
		return err
	}
	if err := writeMarker(p.Root, id); err != nil {
		return err
	}
	p.ID, p.copied = id, true
	p.Notices = append(p.Notices, fmt.Sprintf("this is a copy of %s: it has a store of its own now, with the history up to here", from.Root))
	return nil
}

func cloneStore(ctx context.Context, src, dst string, lockWait time.Duration) (err error) {
	db, err := kv.Open(ctx, src, kv.Options{LockWait: lockWait})
	if err != nil {
		return fmt.Errorf("engine: copy store %s: %w", src, err)
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	return db.Clone(dst)
}

// lock serialises what changes the identity of projects.
func (h Home) lock(ctx context.Context, wait time.Duration) (unlock func(), err error) {
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("engine: make %s: %w", h.Dir, err)
	}
	l := flock.New(filepath.Join(h.Dir, "lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Second))
	defer cancel()
	ok, err := l.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil || !ok {
		return nil, fmt.Errorf("engine: lock %s: %w: %w", h.Dir, kv.ErrBusy, err)
	}
	return func() { _ = l.Unlock() }, nil
}

// sameDir reports whether two paths are one directory (a bind mount, another spelling).
func sameDir(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}

// FindRoot returns the root of the nearest project at or above dir, "" when there is none.
func FindRoot(ctx context.Context, home Home, dir string, lockWait time.Duration) (string, error) {
	p, err := Find(ctx, home, dir, lockWait)
	if errors.Is(err, ErrNoProject) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return p.Root, nil
}
