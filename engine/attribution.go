package engine

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/hooks"
	"rewind/tree"
)

// turnCall stands for a whole turn where the agent's tool calls are not announced.
const turnCall = "turn"

// apply brings a session up to date with an event.
//
// A call is running from its before-event to its after-event or, since failed and interrupted calls have none in some agents, to the
// next event of the same lane that is not the end of another call. A turn runs from its prompt to its stop, the next
// prompt or the session's end; work that goes on after a stop belongs to it, too.
func (s *Session) apply(a *arrival, root string, now time.Time) {
	ev := a.ev
	s.Agent, s.ID, s.Event, s.Ended = ev.Agent, ev.Session, eventWords[ev.Kind], false
	if ev.Name != quietStop { // nothing was heard
		s.Last = now
	}
	s.Left = s.Left && ev.Kind == hooks.SessionEnd
	if ev.Transcript != "" {
		s.Transcript = ev.Transcript
	}
	if ev.Cwd != "" {
		s.Cwd = ev.Cwd
	}
	if a.act.Begins {
		s.Turn, s.Busy, s.Prompt = s.Turn+1, true, ev.Prompt
	}
	switch ev.Kind {
	case hooks.SessionStart:
		if ev.Source != "compact" {
			s.Calls, s.Busy = nil, false
		}
		if ev.Previous != "" {
			s.Previous = ev.Previous
		}
	case hooks.BeforeTool, hooks.AfterTool:
		if s.Turn == 0 {
			s.Turn = 1 // an agent that does not announce its prompt
		}
		s.Busy = s.Busy || ev.Subagent == ""
	case hooks.SessionEnd:
		s.Calls, s.Busy, s.Ended = nil, false, true
	}
	switch ev.Kind {
	case hooks.BeforeTool, hooks.Prompt, hooks.Stop, hooks.SubagentStop:
		s.Calls = slices.DeleteFunc(s.Calls, func(c Call) bool { return c.Lane == ev.Subagent && (c.ID != turnCall || !a.act.Opens) })
	case hooks.AfterTool:
		if i := slices.IndexFunc(s.Calls, func(c Call) bool { return c.ID == ev.Tool.Call && c.Lane == ev.Subagent }); i >= 0 {
			s.Calls = slices.Delete(s.Calls, i, i+1)
		}
	}
	in, out := inside(root, ev.Cwd, ev.Tool.Paths)
	if a.act.Opens {
		s.Calls = append(s.Calls, Call{ID: ev.Tool.Call, Tool: ev.Tool.Name, Lane: ev.Subagent, Class: ev.Tool.Class, Paths: in})
	}
	if a.act.Closes && !ev.Failed {
		s.strayed(out)
	}
	if a.act.Begins && !announcesCalls(a.o.Tier, ev.Agent) {
		s.Calls = append(s.Calls, Call{ID: turnCall})
	}
	if a.act.Ends {
		s.Busy = false
	}
}

// announcesCalls reports whether a tier has an agent tell of its tool calls.
func announcesCalls(t hooks.Tier, agent hooks.Agent) bool {
	return slices.ContainsFunc(t.Hooks[agent], func(h hooks.Hook) bool { return h.Command == "pre-tool-use" })
}

// maxOutside is how many files outside of the project a session record names.
const maxOutside = 16

// strayed notes files that were edited outside of the project, the newest last.
func (s *Session) strayed(paths []string) {
	for _, p := range paths {
		s.Outside = slices.DeleteFunc(slices.Clone(s.Outside), func(o string) bool { return o == p })
		s.Outside = append(s.Outside, p)
	}
	if n := len(s.Outside); n > maxOutside {
		s.Outside = s.Outside[n-maxOutside:]
	}
}

// inside tells the paths below root, relative to it, from those that lie elsewhere.
func inside(root, cwd string, paths []string) (in, out []string) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			if cwd == "" {
				continue
			}
			p = filepath.Join(cwd, p)
		}
		p = filepath.Clean(p)
		rel, err := filepath.Rel(root, p)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			in = append(in, filepath.ToSlash(rel))
		} else {
			out = append(out, p)
		}
	}
	return in, out
}

// running lists the sessions that have tool calls running; e.mu is held and the sessions are loaded.
func (e *Engine) running() []string {
	var names []string
	for name, s := range e.sessions {
		if len(s.Calls) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// authors lists the sessions that can have made the changes since the last capture: those with a call running then, and those whose
// call has just ended. A session that ran nothing but edits of named files is none unless one of them changed. Empty: the changes
// came from outside.
func (in *intake) authors(c *capture) ([]string, error) {
	calls := map[string][]Call{}
	for name, s := range in.e.sessions {
		if len(s.Calls) > 0 {
			calls[name] = slices.Clone(s.Calls)
		}
	}
	for _, a := range in.events {
		if a.act.Closes && !slices.ContainsFunc(calls[a.name], func(k Call) bool { return k.ID == a.ev.Tool.Call }) {
			paths, _ := inside(in.e.project.Root, a.ev.Cwd, a.ev.Tool.Paths)
			calls[a.name] = append(calls[a.name], Call{Class: a.ev.Tool.Class, Paths: paths})
		}
	}
	var names []string
	for name := range calls {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) < 2 {
		return names, nil
	}
	changed := map[string]bool{}
	err := c.changes(in.was.tree, func(ch tree.Change) error {
		changed[ch.Path] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	can := func(k Call) bool {
		return k.Class != hooks.Editor || slices.ContainsFunc(k.Paths, func(p string) bool { return changed[p] }) // without paths: all lie outside
	}
	could := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.ContainsFunc(calls[name], can) })
	if len(could) == 0 {
		return names, nil
	}
	return could, nil
}
