package project

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// Record says in Home which directory a store belongs to. Only what Home says counts; a store in project mode has a
// copy of it, for people.
type Record struct {
	ID      string    `json:"id"`
	Root    string    `json:"root"` // "": none, until a store is joined to a directory
	Created time.Time `json:"created"`
	Device  uint64    `json:"device,omitempty"` // of the root directory; Inode 0: not known
	Inode   uint64    `json:"inode,omitempty"`
	Seal    string    `json:"seal,omitempty"` // of a store in project mode: what its file of that name holds

	From *Origin `json:"from,omitempty"` // of a worktree

	Mode Mode `json:"-"` // told by where the record lies
	lost bool // the store is there and its record cannot be read
}

// Origin is what a worktree was made of.
type Origin struct {
	Store      string   `json:"store"`                // the store that its own was cloned from
	Roots      []string `json:"roots"`                // where that one's project was, and those that it was made of
	Since      uint64   `json:"since"`                // the newest operation that the clone began with
	Unfinished bool     `json:"unfinished,omitempty"` // its files, and its session, are not all there yet
	Brought    []string `json:"brought,omitempty"`    // paths that are links to, or copies of, what no checkpoint has
}

// ProjectsDir holds the records of projects whose store is not in Home, each under its store's id.
const ProjectsDir = "projects"

// maxRecord bounds a record in bytes: a path has at most 4 KiB on most systems.
const maxRecord = 64 << 10

var errBadRecord = errors.New("not a record of a project")

func (h Home) recordPath(id string, mode Mode) string {
	if mode == ModeProject {
		return filepath.Join(h.Dir, ProjectsDir, id)
	}
	return filepath.Join(h.storeDir(id), projectFile)
}

// record reads the record of a store; errors: fs.ErrNotExist, where Home knows no such store.
func (h Home) record(id string) (*Record, error) {
	r, err := ReadProjectRecord(h.storeDir(id))
	switch {
	case err == nil && r.ID == id:
		r.Mode, r.Seal = ModeGlobal, ""
		return r, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, err
	case IsStore(h.storeDir(id)):
		return &Record{ID: id, Created: time.Now().UTC().Truncate(time.Second), Mode: ModeGlobal, lost: true}, nil
	}
	path := h.recordPath(id, ModeProject)
	b, err := osfile.ReadSmall(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r = &Record{}
	if err := json.Unmarshal(b, r); err != nil || r.ID != id {
		return nil, &value.OpError{Op: "read", Subject: path, Err: errors.Join(errBadRecord, err)}
	}
	r.Mode = ModeProject
	return r, nil
}

// RecordOf is the record of a project, or what it would say.
func (h Home) RecordOf(p *Project) Record {
	if r, err := h.record(p.ID); err == nil {
		return *r
	}
	return Record{ID: p.ID, Root: p.Root, Created: p.created, Mode: p.Mode}
}

// IsStore reports whether a directory holds, or held, a store.
func IsStore(dir string) bool {
	for _, name := range []string{"format", "db", "swap"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// ReadProjectRecord reads a store's own record.
func ReadProjectRecord(store string) (*Record, error) {
	path := filepath.Join(store, projectFile)
	b, err := osfile.ReadSmall(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(b)
	if err != nil {
		return nil, &value.OpError{Op: "read", Subject: path, Err: err}
	}
	return r, nil
}

func parseRecord(b []byte) (*Record, error) {
	var r Record
	err := json.Unmarshal(b, &r)
	return &r, err
}

// Write makes the record what Home says from now on.
func (r *Record) Write(h Home) error {
	path := h.recordPath(r.ID, r.Mode)
	if r.Mode == ModeProject {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return &value.OpError{Op: "note project", Subject: r.Root, Err: err}
		}
	}
	return r.writeTo(path)
}

func (r *Record) writeTo(path string) error {
	b, err := r.text()
	if err != nil {
		return err
	}
	return WriteFile(path, b)
}

func (r *Record) text() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

// At gives the record the directory, as it is now.
func (r Record) At(root string) *Record {
	st, _ := statDir(root) // zero, where there is none
	return r.atDir(root, st)
}

// atDir gives the record a directory that is held.
func (r Record) atDir(root string, st worktreefs.Stat) *Record {
	r.Root, r.Device, r.Inode = root, st.Dev, st.Ino
	return &r
}

// isHeld reports whether a directory that is held is the one that was recorded.
func (r *Record) isHeld(st worktreefs.Stat) bool {
	return r.Inode != 0 && st.Ino == r.Inode && st.Dev == r.Device
}

// is reports whether a directory is the one that was recorded.
func (r *Record) is(dir string) bool {
	st, ok := statDir(dir)
	return ok && r.isHeld(st)
}

// statDir looks at a directory; ok is false where there is none.
func statDir(path string) (worktreefs.Stat, bool) {
	st, err := worktreefs.StatRoot(path)
	return st, err == nil
}

// Store is where the record's store lies.
func (r *Record) Store(h Home) string {
	if r.Mode == ModeProject {
		return filepath.Join(Marker(r.Root), markerStore)
	}
	return h.storeDir(r.ID)
}

// records lists all stores that Home knows, those whose record is lost included, by id.
func (h Home) records() []*Record {
	var all []*Record
	for _, dir := range []string{h.Storage(), filepath.Join(h.Dir, ProjectsDir)} {
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
	slices.SortFunc(all, func(a, b *Record) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b *Record) bool { return a.ID == b.ID })
}

// ByRoot gives the records by their roots. Of several of one root that counts whose store is there, then whose
// directory it is, then the newest.
func (h Home) ByRoot() map[string]*Record {
	m := map[string]*Record{}
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

func (r *Record) over(old *Record, h Home) bool {
	for _, is := range []func(*Record) bool{
		func(r *Record) bool { return r.Mode == ModeGlobal || IsStore(r.Store(h)) },
		func(r *Record) bool { return r.is(r.Root) },
	} {
		if a, b := is(r), is(old); a != b {
			return a
		}
	}
	return old.Created.Before(r.Created)
}

// Projects are the roots of all projects that are known, also those whose directory is gone.
func (h Home) Projects() []string {
	var roots []string
	for _, r := range h.records() {
		if r.Root != "" {
			roots = append(roots, r.Root)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
