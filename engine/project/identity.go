package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// ErrNotMounted is returned for a project whose directory is another one than it was and empty, as a mount point is, or
// another user's.
var ErrNotMounted = errors.New("the directory is not the one that was set up")

// NotMountedError is an ErrNotMounted.
type NotMountedError struct {
	Project Project
	Why     string
}

func (e *NotMountedError) Error() string {
	return fmt.Sprintf("open project %s: %v: %s", e.Project.Root, ErrNotMounted, e.Why)
}

// Is makes it an ErrNotMounted.
func (e *NotMountedError) Is(target error) bool { return target == ErrNotMounted }

// StoreTakenError is an ErrStoreGone of a project in project mode: whatever clears the project's directory takes its
// store.
type StoreTakenError struct{ project Project }

func (e *StoreTakenError) Error() string {
	return fmt.Sprintf("open project %s: %v: %s, which lay in the project", e.project.Root, model.ErrStoreGone, e.project.Store)
}

// Is makes it an ErrStoreGone.
func (e *StoreTakenError) Is(target error) bool { return target == model.ErrStoreGone }

// Find returns the nearest project at or above dir, settled: a moved project is followed, a copied one gets a store of
// its own, a lost marker is written again. It does not open the store. What decides is in Home; see docs/projects.md. A
// working tree that git has linked to a repository is not looked above: what lies there is another tree. Errors:
// ErrNoProject (of such a tree a *LinkedError), ErrStoreGone, ErrNotMounted, ErrUntrusted, kv.ErrBusy.
func Find(ctx context.Context, home Home, dir string, lockWait time.Duration) (*Project, error) {
	return FindWith(ctx, &Finder{Home: home, Wait: lockWait}, dir)
}

// FindWith is Find by a finder of the caller's.
func FindWith(ctx context.Context, f *Finder, dir string) (*Project, error) {
	start, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	var passed []Passed
	for d := start; ; d = filepath.Dir(d) {
		p, over, err := f.probe(ctx, d)
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.Passed = passed
			return p, nil
		}
		if over != nil {
			passed = append(passed, *over)
		}
		if isLinkedTop(d) && len(passed) == 0 {
			return nil, &LinkedError{Top: d}
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	if len(passed) > 0 {
		return nil, &untrustedError{dir: start, passed: passed, home: f.Home}
	}
	return nil, &value.OpError{Op: "find project of", Subject: start, Err: model.ErrNoProject}
}

// Finder looks for a project.
type Finder struct {
	Home   Home
	Wait   time.Duration
	Accept bool // the directory is the project's, whatever it was; a person has said so

	roots map[string]*Record // nil: not read yet
	at    *heldDir           // the directory that is probed; nil: it cannot be opened
}

// probe finds the project whose root is d; none of the three: there is nothing.
func (f *Finder) probe(ctx context.Context, d string) (*Project, *Passed, error) {
	defer f.hold(d)()
	p, over, err := f.probeHeld(ctx, d)
	if p != nil && f.at != nil {
		p.Dev, p.Ino = f.at.st.Dev, f.at.st.Ino
	}
	return p, over, err
}

func (f *Finder) probeHeld(ctx context.Context, d string) (*Project, *Passed, error) {
	m := markerState{}
	if f.at != nil {
		m = ReadMarkerIn(f.at.dir)
	}
	unknown, known := "", false
	for _, id := range m.ids {
		r, err := f.Home.record(id)
		if errors.Is(err, fs.ErrPermission) {
			return nil, nil, &value.OpError{Op: "open project", Subject: d, Err: err}
		}
		if err != nil {
			unknown = id
			continue
		}
		p, why, err := f.named(ctx, d, r, &m)
		if p != nil || err != nil {
			return p, nil, err
		}
		m.why, known = why, true
		break
	}
	if r := f.byRoot()[d]; r != nil {
		p, why, err := f.byPath(d, r, &m)
		if p != nil || err != nil {
			return p, nil, err
		}
		m.there, m.why = true, why
	} else if m.store && m.why == "" && !known {
		if r := f.byStore(d); r != nil { // the ids are lost or damaged: a copy, or it was moved
			p, why, err := f.named(ctx, d, r, &m)
			if p != nil || err != nil {
				return p, nil, err
			}
			m.why = why
		}
	}
	if !m.there {
		return nil, nil, nil
	}
	over := &Passed{root: d, why: m.why, store: m.store}
	switch {
	case m.why != "":
	case m.store:
		over.why = "no store that this user made here lies there"
	default:
		over.missing, over.names = true, unknown
	}
	return nil, over, nil
}

// byStore is the record that the store in d says is its own, which its seal has to prove yet; nil: it says none that
// Home has in project mode.
func (f *Finder) byStore(d string) *Record {
	dir, _, err := ownStore(d)
	if dir == nil || err != nil {
		return nil
	}
	defer dir.Close()
	b, why, err := readIn(dir, projectFile, maxRecord)
	if err != nil || why != "" {
		return nil
	}
	says, err := parseRecord(b)
	if err != nil || !validStoreID(says.ID) {
		return nil
	}
	r, err := f.Home.record(says.ID)
	if err != nil || r.Mode != ModeProject || r.Seal == "" {
		return nil
	}
	return r
}

func (f *Finder) byRoot() map[string]*Record {
	if f.roots == nil {
		f.roots = f.Home.ByRoot()
	}
	return f.roots
}

// named is the project of a record that the marker of d names; why says why it is not.
func (f *Finder) named(ctx context.Context, d string, r *Record, m *markerState) (p *Project, why string, err error) {
	if r.Root == d {
		return f.here(d, r, m)
	}
	if own := f.byRoot()[d]; own != nil && f.is(own, d) {
		return nil, "", nil // it is known to be the directory of another store, whatever came into it
	}
	// the id is of this user's Home: without an index that can be read it is believed
	if tracked, err := trackedMarker(d); err == nil && tracked {
		return nil, "git tracks it", nil
	}
	if r.lost || r.Root != "" && sameDir(r.Root, d) {
		return f.here(d, r, m)
	}
	if r.Root == "" {
		return nil, "it names a store that belongs to no directory: 'rewind stores join " + r.ID + "'", nil
	}
	if r.Mode == ModeProject {
		why, err := r.Sealed(d)
		if errors.Is(err, worktreefs.ErrNotExist) {
			why, err = "it names a store that lies in "+r.Root, nil
		}
		if why != "" || err != nil {
			return nil, why, err
		}
	}
	return f.elsewhere(ctx, d, r)
}

// elsewhere settles a directory whose marker is believed, and whose store belongs to another directory.
func (f *Finder) elsewhere(ctx context.Context, d string, r *Record) (*Project, string, error) {
	p, err := f.recheck(ctx, d, r)
	if p != nil || err != nil {
		return p, "", err
	}
	f.roots = nil // another process settled it meanwhile
	p, over, err := f.probe(ctx, d)
	if p != nil || err != nil || over == nil {
		return p, "", err
	}
	return nil, over.why, nil
}

// recheck is elsewhere, with Home locked; no project: what led here is not so any more.
func (f *Finder) recheck(ctx context.Context, d string, r *Record) (*Project, error) {
	unlock, err := f.Home.Lock(ctx, f.Wait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	now, err := f.Home.record(r.ID)
	m := markerState{}
	if f.at != nil {
		m = ReadMarkerIn(f.at.dir)
	}
	leads := m.Names(r.ID) || r.Mode == ModeProject // there the seal has led here, and still does
	if err != nil || now.Root != r.Root || !leads {
		return nil, nil
	}
	p := r.project(f.Home)
	p.Root, p.Store = d, f.atNow(r, d).Store(f.Home)
	if !f.is(r, d) && r.originalThere() {
		return p, p.becomeCopy(ctx, f.Home, r, f.atNow(r, d), f.Wait)
	}
	p.Notices = append(p.Notices, fmt.Sprintf("the project has moved here from %s", r.Root))
	moved := f.atNow(r, d)
	if err := moved.Write(f.Home); err != nil {
		return nil, err
	}
	if r.Mode == ModeProject {
		closeToOthers(d)
		return p, moved.seal(d)
	}
	return p, nil
}

// originalThere reports whether the directory that the record names is the project still: then another one with its
// marker is a copy, also when the original has lost its marker. Where the record does not know which directory it was,
// or the system counts its disks anew, the marker there says it.
func (r *Record) originalThere() bool {
	if !isDir(r.Root) {
		return false
	}
	if r.is(r.Root) {
		return true
	}
	m := readMarker(r.Root)
	return m.Names(r.ID)
}

// byPath is the project of the record whose root is d, where no marker says so; why says why it is not.
func (f *Finder) byPath(d string, r *Record, m *markerState) (*Project, string, error) {
	if r.Inode != 0 && !f.is(r, d) && !f.Accept {
		p := r.project(f.Home)
		switch empty, own := f.contents(d); {
		case empty:
			return nil, "", &NotMountedError{*p, "it is empty; a disk that is not mounted looks like that"}
		case !own:
			return nil, "", &NotMountedError{*p, "it belongs to another user"}
		case f.at != nil && f.at.st.Ino != r.Inode && !f.steady(d):
			// after a restart the device alone can be another one
			return nil, "", &NotMountedError{*p, "another one has its name, and not for long"}
		}
	}
	return f.here(d, r, m)
}

// contents tells whether a directory is empty, and this user's.
func contents(path string) (empty, own bool) {
	d, err := os.Open(path)
	if err != nil {
		return false, false
	}
	defer d.Close()
	list, err := d.Readdirnames(1)
	st, ok := statDir(path)
	return err != nil && len(list) == 0, ok && mine(st)
}

// project is what a record says.
func (r *Record) project(h Home) *Project {
	return &Project{Root: r.Root, ID: r.ID, Mode: r.Mode, Store: r.Store(h), created: r.Created, From: r.From}
}

// here is the project of a record at its own root d.
func (f *Finder) here(d string, r *Record, m *markerState) (*Project, string, error) {
	if r.lost {
		r = f.atNow(r, d)
	}
	p := r.project(f.Home)
	p.Root = d
	if r.Mode == ModeProject {
		p.Store = filepath.Join(Marker(d), markerStore)
		if why, err := r.Sealed(d); why != "" || err != nil {
			return nil, why, f.storeGone(p, err)
		}
		closeToOthers(d)
	}
	if r.lost {
		// The marker says what the record said; a store in Home is this user's.
		if err := r.Write(f.Home); err != nil {
			return nil, "", err
		}
		p.Notices = append(p.Notices, projectFile+" of the store could not be read and has been written again")
	}
	if f.at == nil {
		return p, "", nil
	}
	if !r.lost && r.Root == d && r.Inode != f.at.st.Ino {
		// Best effort: on a disk that can only be read the marker, and what lies here, say it again the next time.
		_ = f.atNow(r, d).Write(f.Home)
	}
	if !m.Names(r.ID) {
		gone := !m.there
		if err := WriteMarkerIn(f.at.dir, d, r.ID, ""); err == nil && gone {
			p.Notices = append(p.Notices, "the marker "+MarkerDir+" was gone and has been written again")
		} else if err == nil {
			p.Notices = append(p.Notices, "the marker "+MarkerDir+" did not name this project's store and has been written again")
		}
	}
	return p, "", nil
}

func (f *Finder) storeGone(p *Project, err error) error {
	if errors.Is(err, worktreefs.ErrNotExist) {
		return &StoreTakenError{*p}
	}
	return err
}

// becomeCopy gives a copied project a store of its own that begins with the history it shares with the original. rec is
// the record of the original at the copy's directory.
func (p *Project) becomeCopy(ctx context.Context, home Home, from, rec *Record, lockWait time.Duration) error {
	rec.ID = NewStoreID()
	if p.Mode == ModeGlobal {
		dst := home.storeDir(rec.ID)
		tmp := dst + ".new"
		if err := cloneStore(ctx, p.Store, tmp, lockWait); err != nil {
			return err
		}
		if err := rec.writeTo(filepath.Join(tmp, projectFile)); err != nil {
			return err
		}
		if err := RenameDir(tmp, dst); err != nil {
			return &value.OpError{Op: "copy store", Subject: from.ID, Err: err}
		}
		p.Store = dst
	} else {
		// It keeps the seal: that proves the store at every moment, whichever of the record, its copy in the store and
		// the marker is written by then.
		if err := rec.Write(home); err != nil {
			return err
		}
		if err := rec.seal(p.Root); err != nil {
			return err
		}
		closeToOthers(p.Root)
	}
	if err := WriteMarker(p.Root, rec.ID, from.ID); err != nil && !errors.Is(err, errMarker) {
		return err
	}
	p.ID, p.Copied = rec.ID, true
	p.Notices = append(p.Notices, fmt.Sprintf("this is a copy of %s: it has a store of its own now, with the history up to here",
		from.Root))
	return nil
}

func cloneStore(ctx context.Context, src, dst string, lockWait time.Duration) (err error) {
	db, err := kv.Open(ctx, src, kv.Options{LockWait: lockWait})
	if err != nil {
		return &value.OpError{Op: "copy store", Subject: src, Err: err}
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	return db.Clone(dst)
}

// Lock serialises what changes the identity of projects.
func (h Home) Lock(ctx context.Context, wait time.Duration) (unlock func(), err error) {
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return nil, &value.OpError{Op: "make", Subject: h.Dir, Err: err}
	}
	l := flock.New(filepath.Join(h.Dir, "lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Second))
	defer cancel()
	ok, err := l.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil || !ok {
		return nil, &value.OpError{Op: "lock", Subject: h.Dir, Err: fmt.Errorf("%w: %w", kv.ErrBusy, err)}
	}
	return func() { _ = l.Unlock() }, nil
}
