package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/internal/gitinfo"
	"rewind/internal/kv"
	"rewind/refs"
)

// ErrNoStore is returned for an id that no store has which Home knows.
var ErrNoStore = fmt.Errorf("store %w", ErrNotFound)

// StoreInfo is a store that Home knows.
type StoreInfo struct {
	ID        string
	Root      string // "": of no directory
	Mode      Mode
	Store     string
	DiskBytes int64
	Created   time.Time
	Used      time.Time // when something in it changed last; zero: not known
	Wrong     string    // what is wrong; "": nothing
	Orphan    bool      // no directory is its project
}

// Stores lists every store that Home knows, by root.
func (h Home) Stores() []StoreInfo {
	var all []StoreInfo
	for _, r := range h.records() {
		all = append(all, h.info(r))
	}
	slices.SortStableFunc(all, func(a, b StoreInfo) int { return strings.Compare(a.Root, b.Root) })
	return all
}

func (h Home) info(r *projectRecord) StoreInfo {
	s := StoreInfo{ID: r.ID, Root: r.Root, Mode: r.mode, Store: r.store(h), Created: r.Created}
	s.Wrong, s.Orphan = r.wrong(h)
	if r.mode == ModeProject {
		if why, err := r.sealed(r.Root); why != "" || err != nil {
			return s // nothing of it is looked at
		}
	}
	s.DiskBytes, s.Used = sizeOf(s.Store)
	return s
}

// wrong says what keeps a store from being used where its record says, and whether it is without a directory.
func (r *projectRecord) wrong(h Home) (why string, orphan bool) {
	switch {
	case r.lost:
		return "its record cannot be read: no directory is known", true
	case r.Root == "":
		return "it belongs to no directory", true
	case !isDir(r.Root):
		return "the directory is gone, or not mounted", true
	}
	if own := h.byRoot()[r.Root]; own != nil && own.ID != r.ID {
		if m := readMarker(r.Root); !m.names(r.ID) {
			return "the directory has another store now, " + own.ID, true
		}
	}
	if r.mode == ModeProject {
		why, err := r.sealed(r.Root)
		switch {
		case err != nil:
			return "the store is missing", false
		case why != "":
			return "not believed: " + why, false
		}
		return "", false
	}
	if !isStore(h.storeDir(r.ID)) {
		return "the store is missing", false
	}
	if m := readMarker(r.Root); len(m.ids) > 0 && !m.names(r.ID) && r.Inode != 0 && !r.is(r.Root) {
		return "the directory is another one now, and its marker names another store", true
	}
	if empty, _ := contents(r.Root); empty && r.Inode != 0 && !r.is(r.Root) {
		return "the directory is empty and not the one it was: not mounted?", false
	}
	return "", false
}

// sizeOf sums up what a directory takes, and when something in it changed last.
func sizeOf(dir string) (bytes int64, used time.Time) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		fi, err := d.Info()
		if err != nil || !fi.Mode().IsRegular() {
			return nil
		}
		bytes += fi.Size()
		if fi.ModTime().After(used) {
			used = fi.ModTime()
		}
		return nil
	})
	return bytes, used
}

// offers are the stores without a directory that root's could be: those whose directory had the same name.
func (h Home) offers(root string) []StoreInfo {
	var out []StoreInfo
	for _, r := range h.records() {
		if filepath.Base(r.Root) != filepath.Base(root) || r.mode != ModeGlobal {
			continue
		}
		if s := h.info(r); s.Orphan {
			out = append(out, s)
		}
	}
	return out
}

// storeByID finds a store by its id, or a beginning of it that no other has.
func (h Home) storeByID(id string) (*projectRecord, error) {
	var found *projectRecord
	for _, r := range h.records() {
		if r.ID == id {
			return r, nil
		}
		if id != "" && strings.HasPrefix(r.ID, id) {
			if found != nil {
				return nil, fmt.Errorf("engine: store %s: %w: several begin like that", id, ErrUsage)
			}
			found = r
		}
	}
	if found == nil {
		return nil, fmt.Errorf("engine: %w: %s", ErrNoStore, id)
	}
	return found, nil
}

// Join is a store that gets a directory.
type Join struct {
	Store StoreInfo
	Was   string // its directory until now
	Left  string // the store that the directory had until now; it stays, without a directory
}

// PlanJoin finds out what JoinStore would do: dir, or the git repository that it is in, becomes the project of the store.
func (h Home) PlanJoin(dir, id string) (*Join, error) {
	refuse := func(r *projectRecord, format string, args ...any) (*Join, error) {
		return nil, fmt.Errorf("engine: join store %s: %w: %s", r.ID, ErrUsage, fmt.Sprintf(format, args...))
	}
	r, err := h.storeByID(id)
	if err != nil {
		return nil, err
	}
	root, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	if top, ok, err := gitinfo.Toplevel(root); err == nil && ok {
		root = top
	}
	if err := checkRoot(h, root, ModeGlobal); err != nil {
		return nil, err
	}
	j := &Join{Was: r.Root}
	if r.mode == ModeProject {
		why, err := r.sealed(root)
		if err != nil || why != "" {
			return refuse(r, "it is a store in project mode, and is not in %s", marker(root))
		}
	}
	if why, orphan := r.wrong(h); r.Root != root && !orphan && why == "" {
		return refuse(r, "it is the store of %s, which is there", r.Root)
	}
	if own := h.byRoot()[root]; own != nil && own.ID != r.ID {
		if own.mode == ModeProject && isStore(own.store(h)) {
			return refuse(r, "%s has a store in project mode: 'rewind init --remove' there first", root)
		}
		j.Left = own.ID
	}
	j.Store = h.info(r.at(root))
	return j, nil
}

// JoinStore gives a store a directory. The one that the directory had stays as it is, and belongs to none.
func (h Home) JoinStore(ctx context.Context, dir, id string, wait time.Duration) (*Join, error) {
	unlock, err := h.lock(ctx, wait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	j, err := h.PlanJoin(dir, id)
	if err != nil {
		return nil, err
	}
	r, err := h.record(j.Store.ID)
	if err != nil {
		return nil, fmt.Errorf("engine: join store %s: %w", j.Store.ID, err)
	}
	if j.Left != "" {
		left, err := h.record(j.Left)
		if err == nil {
			err = left.at("").write(h)
		}
		if err != nil {
			return nil, fmt.Errorf("engine: join store %s: %w", j.Store.ID, err)
		}
	}
	if err := r.at(j.Store.Root).write(h); err != nil {
		return nil, err
	}
	if err := writeMarker(j.Store.Root, r.ID, j.Left); err != nil && !errors.Is(err, errMarker) {
		return nil, err
	}
	j.Store.Wrong, j.Store.Orphan = "", false
	return j, nil
}

// RecordJoin writes into the log of a store where it belongs now.
func (e *Engine) RecordJoin(ctx context.Context, j *Join) error {
	was := j.Was
	if was == "" {
		was = "no directory"
	}
	return e.record(ctx, refs.Operation{Kind: refs.KindMove, Message: fmt.Sprintf("joined to %s; it was of %s", j.Store.Root, was)})
}

// FindStore finds a store that is to be removed.
func (h Home) FindStore(id string) (*StoreInfo, error) {
	r, err := h.storeByID(id)
	if err != nil {
		return nil, err
	}
	s := h.info(r)
	return &s, nil
}

// RemoveStore takes away a store whose directory is not its project any more, and its record. It must be open nowhere. A store that is a project's goes
// with Remove, which looks at the project, too.
func (h Home) RemoveStore(ctx context.Context, s *StoreInfo, o Options) error {
	fail := func(err error) error { return fmt.Errorf("engine: remove store %s: %w", s.ID, err) }
	unlock, err := h.lock(ctx, o.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := h.record(s.ID)
	if err != nil {
		return fail(err)
	}
	if r.Root != s.Root {
		return fail(fmt.Errorf("%w: it belongs to %s now", ErrUsage, r.Root))
	}
	if r.mode == ModeGlobal {
		if isStore(h.storeDir(r.ID)) {
			db, err := kv.Open(ctx, h.storeDir(r.ID), o.kv()) // another process may have it
			if err == nil {
				err = db.Close()
			}
			if errors.Is(err, kv.ErrBusy) {
				return fail(err)
			}
		}
		trash := filepath.Join(h.storage(), removedName+r.ID)
		if err := errors.Join(os.RemoveAll(trash), renameDir(h.storeDir(r.ID), trash), os.RemoveAll(trash)); err != nil {
			return fail(err)
		}
	} else if err := os.Remove(h.recordPath(r.ID, r.mode)); err != nil { // its store, wherever that is, is not Home's
		return fail(err)
	}
	if err := os.RemoveAll(h.stageDir(r.ID)); err != nil {
		return fail(err)
	}
	return nil
}
