package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/torture"
	"rewind/objstore"
	"rewind/tree"
)

// What is held. Each can be looked at alone, by switching the others off.
const (
	holdTurns    = true // a session's turns are the prompts that a person gave it, and turn:N is the end of turn N
	holdPosition = true // the current session, and what a save is put down to
	holdOwners   = true // whose change a path is
	holdOthers   = true // what other sessions changed stays and is named; what they did not goes to the target
	// A turn that ends in a state that a restore laid out, with nothing changed since, ends with that: what others have
	// there, too. How far back what came before counts as later is left open.
	holdBehindRestore = true
	holdUndo          = true // repeated undo reaches the first step, redo comes back, undo-restore gives the bytes before
)

var paths23 = []string{"a", "b", "d/c", "d/e"}

// maxActors is how many sessions a run has at most, forks included.
const maxActors = 6

// actor is a session as a person sees it.
type actor struct {
	*enginetest.Scribe
	family string // of the session that all of it was forked from
	turns  []*round
	all    []*round // that were begun in this one, those that were cut away too
	begin  map[string][]string
	began  int // changes that there were
	back   int // and where its steps reach back to: with a restore behind its beginning, before that
	calls  []*openCall
	lanes  []*lane
	born   bool // an event has come, or a fork made it
	used   bool // an event has come
	open   bool // in a program that runs
	esc    bool // it was stopped by Esc, and waits
	ended  bool // the agent said that it is
	idle   bool // it had, and was opened again, and no more
	left   bool // by a restore, without an event since
	beside bool // a fork that left the code where it was: it begins at its first event
	moved  bool // by a restore of its family, perhaps
}

// lane is a subagent.
type lane struct {
	id     string
	round  *round
	worker *enginetest.Scribe // a session of its own, of the agents that have it so; nil: events of the parent
}

// sessions23 drives sessions of agents, people's hands and restores at random.
type sessions23 struct {
	*enginetest.Project
	h     *timeline
	n     int
	began int               // sessions that a person began
	pos   []string          // the session where the project stands; several where it is left open
	canon map[string]string // name of a lane's own session to that of the session
	there elsewhere
	log   []string
}

// TestT23Promise19Sessions: sessions of several agents with lanes, forks, cuts in place, kills, Esc and a user's hands
// in one project, beside a plain history of who wrote what when. Turns, the current session, owners, undo, redo and
// restores are as the history says.
func TestT23Promise19Sessions(t *testing.T) {
	dir := t.TempDir()
	run, size := 0, torture.Begin(t)
	enginetest.Checks(t, size)
	rapid.Check(t, func(t *rapid.T) {
		run++
		size.Point()
		base := filepath.Join(dir, fmt.Sprint(run))
		if err := os.MkdirAll(base+"/project", 0o755); err != nil {
			t.Fatal(err)
		}
		enginetest.ScribeUnique = 0
		m := &sessions23{
			Project: enginetest.OpenProject(t, base+"/project", base+"/home"), h: newHistory(),
			pos:   []string{model.Manual},
			canon: map[string]string{},
		}
		defer func() { m.Close(); m.there.close(); _ = os.RemoveAll(base) }()
		m.Write("start", enginetest.Big("start"))
		for _, path := range paths23[:2] {
			m.hand(path, "first")
		}
		m.Save("first")
		m.h.take(nil, true)
		m.h.changes = nil
		for range 2 {
			m.beginActor(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"go": m.goOn, "go2": m.goOn, "go3": m.goOn, "go4": m.goOn, "go5": m.goOn, "go6": m.goOn,
			"begin": m.beginActor, "user": m.user,
			"save": m.saves, "checkout": m.checkoutTurn, "paths": m.checkoutPath,
			"switch": m.switches, "take back": m.takesBack, "take back2": m.takesBack, "take back3": m.takesBack,
			"fork": m.forkTurn, "inplace": m.inPlace, "inplace2": m.inPlace, "inplace3": m.inPlace, "undo": m.undoAll,
			"reopen": func(*rapid.T) { m.say("reopen"); m.Reopen() }, "kill": m.kill, "": m.look,
		})
		for _, a := range m.h.actors {
			m.turnsOf(a)
		}
		m.SameRows()
		m.there.back(m, t)
	})
}

func (m *sessions23) say(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
	if r, ok := m.T.(*rapid.T); ok {
		r.Logf(format, args...)
	}
}

// files reads what lies on the disk.
func (m *sessions23) files() map[string]string {
	m.T.Helper()
	out := map[string]string{}
	for _, path := range paths23 {
		b, err := os.ReadFile(m.Path(path))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		m.Must(err)
		first, _, _ := strings.Cut(string(b), "\n")
		out[path] = first
		if string(b) != enginetest.Big(first) {
			m.T.Fatalf("%s holds bytes that nobody wrote: %q", path, b)
		}
	}
	return out
}

// hand changes a path, without anybody telling.
func (m *sessions23) hand(path, content string) {
	m.T.Helper()
	if content == "" {
		m.Remove(path)
	} else {
		m.Write(path, enginetest.Big(content))
	}
	put(m.h.world, path, content)
}

// renames moves a file, if it can be.
func (m *sessions23) renames(t *rapid.T, path string) bool {
	to := somePath23(t)
	if m.h.world[path] == "" || to == path {
		return false
	}
	m.say("  %s: %q becomes %s, which was %q", path, m.h.world[path], to, m.h.world[to])
	m.h.touched(path)
	m.h.touched(to)
	content := m.h.world[path]
	m.hand(path, "")
	m.hand(to, content)
	return true
}

// change draws what becomes of a path.
func (m *sessions23) change(t *rapid.T, path, who string) {
	m.n++
	content := fmt.Sprintf("%d by %s", m.n, who)
	if m.h.world[path] != "" && rapid.IntRange(0, 4).Draw(t, "remove") == 0 {
		content = ""
	}
	m.say("  %s: %q -> %q", path, m.h.world[path], content)
	m.h.touched(path)
	m.hand(path, content)
}

func somePath23(t *rapid.T) string { return rapid.SampledFrom(paths23).Draw(t, "path") }

func (m *sessions23) user(t *rapid.T) {
	path := somePath23(t)
	m.say("the user changes %s", path)
	if moves := rapid.IntRange(0, 5).Draw(t, "move") == 0; moves && m.renames(t, path) {
		return
	}
	m.change(t, path, "user")
}

// short is a session for people.
func (a *actor) short() string { return string(a.Agent) + "/" + a.ID[:8] }

// beginActor has one more session begin.
func (m *sessions23) beginActor(t *rapid.T) {
	if len(m.h.actors) >= maxActors {
		return
	}
	m.beginsOf(rapid.SampledFrom(agents23).Draw(t, "agent"), "startup")
}

// beginsOf has a session of an agent begin.
func (m *sessions23) beginsOf(agent hooks.Agent, source string) {
	m.n++
	version := 4
	if agent == hooks.Codex {
		version = 7 // its ids are in order of time
	}
	a := &actor{Scribe: m.Scribe(agent, fmt.Sprintf("%08x-0000-%d000-8000-000000000000", 0xa0+m.began, version))}
	m.began++
	a.family = a.Name()
	m.h.actors = append(m.h.actors, a)
	m.say("%s begins", a.short())
	m.event(a, nil, hooks.SessionStart, map[string]any{"source": source})
	a.open = true
	m.prompt(a)
}

var agents23 = []hooks.Agent{hooks.Claude, hooks.Claude, hooks.Codex, hooks.Gemini, hooks.Droid}

// event is one call of a hook; l is the lane that it is about, nil: the main conversation.
func (m *sessions23) event(a *actor, l *lane, kind hooks.Kind, more map[string]any) *capture.Handled {
	m.T.Helper()
	if !a.born || a.beside && !a.used {
		if !a.born {
			a.born, a.began, a.back = true, len(m.h.changes), len(m.h.changes)
		}
		if !a.moved {
			a.begin = map[string][]string{}
		}
		for _, path := range paths23 { // what changed before its first event is taken in by it, and is none of its
			if !slices.Contains(a.begin[path], m.h.world[path]) {
				a.begin[path] = append(a.begin[path], m.h.world[path])
			}
		}
	}
	from, name := a.Scribe, ""
	if l != nil {
		if from, name = a.Scribe, l.id; l.worker != nil {
			from = l.worker
		} else {
			if more == nil {
				more = map[string]any{}
			}
			more["agent_id"], more["agent_type"] = l.id, "general-purpose"
		}
	}
	notice := kind == hooks.Prompt && (l != nil || more["notice"] != nil)
	delete(more, "notice")
	closing := kind == hooks.SessionStart || kind == hooks.SessionEnd || kind == hooks.Prompt && !notice
	got := m.h.take(a, closing)
	handled := from.Tell(kind, more)
	switch kind {
	case hooks.SessionStart, hooks.SessionEnd:
		a.calls = nil
	case hooks.AfterTool:
		a.calls = slices.DeleteFunc(a.calls,
			func(c *openCall) bool { return c.lane == name && c.id == more["tool_use_id"] })
	default:
		a.calls = slices.DeleteFunc(a.calls, func(c *openCall) bool { return c.lane == name })
	}
	a.left, a.used = false, true
	if holdOwners {
		m.owners(handled, got)
	}
	if closing {
		for _, r := range a.turns {
			r.over = true
		}
	}
	if kind == hooks.Prompt && !notice {
		r := &round{
			of: a, prompt: fmt.Sprint(more["prompt"]), end: map[string][]string{}, own: map[string]bool{},
			whole: true, from: len(m.h.changes),
		}
		a.turns, a.all = append(a.turns, r), append(a.all, r)
	}
	switch {
	case closing && kind != hooks.Prompt:
		if !slices.Contains(m.pos, a.Name()) {
			m.pos = append(slices.Clone(m.pos), a.Name())
		}
	default:
		m.pos = []string{a.Name()}
		if l != nil {
			m.h.endsNow(l.round, false)
			if last := a.last(); last != l.round {
				m.h.endsNow(last, false)
			}
		} else {
			m.h.endsNow(a.last(), kind == hooks.Stop && !notice)
		}
	}
	if kind == hooks.Stop && l == nil { // a subagent's stop is none of the turn
		a.last().stopped = true
	}
	return handled
}

func (a *actor) last() *round { return a.turns[len(a.turns)-1] }

// owners holds whose changes a checkpoint says those are that an event took in.
func (m *sessions23) owners(h *capture.Handled, got []change) {
	m.T.Helper()
	if !h.New {
		if slices.ContainsFunc(got, func(c change) bool { return !c.loose }) {
			m.T.Fatalf("owners: no checkpoint was made of %v", got)
		}
		return
	}
	cp := m.Get(h)
	for _, c := range got {
		if by := m.ownersOf(cp, c.path); !c.loose && !slices.Equal(by, c.by) {
			m.T.Fatalf("owners: checkpoint of %s says that %s was changed by %q, the history says %q", cp.Cause.Event,
				c.path, by, c.by)
		}
	}
}

// OwnersOf are those whose change a path of a checkpoint is; a lane's own session is its parent's.
func (m *sessions23) ownersOf(cp *model.Checkpoint, path string) []string {
	by := cp.By
	for _, o := range cp.Owned {
		if slices.Contains(o.Paths, path) {
			by = o.By
		}
	}
	var out []string
	for _, name := range by {
		if of := m.canon[name]; of != "" {
			name = of
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (m *sessions23) prompt(a *actor) {
	m.n++
	text := fmt.Sprintf("prompt %d.", m.n)
	m.say("%s is asked %q", a.short(), text)
	m.event(a, nil, hooks.Prompt, map[string]any{"prompt": text})
	a.Asked(text)
	a.esc, a.idle = false, false
}

// verbs are what can happen in a session next.
func (m *sessions23) verbs(a *actor) []string {
	var out []string
	main := a.call("")
	switch {
	case !a.open:
		return []string{"open"}
	case main != nil && main.alive:
		out = append(out, "work", "work", "finish", "finish", "finish", "esc", "kill")
	case a.esc:
		out = append(out, "prompt", "prompt", "prompt", "end", "kill")
	case len(a.turns) == 0 || a.last().stopped || a.last().over:
		out = append(out, "prompt", "prompt", "end")
		if a.Agent == hooks.Claude && len(m.h.actors) < maxActors {
			out = append(out, "clear")
		}
	default:
		out = append(out, "write", "write", "shell", "shell", "call", "stop", "stop", "esc", "kill")
		if a.Agent != hooks.Gemini && len(a.lanes) < 2 {
			out = append(out, "lane")
		}
		if a.Agent == hooks.Claude {
			out = append(out, "refuse")
		}
		out = append(out, "visit")
	}
	if len(a.lanes) > 0 {
		out = append(out, "lanework", "lanework", "laneends")
		if len(a.turns) > 0 && a.last().stopped {
			out = append(out, "laneends", "laneends", "laneends") // it is told of, which must begin no turn
		}
	}
	return out
}

// call is the open call of a lane.
func (a *actor) call(lane string) *openCall {
	i := slices.IndexFunc(a.calls, func(c *openCall) bool { return c.lane == lane })
	if i < 0 {
		return nil
	}
	return a.calls[i]
}

func (m *sessions23) someActor(t *rapid.T, what func(*actor) bool) *actor {
	var can []*actor
	for _, a := range m.h.actors {
		if what(a) {
			can = append(can, a)
		}
	}
	if len(can) == 0 {
		return nil
	}
	return can[rapid.IntRange(0, len(can)-1).Draw(t, "session")]
}

// goOn has a session do something.
func (m *sessions23) goOn(t *rapid.T) {
	a := m.someActor(t, func(*actor) bool { return true })
	verb := rapid.SampledFrom(m.verbs(a)).Draw(t, "verb")
	m.say("%s: %s", a.short(), verb)
	switch verb {
	case "open":
		m.event(a, nil, hooks.SessionStart, map[string]any{"source": "resume"})
		a.idle = a.idle || a.ended
		a.open, a.ended, a.esc, a.lanes = true, false, false, nil
	case "prompt":
		m.prompt(a)
	case "write":
		m.begins(t, a, nil, somePath23(t))
		m.finishes(t, a, nil, true)
	case "shell":
		m.begins(t, a, nil, "")
		m.finishes(t, a, nil, true)
	case "call":
		m.begins(t, a, nil, rapid.SampledFrom(append([]string{"", ""}, paths23...)).Draw(t, "path"))
	case "work":
		m.works(t, a, a.call(""))
	case "finish":
		m.finishes(t, a, nil, rapid.Bool().Draw(t, "works"))
	case "stop":
		a.Says("done")
		h := m.event(a, nil, hooks.Stop, map[string]any{"stop_hook_active": false})
		if m.there.rows[a.last()] > 0 {
			o := capture.HandleOptions{Turn: h.Turn, Recount: true}
			a.TellIn(m.there.Project, o, hooks.Stop, map[string]any{"stop_hook_active": false})
		}
	case "esc":
		m.escape(a)
	case "kill":
		a.die()
	case "end":
		m.event(a, nil, hooks.SessionEnd, map[string]any{"reason": "other"})
		a.open, a.ended, a.lanes = false, true, nil
	case "clear":
		m.event(a, nil, hooks.SessionEnd, map[string]any{"reason": "clear"})
		a.open, a.ended, a.lanes = false, true, nil
		m.beginsOf(hooks.Claude, "clear")
	case "refuse":
		m.refuses(t, a)
	case "visit":
		m.visits(t, a)
	case "lane":
		m.spawn(t, a)
	case "lanework":
		l := a.lanes[rapid.IntRange(0, len(a.lanes)-1).Draw(t, "lane")]
		c := a.call(l.id)
		switch {
		case c == nil && rapid.Bool().Draw(t, "whole"):
			m.begins(t, a, l, rapid.SampledFrom(append([]string{""}, paths23...)).Draw(t, "path"))
			m.finishes(t, a, l, true)
		case c == nil:
			m.begins(t, a, l, rapid.SampledFrom(append([]string{""}, paths23...)).Draw(t, "path"))
		case rapid.Bool().Draw(t, "finish"):
			m.finishes(t, a, l, rapid.Bool().Draw(t, "works"))
		default:
			m.works(t, a, c)
		}
	case "laneends":
		m.laneEnds(a, a.lanes[0])
	}
	m.turnsOf(a)
}

func (l *lane) name() string {
	if l == nil {
		return ""
	}
	return l.id
}

// begins announces a call; path "" is a shell.
func (m *sessions23) begins(t *rapid.T, a *actor, l *lane, path string) {
	tool, input := a.Tool(path)
	c := &openCall{id: fmt.Sprint("call_", enginetest.Unique()), tool: tool, lane: l.name(), path: path, alive: true}
	if l == nil {
		c.round = a.last()
		a.Scribe.Calls(c.id, tool, input)
	} else {
		c.round = l.round
	}
	m.say("  %s %s begins (lane %q)", tool, path, c.lane)
	m.event(a, l, hooks.BeforeTool, map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": c.id})
	c.input = input
	a.calls = append(a.calls, c)
}

// works has an open call do what it is there for.
func (m *sessions23) works(t *rapid.T, a *actor, c *openCall) {
	path := c.path
	if path == "" {
		path = somePath23(t)
		if moves := rapid.IntRange(0, 3).Draw(t, "move") == 0; moves && m.renames(t, path) {
			return
		}
	}
	m.change(t, path, a.short())
}

func (m *sessions23) finishes(t *rapid.T, a *actor, l *lane, works bool) {
	c := a.call(l.name())
	if works {
		m.works(t, a, c)
	}
	m.event(a, l, hooks.AfterTool,
		map[string]any{"tool_name": c.tool, "tool_input": c.input, "tool_use_id": c.id, "tool_response": "done"})
	if l == nil {
		a.Result(c.id, c.tool, "done")
	}
}

// escape is Esc: Codex says so, the others say nothing. Lanes in the background go on.
func (m *sessions23) escape(a *actor) {
	a.esc = true
	r := a.last()
	r.whole = false
	c := a.call("")
	if c != nil {
		c.alive = false
		a.Interrupted(c.id, c.tool)
	} else {
		a.Interrupted("", "")
	}
	if a.Agent == hooks.Codex {
		m.event(a, nil, hooks.Stop, map[string]any{"hook_event_name": "Interrupt"})
	}
}

// refuses is a call that a person is asked about, while they may type, and that they do not allow: it never ran. The
// turn is stopped by that, or told to go on otherwise.
func (m *sessions23) refuses(t *rapid.T, a *actor) {
	m.begins(t, a, nil, rapid.SampledFrom(append([]string{""}, paths23...)).Draw(t, "path"))
	if rapid.Bool().Draw(t, "types") {
		m.user(t)
	}
	c := a.call("")
	over := rapid.Bool().Draw(t, "over")
	m.say("  refused, over: %v", over)
	a.Refused(c.id, over)
	a.calls = slices.DeleteFunc(a.calls, func(o *openCall) bool { return o == c })
	if over {
		a.esc, a.last().whole = true, false
	}
}

// die is a kill: nobody says anything.
func (a *actor) die() {
	a.open, a.lanes = false, nil
	if len(a.turns) > 0 {
		if r := a.last(); !r.stopped {
			r.whole = false
		}
	}
	for _, c := range a.calls {
		c.alive = false
	}
}

// spawn begins a subagent in the background.
func (m *sessions23) spawn(t *rapid.T, a *actor) {
	m.n++
	l := &lane{id: fmt.Sprintf("a%016x", m.n), round: a.last()}
	call, input := "call_"+enginetest.Unique(), map[string]any{"description": "sub", "prompt": "do it"}
	a.Scribe.Calls(call, "Task", input)
	m.event(a, nil, hooks.BeforeTool, map[string]any{"tool_name": "Task", "tool_input": input, "tool_use_id": call})
	m.event(a, nil, hooks.AfterTool, map[string]any{
		"tool_name": "Task", "tool_input": input, "tool_use_id": call,
		"tool_response": "started",
	})
	a.Result(call, "Task", "started")
	a.lanes = append(a.lanes, l)
	switch a.Agent {
	case hooks.Codex:
		m.event(a, l, hooks.Prompt, map[string]any{"prompt": "do it"})
	case hooks.Droid:
		l.worker = m.Scribe(hooks.Droid, fmt.Sprintf("%08x-0000-4000-8000-000000000000", 0xd000+m.n))
		l.worker.BegunBy(a.ID, call)
		m.canon[l.worker.Name()] = a.Name()
		m.event(a, l, hooks.Prompt, map[string]any{"prompt": "do it"})
	}
}

// laneEnds is the end of a subagent, and where the agent has one, its notification.
func (m *sessions23) laneEnds(a *actor, l *lane) {
	switch a.Agent {
	case hooks.Droid:
		m.event(a, l, hooks.Stop, nil)
	default:
		m.event(a, l, hooks.SubagentStop, nil)
	}
	a.lanes = slices.DeleteFunc(a.lanes, func(o *lane) bool { return o == l })
	if a.Agent == hooks.Claude && a.last().stopped && !a.last().over {
		m.event(a, nil, hooks.Prompt, map[string]any{
			"prompt": "<task-notification>\n<task-id>" + l.id + "</task-id>\n</task-notification>",
			"notice": true,
		})
		a.Claude("user", map[string]any{
			"role":    "user",
			"content": "<task-notification>\n<task-id>" + l.id + "</task-id>\n</task-notification>",
		})
		a.Says("noted")
		m.event(a, nil, hooks.Stop, map[string]any{"stop_hook_active": false})
	}
}

// kill is the end of the daemon's process where it stands.
func (m *sessions23) kill(*rapid.T) {
	m.say("the daemon is killed")
	left := m.FS.Clone(100, 0)
	m.Close()
	m.FS = left
	var err error
	m.E, err = engine.Open(enginetest.Bg, m.Home, m.Root, m.Options())
	m.Must(err)
}

// look holds what is true at any time.
func (m *sessions23) look(t *rapid.T) {
	if !holdPosition || m.pos[0] == model.Manual {
		return
	}
	all, _, err := m.E.History.SessionList(enginetest.Bg, true, 0)
	m.Must(err)
	var current []string
	for _, s := range all {
		if s.Current {
			name := s.Name
			if of := m.canon[name]; of != "" {
				name = of
			}
			current = append(current, name)
		}
	}
	if len(current) != 1 || !slices.Contains(m.pos, current[0]) {
		t.Fatalf("position: the current session is %q, the history says %q", current, m.pos)
	}
}

// saves is a person's save: it belongs to the session where the project stands, and carries its turn and prompt.
func (m *sessions23) saves(t *rapid.T) {
	m.n++
	m.say("save")
	r, err := m.E.Worktree.Save(enginetest.Bg, "", fmt.Sprint("save ", m.n), nil)
	m.Must(err)
	cp := r.Checkpoint
	if r.Unchanged { // what lies there is what that one has, though somebody had changed it between
		for _, path := range paths23 {
			if is, ok := m.holds(cp.ID.String(), path, []string{m.h.world[path]}); !ok {
				t.Fatalf("save: %s is not saved: there is %q, in the checkpoint is %s", path, m.h.world[path], is)
			}
		}
		return
	}
	got := m.h.take(nil, false)
	if holdOwners {
		for _, c := range got {
			if by := m.ownersOf(cp, c.path); !c.loose && !slices.Equal(by, c.by) {
				t.Fatalf("owners: a save says that %s was changed by %q, the history says %q", c.path, by, c.by)
			}
		}
	}
	if !holdPosition || m.pos[0] == model.Manual {
		return
	}
	if !slices.Contains(m.pos, cp.Session) {
		t.Fatalf("position: the save is of %q, the project stands at %q", cp.Session, m.pos)
	}
	for _, a := range m.h.actors {
		if a.Name() != cp.Session || len(a.turns) == 0 {
			continue
		}
		if n := len(a.turns); int(cp.Cause.Turn) != n || cp.Cause.Prompt != a.last().prompt {
			t.Fatalf("position: the save is of turn %d, %q; the history says %d, %q", cp.Cause.Turn, cp.Cause.Prompt, n,
				a.last().prompt)
		}
	}
	m.pos = []string{cp.Session}
}

// turnsOf holds that a session's turns are those that the history has.
func (m *sessions23) turnsOf(a *actor) {
	m.T.Helper()
	if !holdTurns || !a.born {
		return
	}
	m.SameTurns(a.Name())
	list, err := m.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: a.Name()}, 0)
	m.Must(err)
	var said, want []string
	ids := []string{}
	for _, info := range list.Turns {
		if !info.Gone {
			said, ids = append(said, info.Summary), append(ids, info.Checkpoint)
		}
	}
	for _, r := range a.turns {
		want = append(want, r.prompt)
	}
	if !slices.Equal(said, want) {
		m.T.Fatalf("turns: of %s are %q, the history says %q", a.Name(), said, want)
	}
	own := map[string]bool{}
	for i, r := range a.turns {
		maps.Copy(own, r.own)
		for path := range own {
			if r.vague {
				break
			}
			if ids[i] == "" {
				m.T.Fatalf("turns: turn:%d of %s has no checkpoint, and it changed %s", i+1, a.Name(), path)
			}
			if is, ok := m.holds(ids[i], path, r.end[path]); !ok {
				m.T.Fatalf("turns: in turn:%d of %s is %s %s, the history says %q", i+1, a.Name(), path, is,
					r.end[path])
			}
		}
	}
}

// holds reports whether a checkpoint has one of some contents at a path.
func (m *sessions23) holds(id, path string, contents []string) (is string, ok bool) {
	m.T.Helper()
	at, err := objstore.ParseID(id)
	m.Must(err)
	cp, err := m.E.Log.Checkpoint(at)
	m.Must(err)
	ent, err := tree.Lookup(m.E.Log.Objs, cp.Tree, path)
	if errors.Is(err, tree.ErrNotFound) {
		return "no file", slices.Contains(contents, "")
	}
	m.Must(err)
	for _, c := range contents {
		if c != "" && ent.ID == objstore.Sum(objstore.Blob, []byte(enginetest.Big(c))) {
			return c, true
		}
	}
	first, _, _ := strings.Cut(m.Cat(cp, path), "\n")
	return fmt.Sprintf("%q", first), false
}
