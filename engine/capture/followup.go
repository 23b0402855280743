package capture

import (
	"context"
	"slices"
	"time"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/kv"
)

// eventInterrupted is the cause of a checkpoint with what an interrupted call had done, which the next prompt found.
const eventInterrupted = "interrupted"

// FollowUp does the rest of an event's work when the agent no longer waits. It ends turns that fell silent, and
// sessions whose program ended in the middle of a call. It captures late replies. After the end of a turn it scans the
// whole tree for changes that a watcher cannot see. again is when to call it next, unless an event comes before; 0: not
// at all.
func (wt *Worktree) FollowUp(ctx context.Context) (again time.Duration, err error) {
	quiet, again, err := wt.quiet()
	if err != nil {
		return 0, err
	}
	for _, s := range quiet {
		stop := hooks.Event{Agent: s.Agent, Session: s.ID, Kind: hooks.Stop, Name: model.EventQuiet}
		if _, err := wt.Handle(ctx, stop, HandleOptions{Tier: wt.log.Config.HookTier()}); err != nil {
			return again, err
		}
	}
	gone, err := wt.departed(ctx)
	if err != nil {
		return again, err
	}
	look, err := wt.ScanWhole(ctx)
	if err != nil {
		return again, err
	}
	wt.log.Lock()
	wt.flushRest(ctx)
	wt.log.Unlock()
	reply, err := wt.replies(ctx)
	for _, soon := range []time.Duration{gone, look, reply} {
		if soon > 0 && (again == 0 || soon < again) {
			again = soon
		}
	}
	return again, err
}

// LateReply is when after a session's newest event its file is looked at again: Claude Code writes the last reply of a
// turn up to 90 ms after its stop hook begins. The hook is answered at once; this completes the turn's end.
var LateReply = []time.Duration{
	50 * time.Millisecond, 150 * time.Millisecond, 350 * time.Millisecond, 750 * time.Millisecond,
	1550 * time.Millisecond,
}

// replies captures what agents have written since their newest events. again is when to look once more; 0: no need.
func (wt *Worktree) replies(ctx context.Context) (again time.Duration, err error) {
	wt.log.Lock()
	var heard, grown, ended []string
	for name, s := range wt.log.EachSession() {
		age := wt.log.Since(s.Last)
		noFile := s.Transcript == "" || s.LaneOf != "" || !model.Understood(s.Agent)
		if noFile || age < 0 || age > 2*model.QuietAfter {
			continue
		}
		path, fi, err := conversation.FindFile(s.Agent, s.Transcript)
		if err != nil {
			continue // no session file is known: the event noted why
		}
		heard = append(heard, name)
		if fi != nil && !wt.conversations.Files[name].Same(s.Cursor.TranscriptEnd, path, fi) {
			grown = append(grown, name)
		}
		if !s.TurnRuns() {
			ended = append(ended, name)
		}
		for _, at := range LateReply {
			if left := at - age; left > 0 && !s.TurnRuns() && !s.Ended {
				if again == 0 || left < again {
					again = left
				}
				break
			}
		}
	}
	wt.log.Unlock()
	for _, name := range grown {
		if err := wt.conversations.CaughtUp(ctx, name); err != nil {
			wt.cannotTail(name, err)
		}
	}
	// a hook may have captured all, and have had no time to compare it
	wt.conversations.ResolveOriginsUnlocked(ctx, heard)
	for _, name := range ended {
		if err := wt.conversations.Recheck(ctx, name); err != nil {
			wt.cannotTail(name, err)
		}
	}
	return again, nil
}

// cannotTail notes in memory why a conversation is not captured; the session's next event stores it.
func (wt *Worktree) cannotTail(name string, err error) {
	wt.log.Lock()
	defer wt.log.Unlock()
	if s := wt.log.Session(name); s != nil && conversation.Problem(err) != "" {
		noted := *s
		noted.Problem = conversation.Problem(err)
		wt.log.Remember(&noted)
	}
}

// quiet lists the sessions whose turn fell silent. again is when the next one could have; 0: none is in a turn.
func (wt *Worktree) quiet() (ended []model.Session, again time.Duration, err error) {
	wt.log.Lock()
	defer wt.log.Unlock()
	if err := wt.log.LoadSessions(); err != nil {
		return nil, 0, err
	}
	for _, s := range wt.log.EachSession() {
		if !s.TurnRuns() || slices.ContainsFunc(s.Calls, func(c model.Call) bool { return c.ID != model.TurnCall }) {
			continue
		}
		silent := wt.log.Now().Sub(s.Last)
		if fi, err := sessions.StatSession(s); err == nil {
			silent = min(silent, wt.log.Now().Sub(fi.ModTime()))
		}
		if silent >= model.QuietAfter {
			ended = append(ended, *s)
		} else if left := model.QuietAfter - max(silent, 0); again == 0 || left < again {
			again = left
		}
	}
	return ended, again, nil
}

// rescan scans the whole tree if a turn has ended since the last such scan. The log's lock is held.
func (wt *Worktree) rescan(ctx context.Context) error {
	session := wt.TurnEnded
	if session == "" {
		return nil
	}
	if err := wt.log.CheckWhole(); err != nil {
		return err
	}
	root, err := wt.log.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	was, err := wt.log.Head()
	if err != nil {
		return err
	}
	c, err := wt.Capture(ctx, root, Options{Full: true})
	if err != nil {
		return err
	}
	if err := c.FlushCache(); err != nil {
		c.Discard()
		return err
	}
	same, err := wt.same(was, c)
	if err != nil {
		c.Discard()
		return err
	}
	wt.TurnEnded = ""
	if same {
		return c.keepCache(ctx)
	}
	cp, err := wt.rescanned(c, was, session)
	if err != nil {
		c.Discard()
		return err
	}
	_, err = wt.commitNext(ctx, c, cp, kv.Written)
	return err
}

// rescanned is the step that a scan behind a session's turn has found: another agent's whose call is at work, and whose
// alone it is.
func (wt *Worktree) rescanned(c *Capture, was oplog.Head, session string) (*model.Checkpoint, error) {
	by, owned, err := wt.attribute(c, was.Tree, wt.OpenCalls())
	if err != nil {
		return nil, err
	}
	if other := wt.lineOf(session, by, owned); other != nil {
		cp, err := wt.found(c, other)
		if err == nil {
			cp.By, cp.Owned = by, owned
		}
		return cp, err
	}
	cur, err := wt.sessions.Current(session)
	if err != nil {
		return nil, err
	}
	return wt.NewStep(c, session, cur, model.Cause{Event: model.EventScan})
}
