package capture

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/snapshot"
)

// Capture is a snapshot of the worktree, not yet committed.
type Capture struct {
	of      *Worktree
	root    worktreefs.Dir
	Tx      *objstore.Tx // with the snapshot's objects; nil: it was taken to compare
	overlay *Overlay     // of one that was taken to compare: its objects
	Get     *tree.Memo   // reads the objects, stored or not
	Res     *snapshot.Result
	Cache   *snapshot.Cache
	forced  bool
	Git     model.GitHead
	note    objstore.ID
	Repo    bool            // there is a repository of the user's, be it broken
	named   *snapshot.Named // the paths that it looked at although a rule may leave them out
	viewed  objstore.ID     // see before; zero: nothing came into view

	session *model.Session // the session whose conversation was captured, too; nil: none

	from    objstore.ID // the tree that changed is a comparison with
	changed []tree.Change
	whole   bool // changed is complete
}

// maxChanges is how many changes a capture keeps; more, as in a first one, are worked out again.
const maxChanges = 4096

// Changes calls fn for what differs between the tree was and the capture. Up to maxChanges are kept for the next call
// with the same tree.
func (c *Capture) Changes(was objstore.ID, fn func(tree.Change) error) error {
	if c.whole && c.from == was {
		for _, ch := range c.changed {
			if err := fn(ch); err != nil {
				return err
			}
		}
		return nil
	}
	c.from, c.changed, c.whole = was, nil, true
	return tree.Diff(c.Get, was, c.Res.Root, func(ch tree.Change) error {
		if len(c.changed) < maxChanges {
			c.changed = append(c.changed, ch)
		} else {
			c.whole = false
		}
		err := fn(ch)
		c.whole = c.whole && err == nil
		return err
	})
}

// Putter takes what is made of the capture's trees: its transaction, or where it is only compared what is in memory.
func (c *Capture) Putter() objstore.Putter {
	if c.Tx != nil {
		return c.Tx
	}
	return c.overlay
}

// Discard ends a capture that is not committed.
func (c *Capture) Discard() {
	c.Cache.Discard()
	if c.Tx != nil {
		c.Tx.Discard()
	}
}

// Options say what a snapshot is for.
type Options struct {
	Full     bool       // look at every file, whatever the watcher says
	Force    []string   // paths to capture whatever the rules say
	Compare  bool       // the snapshot is only compared: nothing is stored
	named    []string   // more files to capture although a rule leaves them out, from now on
	hasty    bool       // an agent waits: files that the watcher has not reported are not read again
	leaks    *leakJudge // nil: contents decide nothing
	Progress model.Progress
}

// Capture takes a snapshot of the worktree through root. The caller commits or discards it. The log's lock is held.
func (wt *Worktree) Capture(ctx context.Context, root worktreefs.Dir, o Options) (*Capture, error) {
	r, err := wt.rulesNow(o.hasty)
	if err != nil {
		return nil, err
	}
	was, err := wt.log.Head()
	if err != nil {
		return nil, err
	}
	if wt.cache == nil {
		if wt.cache, err = snapshot.LoadCache(wt.log.DB); err != nil {
			return nil, err
		}
	}
	now := wt.Busy.Load()
	if now == nil {
		now = &activity{Since: wt.log.Now()}
		wt.Busy.Store(now)
		defer wt.Busy.Store(nil)
	}
	progress := func(files int, bytes int64) {
		now.Reach(value.Progress{Files: files, Bytes: bytes})
		if o.Progress != nil {
			o.Progress(files, bytes)
		}
	}
	named, err := wt.namedPaths()
	if err != nil {
		return nil, err
	}
	c := &Capture{
		of: wt, root: root, Cache: wt.cache, forced: len(o.Force) > 0, Git: r.git, Repo: r.repo, named: named.With(o.named),
	}
	src := wt.Source(root, r)
	src.Prev, src.Cache, src.Named, src.Progress = was.Tree, wt.cache, c.named, progress
	if !o.Compare || !o.Full {
		src.Watcher, src.Generation, src.Full, src.Hasty = wt.watcher(), r.generation, o.Full, o.hasty
	}
	if o.leaks != nil {
		src.Leak = o.leaks.judge
	}
	if c.forced {
		src.Force, src.ForceBelow = snapshot.ForcePaths(o.Force)
	}
	if o.Compare {
		s := NewOverlay(wt.log.Objs, wt.Unsaved)
		src.Get, src.Put, c.Get, c.overlay = s, s, tree.NewMemo(s), s
	} else {
		c.Tx = wt.log.Objs.Begin()
		src.Get, src.Put, c.Get = c.Tx, c.Tx, tree.NewMemo(c.Tx)
		err = wt.Unsaved.storeIn(c.Tx)
	}
	if err == nil {
		c.Res, err = snapshot.Take(ctx, src)
	}
	if err == nil && len(r.faults) > 0 {
		c.Res.Skips = wt.flag(c.Res.Skips, r.faults)
		if !o.hasty {
			wt.noticeUnread(r.faults, was)
		}
	}
	if err == nil && !o.Compare {
		c.note, err = wt.putNote(c, was.Note)
	}
	if err != nil {
		c.Discard()
		return nil, &value.OpError{Op: "capture", Subject: wt.log.Project.Root, Err: err}
	}
	return c, nil
}

// putNote stores the note of what was skipped; was is the id of the newest note before, for the delta.
func (wt *Worktree) putNote(c *Capture, was objstore.ID) (objstore.ID, error) {
	if noted := wt.log.Noted(); noted.Is(c.Res.Skips) {
		return noted.Id, nil
	}
	raw, err := c.Res.Note()
	if err != nil || raw == nil {
		return objstore.ID{}, err
	}
	return c.Tx.Put(objstore.Note, raw, was)
}

// FlushCache adds the stat cache to the capture's transaction; it goes in with the commit. A cache of a million files
// is more than one batch takes: the rest is written with later captures.
func (c *Capture) FlushCache() error {
	if c.forced {
		return nil // the cache has paths that only Force let in
	}
	return c.Cache.Flush(c.Tx.Batch())
}

// checkRoot is the last look before a commit: the project's path still leads to the directory that was captured.
func (c *Capture) checkRoot() error { return c.of.log.CheckRoot(c.root) }

// keepCache commits a capture that found nothing new, of which only the stat cache is worth keeping.
func (c *Capture) keepCache(ctx context.Context) error {
	if err := c.checkRoot(); err != nil {
		c.Discard()
		return err
	}
	if err := c.Tx.Commit(ctx, kv.Written); err != nil {
		c.Discard()
		return err
	}
	c.committed()
	return nil
}

// committed tells the stat cache that the capture's transaction was committed.
func (c *Capture) committed() {
	c.of.named, c.of.repoSeen = c.named, repoNone
	if c.Repo {
		c.of.repoSeen = repoThere
	}
	if c.forced {
		c.Cache.Discard()
	} else {
		c.Cache.Committed()
		c.of.Unsaved = nil
	}
}

// secretKey returns the key of secret-file hashes, made on first use. It never leaves the store, so a hash tells
// that a file changed and nothing about what is in it.
func (wt *Worktree) secretKey() (key [32]byte, err error) {
	name := []byte{kv.PrefixSecret}
	err = wt.log.DB.View(name, func(v []byte) error {
		if copy(key[:], v) != len(key) {
			return fmt.Errorf("secret key: %w", kv.ErrCorrupt)
		}
		return nil
	})
	if !errors.Is(err, kv.ErrNotFound) {
		return key, err
	}
	_, _ = rand.Read(key[:]) // never fails: crypto/rand
	b := wt.log.DB.NewBatch()
	if err := b.Set(name, key[:]); err != nil {
		return key, err
	}
	return key, b.Commit(context.Background(), kv.Durable)
}
