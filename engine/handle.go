package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"rewind/hooks"
	"rewind/internal/bug"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// HandleOptions say how an event came.
type HandleOptions struct {
	ID   uint64      // random, the same when the event is sent again: it is recorded once; 0: unknown
	Late func() bool // reports, when the capture is about to be committed, whether the agent has been answered already; nil: it waits
	Tier hooks.Tier
}

// Handled is what an event led to.
type Handled struct {
	Recorded   bool        // it is in the log
	Checkpoint objstore.ID // the checkpoint that holds the state at the event; zero: no capture was asked for
	New        bool        // that checkpoint was made by this event
	Late       bool        // and flagged
	Elsewhere  []string    // directories that are another project's, or may be, and hold files that the call names
}

// Handle takes an agent's event in: it captures the worktree where the event calls for it, adds a checkpoint to the session's branch when
// something changed, and records the event. It is written, not fsynced, when Handle returns. Safe for concurrent use: events that wait for
// each other share one capture, which began after all of them had come. When ctx ends Handle may return before the event has been taken in.
func (e *Engine) Handle(ctx context.Context, ev hooks.Event, o HandleOptions) (*Handled, error) {
	if act := hooks.Decide(ev); !act.Record {
		return &Handled{}, nil
	}
	ev, worker, err := e.inLane(ev)
	if err != nil {
		return &Handled{}, err
	}
	a := &arrival{e: e, ev: ev, o: o, act: hooks.Decide(ev), name: sessionName(ev), worker: worker, done: make(chan struct{})}
	known, err := e.knows(a.name)
	if err != nil || !known && endsSomething(ev) {
		return &Handled{}, err
	}
	if !known {
		a.turns, a.from = e.begunBefore(ev)
	}
	if e.waiting.add(a) {
		e.waiting.lead(context.WithoutCancel(ctx))
	}
	select {
	case <-a.done:
		return &a.res, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Knows reports whether anything has been heard of an event's session.
func (e *Engine) Knows(ev hooks.Event) (bool, error) { return e.knows(sessionName(ev)) }

// knows reports whether anything has been heard of a session. Of one that has been, only the first call waits for a capture: events that wait here
// would not share one.
func (e *Engine) knows(session string) (bool, error) {
	if _, ok := e.heard.Load(session); ok {
		return true, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.loadSessions(); err != nil || e.sessions[session] == nil {
		return false, err
	}
	e.heard.Store(session, true)
	return true, nil
}

// endsSomething reports whether an event speaks of the end of something. In a session that nothing has been heard of it is none of ours: some agents begin
// with subagents of their own under an id that never comes again.
func endsSomething(ev hooks.Event) bool {
	return ev.Kind == hooks.SubagentStart || ev.Kind == hooks.SubagentStop || ev.Kind == hooks.SessionEnd
}

// arrival is an event that waits to be taken in.
type arrival struct {
	e    *Engine
	ev   hooks.Event
	o    HandleOptions
	act  hooks.Action
	name string // of its session
	// worker is the session that its agent gives it, where that is a subagent; "": it is no such one's.
	worker string
	// turns is how many turns a session that nothing had been heard of has had. It is counted while nobody waits but the agent whose session it is.
	turns  uint64
	from   *Lineage // the session that it goes on from under a new id; nil: none
	turn   uint64   // that it is of, and the prompt of that
	prompt string
	at     objstore.ID // the state that it stands for, where that is not the newest
	done   chan struct{}
	res    Handled
	err    error
}

// arrivals collects events while a capture is under way; the next capture is for all of them.
type arrivals struct {
	mu     sync.Mutex
	events []*arrival
	taking *atomic.Bool // somebody takes events in; gc and the search for secrets stand back then
	yield  func()       // leaves off what an event need not wait for; nil: nothing of that kind is under way
	idle   sync.WaitGroup
}

// add says whether the caller has to lead: nobody takes events in at the moment.
func (w *arrivals) add(a *arrival) (lead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, a)
	if w.yield != nil {
		w.yield()
	}
	if w.taking.Swap(true) {
		return false
	}
	w.idle.Add(1)
	return true
}

// lead takes in what has come, the leader's own event among it, in the leader's goroutine, since to wake another costs as much as a small capture.
// What comes meanwhile is another's.
func (w *arrivals) lead(ctx context.Context) {
	batch := w.next()
	batch[0].e.takeIn(ctx, w, batch)
	if batch = w.next(); batch != nil {
		go w.follow(ctx, batch)
	} else {
		w.idle.Done()
	}
}

// follow takes in what came while the leader was at work, and what comes then.
func (w *arrivals) follow(ctx context.Context, batch []*arrival) {
	for ; batch != nil; batch = w.next() {
		batch[0].e.takeIn(ctx, w, batch)
	}
	w.idle.Done()
}

// next gives the events that have come; nil, and nobody leads any more, when there are none.
func (w *arrivals) next() []*arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch := w.events
	w.events = nil
	w.taking.Store(len(batch) > 0)
	return batch
}

// takeIn takes in the batch, and what has arrived until it gets hold of the worktree.
func (e *Engine) takeIn(ctx context.Context, w *arrivals, batch []*arrival) {
	e.mu.Lock()
	var err error
	defer func() {
		if p := recover(); p != nil { // the goroutine is nobody's request: it would take the daemon with it
			err = fmt.Errorf("engine: handle: internal error: %v\n%s", p, debug.Stack())
		}
		e.mu.Unlock()
		for _, a := range batch {
			a.err = err
			close(a.done)
		}
	}()
	w.mu.Lock()
	batch = append(batch, w.events...)
	w.events = nil
	w.mu.Unlock()
	err = e.takeAll(ctx, batch)
}

func (e *Engine) takeAll(ctx context.Context, batch []*arrival) error {
	if err := e.checkWhole(); err != nil {
		return err
	}
	if err := e.loadSessions(); err != nil {
		return err
	}
	if err := e.loadSeen(); err != nil {
		return err
	}
	in := &intake{e: e, sessions: map[string]*Session{}, ids: map[uint64]*Handled{}}
	for _, a := range batch {
		if a.o.ID != 0 && !bug.Is("event-twice") && in.repeated(a) {
			continue
		}
		in.events = append(in.events, a)
	}
	if len(in.events) == 0 {
		return nil
	}
	return in.run(ctx)
}

// recent remembers the events that were recorded lately, by their ids.
type recent struct {
	ids  map[uint64]objstore.ID // to the checkpoint
	ring [recentEvents]uint64
	next int
}

// recentEvents is how many of them; an event is sent again within a second.
const recentEvents = 1024

func (r *recent) add(id uint64, cp objstore.ID) {
	if id == 0 {
		return
	}
	delete(r.ids, r.ring[r.next])
	r.ring[r.next], r.ids[id] = id, cp
	r.next = (r.next + 1) % len(r.ring)
}

// loadSeen reads what the log knows of recent events: the daemon that recorded one may have died before it could say so.
func (e *Engine) loadSeen() error {
	if e.seen != nil {
		return nil
	}
	seen, n := &recent{ids: map[uint64]objstore.ID{}}, 0
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		if n++; n > recentEvents/4 {
			return kv.ErrStop
		}
		seen.add(op.EventID, op.Checkpoint)
		return nil
	})
	if err == nil {
		e.seen = seen
	}
	return err
}

// eventWords are the words for events in causes; they are the words of the hooks' command lines.
var eventWords = map[hooks.Kind]string{
	hooks.SessionStart: "session-start", hooks.Prompt: "prompt", hooks.BeforeTool: "pre-tool-use", hooks.AfterTool: "post-tool-use",
	hooks.Stop: "stop", hooks.SubagentStart: "subagent-start", hooks.SubagentStop: "subagent-stop", hooks.Compact: "pre-compact",
	hooks.SessionEnd: "session-end",
}

// since is how long ago t was; less than zero for never.
func (e *Engine) since(t time.Time) time.Duration {
	if t.IsZero() {
		return -1
	}
	return e.now().Sub(t)
}
