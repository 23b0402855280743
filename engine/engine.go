package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"rewind/internal/clients"
	"rewind/internal/gitinfo"
	"rewind/internal/kv"
	"rewind/internal/relay"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree/snapshot"
)

// Options open an engine; the zero value is the default.
type Options struct {
	LockWait time.Duration    // how long to wait for another process that has the store open
	Salvage  bool             // open a damaged store, too, and only to read what can be read; Damage says what is wrong
	Now      func() time.Time // the clock, for people only
	KV       kv.Options       // for tests: file system, fatal handler
	Worktree func(worktreefs.Dir) worktreefs.Dir
}

func (o Options) kv() kv.Options {
	k := o.KV
	k.LockWait, k.Salvage = o.LockWait, o.Salvage
	return k
}

// Engine is an open project, as one request sees it (View).
type Engine struct {
	home    Home
	project Project
	config  Config
	db      *kv.DB
	objs    *objstore.Store
	refs    *refs.Refs
	now     func() time.Time
	wrap    func(worktreefs.Dir) worktreefs.Dir
	*shared
}

// shared is the state of an open store that all its views have in common: what changes after Open belongs here.
type shared struct {
	mu       sync.Mutex           // held by every change and every capture; guards what follows
	cache    *snapshot.Cache      // loaded by the first capture
	unsaved  *sketch              // objects of the tree that cache describes, which the store may lack; nil: it has them all
	git      gitinfo.Reader       // looks at the user's repository; needs no lock
	repo     *repository          // the user's repository as the last capture found it
	unread   unread               // what of it the last capture could not read
	whole    bool                 // no restore is unfinished, and none was begun since that was looked up
	noted    noted                // the note of the last capture that was recorded
	known    *head                // the newest state that the log knows; nil: not looked up yet
	sessions map[string]*Session  // agents' sessions by name; nil: not loaded yet
	seen     *recent              // events recorded lately; nil: not loaded yet
	watch    *watching            // nil: nobody watches
	followed map[string]*seenFile // session files as they were found last, by session
	origins  map[string]int64     // how long conversations were when it was looked for what they were made of, by session
	// turnEnded is the session whose turn ended since the whole tree was scanned last; "": none
	turnEnded string
	busy      atomic.Pointer[activity] // the capture under way; nil: none
	held      atomic.Int64             // since when hold has mu, unix nanoseconds; 0: it has not
	procs     *clients.Look            // at the processes, since then; nil: nobody has
	waiting   arrivals                 // events that wait for a capture
	taking    atomic.Bool              // whether somebody takes events in
	gaveWay   int                      // times in a row that a look at the whole tree was left off for an event
	scanned   scanned
	heard     sync.Map // names of sessions that are known to have a record
	lanes     sync.Map // names of sessions to that of the session whose subagent each is, or ""
	silent    sync.Map // names of sessions whose conversations this process has purged from: for who captures one outside of mu
	lately    lately
	tally     tally
	bare      bare
	grafts    atomic.Int32 // whether there are any
	gc        gcState
	leak      leakState
}

// Open opens the nearest project at or above dir. The errors a caller can act on: ErrNoProject, ErrStoreGone,
// kv.ErrBusy, kv.ErrNewerFormat, kv.ErrForeign, kv.ErrCorrupt.
func Open(ctx context.Context, home Home, dir string, o Options) (*Engine, error) {
	p, err := Find(ctx, home, dir, o.LockWait)
	if err != nil {
		return nil, err
	}
	return OpenProject(ctx, home, p, o)
}

// OpenProject opens a project that Find returned; errors as of Open.
func OpenProject(ctx context.Context, home Home, p *Project, o Options) (*Engine, error) {
	cfg, err := LoadConfig(home, p.Root)
	if err != nil {
		return nil, err
	}
	if o.KV.FS == nil && !isStore(p.Store) { // kv would make one
		return nil, fmt.Errorf("engine: open project %s: %w: %s", p.Root, ErrStoreGone, p.Store)
	}
	if err := relay.CheckOwner(p.Store); err != nil {
		return nil, fmt.Errorf("engine: open project %s: %w", p.Root, err)
	}
	db, err := kv.Open(ctx, p.Store, o.kv())
	if err != nil {
		return nil, fmt.Errorf("engine: open project %s: %w", p.Root, err)
	}
	e := &Engine{home: home, project: *p, config: cfg, db: db, objs: objstore.New(db), refs: refs.New(db), now: o.Now, wrap: o.Worktree, shared: &shared{}}
	e.waiting.taking = &e.taking
	if e.now == nil {
		e.now = time.Now
	}
	if o.Salvage || db.Damage() != nil { // only to be read
		e.remark()
		return e, nil
	}
	if err := e.recordNotices(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e.remark()
	return e, nil
}

// remark tells what was not believed; that is no event of the project's.
func (e *Engine) remark() {
	for _, p := range e.project.Passed {
		e.Notice(p.String() + "; 'rewind init' begins one of your own")
	}
	if why := e.config.Passed(); why != "" {
		e.Notice(why)
	}
}

// Damage is why the store can only be read; nil: it can be written.
func (e *Engine) Damage() error { return e.db.Damage() }

// Warning is what happened to the files of the store while it was open, without a loss; "": nothing.
func (e *Engine) Warning() string { return e.db.Warning() }

// Close waits for the events that are being handled and releases the store.
func (e *Engine) Close() error {
	e.waiting.idle.Wait()
	e.mu.Lock()
	err := e.unwatch()
	e.mu.Unlock()
	return errors.Join(err, e.db.Close())
}

// Project is the project that is open.
func (e *Engine) Project() Project { return e.project }

// recordNotices writes a move or copy into the log, so that it can be seen later what happened when.
func (e *Engine) recordNotices(ctx context.Context) error {
	for _, n := range e.project.Notices {
		kind := refs.KindMove
		if e.project.copied {
			kind = refs.KindCopy
		}
		if err := e.record(ctx, refs.Operation{Kind: kind, Message: n}); err != nil {
			return err
		}
	}
	return nil
}

// record appends an operation that brings no objects, and moves names with it, durably. op.Time is filled in.
func (e *Engine) record(ctx context.Context, op refs.Operation, updates ...refs.Update) error {
	op.Time = e.now().UnixMilli()
	tx := e.objs.Begin()
	_, err := e.refs.Commit(ctx, tx, kv.Durable, func(uint64) (refs.Operation, []refs.Update, error) { return op, updates, nil })
	if err != nil {
		tx.Discard()
	}
	return err
}

// root opens the working tree.
func (e *Engine) root() (worktreefs.Dir, error) {
	d, err := worktreefs.OpenRoot(e.project.Root)
	if err != nil {
		return nil, fmt.Errorf("engine: open worktree %s: %w", e.project.Root, err)
	}
	// It may have been unmounted, or another put in its place, since it was found: that is not what the project looks like now.
	if st, err := d.Stat(); err == nil && e.project.ino != 0 && (st.Ino != e.project.ino || st.Dev != e.project.dev) {
		return nil, errors.Join(&NotMountedError{e.project, "another one has taken its name"}, d.Close())
	}
	if e.wrap != nil {
		d = e.wrap(d)
	}
	return d, nil
}
