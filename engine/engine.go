package engine

import (
	"context"
	"errors"
	"fmt"

	"rewind/engine/authorship"
	"rewind/engine/bisect"
	"rewind/engine/capture"
	"rewind/engine/compare"
	"rewind/engine/conversation"
	"rewind/engine/find"
	"rewind/engine/fsck"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/layout"
	"rewind/engine/ledger"
	"rewind/engine/manage"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/engine/secrets"
	"rewind/engine/sessions"
	"rewind/internal/kv"
	"rewind/internal/relay"
	"rewind/internal/value"
	"rewind/objstore"
)

// Engine is an open project, as one request sees it (View): its rooms, each with a view of the state that all requests
// share. A room reaches the rooms that stand before it here, and no other.
type Engine struct {
	Log       *oplog.Log
	Leaks     *secrets.Leaks
	Sessions  *sessions.Sessions
	Talks     *conversation.Conversations
	History   *history.History
	Ledger    *ledger.Ledger
	Finder    *find.Finder
	Comparer  *compare.Comparer
	Worktree  *capture.Worktree
	Bisector  *bisect.Bisector
	Authors   *authorship.Authors
	Layouts   *layout.Layouts
	Merger    *merge.Merger
	Restorer  *restore.Restorer
	Collector *gc.Collector
	Checker   *fsck.Checker
	Purger    *purge.Purger
	states    *states
}

// states is what all views of an open project share, by room; the log has its own in it.
type states struct {
	leaks     secrets.State
	ledger    ledger.State
	talks     conversation.State
	history   history.State
	finder    find.State
	worktree  *capture.State
	bisector  bisect.State
	restorer  restore.State
	collector gc.State
}

// Open opens the nearest project at or above dir. The errors a caller can act on: ErrNoProject, ErrStoreGone,
// kv.ErrBusy, kv.ErrNewerFormat, kv.ErrEarlierFormat, kv.ErrForeign, kv.ErrCorrupt.
func Open(ctx context.Context, home project.Home, dir string, o project.Options) (*Engine, error) {
	p, err := project.Find(ctx, home, dir, o.LockWait)
	if err != nil {
		return nil, err
	}
	return OpenProject(ctx, home, p, o)
}

// OpenProject opens a project that Find returned; errors as of Open.
func OpenProject(ctx context.Context, home project.Home, p *project.Project, o project.Options) (*Engine, error) {
	cfg, err := project.LoadConfig(home, p.Root)
	if err != nil {
		return nil, err
	}
	if o.KV.FS == nil && !project.IsStore(p.Store) { // kv would make one
		return nil, &value.OpError{Op: "open project", Subject: p.Root, Err: fmt.Errorf("%w: %s", model.ErrStoreGone, p.Store)}
	}
	if err := relay.CheckOwner(p.Store); err != nil {
		return nil, &value.OpError{Op: "open project", Subject: p.Root, Err: err}
	}
	db, err := kv.Open(ctx, p.Store, o.StoreOptions())
	if err != nil {
		return nil, &value.OpError{Op: "open project", Subject: p.Root, Err: err}
	}
	l := oplog.New(home, p, cfg, db, o)
	e := rooms(l, &states{worktree: capture.NewState(l)})
	if o.Salvage || db.Damage() != nil { // only to be read
		l.Remark()
		return e, nil
	}
	if err := l.RecordNotices(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	l.Remark()
	return e, nil
}

// rooms gives views of what st has, for who sees the project as l does.
func rooms(l *oplog.Log, st *states) *Engine {
	e := &Engine{Log: l, Leaks: secrets.New(l, &st.leaks), Ledger: ledger.New(l, &st.ledger), states: st}
	e.Sessions = sessions.New(l, e.Ledger)
	e.Talks = conversation.New(l, e.Sessions, &st.talks)
	e.Sessions.RefusedBy(conversation.Refused)
	e.History = history.New(l, e.Leaks, e.Sessions, e.Talks, e.Ledger, &st.history)
	e.Finder = find.New(l, e.Leaks, e.Sessions, e.History, &st.finder)
	e.Comparer = compare.New(l, e.Sessions, e.Talks, e.History)
	e.Worktree = capture.New(l, e.Leaks, e.Sessions, e.Talks, st.worktree)
	e.Bisector = bisect.New(l, e.History, e.Worktree, &st.bisector)
	e.Authors = authorship.New(l, e.Sessions, e.Worktree)
	e.Layouts = layout.New(l, e.History)
	e.Merger = merge.New(l, e.Sessions, e.History, e.Authors)
	manager := manage.New(l, e.Sessions, e.Talks, e.History)
	e.Restorer = restore.New(l, e.Leaks, e.Sessions, e.Talks, e.History, e.Worktree, e.Authors,
		e.Merger, manager, &st.restorer)
	e.Collector = gc.New(l, e.Ledger, e.History, hosts{e.Worktree, e.Bisector}, &st.collector)
	e.Checker = fsck.New(l, e.Ledger, e.Talks, e.Worktree)
	e.Purger = purge.New(l, e.Leaks, e.Talks, e.Worktree, e.Restorer)
	return e
}

// hosts are those who keep objects that no operation names.
type hosts []gc.Host

// Pinned implements gc.Host.
func (all hosts) Pinned(ref func(objstore.Kind, objstore.ID) error) error {
	for _, h := range all {
		if err := h.Pinned(ref); err != nil {
			return err
		}
	}
	return nil
}

// View gives one request its own sight of an open store: the project as Find has just settled it, the notices of this
// request alone, and the current settings. Views are independent of each other, cost nothing to drop, and end with the
// engine that they come from. Close is for that engine only. p must be of the same store.
func (e *Engine) View(ctx context.Context, p *project.Project, c project.Config) (*Engine, error) {
	l := e.Log.View(p, c)
	if l.Damage() == nil {
		if err := l.RecordNotices(ctx); err != nil {
			return nil, err
		}
	}
	l.Remark()
	v := rooms(l, e.states)
	if told := model.AskerOf(ctx).Told; told != nil {
		v.Ledger.Tells(func(done, total int) {
			told(value.Progress{Phase: "reading the log", Files: done, Total: total})
		})
	}
	return v, nil
}

// Warning is what happened to the files of the store while it was open, without a loss; "": nothing.
func (e *Engine) Warning() string { return e.Log.DB.Warning() }

// Close waits for the events that are being handled and releases the store.
func (e *Engine) Close() error {
	return errors.Join(e.Worktree.Close(), e.Log.DB.Close())
}

// Project is the project that is open.
func (e *Engine) Project() project.Project { return e.Log.Project }
