package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/snapshot"
)

// Progress reports how far a capture or a restore has come; it is called from several goroutines.
type Progress func(files int, bytes int64)

// ruleFiles are the names of the ignore files in every directory; the second beats the first.
var ruleFiles = []string{".gitignore", ".rewindignore"}

// capture is a snapshot of the worktree, not yet committed.
type capture struct {
	of     *Engine
	tx     *objstore.Tx // holds its objects; nil when it was taken to compare, not to store
	get    *tree.Memo   // reads them
	res    *snapshot.Result
	cache  *snapshot.Cache
	forced bool
	git    GitHead
	note   objstore.ID

	session *Session // whose conversation was captured with it; nil: nobody's

	from    objstore.ID // what changes were asked for against
	changed []tree.Change
	whole   bool // changed are all of them
}

// maxChanges is how many changes a capture keeps; more, as in a first one, are worked out again.
const maxChanges = 4096

// changes calls fn for what differs between the tree was and the capture. The list is kept, for those who ask again.
func (c *capture) changes(was objstore.ID, fn func(tree.Change) error) error {
	if c.whole && c.from == was {
		for _, ch := range c.changed {
			if err := fn(ch); err != nil {
				return err
			}
		}
		return nil
	}
	c.from, c.changed, c.whole = was, nil, true
	return tree.Diff(c.get, was, c.res.Root, func(ch tree.Change) error {
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

// discard drops what was not committed.
func (c *capture) discard() {
	c.cache.Discard()
	if c.tx != nil {
		c.tx.Discard()
	}
}

// captureOptions say what a snapshot is for.
type captureOptions struct {
	full     bool       // look at every file, whatever the watcher says
	force    []string   // captured whatever the rules say
	compare  bool       // nothing will be stored
	hasty    bool       // an agent waits: what the watcher has not reported is not looked at again
	leaks    *leakJudge // nil: contents decide nothing
	progress Progress
}

// capture snapshots the worktree. The caller commits or discards it.
func (e *Engine) capture(ctx context.Context, root worktreefs.Dir, o captureOptions) (*capture, error) {
	r, err := e.rulesNow(o.hasty)
	if err != nil {
		return nil, err
	}
	was, err := e.head()
	if err != nil {
		return nil, err
	}
	if e.cache == nil {
		if e.cache, err = snapshot.LoadCache(e.db); err != nil {
			return nil, err
		}
	}
	now := &activity{since: e.now()}
	e.busy.Store(now)
	defer e.busy.Store(nil)
	progress := func(files int, bytes int64) {
		now.files.Store(int64(files))
		now.bytes.Store(bytes)
		if o.progress != nil {
			o.progress(files, bytes)
		}
	}
	c := &capture{of: e, cache: e.cache, forced: len(o.force) > 0, git: r.git}
	src := snapshot.Source{
		Root: root, Prev: was.tree, Cache: e.cache,
		Rules: r.dir, RuleFiles: ruleFiles, Tracked: r.tracked,
		SizeLimit: e.config.sizeLimit(), Secret: r.secret, StoreSecrets: e.config.storeSecrets(), SecretKey: r.key,
		Progress: progress,
	}
	if !o.compare || !o.full {
		src.Watcher, src.Generation, src.Full, src.Hasty = e.watcher(), r.generation, o.full, o.hasty
	}
	if o.leaks != nil {
		src.Leak = o.leaks.judge
	}
	if c.forced {
		src.Force, src.ForceBelow = snapshot.ForcePaths(o.force)
	}
	if o.compare {
		s := newSketch(e.objs, e.unsaved)
		src.Get, src.Put, c.get = s, s, tree.NewMemo(s)
	} else {
		c.tx = e.objs.Begin()
		src.Get, src.Put, c.get = c.tx, c.tx, tree.NewMemo(c.tx)
		err = e.unsaved.storeIn(c.tx)
	}
	if err == nil {
		c.res, err = snapshot.Take(ctx, src)
	}
	if err == nil && len(r.faults) > 0 {
		c.res.Skips = e.flag(c.res.Skips, r.faults)
		if !o.hasty {
			e.tellUnread(r.faults, was)
		}
	}
	if err == nil && !o.compare {
		c.note, err = e.putNote(c, was.note)
	}
	if err != nil {
		c.discard()
		return nil, fmt.Errorf("engine: capture %s: %w", e.project.Root, err)
	}
	return c, nil
}

// noted is a list of skips with the note that it is stored as. Snapshots that find the same share the list.
type noted struct {
	skips []tree.Skip
	id    objstore.ID
}

func (n noted) is(skips []tree.Skip) bool {
	return len(skips) > 0 && len(skips) == len(n.skips) && &skips[0] == &n.skips[0]
}

// putNote stores what was skipped; was is the newest note before.
func (e *Engine) putNote(c *capture, was objstore.ID) (objstore.ID, error) {
	if e.noted.id == was && e.noted.is(c.res.Skips) {
		return was, nil
	}
	raw, err := c.res.Note()
	if err != nil || raw == nil {
		return objstore.ID{}, err
	}
	return c.tx.Put(objstore.Note, raw, was)
}

// flushCache adds the stat cache to the capture's transaction; it goes in with the commit. A cache of a million files
// is more than one batch takes: the rest is written with later captures.
func (c *capture) flushCache() error {
	if c.forced {
		return nil // it knows paths that the next capture must not know
	}
	return c.cache.Flush(c.tx.Batch())
}

// keepCache commits a capture that found nothing new: only the stat cache is, and to lose it costs a second read of some files.
func (c *capture) keepCache(ctx context.Context) error {
	if err := c.tx.Commit(ctx, kv.Written); err != nil {
		c.discard()
		return err
	}
	c.committed()
	return nil
}

// committed says that the transaction was.
func (c *capture) committed() {
	if c.forced {
		c.cache.Discard()
	} else {
		c.cache.Committed()
		c.of.unsaved = nil
	}
}

// Notice adds something the user should know to what the command says.
func (e *Engine) Notice(text string) {
	if !slices.Contains(e.project.Notices, text) {
		e.project.Notices = append(e.project.Notices, text)
	}
}

// secretKey returns the key of secret-file hashes, made on first use. It never leaves the store, so a hash tells
// that a file changed and nothing about what is in it.
func (e *Engine) secretKey() (key [32]byte, err error) {
	name := []byte{kv.PrefixSecret}
	err = e.db.View(name, func(v []byte) error {
		if copy(key[:], v) != len(key) {
			return fmt.Errorf("engine: secret key: %w", kv.ErrCorrupt)
		}
		return nil
	})
	if !errors.Is(err, kv.ErrNotFound) {
		return key, err
	}
	_, _ = rand.Read(key[:]) // never fails: crypto/rand
	b := e.db.NewBatch()
	if err := b.Set(name, key[:]); err != nil {
		return key, err
	}
	return key, b.Commit(context.Background(), kv.Durable)
}
