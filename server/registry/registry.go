// Package registry keeps the engines of the daemon: one for each store, opened once however many ask for it at the same
// time, closed when nobody has asked for a while. A store that was deleted, replaced or moved is closed and never made
// again.
//
// A store is opened by a goroutine of nobody's request, so that nobody's end interrupts it; a request gets a view of
// the engine (engine.Engine.View) and gives it back. A resident that does not fit any more is retired: nobody joins it,
// its last user closes it, and the next open waits for that.
package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/project"
	"rewind/internal/kv"
)

// Registry is the engines that are open. Safe for concurrent use.
type Registry struct {
	home    project.Home
	o       project.Options
	keep    time.Duration // how long an engine stays open that nobody uses
	Watch   bool          // have their worktrees watched
	failed  func(error)   // told what a close or a watch found wrong
	configs *project.Configs

	opens  context.Context // ended by End: whoever waits for another process's store gives up
	giveUp context.CancelFunc

	mu     sync.Mutex
	stores map[string]*resident // by store id
	ending bool                 // nothing is opened any more
	closed bool                 // nor joined
}

// resident is a store that is open, or being opened or closed. While it is in the registry nobody else opens the store.
type resident struct {
	project project.Project
	salvage bool
	ready   chan struct{} // closed when e or err is set
	e       *engine.Engine
	err     error
	stamp   project.StoreStamp
	closed  chan struct{} // closed when the store has been let go

	// Guarded by registry.mu.
	users   int
	retired bool // closes when the last user has left; nobody joins
	idle    *time.Timer
}

// ErrEnding says that a store was not opened, because the daemon ends: whoever asked finds it in the next daemon.
var ErrEnding = fmt.Errorf("the daemon is ending: %w", kv.ErrBusy)

// New returns a registry without engines, for the projects of a home: o is for each that is opened, keep for how long
// one stays open that nobody uses. failed is told what goes wrong that is nobody's request, by any goroutine.
func New(
	home project.Home, o project.Options, keep time.Duration, configs *project.Configs, failed func(error),
) *Registry {
	g := &Registry{home: home, o: o, keep: keep, configs: configs, failed: failed, stores: map[string]*resident{}}
	g.opens, g.giveUp = context.WithCancel(context.Background())
	return g
}

// Open gives one request its engine, and what lets go of it. salvage: a damaged store is opened, too, only to be read.
// p is as Find returned it for this request.
func (g *Registry) Open(ctx context.Context, p *project.Project, salvage bool) (*engine.Engine, func() error, error) {
	for {
		r, err := g.join(ctx, p, salvage)
		if err != nil {
			return nil, nil, err
		}
		select {
		case <-r.ready:
		case <-ctx.Done():
			g.leave(r)
			return nil, nil, ctx.Err()
		}
		if r.err != nil {
			g.leave(r)
			if wrote := !r.salvage; wrote && salvage && errors.Is(r.err, kv.ErrCorrupt) {
				continue // who opened it wanted to write
			}
			return nil, nil, r.err
		}
		if !r.fits(p, salvage) {
			g.retire(r)
			g.leave(r)
			continue
		}
		v, err := g.view(ctx, r, p)
		if err != nil {
			g.leave(r)
			return nil, nil, err
		}
		return v, func() error { g.leave(r); return nil }, nil
	}
}

// view fills in what belongs to this request alone.
func (g *Registry) view(ctx context.Context, r *resident, p *project.Project) (*engine.Engine, error) {
	c, err := g.configs.Load(g.home, p.Root)
	if err != nil {
		return nil, err
	}
	return r.e.View(ctx, p, c)
}

// fits reports whether an engine that is open is the one for p.
func (r *resident) fits(p *project.Project, salvage bool) bool {
	same := r.project.Root == p.Root && r.project.Store == p.Store && r.stamp.Same(p)
	return same && (salvage || !r.salvage)
}

// join makes the caller a user of the store's resident, and begins to open one where there is none. It waits for one
// that is being closed.
func (g *Registry) join(ctx context.Context, p *project.Project, salvage bool) (*resident, error) {
	for {
		g.mu.Lock()
		r := g.stores[p.ID]
		if g.closed || g.ending && r == nil {
			g.mu.Unlock()
			return nil, ErrEnding
		}
		if r == nil {
			r = &resident{project: *p, salvage: salvage, ready: make(chan struct{}), closed: make(chan struct{})}
			r.project.Notices = nil // recorded by the view of the request that found them
			g.stores[p.ID] = r
			r.users = 2 // the caller and the opening
			go g.load(context.WithoutCancel(ctx), r)
			g.mu.Unlock()
			return r, nil
		}
		if !r.retired {
			r.users++
			if r.idle != nil {
				r.idle.Stop()
				r.idle = nil
			}
			g.mu.Unlock()
			return r, nil
		}
		g.mu.Unlock()
		select {
		case <-r.closed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// load opens for all who wait; it is nobody's request, so nobody's end interrupts it, but the daemon's: its successor
// may have the store.
func (g *Registry) load(ctx context.Context, r *resident) {
	defer g.leave(r)
	defer close(r.ready)
	defer func() { // the store is one thing, the daemon another
		if p := recover(); p != nil {
			r.err = fmt.Errorf("open project %s: %v", r.project.Root, p)
			g.retire(r)
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.opens, cancel)()
	o := g.o
	o.Salvage = r.salvage
	if r.stamp, r.err = project.StampStore(&r.project); r.err == nil {
		r.e, r.err = engine.OpenProject(ctx, g.home, &r.project, o)
	}
	if errors.Is(r.err, context.Canceled) {
		r.err = ErrEnding
	}
	// One that can only be read may be better the next time.
	if r.err != nil || r.e.Log.Damage() != nil {
		g.retire(r)
		return
	}
	if g.Watch {
		if err := r.e.Worktree.Watch(); err != nil && !errors.Is(err, capture.ErrNoWatcher) {
			g.failed(err) // every capture looks at every file then
		}
	}
}

func (g *Registry) retire(r *resident) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.retired = true
}

// leave gives up one use. Of the last one, the store is closed at once if it is retired, else after a while.
func (g *Registry) leave(r *resident) {
	g.mu.Lock()
	r.users--
	last := r.users == 0
	if last && !r.retired {
		r.idle = time.AfterFunc(g.keep, func() { g.expire(r) })
		last = false
	}
	g.mu.Unlock()
	if last {
		g.shut(r)
	}
}

func (g *Registry) expire(r *resident) {
	g.mu.Lock()
	last := r.users == 0 && !r.retired
	if last {
		r.retired = true
	}
	g.mu.Unlock()
	if last {
		g.shut(r)
	}
}

// shut closes a retired resident without users; it is called once for each.
func (g *Registry) shut(r *resident) {
	if r.e != nil {
		if r.e.Log.Damage() == nil {
			_ = r.e.FlushLog() // or the log keeps it
		}
		if err := r.e.Close(); err != nil {
			g.failed(err)
		}
	}
	g.mu.Lock()
	delete(g.stores, r.project.ID)
	g.mu.Unlock()
	close(r.closed)
}

// end retires what match names and returns what to wait for.
func (g *Registry) end(match func(*resident) bool) []*resident {
	g.mu.Lock()
	var ending, idle []*resident
	for _, r := range g.stores {
		if !match(r) {
			continue
		}
		ending = append(ending, r)
		if !r.retired && r.users == 0 {
			if r.idle != nil {
				r.idle.Stop()
			}
			idle = append(idle, r)
		}
		r.retired = true
	}
	g.mu.Unlock()
	for _, r := range idle {
		g.shut(r)
	}
	return ending
}

// Without runs fn while nothing here has the store in dir open.
func (g *Registry) Without(ctx context.Context, dir string, fn func() error) error {
	for _, r := range g.end(func(r *resident) bool { return dir != "" && r.project.Store == dir }) {
		select {
		case <-r.closed:
		case <-ctx.Done():
			return ctx.Err()
		}
		hold := &resident{project: r.project, retired: true, closed: make(chan struct{})}
		g.mu.Lock()
		// opened again already: fn waits for it as for another process, and says that it is busy
		_, taken := g.stores[r.project.ID]
		if !taken {
			g.stores[r.project.ID] = hold
		}
		g.mu.Unlock()
		if !taken {
			defer g.shut(hold)
		}
	}
	return fn()
}

// Sweep closes stores that are not where they were.
func (g *Registry) Sweep() {
	g.mu.Lock()
	var list []*resident
	for _, r := range g.stores {
		select {
		case <-r.ready:
			list = append(list, r)
		default:
		}
	}
	g.mu.Unlock()
	lost := map[*resident]bool{}
	for _, r := range list {
		lost[r] = !r.stamp.Same(&r.project)
	}
	g.end(func(r *resident) bool { return lost[r] })
}

// End begins the end: what is open serves on, nothing else is opened, and what waits for a store that another process
// has gives up with ErrEnding. That process may be the next daemon, which nobody asks to leave.
func (g *Registry) End() {
	g.mu.Lock()
	g.ending = true
	g.mu.Unlock()
	g.giveUp()
}

// Close ends all; later opens are refused. It waits for requests that have an engine until ctx ends.
func (g *Registry) Close(ctx context.Context) error {
	g.End()
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	var late error
	for _, r := range g.end(func(*resident) bool { return true }) {
		select {
		case <-r.closed:
		case <-ctx.Done():
			late = errors.New("a store is still in use")
		}
	}
	return late
}

// Count is how many stores are open.
func (g *Registry) Count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.stores)
}

// TrimCaches has the engines that are open give up what they can do without.
func (g *Registry) TrimCaches() { g.eachOpen((*engine.Engine).TrimCaches) }

// TrimBlocks has them give up the blocks of tables that they hold, but for the hottest. The system's cache has these
// files, too.
func (g *Registry) TrimBlocks() { g.eachOpen((*engine.Engine).TrimBlocks) }

// eachOpen calls fn for the engines that are open.
func (g *Registry) eachOpen(fn func(*engine.Engine)) {
	var open []*engine.Engine
	g.mu.Lock()
	for _, r := range g.stores {
		select {
		case <-r.ready:
			if r.e != nil {
				open = append(open, r.e)
			}
		default:
		}
	}
	g.mu.Unlock()
	for _, e := range open {
		fn(e)
	}
}
