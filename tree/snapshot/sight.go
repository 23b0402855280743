package snapshot

import (
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// sight is what one snapshot has of a watcher: the reports up to its beginning, and the watching of what it enters. A
// nil sight has no reports and watches nothing.
type sight struct {
	w     *Watcher
	epoch uint64
	scan  uint64
	dirty dirtySet // reported names; given back if the snapshot is not committed
	added bool     // new watches were added
}

// begin is a sight for a snapshot of the directory root; nil: the watcher is of no use for it.
func (w *Watcher) begin(root worktreefs.Stat) *sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fileIDOf(root)
	if w.fs != nil && id != w.rootID {
		w.fail(w.epoch, "another directory took its place")
	}
	w.sync()
	if w.fs == nil {
		if w.closed || w.now().Before(w.retry) {
			return nil
		}
		if err := w.start(id); err != nil {
			w.postpone(err.Error())
			return nil
		}
	}
	w.scans++
	g := &sight{w: w, epoch: w.epoch, scan: w.scans, dirty: w.pending}
	w.pending, w.names = dirtySet{}, 0
	return g
}

// watch watches a directory that is open and will be listed. false: changes in it will not be reported.
func (g *sight) watch(path string, id fileID) bool {
	if g == nil {
		return true
	}
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if g.w.epoch != g.epoch || g.w.fs == nil {
		return true // the life is over: end will say so
	}
	before := g.w.watches
	ok := g.w.add(path, id, g.scan)
	g.added = g.added || g.w.watches != before
	return ok
}

// drop ends the watches below a path that another entry may have now.
func (g *sight) drop(path string) {
	if g == nil {
		return
	}
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if g.w.epoch == g.epoch && g.w.fs != nil {
		g.w.drop(path)
		g.added = true
	}
}

// end reports whether all that changed since begin was or will be reported. full: the snapshot entered the whole tree.
func (g *sight) end(full bool) bool {
	w := g.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch != g.epoch || w.fs == nil {
		return false
	}
	if (full || g.added) && !w.sync() {
		return false
	}
	if full {
		w.sweep(g.scan)
	}
	if w.epoch != g.epoch || w.fs == nil {
		return false
	}
	if full && !w.armed {
		w.armed, w.reason, w.since = true, "", w.now()
	}
	return true
}

// sweep ends the watches of directories that the full scan did not enter. They count as changed, since that scan may
// not be the one that is committed. mu is held.
func (w *Watcher) sweep(scan uint64) {
	var left []string
	w.dirs.each("", func(path string, d *watchDir) {
		if d.scan != scan {
			left = append(left, path)
		}
	})
	w.forget(left)
}

// forget ends watches, and has the next snapshot scan their directories.
func (w *Watcher) forget(paths []string) {
	if w.fs == nil {
		return
	}
	for _, path := range paths {
		w.drop(path)
		dir, name := tree.Split(path)
		w.addDirty(dir, name, moved)
	}
}

// restore gives the reports back to the watcher: the snapshot was not committed.
func (g *sight) restore() {
	if g == nil {
		return
	}
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if g.w.epoch != g.epoch || g.w.fs == nil {
		return
	}
	for dir, names := range g.dirty {
		for name, m := range names {
			g.w.addDirty(dir, name, m)
		}
	}
}

// missed counts changes that the watcher should have reported.
func (g *sight) missed(n int) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.w.missed += n
}

// reports are the names reported before the snapshot, and while it ran.
func (g *sight) reports() []dirtySet {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	now := dirtySet{}
	now.addAll(g.w.pending)
	return []dirtySet{g.dirty, now}
}
