package project

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rewind/engine/model"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// trashFor is how long a removed store can be brought back.
const trashFor = 24 * time.Hour

// ErrTrash is returned by a removal that could not put the store into the trash; it is where it was.
var ErrTrash = errors.New("it cannot be put into the trash")

const (
	trashDir   = "trash"
	trashNote  = "removed.json"
	trashGoing = "going.json" // the same, of a store that cannot be brought back any more
	trashStore = "store"
	// besideTrash begins the name of a store that lies where it lay: on another disk than the trash.
	besideTrash = ".trash-"
)

// Trashed is a store in the trash: a directory of it with this note, and mostly the store.
type Trashed struct {
	Record  Record        `json:"record"` // as it was, with its seal
	Mode    Mode          `json:"mode"`
	Removed time.Time     `json:"removed"`
	Beside  string        `json:"beside,omitempty"`   // where the store lies; "": in the trash
	NoStore bool          `json:"no_store,omitempty"` // its record alone was removed: the store lies where nobody looked
	Hooks   []value.Agent `json:"hooks,omitempty"`    // of agents, that went with it

	name string
}

// trash is the directory of what was removed lately.
func (h Home) trash() string { return filepath.Join(h.Dir, trashDir) }

func (h Home) trashed(name string) string { return filepath.Join(h.trash(), name) }

// store is where a removed store lies.
func (t *Trashed) store(h Home) string {
	return cmp.Or(t.Beside, filepath.Join(h.trashed(t.name), trashStore))
}

// whole reports whether it can be brought back: a kill leaves a note without a store, or a store without a note.
func (t *Trashed) whole(h Home) bool { return t.NoStore || isDir(t.store(h)) }

// goes is when it is taken away.
func (t *Trashed) goes() time.Time { return t.Removed.Add(trashFor) }

// Info is what people are told of it.
func (t *Trashed) Info(h Home) value.Removed {
	bytes := int64(0)
	if !t.NoStore {
		bytes, _ = sizeOf(t.store(h))
	}
	return value.Removed{
		ID: t.Record.ID, Root: value.Text(t.Record.Root), Mode: string(t.Mode), DiskBytes: bytes, Removed: t.Removed, Goes: t.goes(),
	}
}

// Trash lists what can be brought back at a time, what was removed last first.
func (h Home) Trash(now time.Time) []*Trashed {
	list, _ := os.ReadDir(h.trash())
	var all []*Trashed
	for _, e := range list {
		if t, err := h.readTrashed(e.Name(), trashNote); err == nil && t.whole(h) && now.Before(t.goes()) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *Trashed) int {
		return cmp.Or(b.Removed.Compare(a.Removed), strings.Compare(b.name, a.name))
	})
	return all
}

// readTrashed reads a note, which names what is to be removed or renamed: what is not one of ours is an error.
func (h Home) readTrashed(name, note string) (*Trashed, error) {
	path := filepath.Join(h.trashed(name), note)
	b, err := osfile.ReadSmall(path, maxRecord)
	if err != nil {
		return nil, err
	}
	t := &Trashed{name: name}
	bad := json.Unmarshal(b, t) != nil || !validStoreID(t.Record.ID)
	if bad || t.Beside != "" && filepath.Base(t.Beside) != besideTrash+name {
		return nil, &value.OpError{Op: "read", Subject: path, Err: errBadRecord}
	}
	t.Record.Mode = t.Mode
	return t, nil
}

func (h Home) writeTrashed(t *Trashed) error {
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(h.trashed(t.name), trashNote), append(b, '\n'))
}

// PutInTrash moves a store that is closed into the trash, with the settings that its project had, and says what lies
// there now. A store on another disk stays there, under another name. The home directory is locked. Killed anywhere the
// store is where it was, or can be brought back.
func (h Home) PutInTrash(t Trashed, store string) (*Trashed, error) {
	t.name = t.Record.ID + "-" + strconv.FormatInt(t.Removed.Unix(), 10)
	for n := 2; ; n++ {
		if _, err := os.Lstat(h.trashed(t.name)); err != nil {
			break
		}
		t.name = fmt.Sprintf("%s-%d.%d", t.Record.ID, t.Removed.Unix(), n)
	}
	fail := func(err error) (*Trashed, error) {
		// else it was moved, and that is not known to be on disk
		if _, there := os.Lstat(t.store(h)); errors.Is(there, fs.ErrNotExist) {
			_ = os.RemoveAll(h.trashed(t.name))
		}
		return nil, fmt.Errorf("%w: %w", ErrTrash, err)
	}
	if err := os.MkdirAll(h.trashed(t.name), 0o700); err != nil {
		return fail(err)
	}
	if config := ownSettings(t.Record.Root); config != nil {
		if err := WriteFile(filepath.Join(h.trashed(t.name), ConfigName), config); err != nil {
			return fail(err)
		}
	}
	if err := h.writeTrashed(&t); err != nil {
		return fail(err)
	}
	if t.NoStore {
		return &t, nil
	}
	err := RenameDir(store, t.store(h))
	if errors.Is(err, syscall.EXDEV) {
		t.Beside = filepath.Join(filepath.Dir(store), besideTrash+t.name)
		if err = h.writeTrashed(&t); err == nil {
			err = RenameDir(store, t.Beside)
		}
	}
	if err != nil {
		return fail(err)
	}
	return &t, osfile.SyncDir(filepath.Dir(store))
}

// ownSettings are the bytes of a project's own settings, where they count; nil: it has none.
func ownSettings(root string) (b []byte) {
	if values, passed, err := readProjectConfig(root); err != nil || passed != "" || values == nil {
		return nil
	}
	_ = inMarker(root, func(_, dir worktreefs.Dir) (err error) {
		b, _, err = readIn(dir, ConfigName, maxConfig)
		return err
	})
	return b
}

// FindTrashed finds a removed store by its id, or a beginning of it that no other has; of several removals of one store
// the last.
func (h Home) FindTrashed(id string, now time.Time) (*Trashed, error) {
	var found *Trashed
	for _, t := range h.Trash(now) {
		switch {
		case id == "" || !strings.HasPrefix(t.Record.ID, id):
		case found == nil:
			found = t
		case found.Record.ID != t.Record.ID:
			return nil, &value.OpError{Op: "store", Subject: id, Err: model.Usagef("several ids begin like that")}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w in the trash: %s", ErrNoStore, id)
	}
	return found, nil
}

// awaits reports whether a record is what stays of a store in project mode that is in the trash.
func (r *Record) awaits(h Home, t *Trashed) bool {
	return r.Mode == ModeProject && r.Seal == t.Record.Seal && !IsStore(r.Store(h))
}

// Restore brings a removed store back, and its project with the marker and the settings that it had. It is the
// project's again where that is there and has no other store; else it belongs to no directory. It can be killed, and
// done again.
func (h Home) Restore(ctx context.Context, t *Trashed, wait time.Duration) (*value.Store, error) {
	fail := func(err error) (*value.Store, error) {
		return nil, &value.OpError{Op: "restore store", Subject: t.Record.ID, Err: err}
	}
	unlock, err := h.Lock(ctx, wait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !t.whole(h) {
		return fail(fmt.Errorf("%w in the trash any more", ErrNoStore))
	}
	if r, err := h.record(t.Record.ID); err == nil && !r.awaits(h, t) {
		return fail(model.Usagef("there is a store of that id, of %s", cmp.Or(r.Root, "no directory")))
	}
	r := t.Record
	if own := h.ByRoot()[r.Root]; own != nil && own.ID != r.ID {
		r = *r.At("")
	}
	if t.NoStore {
		err = r.Write(h)
	} else if r.Mode == ModeProject && r.Root != "" && takesStore(r.Root) {
		err = h.restoreInProject(t, &r)
	} else {
		err = h.restoreHere(t, &r)
	}
	if err != nil {
		return fail(err)
	}
	if r.Root != "" {
		if err := h.ForgetRemoved(r.Root); err != nil {
			return fail(err)
		}
	}
	if err := os.RemoveAll(h.trashed(t.name)); err != nil {
		return fail(err)
	}
	return h.FindStore(r.ID)
}

// takesStore reports whether a store in project mode can lie below a root.
func takesStore(root string) bool { return isDir(root) && checkOwnMarker(root) == nil }

// restoreHere brings a store back into Home. One that lay in a project belongs to no directory then.
func (h Home) restoreHere(t *Trashed, r *Record) error {
	if r.Mode == ModeProject {
		r = r.At("")
		r.Mode, r.Seal = ModeGlobal, ""
	}
	if err := os.MkdirAll(h.Storage(), 0o700); err != nil {
		return err
	}
	store := t.store(h)
	if t.Mode == ModeProject {
		if err := os.Remove(filepath.Join(store, sealName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !t.Record.lost && (r.Root != t.Record.Root || t.Mode == ModeProject) {
		if err := r.writeTo(filepath.Join(store, projectFile)); err != nil {
			return err
		}
	}
	if err := h.restoreMarker(t, r); err != nil {
		return err
	}
	return RenameDir(store, h.storeDir(r.ID))
}

// restoreInProject brings a store in project mode back into its project.
func (h Home) restoreInProject(t *Trashed, r *Record) error {
	if err := r.Write(h); err != nil {
		return err
	}
	if err := h.restoreMarker(t, r); err != nil {
		return err
	}
	return RenameDir(t.store(h), r.Store(h))
}

// restoreMarker gives a project that is there its marker and its settings, before its store is back: a kill leaves a
// marker without one.
func (h Home) restoreMarker(t *Trashed, r *Record) error {
	if r.Root == "" || !isDir(r.Root) {
		return nil
	}
	if err := WriteMarker(r.Root, r.ID, ""); err != nil && !errors.Is(err, errMarker) {
		return err
	}
	config, err := osfile.ReadSmall(filepath.Join(h.trashed(t.name), ConfigName), maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !ourMarker(r.Root) {
		return err
	}
	return inMarker(r.Root, func(_, dir worktreefs.Dir) error {
		if _, err := dir.Lstat(ConfigName); err == nil {
			return nil // somebody's newer one
		}
		return replaceIn(dir, ConfigName, config)
	})
}

// Discard takes a removed store away for good.
func (h Home) Discard(ctx context.Context, t *Trashed, wait time.Duration) error {
	unlock, err := h.Lock(ctx, wait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := h.discard(t); err != nil {
		return &value.OpError{Op: "remove store", Subject: t.Record.ID, Err: err}
	}
	return nil
}

// discard first takes the note away, so that a kill leaves nothing that looks whole; the next sweep does the rest. The
// home directory is locked.
func (h Home) discard(t *Trashed) error {
	dir := h.trashed(t.name)
	err := os.Rename(filepath.Join(dir, trashNote), filepath.Join(dir, trashGoing))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(err, osfile.SyncDir(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case t.Beside != "" && t.Mode == ModeProject:
		if err := discardInMarker(&t.Record, filepath.Base(t.Beside)); err != nil {
			return err
		}
	case t.Beside != "":
		if err := os.RemoveAll(t.Beside); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// discardInMarker takes a removed store out of its project, and the marker, if nothing else is there.
func discardInMarker(r *Record, name string) error {
	if !ourMarker(r.Root) {
		return nil
	}
	err := inMarker(r.Root, func(_, dir worktreefs.Dir) error { return removeTree(dir, name) })
	if err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
		return err
	}
	if m := readMarker(r.Root); m.there {
		return nil
	}
	return RemoveMarker(r.project(Home{}))
}

// sweepable lists what has lain in the trash for its time, and what a kill left there. What lies on a disk that is not
// there stays.
func (h Home) sweepable(now time.Time) (out []*Trashed) {
	keep := map[string]bool{}
	for _, t := range h.Trash(now) {
		keep[t.name] = true
	}
	list, _ := os.ReadDir(h.trash())
	for _, e := range list {
		t, err := h.readTrashed(e.Name(), trashNote)
		beside := err == nil && t.Beside != ""
		if keep[e.Name()] || beside && now.Before(t.goes()) {
			continue
		}
		if err != nil {
			t, err = h.readTrashed(e.Name(), trashGoing)
		}
		if err != nil {
			t = &Trashed{name: e.Name()}
		}
		out = append(out, t)
	}
	return out
}

// SweepTrash takes that away. The home directory is locked. What cannot go now goes the next time.
func (h Home) SweepTrash(now time.Time) {
	for _, t := range h.sweepable(now) {
		_ = h.discard(t)
	}
}

// TrashDue reports whether there is something to sweep.
func (h Home) TrashDue(now time.Time) bool { return len(h.sweepable(now)) > 0 }

// EmptyTrash is SweepTrash for who has not locked the home directory.
func (h Home) EmptyTrash(ctx context.Context, now time.Time, wait time.Duration) error {
	if !h.TrashDue(now) {
		return nil
	}
	unlock, err := h.Lock(ctx, wait)
	if err != nil {
		return err
	}
	defer unlock()
	h.SweepTrash(now)
	return nil
}
