package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/internal/value"
)

// ErrNoStore is returned for an id that no store has which Home knows.
var ErrNoStore = fmt.Errorf("store %w", model.ErrNotFound)

// Stores lists every store that Home knows, by root.
func (h Home) Stores() []value.Store {
	var all []value.Store
	owners := h.ByRoot()
	for _, r := range h.records() {
		all = append(all, h.info(r, owners))
	}
	slices.SortStableFunc(all, func(a, b value.Store) int { return cmp.Compare(a.Root, b.Root) })
	return all
}

// info looks at a store; owners are the records that count for their directories.
func (h Home) info(r *Record, owners map[string]*Record) value.Store {
	why, orphan := r.wrong(h, owners)
	s := value.Store{
		ID: r.ID, Root: value.Text(r.Root), Mode: string(r.Mode), Store: value.Text(r.Store(h)), Created: r.Created.UTC(),
		Wrong: value.Text(why), Orphan: orphan,
	}
	if r.Mode == ModeProject {
		if why, err := r.Sealed(r.Root); why != "" || err != nil {
			return s // nothing of it is looked at
		}
	}
	bytes, used := sizeOf(r.Store(h))
	if s.DiskBytes = bytes; !used.IsZero() {
		used = used.UTC()
		s.Used = &used
	}
	return s
}

// replaced reports whether the root is known to be another directory than the one that was recorded.
func (r *Record) replaced() bool { return r.Inode != 0 && !r.is(r.Root) }

// unsealed says what keeps a store in project mode from being believed.
func (r *Record) unsealed() string {
	why, err := r.Sealed(r.Root)
	switch {
	case err != nil:
		return "the store is missing"
	case why != "":
		return "not believed: " + why
	}
	return ""
}

// wrong says what keeps a store from being used where its record says, and whether it is without a directory.
func (r *Record) wrong(h Home, owners map[string]*Record) (why string, orphan bool) {
	switch {
	case r.lost:
		return "its record cannot be read: no directory is known", true
	case r.Root == "":
		return "it belongs to no directory", true
	case !isDir(r.Root):
		return "the directory is gone, or not mounted", true
	}
	if own := owners[r.Root]; own != nil && own.ID != r.ID {
		if m := readMarker(r.Root); !m.Names(r.ID) {
			return "the directory has another store now, " + own.ID, true
		}
	}
	if r.Mode == ModeProject {
		return r.unsealed(), false
	}
	if !IsStore(h.storeDir(r.ID)) {
		return "the store is missing", false
	}
	if m := readMarker(r.Root); len(m.ids) > 0 && !m.Names(r.ID) && r.replaced() {
		return "the directory is another one now, and its marker names another store", true
	}
	if empty, _ := contents(r.Root); empty && r.replaced() {
		return "the directory is empty and not the one that was set up: not mounted?", false
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
func (h Home) offers(root string) []value.Store {
	var out []value.Store
	owners := h.ByRoot()
	for _, r := range h.records() {
		if filepath.Base(r.Root) != filepath.Base(root) || r.Mode != ModeGlobal {
			continue
		}
		if s := h.info(r, owners); s.Orphan {
			out = append(out, s)
		}
	}
	return out
}

// storeByID finds a store by its id, or a beginning of it that no other has.
func (h Home) storeByID(id string) (*Record, error) {
	if id == "" {
		return nil, model.Usagef("no store is named")
	}
	var found *Record
	for _, r := range h.records() {
		if r.ID == id {
			return r, nil
		}
		if strings.HasPrefix(r.ID, id) {
			if found != nil {
				return nil, &value.OpError{Op: "store", Subject: id, Err: model.Usagef("several ids begin like that")}
			}
			found = r
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoStore, id)
	}
	return found, nil
}

// keptInProject reports whether a project's store lies in the project, and is there.
func (r *Record) keptInProject(h Home) bool { return r.Mode == ModeProject && IsStore(r.Store(h)) }

// planJoin finds out what JoinStore would do: dir, or the git repository that it is in, becomes the project of the
// store.
func (h Home) planJoin(dir, id string) (*value.Join, error) {
	refuse := func(r *Record, format string, args ...any) (*value.Join, error) {
		return nil, &value.OpError{Op: "join store", Subject: r.ID, Err: model.Usagef("%s", fmt.Sprintf(format, args...))}
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
	j := &value.Join{Was: value.Text(r.Root)}
	owners := h.ByRoot()
	if r.Mode == ModeProject {
		why, err := r.Sealed(root)
		if err != nil || why != "" {
			return refuse(r, "it is a store in project mode, and is not in %s", Marker(root))
		}
	}
	if why, orphan := r.wrong(h, owners); r.Root != root && !orphan && why == "" {
		return refuse(r, "it is the store of %s, which is there", r.Root)
	}
	if own := owners[root]; own != nil && own.ID != r.ID {
		if own.keptInProject(h) {
			return refuse(r, "%s has a store in project mode: 'rewind init --remove' there first", root)
		}
		j.Left = own.ID
	}
	j.Store = h.info(r.At(root), owners)
	return j, nil
}

// JoinStore gives a store a directory. The one that the directory had stays as it is, and belongs to none.
func (h Home) JoinStore(ctx context.Context, dir, id string, wait time.Duration) (*value.Join, error) {
	unlock, err := h.Lock(ctx, wait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	j, err := h.planJoin(dir, id)
	if err != nil {
		return nil, err
	}
	r, err := h.record(j.Store.ID)
	if err != nil {
		return nil, &value.OpError{Op: "join store", Subject: j.Store.ID, Err: err}
	}
	if j.Left != "" {
		left, err := h.record(j.Left)
		if err == nil {
			err = left.At("").Write(h)
		}
		if err != nil {
			return nil, &value.OpError{Op: "join store", Subject: j.Store.ID, Err: err}
		}
	}
	if err := r.At(string(j.Store.Root)).Write(h); err != nil {
		return nil, err
	}
	if err := WriteMarker(string(j.Store.Root), r.ID, j.Left); err != nil && !errors.Is(err, errMarker) {
		return nil, err
	}
	j.Store.Wrong, j.Store.Orphan = "", false
	return j, nil
}

// FindStore finds a store that is to be removed.
func (h Home) FindStore(id string) (*value.Store, error) {
	r, err := h.storeByID(id)
	if err != nil {
		return nil, err
	}
	s := h.info(r, h.ByRoot())
	return &s, nil
}
