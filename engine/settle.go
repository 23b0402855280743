package engine

import (
	"context"
	"slices"
	"time"

	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/transcript"
)

// EventScan is the cause of a checkpoint that a scan of the whole tree made, of changes that nothing had reported.
const EventScan = "scan"

// EventInterrupted is the cause of a checkpoint of what a call had done that ended without a word, as the next prompt found it.
const EventInterrupted = "interrupted"

// quietAfter is how long a turn without a running call, and its session file, must have been silent to have ended without saying so: an
// interrupt, an error of the model and a killed agent announce nothing in some agents.
const quietAfter = 30 * time.Second

// quietStop is the name of the stop that nobody announced.
const quietStop = "quiet"

// Settle does what an event leaves to be done when the agent does not wait any more: turns that ended without a word are ended, and after the
// end of a turn the whole tree is scanned, for what a watcher cannot see. again is when to call it next, unless an event comes before;
// 0: not at all.
func (e *Engine) Settle(ctx context.Context) (again time.Duration, err error) {
	quiet, again, err := e.quiet()
	if err != nil {
		return 0, err
	}
	for _, s := range quiet {
		if _, err := e.Handle(ctx, hooks.Event{Agent: s.Agent, Session: s.ID, Kind: hooks.Stop, Name: quietStop}, HandleOptions{Tier: e.config.HookTier()}); err != nil {
			return again, err
		}
	}
	look, err := e.lookWhole(ctx)
	if err != nil {
		return again, err
	}
	e.mu.Lock()
	e.flushRest(ctx)
	e.mu.Unlock()
	reply, err := e.replies(ctx)
	for _, soon := range []time.Duration{look, reply} {
		if soon > 0 && (again == 0 || soon < again) {
			again = soon
		}
	}
	return again, err
}

// lateReply is when after a session's newest event its file is looked at again: Claude Code writes the last reply of a turn up to 90 ms after its stop hook
// begins. The hook is answered at once; this completes the turn's end.
var lateReply = []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 350 * time.Millisecond, 750 * time.Millisecond, 1550 * time.Millisecond}

// replies captures what agents have written since their newest events, and says when to look again; 0: not because of that.
func (e *Engine) replies(ctx context.Context) (again time.Duration, err error) {
	e.mu.Lock()
	var grown, ended []string
	for name, s := range e.sessions {
		age := e.since(s.Last)
		if s.Transcript == "" || s.LaneOf != "" || !understood(s.Agent) || age < 0 || age > 2*quietAfter {
			continue
		}
		path, fi, err := lookAt(transcript.Agent(s.Agent), s.Transcript)
		if err != nil {
			continue // no place of a session file: its event has said so
		}
		if fi != nil && !e.followed[name].same(s.Cursor.Mark, path, fi) {
			grown = append(grown, name)
		}
		if !s.Busy {
			ended = append(ended, name)
		}
		for _, at := range lateReply {
			if left := at - age; left > 0 && !s.Busy && !s.Ended {
				if again == 0 || left < again {
					again = left
				}
				break
			}
		}
	}
	e.mu.Unlock()
	for _, name := range grown {
		if err := e.caughtUp(ctx, name); err != nil {
			e.cannotFollow(name, err)
		}
	}
	for _, name := range slices.Concat(grown, ended) {
		e.placeLate(ctx, name)
	}
	for _, name := range ended {
		if err := e.stillWhole(ctx, name); err != nil {
			e.cannotFollow(name, err)
		}
	}
	return again, nil
}

// cannotFollow notes why a conversation is not captured; it stands in the session's record from its next event on.
func (e *Engine) cannotFollow(name string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.sessions[name]; s != nil && problem(err) != "" {
		noted := *s
		noted.Problem = problem(err)
		e.sessions[name] = &noted
	}
}

// quiet lists the sessions whose turn has ended without a word, and says when the next one could have.
func (e *Engine) quiet() (ended []Session, again time.Duration, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.loadSessions(); err != nil {
		return nil, 0, err
	}
	for _, s := range e.sessions {
		if !s.Busy || slices.ContainsFunc(s.Calls, func(c Call) bool { return c.ID != turnCall }) {
			continue
		}
		silent := e.now().Sub(s.Last)
		if fi, err := statSession(s); err == nil {
			silent = min(silent, e.now().Sub(fi.ModTime()))
		}
		if silent >= quietAfter {
			ended = append(ended, *s)
		} else if left := quietAfter - max(silent, 0); again == 0 || left < again {
			again = left
		}
	}
	return ended, again, nil
}

// rescan looks at the whole tree if a turn has ended since it did so last. The caller holds the engine.
func (e *Engine) rescan(ctx context.Context) error {
	session := e.turnEnded
	if session == "" {
		return nil
	}
	if err := e.checkWhole(); err != nil {
		return err
	}
	root, err := e.root()
	if err != nil {
		return err
	}
	defer root.Close()
	was, err := e.head()
	if err != nil {
		return err
	}
	c, err := e.capture(ctx, root, captureOptions{full: true})
	if err != nil {
		return err
	}
	if err := c.flushCache(); err != nil {
		c.discard()
		return err
	}
	same, err := e.same(was, c)
	if err != nil {
		c.discard()
		return err
	}
	e.turnEnded = ""
	if same {
		return c.keepCache(ctx)
	}
	cur, err := e.current(session)
	if err != nil {
		c.discard()
		return err
	}
	_, err = e.commitStep(ctx, c, kv.Written, session, cur, Cause{Event: EventScan}, nil)
	return err
}
