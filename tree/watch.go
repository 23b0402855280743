package tree

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"rewind/internal/worktreefs"
)

// ErrNoWatcher says that this system has no notification of changes that costs nothing per file. Every snapshot scans.
var ErrNoWatcher = errors.New("tree: no watcher on this system")

// WatchOptions say how to watch.
type WatchOptions struct {
	// Cookies is a directory of the watcher's own, which exists and is not captured: every snapshot renames a file in it, and
	// when the watcher is told of that it was told of all before. Other files in it that begin "cookie-" are removed.
	Cookies string
	// MaxWatches bounds the directories that are watched; with more in the tree every snapshot scans. <= 0: the system's limit.
	MaxWatches int
}

// WatchStatus says how a watcher is.
type WatchStatus struct {
	Healthy bool      // snapshots rely on it
	Watches int       // directories
	Reason  string    // why it is not healthy; "" when it is
	Since   time.Time // when it became so
	Missed  int       // changes that full scans found and it had not reported
}

const (
	cookieWait = 20 * time.Millisecond // how long a cookie may take
	maxDirt    = 1 << 17               // names that are remembered between two snapshots
	minDelay   = time.Second           // before a watcher that failed twice starts again,
	maxDelay   = 5 * time.Minute       // and the most that doubling makes of it
)

// Watcher is told by the system which names in a working tree may have changed, so that a snapshot need not look at the others. It
// makes snapshots fast and decides nothing: whatever it is not sure of makes it unhealthy, snapshots then scan, and one of
// them sets it up anew. It watches the directories that snapshots enter, from the moment before they are listed.
//
// What the system does not report is not seen until a full scan: stores through a mapping (mmap), writes through a hard link that
// is named elsewhere, and what is mounted over a directory. It costs nothing while nothing changes.
//
// It is for one Cache. Methods are safe for concurrent use.
type Watcher struct {
	root    string // absolute, without a slash at its end
	opt     WatchOptions
	now     func() time.Time
	wait    time.Duration // for a cookie
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	fs      *fsnotify.Watcher // nil: not watching
	stop    chan struct{}     // closed when fs is to end
	epoch   uint64            // counts the lives of fs
	rootID  fileID
	armed   bool     // all directories of the tree are watched
	dirs    watchDir // the watched directories
	watches int
	scans   uint64 // snapshots that began
	moves   uint64 // names that came or went
	pending dirt   // reported since the last snapshot began
	names   int    // in pending

	jar    worktreefs.Dir // the directory of the cookie
	cookie string         // its name
	baked  uint64
	wanted string // the name that is waited for
	seen   chan struct{}

	reason string
	since  time.Time
	missed int
	delay  time.Duration
	failed time.Time
	retry  time.Time // not before

	onEvent func() // for tests: before an event is taken
}

// fileID names a directory whatever its path.
type fileID struct{ dev, ino uint64 }

func fileIDOf(st worktreefs.Stat) fileID { return fileID{st.Dev, st.Ino} }

// watchDir is a directory on the way to a watched one, or such a one itself.
type watchDir struct {
	on   bool
	id   fileID
	scan uint64 // the last full scan that entered it
	sub  map[string]*watchDir
}

// Watch gives a watcher of the directory at root, an absolute path. It begins with the first snapshot that it is given to.
// The error is ErrNoWatcher, or says what is wrong with the arguments.
func Watch(root string, o WatchOptions) (*Watcher, error) {
	switch {
	case !canWatch:
		return nil, ErrNoWatcher
	case !filepath.IsAbs(root) || !filepath.IsAbs(o.Cookies):
		return nil, fmt.Errorf("tree: watch %s with cookies in %q: not absolute", root, o.Cookies)
	}
	o.Cookies = filepath.Clean(o.Cookies)
	w := &Watcher{root: filepath.Clean(root), opt: o, now: time.Now, wait: cookieWait, reason: "not started", pending: dirt{}}
	w.since = w.now()
	return w, nil
}

// Close ends the watcher. Snapshots that have it scan.
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
func (w *Watcher) Status() WatchStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return WatchStatus{Healthy: w.armed, Watches: w.watches, Reason: w.reason, Since: w.since, Missed: w.missed}
}

// fail ends the life of fs that is meant, if it is not over: nothing that was reported counts any more. Under mu.
func (w *Watcher) fail(epoch uint64, reason string) {
	if w.fs == nil || w.epoch != epoch {
		return
	}
	close(w.stop)
	_ = w.jar.Close() // it was only for renames
	w.epoch++
	w.fs, w.jar, w.armed, w.dirs, w.watches, w.pending, w.names = nil, nil, false, watchDir{}, 0, dirt{}, 0
	w.postpone(reason)
}

// postpone says when to start again: at once, but after a second failure within maxDelay later and later. Under mu.
func (w *Watcher) postpone(reason string) {
	now := w.now()
	if w.failed.IsZero() || now.Sub(w.failed) > maxDelay+w.delay {
		w.delay = 0
	} else {
		w.delay = min(max(2*w.delay, minDelay), maxDelay)
	}
	w.failed, w.retry, w.reason, w.since = now, now.Add(w.delay), reason, now
}

// start begins a life. Under mu.
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
	jar, err := worktreefs.OpenRoot(w.opt.Cookies)
	if err != nil {
		return err
	}
	fs, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.bake(jar); err == nil {
			err = fs.Add(w.opt.Cookies)
		}
		if err != nil {
			_ = fs.Close()
		}
	}
	if err != nil {
		_ = jar.Close()
		return err
	}
	w.fs, w.stop, w.jar, w.rootID, w.reason = fs, make(chan struct{}), jar, root, "starting"
	epoch, stop := w.epoch, w.stop
	w.running.Go(func() {
		w.run(fs, epoch, stop)
		_ = fs.Close()
	})
	return nil
}

const cookiePrefix = "cookie-"

// bake makes the cookie, and removes those of earlier lives.
func (w *Watcher) bake(jar worktreefs.Dir) error {
	names, err := jar.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range names {
		if strings.HasPrefix(e.Name, cookiePrefix) {
			_ = jar.Remove(e.Name) // another one's, then: its renames will say so
		}
	}
	w.cookie = w.nextCookie()
	f, err := jar.CreateFile(w.cookie, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (w *Watcher) nextCookie() string {
	w.baked++
	return fmt.Sprintf("%s%d", cookiePrefix, w.baked)
}

// sync waits until all that happened before was reported, and says whether it was. Under mu, which it gives up meanwhile.
func (w *Watcher) sync() bool {
	fs, epoch, stop := w.fs, w.epoch, w.stop
	if fs == nil {
		return false
	}
	from, to, seen := w.cookie, w.nextCookie(), make(chan struct{})
	w.wanted, w.seen = to, seen
	if err := w.jar.Move(from, w.jar, to); err != nil {
		w.fail(epoch, err.Error())
		return false
	}
	w.cookie = to
	w.mu.Unlock()
	late := time.NewTimer(w.wait)
	defer late.Stop()
	reason := ""
	select {
	case <-seen:
	case <-stop:
	case <-late.C:
		reason = fmt.Sprintf("nothing was reported within %v", w.wait)
	}
	w.mu.Lock()
	if reason != "" && w.fs == fs { // a busy machine, most likely: that passes
		w.fail(epoch, reason)
		w.delay = min(w.delay, minDelay)
		w.retry = w.failed.Add(w.delay)
	}
	return w.fs == fs
}

// run takes reports until the life ends.
func (w *Watcher) run(fs *fsnotify.Watcher, epoch uint64, stop chan struct{}) {
	for {
		var reason string
		select {
		case <-stop:
			return
		case e, ok := <-fs.Events:
			if !ok {
				return
			}
			if w.onEvent != nil {
				w.onEvent()
			}
			reason = w.event(epoch, e)
		case err, ok := <-fs.Errors:
			if !ok {
				return
			}
			reason = err.Error()
		}
		if reason != "" {
			w.mu.Lock()
			w.fail(epoch, reason)
			w.mu.Unlock()
		}
	}
}

// event takes one report; a reason ends the life.
func (w *Watcher) event(epoch uint64, e fsnotify.Event) (reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch != epoch || w.fs == nil {
		return ""
	}
	if in, ok := below(e.Name, w.opt.Cookies); ok {
		switch {
		case in == "" && e.Has(fsnotify.Remove|fsnotify.Rename):
			return "the directory of the cookie is gone"
		case in != "" && in == w.wanted && e.Has(fsnotify.Create):
			close(w.seen)
			w.wanted = ""
		}
		return ""
	}
	path, ok := below(e.Name, w.root)
	gone := e.Has(fsnotify.Remove | fsnotify.Rename)
	switch {
	case !ok:
		return "" // cannot be
	case path == "" && gone:
		return "the directory is gone"
	case path == "":
		w.report("", "", touched)
		return w.full()
	}
	dir, name := Split(path)
	if gone || e.Has(fsnotify.Create) {
		w.moves++
		w.report(dir, name, moved)
	} else {
		w.report(dir, name, touched)
	}
	if gone {
		w.drop(path)
	}
	return w.full()
}

// below gives a path's part below a directory, "" for the directory itself.
func below(path, dir string) (string, bool) {
	rest, ok := strings.CutPrefix(path, dir)
	if !ok || rest == "" {
		return "", ok
	}
	return rest[1:], rest[0] == filepath.Separator
}

func (w *Watcher) report(dir, name string, m mark) {
	if w.pending.add(dir, name, m) {
		w.names++
	}
}

func (w *Watcher) full() string {
	if w.names > maxDirt {
		return fmt.Sprintf("more than %d names changed", maxDirt)
	}
	return ""
}

// add watches a directory that a scan has open, before it is listed. It reports whether changes in it will be. Under mu.
func (w *Watcher) add(path string, id fileID, scan uint64) bool {
	if d := w.at(path, false); d != nil && d.on {
		if d.id == id {
			d.scan = scan
			return true
		}
		w.drop(path)
	}
	full := w.root
	if path != "" {
		full = Join(w.root, path)
	}
	err := error(nil)
	if id.dev != w.rootID.dev {
		err = reportsChanges(full)
	}
	if err == nil && w.opt.MaxWatches > 0 && w.watches >= w.opt.MaxWatches {
		err = syscall.ENOSPC
	}
	if err == nil {
		err = w.fs.Add(full)
	}
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
	d := w.at(path, true)
	d.on, d.id, d.scan = true, id, scan
	w.watches++
	return true
}

// at finds a directory.
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
			next = &watchDir{}
			if d.sub == nil {
				d.sub = map[string]*watchDir{}
			}
			d.sub[name] = next
		}
		d = next
	}
	return d
}

// drop ends the watches of a directory and of all below it: a watch follows its directory to wherever that is moved. Under mu.
func (w *Watcher) drop(path string) {
	dir, name := Split(path)
	parent := w.at(dir, false)
	if parent == nil || path == "" {
		return
	}
	if d := parent.sub[name]; d != nil {
		d.each(path, func(path string, _ *watchDir) {
			w.watches--
			_ = w.fs.Remove(Join(w.root, path)) // an error says that there was none any more
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
		sub.each(Join(path, name), f)
	}
}
