package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/internal/osfile"
	"rewind/internal/worktreefs"
)

// projectRecord says in Home which directory a store belongs to. Only what Home says counts; a store in project mode has a copy of it, for people.
type projectRecord struct {
	ID      string    `json:"id"`
	Root    string    `json:"root"` // "": none, until a store is joined to a directory
	Created time.Time `json:"created"`
	Device  uint64    `json:"device,omitempty"` // of the root directory; Inode 0: not known
	Inode   uint64    `json:"inode,omitempty"`
	Seal    string    `json:"seal,omitempty"` // of a store in project mode: what its file of that name holds

	mode Mode // told by where the record lies
	lost bool // the store is there and its record cannot be read
}

// projectsDir holds the records of projects whose store is not in Home, each under its store's id.
const projectsDir = "projects"

// maxRecord bounds a record in bytes: a path has at most 4 KiB on most systems.
const maxRecord = 64 << 10

var errBadRecord = errors.New("not a record of a project")

func (h Home) recordPath(id string, mode Mode) string {
	if mode == ModeProject {
		return filepath.Join(h.Dir, projectsDir, id)
	}
	return filepath.Join(h.storeDir(id), projectFile)
}

// record reads the record of a store; errors: fs.ErrNotExist, where Home knows no such store.
func (h Home) record(id string) (*projectRecord, error) {
	r, err := readProjectRecord(h.storeDir(id))
	switch {
	case err == nil && r.ID == id:
		r.mode, r.Seal = ModeGlobal, ""
		return r, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, err
	case isStore(h.storeDir(id)):
		return &projectRecord{ID: id, Created: time.Now().UTC().Truncate(time.Second), mode: ModeGlobal, lost: true}, nil
	}
	path := h.recordPath(id, ModeProject)
	b, err := osfile.ReadSmall(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r = &projectRecord{}
	if root := strings.TrimSuffix(string(b), "\n"); filepath.IsAbs(root) { // as older versions wrote it
		r.ID, r.Root = id, root
	} else if err := json.Unmarshal(b, r); err != nil || r.ID != id {
		return nil, fmt.Errorf("engine: read %s: %w", path, errors.Join(errBadRecord, err))
	}
	r.mode = ModeProject
	return r, nil
}

// isStore reports whether a directory holds, or held, a store.
func isStore(dir string) bool {
	for _, name := range []string{"format", "db", "swap"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// readProjectRecord reads a store's own record.
func readProjectRecord(store string) (*projectRecord, error) {
	path := filepath.Join(store, projectFile)
	b, err := osfile.ReadSmall(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(b)
	if err != nil {
		return nil, fmt.Errorf("engine: read %s: %w", path, err)
	}
	return r, nil
}

func parseRecord(b []byte) (*projectRecord, error) {
	var r projectRecord
	err := json.Unmarshal(b, &r)
	return &r, err
}

// write makes the record what Home says from now on.
func (r *projectRecord) write(h Home) error {
	path := h.recordPath(r.ID, r.mode)
	if r.mode == ModeProject {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("engine: note project %s: %w", r.Root, err)
		}
	}
	return r.writeTo(path)
}

func (r *projectRecord) writeTo(path string) error {
	b, err := r.text()
	if err != nil {
		return err
	}
	return writeFile(path, b)
}

func (r *projectRecord) text() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

// at gives the record the directory, as it is now.
func (r projectRecord) at(root string) *projectRecord {
	r.Root, r.Device, r.Inode = root, 0, 0
	if st, ok := statDir(root); ok {
		r.Device, r.Inode = st.Dev, st.Ino
	}
	return &r
}

// is reports whether a directory is the one that was recorded.
func (r *projectRecord) is(dir string) bool {
	st, ok := statDir(dir)
	return ok && r.Inode != 0 && st.Ino == r.Inode && st.Dev == r.Device
}

// statDir looks at a directory; ok is false where there is none.
func statDir(path string) (st worktreefs.Stat, ok bool) {
	d, err := worktreefs.OpenRoot(path)
	if err != nil {
		return st, false
	}
	defer d.Close()
	st, err = d.Stat()
	return st, err == nil
}

// store is where the record's store lies.
func (r *projectRecord) store(h Home) string {
	if r.mode == ModeProject {
		return filepath.Join(marker(r.Root), markerStore)
	}
	return h.storeDir(r.ID)
}

// records lists all stores that Home knows, those whose record is lost included, by id.
func (h Home) records() []*projectRecord {
	var all []*projectRecord
	for _, dir := range []string{h.storage(), filepath.Join(h.Dir, projectsDir)} {
		list, _ := os.ReadDir(dir)
		for _, e := range list {
			if !validStoreID(e.Name()) {
				continue
			}
			if r, err := h.record(e.Name()); err == nil {
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b *projectRecord) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b *projectRecord) bool { return a.ID == b.ID })
}

// byRoot gives the records by their roots. Of several of one root that counts whose store is there, then whose directory it is, then the newest.
func (h Home) byRoot() map[string]*projectRecord {
	m := map[string]*projectRecord{}
	for _, r := range h.records() {
		if r.Root == "" {
			continue
		}
		if old := m[r.Root]; old == nil || r.over(old, h) {
			m[r.Root] = r
		}
	}
	return m
}

func (r *projectRecord) over(old *projectRecord, h Home) bool {
	for _, is := range []func(*projectRecord) bool{
		func(r *projectRecord) bool { return r.mode == ModeGlobal || isStore(r.store(h)) },
		func(r *projectRecord) bool { return r.is(r.Root) },
	} {
		if a, b := is(r), is(old); a != b {
			return a
		}
	}
	return old.Created.Before(r.Created)
}

// projects are the roots of all projects that are known, also those whose directory is gone.
func (h Home) projects() []string {
	var roots []string
	for _, r := range h.records() {
		if r.Root != "" {
			roots = append(roots, r.Root)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
