package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/hooks"
	"rewind/server/registry"
	"rewind/server/rundir"
)

// intake takes hooks in: it finds the project that an event belongs to, has it captured, and says where nothing is.
type intake struct{ *server }

const (
	hookDeadline    = time.Second            // of a client that names none
	maxHookDeadline = time.Minute            // a client that waits longer is answered all the same
	hookReserve     = 100 * time.Millisecond // of the client's time, for the way back
	hookPatience    = 100 * time.Millisecond // with work of a person that holds the worktree
	warnAge         = 7 * 24 * time.Hour     // after which a session may be warned again
)

// hookCall is one call of a hook.
type hookCall struct {
	agent, word, cwd string
	began            string // where the agent says that the session began; "": it does not
	id               uint64
	since            time.Time
	until            time.Time                     // when it is answered at the latest
	late             atomic.Bool                   // it has been answered
	engine           atomic.Pointer[engine.Engine] // that takes it in; nil: not found yet
	early            func()                        // answers at once, for work that goes on without the agent; nil: nothing would
	turnedAway       func()                        // not nil: the daemon ends, nothing was begun; it says so, for a client that has gone
}

// newCall is of a client that waits for so many milliseconds.
func newCall(now time.Time, ms uint64) *hookCall {
	wait := time.Duration(min(ms, uint64(maxHookDeadline/time.Millisecond))) * time.Millisecond
	return &hookCall{since: now, until: now.Add(max(wait-hookReserve, wait/2))}
}

// takesLong says that work begins for which the agent is not to wait. It is for the goroutine that does the work.
func (c *hookCall) takesLong() {
	if c.early != nil {
		c.early()
	}
}

// hookSay is what an agent's user is told, by each way that the agent may have.
type hookSay struct {
	line   string // for standard error
	screen string // the same for standard output, in the form that the agent shows; "": it has none, and line is what there is
}

// hookReply is how the client of a hook is answered: the first answer counts. It is not for concurrent use.
type hookReply interface {
	SetReadDeadline(t time.Time) error // of the payload
	answer(say hookSay)
	again() // by the next daemon
}

// hook answers an agent: always, always in time, whatever happens. What it began goes on.
func (s intake) hook(call *hookCall, payload io.Reader, reply hookReply) {
	ev, err := s.parseHook(payload, call, reply)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		s.log.Warn("hook: the client died before it had sent all", "agent", call.agent, "event", call.word)
		return // one that lives sends all of it again
	}
	if err != nil { // what was understood is as good a reason for a checkpoint as any
		s.log.Warn("hook: payload", "agent", call.agent, "event", call.word, "error", err)
	}
	ctx := s.base
	if s.daemon == nil { // nobody goes on after the agent has been answered
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, call.until)
		defer cancel()
	}
	call.answerInTime(reply, s.daemon != nil, func() hookSay { return s.handleHook(ctx, ev, call) })
}

// answerInTime does the work of a hook in the caller's goroutine, and answers when it is done. A timer answers earlier
// when the client must have an answer. If the work can go on without the client, the timer also answers when the hook
// waits for other work that takes long. If the hook is such work itself (takesLong), the answer comes at once. It
// returns when the work is done.
func (c *hookCall) answerInTime(reply hookReply, goesOn bool, work func() hookSay) {
	var mu sync.Mutex // of reply
	var t *time.Timer
	answered := false
	mu.Lock()
	t = time.AfterFunc(min(time.Until(c.until), hookPatience), func() {
		mu.Lock()
		defer mu.Unlock()
		e, left := c.engine.Load(), time.Until(c.until)
		switch {
		case answered:
		case left <= 0 || goesOn && e != nil && e.Log.HeldFor() >= hookPatience:
			answered = true
			c.late.Store(true)
			reply.answer(hookSay{})
		default:
			t.Reset(min(left, hookPatience))
		}
	})
	mu.Unlock()
	if goesOn {
		c.early = func() {
			mu.Lock()
			defer mu.Unlock()
			if !answered {
				answered = true
				c.late.Store(true)
				reply.answer(hookSay{})
			}
		}
	}
	say := work()
	t.Stop()
	mu.Lock()
	defer mu.Unlock()
	switch {
	case answered && c.turnedAway != nil:
		c.turnedAway()
	case answered:
	case c.turnedAway != nil:
		answered = true
		reply.again()
	default:
		answered = true
		reply.answer(say)
	}
}

// parseHook reads the payload, for no longer than the client waits.
func (s intake) parseHook(payload io.Reader, call *hookCall, reply hookReply) (ev hooks.Event, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.panicked("hook: parse", p)
			ev, err = hooks.Event{Agent: hooks.Agent(call.agent)}, errors.New("hook: parse: internal error")
		}
	}()
	_ = reply.SetReadDeadline(call.until) // not there in process: a pipe that stays open ends with its writer
	ev, err = hooks.Parse(hooks.Agent(call.agent), call.word, payload)
	if err == nil {
		_, err = io.Copy(io.Discard, payload)
	}
	return ev, err
}

// handleHook does the work of a hook and returns what the agent's user should read.
func (s intake) handleHook(ctx context.Context, ev hooks.Event, call *hookCall) (say hookSay) {
	var p *project.Project
	fail := func(err error) {
		if p != nil {
			s.degraded.add(p, err)
		}
		s.log.Error("hook", "agent", call.agent, "event", call.word, "late", call.late.Load(), "error", clean(err))
	}
	defer func() {
		if r := recover(); r != nil {
			s.panicked("hook", r)
			fail(fmt.Errorf("internal error: %.200v", r))
		}
	}()
	if ev.Kind == hooks.Prompt && ev.Subagent == "" {
		s.began.asked(ev)
	}
	dir := ev.Cwd
	if dir == "" {
		dir = call.cwd
	}
	found, err := s.projectFor(ctx, ev, call, dir)
	var blind *blindError
	if errors.As(err, &blind) {
		if err := s.passOn(ctx, ev, call, blind.dir); err != nil {
			fail(err)
		}
		return s.sayBlind(ctx, ev, blind)
	}
	if noProject(err) {
		if err := s.passOn(ctx, ev, call, dir); err != nil {
			fail(err)
		}
		return s.warn(ev, "", fmt.Sprintf("rewind: no checkpoints here: run 'rewind init' in %s", printable(dir)))
	}
	if err != nil {
		fail(err)
		return s.sayRefused(ev, err)
	}
	p = found
	h, err := s.takeIn(ctx, p, ev, call, capture.HandleOptions{})
	if errors.Is(err, registry.ErrEnding) {
		call.turnedAway = func() { fail(err) }
		return hookSay{}
	}
	if err == nil {
		s.began.at(ev, p.Root)
		say, h.Elsewhere = s.besides(ctx, p, dir, h.Elsewhere, ev, call)
		err = s.elsewhere(ctx, p, h, ev, call)
	}
	if err != nil {
		fail(err)
	}
	if len(p.Passed) > 0 {
		said := p.Passed[0].String()
		return s.warn(ev, said,
			fmt.Sprintf("rewind: %s; the checkpoints here are those of %s", printable(said), printable(p.Root)))
	}
	return say
}

// projectFor is the project that an event of a directory belongs to; one is set up where that is asked for.
func (s intake) projectFor(
	ctx context.Context, ev hooks.Event, call *hookCall, dir string,
) (*project.Project, error) {
	p, err := s.seeing(ctx, ev, call, dir)
	if noProject(err) {
		if made := s.setUp(ctx, ev, dir); made != nil {
			return made, nil
		}
	}
	return p, err
}

// noProject reports whether a directory belongs to no project, and not to one that is not trusted.
func noProject(err error) bool {
	return errors.Is(err, model.ErrNoProject) && !errors.Is(err, project.ErrUntrusted)
}

// sayRefused tells why the project of a directory takes no event, where its user can do something about it.
func (s intake) sayRefused(ev hooks.Event, err error) hookSay {
	told := tell(err)
	if told.Word != api.WordNoProject {
		return hookSay{}
	}
	return s.warn(ev, told.Message,
		fmt.Sprintf("rewind: no checkpoints here: %s; %s", printable(told.Message), told.Hint))
}

// takeIn hands an event to its project. o says which turn of the session it is of, where the project cannot know; the
// rest of it is filled in. What becomes of the event is said, and where else it names files if it is recorded.
func (s intake) takeIn(
	ctx context.Context, p *project.Project, ev hooks.Event, call *hookCall, o capture.HandleOptions,
) (out capture.Handled, err error) {
	c, err := s.configs.Load(s.home, p.Root)
	if err != nil {
		return out, err
	}
	if !c.HooksEnabled() {
		return out, nil
	}
	o.ID, o.Late, o.Long, o.Tier = call.id, call.late.Load, call.takesLong, c.HookTier()
	err = s.opened(ctx, p, false, func(e *engine.Engine) error {
		call.engine.Store(e)
		h, err := e.Worktree.Handle(ctx, ev, o)
		if err == nil && h != nil && !h.Checkpoint.IsZero() {
			s.degraded.clear(p)
		}
		if h != nil && h.Recorded {
			out = *h
		}
		if s.daemon != nil && h != nil && h.Recorded {
			s.daemon.settling.In(followUpDelay, p)
			s.scanSoon(p)
			s.daemon.tidying.In(s.daemon.o.tidy, p)
		}
		return err
	})
	return out, err
}

// quietStderr are the agents that keep what a hook writes to standard error from the model when it exits with 0.
var quietStderr = map[hooks.Agent]bool{hooks.Claude: true, hooks.Codex: true, hooks.Gemini: true, hooks.Droid: true}

// warn tells, once in a session and about one matter, that what its tools change is kept nowhere, or elsewhere than one
// may think.
func (s intake) warn(ev hooks.Event, about, text string) hookSay {
	changes := (ev.Kind == hooks.BeforeTool || ev.Kind == hooks.AfterTool) && ev.Tool.Class != hooks.Reader
	if !changes || !s.firstWarning(ev, about) {
		return hookSay{}
	}
	return hookSay{line: text}
}

// firstWarning reports whether a session was not warned of a matter yet, and can be.
func (s intake) firstWarning(ev hooks.Event, about string) bool {
	if !quietStderr[ev.Agent] || ev.Session == "" {
		return false
	}
	run := s.run
	if s.daemon == nil {
		made, err := rundir.Make(s.home.Dir)
		if err != nil {
			return false
		}
		run = made
	}
	name := string(ev.Agent) + "\x00" + ev.Session
	if about != "" {
		name += "\x00" + about
	}
	id := sha256.Sum256([]byte(name))
	return run.First("warned", hex.EncodeToString(id[:16]), warnAge)
}

// printable is a path on one line of a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// panicked writes into the log where it happened.
func (s *server) panicked(what string, p any) {
	s.log.Error(what+": panic", "value", fmt.Sprintf("%.200v", p), "stack", string(debug.Stack()))
}
