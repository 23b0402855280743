package snapshot

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// ErrNoWatcher says that this system has no notification of changes that costs nothing per file, so that every snapshot
// scans.
var ErrNoWatcher = errors.New("no watcher on this system")

const (
	maxDirt  = 1 << 17         // names that are remembered between two snapshots; more fail the watcher
	minDelay = time.Second     // how long a watcher that failed twice waits before it starts again,
	maxDelay = 5 * time.Minute // and the longest that this becomes by doubling
)

// Watcher is told by the system which names in a working tree may have changed, so that a snapshot need not look at the
// others. It makes snapshots fast and decides nothing: whatever it is not sure of makes it unhealthy, snapshots then
// scan, and one of them sets it up anew. It watches the directories that snapshots enter, from the moment before they
// are listed.
//
// What the system does not report is not seen until a full scan: stores through a mapping (mmap), writes through a hard
// link that is named elsewhere, and what is mounted over a directory. It costs nothing while nothing changes.
//
// It is for one Cache. Methods are safe for concurrent use.
type Watcher struct {
	root    string // absolute, without a slash at its end
	limit   int    // how many directories are watched; with more in the tree every snapshot scans. 0: the system's limit
	now     func() time.Time
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	fs      *notifier // nil: not watching
	epoch   uint64    // number of the life: of the present fs
	rootID  fileID
	armed   bool     // all directories of the tree are watched
	dirs    watchDir // the watched directories
	byWatch map[int32]*watchDir
	watches int
	scans   uint64   // snapshots that began
	pending dirtySet // names reported since the last snapshot began
	names   int      // in pending

	reason string
	since  time.Time
	missed int
	delay  time.Duration
	failed time.Time
	retry  time.Time // earliest next start

	onEvent func() // for tests: before reports are taken because there are some
}

// fileID identifies a directory whatever its path.
type fileID struct{ dev, ino uint64 }

func fileIDOf(st worktreefs.Stat) fileID { return fileID{st.Dev, st.Ino} }

// watchDir is a watched directory, or one on the way to one.
type watchDir struct {
	up   *watchDir // nil: this is the root
	name string
	on   bool
	wd   int32
	id   fileID
	scan uint64 // the last full scan that entered the directory
	sub  map[string]*watchDir
}

// Watch makes a Watcher of the directory at root, an absolute path. It begins to watch with the first snapshot that it
// is given to. The error is ErrNoWatcher, or about the arguments.
func Watch(root string) (*Watcher, error) {
	switch {
	case !canWatch:
		return nil, ErrNoWatcher
	case !filepath.IsAbs(root):
		return nil, fmt.Errorf("watch %s: not absolute", root)
	}
	w := &Watcher{root: filepath.Clean(root), now: time.Now, reason: "not started", pending: dirtySet{}}
	w.since = w.now()
	return w, nil
}

// Close ends the watcher. Snapshots with it scan.
func (w *Watcher) Close() error {
	w.mu.Lock()
	w.closed = true
	w.fail(w.epoch, "closed")
	w.reason = "closed"
	w.mu.Unlock()
	w.running.Wait()
	return nil
}

// Status tells how the watcher is.
func (w *Watcher) Status() value.Watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	return value.Watcher{
		Healthy: w.armed, Starting: !w.armed && !w.closed && w.failed.IsZero(),
		Directories: w.watches, Reason: w.reason, Since: w.since.UTC(), Missed: w.missed,
	}
}

// fail ends a life, unless it is over: none of its reports counts any more. mu is held.
func (w *Watcher) fail(epoch uint64, reason string) {
	if w.fs == nil || w.epoch != epoch {
		return
	}
	w.fs.stop()
	w.epoch++
	w.fs, w.armed, w.dirs, w.byWatch, w.watches, w.pending, w.names = nil, false, watchDir{}, nil, 0, dirtySet{}, 0
	w.postpone(reason)
}

// postpone sets when to start again: at once, but after a second failure within maxDelay later and later. mu is held.
func (w *Watcher) postpone(reason string) {
	now := w.now()
	if w.failed.IsZero() || now.Sub(w.failed) > maxDelay+w.delay {
		w.delay = 0
	} else {
		w.delay = min(max(2*w.delay, minDelay), maxDelay)
	}
	w.failed, w.retry, w.reason, w.since = now, now.Add(w.delay), reason, now
}

// start begins a life: a new fs without watches. mu is held.
func (w *Watcher) start(root fileID) error {
	dir, err := worktreefs.OpenRoot(w.root)
	if err != nil {
		return err
	}
	st, err := dir.Stat()
	_ = dir.Close() // only read
	switch {
	case err != nil:
		return err
	case fileIDOf(st) != root:
		return errors.New("the snapshot is of another directory")
	}
	if err := reportsChanges(w.root); err != nil {
		return err
	}
	fs, err := newNotifier()
	if err != nil {
		return err
	}
	w.fs, w.byWatch, w.rootID, w.reason = fs, map[int32]*watchDir{}, root, "starting"
	epoch := w.epoch
	w.running.Go(func() {
		fs.listen(func() bool { return w.heard(epoch) })
		w.mu.Lock()
		w.fail(epoch, "reports cannot be waited for")
		w.mu.Unlock()
		fs.close()
	})
	return nil
}

// heard takes the reports that are there, so that the system's queue does not fill up between snapshots. enough: the
// life is over.
func (w *Watcher) heard(epoch uint64) (enough bool) {
	if w.onEvent != nil {
		w.onEvent()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.epoch != epoch || !w.sync()
}

// sync takes the reports of all that happened before, and reports whether they can be relied on. mu is held.
func (w *Watcher) sync() bool {
	fs := w.fs
	if fs == nil {
		return false
	}
	epoch := w.epoch
	if err := fs.drain(w.take); err != nil {
		w.fail(epoch, err.Error())
	}
	return w.fs == fs
}

// report is one change of a watched directory, or of a name in it.
type report struct {
	wd         int32
	name       string // "": the directory itself
	came, gone bool   // under this name; neither: its content or attributes changed
}

// take takes one report. mu is held.
func (w *Watcher) take(r report) {
	d := w.byWatch[r.wd]
	if d == nil {
		return // the watch has ended: the life is over, or the directory is dirty
	}
	dir, name := d.path(), r.name
	switch {
	case name == "" && d.up == nil && r.gone:
		w.fail(w.epoch, "the directory is gone")
		return
	case name == "" && d.up != nil:
		dir, name = d.up.path(), d.name
	}
	if r.came || r.gone {
		w.addDirty(dir, name, moved)
	} else {
		w.addDirty(dir, name, touched)
	}
	if r.gone {
		w.drop(tree.Join(dir, name))
	}
	if w.names > maxDirt {
		w.fail(w.epoch, fmt.Sprintf("more than %d names changed", maxDirt))
	}
}

// addDirty adds a name that the next snapshot is to look at. mu is held.
func (w *Watcher) addDirty(dir, name string, m dirtyKind) {
	if w.pending.add(dir, name, m) {
		w.names++
	}
}

// watch has the system report what changes in a directory.
func (w *Watcher) watch(path string, dev uint64) (wd int32, err error) {
	full := w.root
	if path != "" {
		full = tree.Join(w.root, path)
	}
	if dev != w.rootID.dev {
		err = reportsChanges(full)
	}
	if err == nil && w.limit > 0 && w.watches >= w.limit {
		err = syscall.ENOSPC
	}
	if err == nil {
		wd, err = w.fs.add(full, path == "")
	}
	return wd, err
}

// add watches a directory that a scan has open, before it is listed, and reports whether changes in it will be
// reported. mu is held.
func (w *Watcher) add(path string, id fileID, scan uint64) bool {
	if d := w.at(path, false); d != nil && d.on {
		if d.id == id {
			d.scan = scan
			return true
		}
		w.drop(path)
	}
	wd, err := w.watch(path, id.dev)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		w.fail(w.epoch, fmt.Sprintf("more directories than watches (%d; fs.inotify.max_user_watches)", w.watches))
		return true
	case err != nil && path == "":
		w.fail(w.epoch, err.Error())
		return true
	case err != nil:
		return false
	}
	switch old := w.byWatch[wd]; {
	case old == nil:
	case old.up == nil:
		w.fail(w.epoch, "the directory is mounted inside itself")
		return true
	default: // moved here, as a later report will say; or mounted in two places: both are looked at by each snapshot
		w.watches--
		old.on = false
		w.addDirty(old.up.path(), old.name, moved)
	}
	d := w.at(path, true)
	d.on, d.id, d.scan, d.wd = true, id, scan, wd
	w.byWatch[wd] = d
	w.watches++
	return true
}

// at is the watchDir of a path; with create it is made; else nil: none.
func (w *Watcher) at(path string, create bool) *watchDir {
	d := &w.dirs
	for path != "" {
		var name string
		name, path = first(path)
		next := d.sub[name]
		if next == nil {
			if !create {
				return nil
			}
			next = &watchDir{up: d, name: name}
			if d.sub == nil {
				d.sub = map[string]*watchDir{}
			}
			d.sub[name] = next
		}
		d = next
	}
	return d
}

// path is the directory's path.
func (d *watchDir) path() string {
	if d.up == nil {
		return ""
	}
	return tree.Join(d.up.path(), d.name)
}

// drop ends the watches of a directory and of all below, since a watch follows its directory wherever that is moved. mu
// is held.
func (w *Watcher) drop(path string) {
	dir, name := tree.Split(path)
	parent := w.at(dir, false)
	if parent == nil || path == "" {
		return
	}
	if d := parent.sub[name]; d != nil {
		d.each(path, func(_ string, d *watchDir) {
			w.watches--
			w.fs.remove(d.wd)
			delete(w.byWatch, d.wd)
		})
		delete(parent.sub, name)
	}
}

// each calls f for every watched directory, those above first.
func (d *watchDir) each(path string, f func(path string, d *watchDir)) {
	if d.on {
		f(path, d)
	}
	for name, sub := range d.sub {
		sub.each(tree.Join(path, name), f)
	}
}
