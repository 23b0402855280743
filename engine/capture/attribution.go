package capture

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/hooks"
)

// apply brings a session up to date with an event.
//
// A call runs from its before-event to its after-event. Failed and interrupted calls have none in some agents; they run
// to the next event of the same lane, other than the end of another call. A turn runs from its prompt to its stop, the
// next prompt or the session's end; work that goes on after a stop belongs to it, too.
func apply(s *model.Session, a *Pending, now time.Time) {
	ev := a.Event
	s.Agent, s.ID, s.Event, s.Ended = ev.Agent, ev.Session, model.EventWords[ev.Kind], false
	if ev.Name != model.EventQuiet && ev.Name != model.Departed { // these are rewind's own: the agent has sent nothing
		s.Last = now
	}
	s.Left = s.Left && ev.Kind == hooks.SessionEnd
	if ev.Transcript != "" {
		s.Transcript = ev.Transcript
	}
	if ev.Cwd != "" && ev.Subagent == "" {
		s.Cwd = ev.Cwd
	}
	switch n := a.Options.Turn; {
	case a.Act.Begins:
		s.Turn, s.Busy, s.Prompt = cmp.Or(n, s.Turn+1), true, ev.Prompt
	case n > 0 && n != s.Turn: // it began where this project does not hear of it
		s.Turn, s.Busy, s.Prompt = n, true, ""
	}
	applyKind(s, &a.Event)
	applyCalls(s, a)
	s.Edited(a.edits)
	if ev.Kind == hooks.Prompt && ev.Subagent == "" && !announcesCalls(a.Options.Tier, ev.Agent) {
		s.Calls = append(s.Calls, model.Call{ID: model.TurnCall}) // an agent goes on after a notice, too
	}
	if a.Act.Ends {
		s.Busy = false
	}
}

// applyKind sets what follows from the kind of an event alone.
func applyKind(s *model.Session, ev *hooks.Event) {
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
			s.Turn = 1 // of an agent that sends no event for its prompt
		}
		s.Busy = s.Busy || ev.Subagent == ""
	case hooks.SessionEnd:
		s.Calls, s.Busy, s.Ended = nil, false, true
	}
}

// applyCalls ends the calls that an event ends, and begins the one that it begins.
func applyCalls(s *model.Session, a *Pending) {
	ev := a.Event
	switch ev.Kind {
	case hooks.BeforeTool, hooks.Prompt, hooks.Stop, hooks.SubagentStop:
		s.Calls = slices.DeleteFunc(s.Calls, func(c model.Call) bool {
			return c.Lane == ev.Subagent &&
				(c.ID != model.TurnCall || !a.Act.Opens)
		})
	case hooks.AfterTool:
		i := slices.IndexFunc(s.Calls, func(c model.Call) bool { return c.ID == ev.Tool.Call && c.Lane == ev.Subagent })
		if i >= 0 {
			s.Calls = slices.Delete(s.Calls, i, i+1)
		}
	}
	if a.Act.Opens {
		s.Calls = append(s.Calls, model.Call{
			ID: ev.Tool.Call, Tool: ev.Tool.Name, Lane: ev.Subagent, Class: a.class(), Paths: a.inside,
		})
	}
}

// announcesCalls reports whether a tier has an agent tell of its tool calls.
func announcesCalls(t hooks.Tier, agent hooks.Agent) bool {
	return slices.ContainsFunc(t.Hooks[agent], func(h hooks.Hook) bool { return h.Command == "pre-tool-use" })
}

// class is what the event's call may change: of an edit tool any file, where not all are known that it names.
func (a *Pending) class() hooks.Class {
	if cls := a.Event.Tool.Class; cls != hooks.Editor || a.Event.Cwd != "" {
		return cls
	}
	if slices.ContainsFunc(a.Event.Tool.Paths, func(p string) bool { return !filepath.IsAbs(p) }) {
		return hooks.Changer
	}
	return hooks.Editor
}

// inside splits paths into those below root, made relative to it, and the others.
func inside(root, cwd string, paths []string) (in, out []string) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			if cwd == "" {
				continue
			}
			p = filepath.Join(cwd, p)
		}
		p = filepath.Clean(p)
		rel, ok := relativeTo(root, p)
		if !ok { // a link may lead into the project
			rel, ok = relativeTo(root, resolved(p))
		}
		if ok {
			in = append(in, filepath.ToSlash(rel))
		} else {
			out = append(out, p)
		}
	}
	return in, out
}

// relativeTo is path relative to root; false: it does not lie below it.
func relativeTo(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved is a path with the links of its directory resolved, as far as that exists. The last name is not followed.
func resolved(path string) string {
	dir, rest := filepath.Dir(path), filepath.Base(path)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
}
