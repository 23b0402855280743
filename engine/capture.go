package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/internal/gitinfo"
	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

// Progress reports how far a capture or a restore has come; it is called from several goroutines.
type Progress func(files int, bytes int64)

// ruleFiles are the names of the ignore files in every directory; the second beats the first.
var ruleFiles = []string{".gitignore", ".rewindignore"}

// capture is a snapshot of the worktree, not yet committed.
type capture struct {
	tx     *objstore.Tx    // holds its objects; nil when it was taken to compare, not to store
	get    objstore.Getter // reads them
	res    *tree.Result
	cache  *tree.Cache
	forced bool
	git    GitHead
	note   objstore.ID
}

// discard drops what was not committed.
func (c *capture) discard() {
	c.cache.Discard()
	if c.tx != nil {
		c.tx.Discard()
	}
}

// rules is what decides what a snapshot takes.
type rules struct {
	dir     *ignore.Dir
	tracked tree.Tracked
	secret  func(path string) bool
	key     [32]byte
	git     GitHead
}

// captureOptions say what a snapshot is for.
type captureOptions struct {
	prev     objstore.ID // the tree of the last checkpoint, the source of delta bases
	force    []string    // captured whatever the rules say
	compare  bool        // nothing will be stored
	progress Progress
}

// capture snapshots the worktree. The caller commits or discards it.
func (e *Engine) capture(ctx context.Context, root worktreefs.Dir, o captureOptions) (*capture, error) {
	r, err := e.rules()
	if err != nil {
		return nil, err
	}
	if e.cache == nil {
		if e.cache, err = tree.LoadCache(e.db); err != nil {
			return nil, err
		}
	}
	c := &capture{cache: e.cache, forced: len(o.force) > 0, git: r.git}
	src := tree.Source{
		Root: root, Prev: o.prev, Cache: e.cache,
		Rules: r.dir, RuleFiles: ruleFiles, Tracked: r.tracked,
		SizeLimit: e.config.sizeLimit(), Secret: r.secret, StoreSecrets: e.config.storeSecrets(), SecretKey: r.key,
		Progress: o.progress, Now: e.now,
	}
	if c.forced {
		src.Force, src.ForceBelow = tree.ForcePaths(o.force)
	}
	if o.compare {
		s := newSketch(e.objs)
		src.Get, src.Put, c.get = s, s, s
	} else {
		c.tx = e.objs.Begin()
		src.Get, src.Put, c.get = c.tx, c.tx, c.tx
	}
	if c.res, err = tree.Snapshot(ctx, src); err == nil && !o.compare {
		c.note, err = e.putNote(c)
	}
	if err != nil {
		c.discard()
		return nil, fmt.Errorf("engine: capture %s: %w", e.project.Root, err)
	}
	return c, nil
}

func (e *Engine) putNote(c *capture) (objstore.ID, error) {
	raw, err := c.res.Note()
	if err != nil || raw == nil {
		return objstore.ID{}, err
	}
	return c.tx.Put(objstore.Note, raw, e.lastNote())
}

// lastNote is the note of the current checkpoint: the base of the next one.
func (e *Engine) lastNote() objstore.ID {
	cp, err := e.current()
	if err != nil || cp == nil {
		return objstore.ID{}
	}
	return cp.Note
}

// flushCache adds the stat cache to the capture's transaction; it goes in with the commit. A cache of a million files
// is more than one batch takes: the rest is written with later captures.
func (c *capture) flushCache() error {
	if c.forced {
		return nil // it knows paths that the next capture must not know
	}
	return c.cache.Flush(c.tx.Batch())
}

// committed says that the transaction was.
func (c *capture) committed() {
	if c.forced {
		c.cache.Discard()
	} else {
		c.cache.Committed()
	}
}

// rules reads the user's repository, the exclude files and the configuration.
func (e *Engine) rules() (*rules, error) {
	r := &rules{secret: ignore.Secrets(e.config.secretPatterns())}
	base := []ignore.File{{Path: ignore.BuiltinPath, Data: []byte(strings.Join(e.config.exclusions(), "\n") + "\n")}}
	opt := ignore.Options{}
	repo, err := gitinfo.Open(e.project.Root)
	switch {
	case errors.Is(err, gitinfo.ErrNoRepo):
	case err != nil:
		return nil, err
	default:
		files, fold, err := repo.Excludes()
		if err != nil { // as git does: what cannot be read excludes nothing, so more is captured, never less
			e.Notice(fmt.Sprintf("not every exclude file can be read: %v", err))
		}
		opt.FoldCase = fold
		for _, f := range files {
			base = append(base, ignore.File{Path: f.Path, Data: f.Data})
		}
		tracked, err := repo.Tracked()
		if err != nil {
			return nil, err
		}
		r.tracked = tracked
		head, err := repo.Head()
		if err != nil {
			return nil, err
		}
		r.git = GitHead{Commit: head.Commit, Branch: head.Branch}
	}
	r.dir = ignore.New(opt, base...)
	r.key, err = e.secretKey()
	return r, err
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
