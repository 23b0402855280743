package server

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/hooks"
	"rewind/refs"
	"rewind/server/ndjson"
)

// bells ring for those who listen to a project when its store was used. What happened is in the log, so nothing is kept
// for a listener, and one that is slow reads it later. Where nobody listens a ring is one atomic load. The zero bells
// are ready.
type bells struct {
	listeners atomic.Int32
	mu        sync.Mutex
	of        map[chan struct{}]string // the store's id
}

func (b *bells) ring(id string) {
	if b.listeners.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for bell, of := range b.of {
		if of != id {
			continue
		}
		select {
		case bell <- struct{}{}:
		default: // its listener has not looked since the last time
		}
	}
}

// listen gives a bell of a store, and what takes it away.
func (b *bells) listen(id string) (bell chan struct{}, stop func()) {
	bell = make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[chan struct{}]string{}
	}
	b.of[bell] = id
	b.listeners.Add(1)
	return bell, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.listeners.Add(-1)
		delete(b.of, bell)
	}
}

const (
	maxBehind  = 10_000                 // operations that a listener may be behind; one that is further begins anew
	eventBatch = 256                    // operations that are read at once; the store is let go before they are written
	eventWait  = time.Minute            // for a client to take them
	lastWait   = 500 * time.Millisecond // the same, when the daemon ends
	eventPause = 20 * time.Millisecond  // what happens in quick succession is looked at together
)

// listener is one who asked for the events of a project.
type listener struct {
	s       *server
	p       *project.Project
	at      uint64 // the operation up to which all was told
	started bool
	forks   map[string]model.Lineage // the forks that it knows of, by session
	failed  string                   // the failure that it knows of
}

// events answers with what happens in a project. The stream keeps the daemon from being idle; it is no work that the
// daemon's end waits for, but while it looks into the store.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	var req api.EventsRequest
	err := readRequest(r.Body, &req)
	l := listener{s: s}
	if err == nil && s.daemon == nil {
		err = model.Usagef("events come from the daemon, and none runs or is wanted here (REWIND_DAEMON=off)")
	}
	if err == nil {
		l.p, err = s.find(r.Context(), req.ProjectDir())
	}
	if err != nil {
		fail(ndjson.New(w), s.asked(r.Context(), req.ProjectDir(), err))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	out := http.NewResponseController(w)
	var ending sync.WaitGroup
	ending.Go(func() {
		select {
		case <-s.daemon.ended:
			cancel()
			_ = out.SetWriteDeadline(time.Now().Add(lastWait))
		case <-ctx.Done():
		}
	})
	defer ending.Wait()
	defer cancel()
	s.work.Stay()
	s.work.Done()
	defer func() {
		s.work.More()
		s.work.Leave()
	}()
	l.tell(ctx, w, out, req.Since)
}

// tell writes events until ctx ends or the client takes them no more.
func (l *listener) tell(ctx context.Context, w http.ResponseWriter, out *http.ResponseController, since *uint64) {
	bell, stop := l.s.bells.listen(l.p.ID)
	defer stop()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for {
		list, more, err := l.look(ctx, since)
		_ = out.SetWriteDeadline(time.Now().Add(eventWait)) // a client in this process has none
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			_ = enc.Encode(errorLine{tell(err)})
			return
		}
		for i := range list {
			if enc.Encode(&list[i]) != nil {
				return
			}
		}
		_ = out.Flush() // nor does that wait
		if more {
			continue
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(eventPause):
		case <-ctx.Done():
			return
		}
	}
}

// look reads what has happened, and whether there is more of it. Nothing is left open.
func (l *listener) look(ctx context.Context, since *uint64) (list []api.Event, more bool, err error) {
	if !l.s.work.Begin() {
		return nil, false, context.Canceled
	}
	defer l.s.work.Done()
	e, release, err := l.s.stores.Open(ctx, l.p, false) // without a ring
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = release() }() // the store is the daemon's
	last := e.Log.DB.LastSeq()
	sessions, err := e.Log.SessionRecords()
	if err != nil {
		return nil, false, err
	}
	if !l.started {
		l.at = last
		if since != nil {
			l.at = *since
		}
		list = append(list, api.Event{Event: api.EventReady, Since: l.at})
		l.forks = knownForks(e, sessions, since)
		l.started = true
	}
	if l.at > last || last-l.at > maxBehind {
		l.at = last
		list = append(list, api.Event{Event: api.EventReset, Since: last})
	}
	to := min(l.at+eventBatch, last)
	list = append(list, eventsBehind(e, l.at, to, sessions)...)
	l.at, more = to, to < last
	if more {
		return list, true, nil
	}
	for _, s := range sessions {
		if from, ok := foundFork(s); ok && !sameFork(l.forks[s.Name], from) {
			l.forks[s.Name] = from
			list = append(list, api.Event{Event: api.EventFork, Since: l.at, Session: s.Name, Fork: &from.Lineage})
		}
	}
	return l.lookHealth(list), false, nil
}

// lookHealth appends that something fails here, or does no more, where that is news.
func (l *listener) lookHealth(list []api.Event) []api.Event {
	switch d := l.s.degraded.get(l.p); {
	case d != nil && string(d.Error) != l.failed:
		l.failed = string(d.Error)
		return append(list, api.Event{Event: api.EventDegraded, Since: l.at, Degraded: d})
	case d == nil && l.failed != "":
		l.failed = ""
		return append(list, api.Event{Event: api.EventRecovered, Since: l.at})
	}
	return list
}

// foundFork is where a session comes from that an agent made of another.
func foundFork(s *model.Session) (model.Lineage, bool) {
	if s.Fork == nil || s.Fork.Kind != model.ByAgent || !s.Fork.Resolved() {
		return model.Lineage{}, false
	}
	return *s.Fork, true
}

func sameFork(a, b model.Lineage) bool {
	return a.Session == b.Session && a.Turn == b.Turn && a.Checkpoint == b.Checkpoint
}

// knownForks are the forks that a listener has heard of who has heard all up to an operation, or who begins now. A fork
// has no operation of its own: it is found after an event of its session, so one whose session had events since is
// told, perhaps again.
func knownForks(e *engine.Engine, sessions []*model.Session, since *uint64) map[string]model.Lineage {
	known, until := map[string]model.Lineage{}, time.Time{}
	if since != nil {
		if op, err := e.Log.Refs.Operation(*since); err == nil {
			until = time.UnixMilli(op.Time)
		}
	}
	for _, s := range sessions {
		if from, ok := foundFork(s); ok && (since == nil || s.Began <= *since && s.Last.Before(until)) {
			known[s.Name] = from
		}
	}
	return known
}

// eventsBehind are the events of the operations behind one, up to another. In the place of one that cannot be read
// stands a reset.
func eventsBehind(e *engine.Engine, from, to uint64, sessions []*model.Session) (list []api.Event) {
	began := map[uint64][]string{}
	for _, s := range sessions {
		if s.Began > from {
			began[s.Began] = append(began[s.Began], s.Name)
		}
	}
	for seq := from + 1; seq <= to; seq++ {
		op, err := e.Log.Refs.Operation(seq)
		if err != nil {
			list = append(list, api.Event{Event: api.EventReset, Since: seq})
			continue
		}
		told, first := operation(op), len(list)
		for _, name := range began[seq] {
			list = append(list, api.Event{Event: api.EventSession, Session: name})
		}
		for _, word := range eventsOf(op) {
			list = append(list, api.Event{Event: word})
		}
		for i := first; i < len(list); i++ {
			list[i].Operation, list[i].Since = &told, seq-1 // who has heard one of them hears all of them again
		}
		if len(list) > first {
			list[len(list)-1].Since = seq
		}
	}
	return list
}

// eventsOf are the events that an operation is.
func eventsOf(op *refs.Operation) (words []string) {
	switch op.Cause.Event {
	case model.EventWords[hooks.Prompt]:
		words = append(words, api.EventBegan)
	case model.EventWords[hooks.Stop], model.EventQuiet:
		defer func() { words = append(words, api.EventEnded) }() // behind its checkpoint
	}
	switch {
	case op.Kind == refs.KindEvent, op.Kind == refs.KindSafety, op.Kind == refs.KindThinned:
	case op.Kind == refs.KindFork, op.Kind == refs.KindImport: // it is the session
	case op.Kind.Undoes():
		words = append(words, api.EventUndone)
	case op.Kind == refs.KindSwitch:
		words = append(words, api.EventSwitched)
	case op.Kind.IsRestore():
		words = append(words, api.EventRestore)
	case op.Kind == refs.KindRename:
		words = append(words, api.EventRenamed)
	case op.Kind == refs.KindDelete:
		words = append(words, api.EventDeleted)
	case op.Kind == refs.KindPromote:
		words = append(words, api.EventPromoted)
	default:
		words = append(words, op.Kind.String())
	}
	return words
}
