package capture

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// HandleOptions say how an event came.
type HandleOptions struct {
	ID   uint64      // random, the same when the event is sent again: it is recorded once; 0: unknown
	Late func() bool // reports, when the capture is about to be committed, whether the agent has been answered already; nil: it waits
	Long func()      // is called when work begins that takes longer than an agent is to wait; nil: it waits
	Tier hooks.Tier
	// Of a session whose prompts another project hears, or nobody: the turn that the event is of, as that one counts.
	// 0: it does not say. Recount: then the session's file is asked.
	Turn    uint64
	Recount bool
}

// Handled is what an event led to.
type Handled struct {
	Recorded   bool        // the event is in the log
	Checkpoint objstore.ID // the checkpoint that holds the state at the event; zero: no capture was asked for
	New        bool        // that checkpoint was made by this event
	Late       bool        // the new checkpoint is flagged late
	Turn       uint64      // of the session, in which the event was
	Elsewhere  []string    // directories with files that the call names, which may be another project's
}

// Handle takes an agent's event in: it captures the worktree where the event calls for it, adds a checkpoint to the
// session's branch when something changed, and records the event. It is written, not fsynced, when Handle returns. Safe
// for concurrent use: events that wait for each other share one capture, which began after all of them had come. When
// ctx ends Handle may return before the event has been taken in.
func (wt *Worktree) Handle(ctx context.Context, ev hooks.Event, o HandleOptions) (*Handled, error) {
	if act := hooks.Decide(ev); !act.Record {
		return &Handled{}, nil
	}
	ev, worker, err := wt.inLane(ev)
	if err != nil {
		return &Handled{}, err
	}
	a := &Pending{
		Worktree: wt, Event: ev, Options: o, Act: hooks.Decide(ev), Name: model.SessionName(ev), worker: worker,
		Done: make(chan struct{}),
	}
	known, err := wt.knows(a.Name)
	if err == nil && !known && !endsSomething(ev) {
		var done func()
		known, done, err = wt.firstOf(ctx, a.Name, o.Long)
		defer done()
	}
	if err != nil || !known && endsSomething(ev) {
		return &Handled{}, err
	}
	a.count(known)
	if wt.Waiting.add(a) {
		wt.Waiting.lead(context.WithoutCancel(ctx))
	}
	select {
	case <-a.Done:
		return &a.res, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// count finds out what the event's session had before, where that is not known, and which turn the event is of.
func (a *Pending) count(known bool) {
	o := &a.Options
	if !known || o.Recount && o.Turn == 0 {
		a.turns, a.from = a.Worktree.begunBefore(a.Event, o.Long)
	}
	if o.Recount {
		o.Turn = cmp.Or(o.Turn, a.turns)
	}
}

// Knows reports whether the log has had an event of the event's session.
func (wt *Worktree) Knows(ev hooks.Event) (bool, error) { return wt.knows(model.SessionName(ev)) }

// knows is Knows by a session's name. It takes the log's lock only until a session is known: an event that waited here
// would share no capture.
func (wt *Worktree) knows(session string) (bool, error) {
	if wt.log.Session(session) != nil {
		return true, nil
	}
	wt.log.Lock()
	defer wt.log.Unlock()
	err := wt.log.LoadSessions()
	return wt.log.Session(session) != nil, err
}

// firstOf takes the events of a session that is not known yet one after the other, in the order in which they came. An
// agent may go on while the turns of its file are still counted. It returns when it is this event's turn; done is to be
// called when the event is taken in. long is called when it waits for longer than an agent is to wait; nil: nobody
// asks.
func (wt *Worktree) firstOf(ctx context.Context, session string, long func()) (known bool, done func(), err error) {
	mine := make(chan struct{})
	before, others := wt.begun.Swap(session, mine)
	done = func() {
		wt.begun.CompareAndDelete(session, mine)
		close(mine)
	}
	if others {
		const soon = 5 * time.Millisecond
		late := time.NewTimer(soon)
		defer late.Stop()
		for waiting := true; waiting; {
			select {
			case <-before.(chan struct{}):
				waiting = false
			case <-late.C:
				if long != nil {
					long()
				}
			case <-ctx.Done():
				return false, done, ctx.Err()
			}
		}
	}
	known, err = wt.knows(session)
	return known, done, err
}

// endsSomething reports whether an event is of a subagent or the end of a session. As the first event of a session it
// is ignored: some agents begin with subagents of their own under an id that never comes again.
func endsSomething(ev hooks.Event) bool {
	return ev.Kind == hooks.SubagentStart || ev.Kind == hooks.SubagentStop || ev.Kind == hooks.SessionEnd
}

// Pending is an event that waits for a batch.
type Pending struct {
	Worktree *Worktree
	Event    hooks.Event
	Options  HandleOptions
	Act      hooks.Action
	Name     string // of its session
	// worker is the session of the event's own, where its agent gives a subagent one; "": none.
	worker string
	// turns is how many turns a session had before its first event. It is counted before the log's lock is taken, so
	// that no other session's event waits for it.
	turns  uint64
	from   *model.Lineage // the session that this one continues under a new id; nil: none
	inside []string       // the files that the call names, by paths from the project's root
	// outside are those that it names outside of the project, edits what it has changed and no checkpoint has.
	outside []string
	edits   []model.Edit
	turn    uint64 // the event's turn, with its prompt
	prompt  string
	at      objstore.ID // the checkpoint that the event found, if not the newest state's
	Done    chan struct{}
	res     Handled
	err     error
}

// queue collects events while a capture is under way; the next capture is for all of them.
type queue struct {
	mu     sync.Mutex
	events []*Pending
	log    *oplog.Log // is told that a leader is at work: gc and the search for secrets stand back
	yield  func()     // ends preemptible work; nil: none is under way
	idle   sync.WaitGroup
}

// add appends an event and preempts what can be. lead: nobody takes events in, so the caller must.
func (w *queue) add(a *Pending) (lead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, a)
	if w.yield != nil {
		w.yield()
	}
	if w.log.TakeIn(true) {
		return false
	}
	w.idle.Add(1)
	return true
}

// lead takes in the events of the queue, the leader's own among them, in the leader's goroutine: to wake another one
// costs as much as a small capture. What comes meanwhile a goroutine drains.
func (w *queue) lead(ctx context.Context) {
	batch := w.next()
	batch[0].Worktree.handleQueued(ctx, w, batch)
	if batch = w.next(); batch != nil {
		go w.drain(ctx, batch)
	} else {
		w.idle.Done()
	}
}

// drain takes in batch, and then what has come, until the queue is empty.
func (w *queue) drain(ctx context.Context, batch []*Pending) {
	for ; batch != nil; batch = w.next() {
		batch[0].Worktree.handleQueued(ctx, w, batch)
	}
	w.idle.Done()
}

// next takes the events out of the queue; nil: there are none, and nobody leads any more.
func (w *queue) next() []*Pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := w.events
	w.events = nil
	w.log.TakeIn(len(pending) > 0)
	return pending
}

// handleQueued takes in pending, and what comes until it has the log's lock, as one batch, and answers all.
func (wt *Worktree) handleQueued(ctx context.Context, w *queue, pending []*Pending) {
	wt.log.Lock()
	var err error
	defer func() {
		if p := recover(); p != nil { // no request has this goroutine: a panic would end the daemon
			err = fmt.Errorf("handle: internal error: %v\n%s", p, debug.Stack())
		}
		wt.log.Unlock()
		for _, a := range pending {
			a.err = err
			close(a.Done)
		}
	}()
	w.mu.Lock()
	pending = append(pending, w.events...)
	w.events = nil
	w.mu.Unlock()
	err = wt.HandleBatch(ctx, pending)
}

// HandleBatch takes in a batch of events with one look at the worktree; the log's lock is held.
func (wt *Worktree) HandleBatch(ctx context.Context, pending []*Pending) error {
	if err := wt.log.CheckWhole(); err != nil {
		return err
	}
	if err := wt.log.LoadSessions(); err != nil {
		return err
	}
	if err := wt.LoadSeen(); err != nil {
		return err
	}
	in := &batch{wt: wt, sessions: map[string]*model.Session{}, ids: map[uint64]*Handled{}}
	for _, a := range pending {
		if a.Options.ID != 0 && in.repeated(a) {
			continue
		}
		in.events = append(in.events, a)
	}
	if len(in.events) == 0 {
		return nil
	}
	return in.run(ctx)
}

// LoadSeen reads from the log which events were recorded lately: a daemon may have died before it could answer one. The
// log's lock is held.
func (wt *Worktree) LoadSeen() error {
	if wt.seen != nil {
		return nil
	}
	seen, n := &oplog.Recent{Ids: map[uint64]objstore.ID{}}, 0
	err := wt.log.Refs.Newest(0, func(op *refs.Operation) error {
		if n++; n > oplog.RecentEvents/4 {
			return kv.ErrStop
		}
		seen.Add(op.EventID, op.Checkpoint)
		return nil
	})
	if err == nil {
		wt.seen = seen
	}
	return err
}
