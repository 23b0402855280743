package engine

import (
	"cmp"
	"slices"

	"rewind/internal/clients"
	"rewind/transcript"
	"rewind/tree"
)

// Underfoot is an agent that is at work where a restore sets files.
type Underfoot struct {
	Work
	Left  bool     // the conversation goes on in another session: what is said in this one from now on does not know of the restore
	Paths []string // files that the restore sets and an open call names
	Files int      // that the restore sets under it: those, or where a call may write anywhere, all
	Type  string   // what to type into its program to go on in the other session; "": it has to be left
}

// mostLooked is how many sessions are looked at, the newest first: each is looked for among the processes.
const mostLooked = 8

// underfoot lists the agents that are at work here when a restore sets the files of steps and goes on in `goes`, a fork of `from` if that is not "". They do not
// hinder it: that a file changes while it is set is seen by apply.Run. e.mu is held.
func (e *Engine) underfoot(goes, from string, steps []tree.Step) ([]Underfoot, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	family := e.family(cmp.Or(from, goes))
	var list []*Session
	for _, s := range e.sessions {
		if !s.Ended && !s.Imported && s.Event != "" {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *Session) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name)) })
	var out []Underfoot
	look := e.processes()
	for _, s := range list[:min(len(list), mostLooked)] {
		w, ok := e.work(s, look)
		if !ok || s.Left && w.Seen == "" {
			continue
		}
		u := Underfoot{Work: w, Left: s.Name != goes && e.family(s.Name) == family}
		u.Paths, u.Files = under(w.Calls, steps)
		if u.Left {
			_, id := SplitSession(goes)
			u.Type = clients.SwitchTo(transcript.Agent(s.Agent), id)
		}
		out = append(out, u)
	}
	return out, nil
}

// underWay lists which of some sessions, the newest first, have a call or a turn under way. Processes are looked at only if a record says so. e.mu is held.
func (e *Engine) underWay(list []Session) []Work {
	var out []Work
	look, looked := new(clients.Look), 0
	for i := range list {
		s := &list[i]
		if s.Ended || s.Imported || len(s.Calls) == 0 && !s.Busy || looked == mostLooked {
			continue
		}
		looked++
		if w, ok := e.work(s, look); ok && w.Kind != WorkOpen && (!s.Left || w.Seen != "") {
			out = append(out, w)
		}
	}
	return out
}

// under tells which steps lie under open calls: those at paths that they name; all, if one names none, or none is open and the next may begin.
func under(calls []Call, steps []tree.Step) (paths []string, files int) {
	all := len(calls) == 0
	named := map[string]bool{}
	for _, c := range calls {
		all = all || len(c.Paths) == 0
		for _, p := range c.Paths {
			named[p] = true
		}
	}
	for _, s := range steps {
		if named[s.Path] {
			paths = append(paths, s.Path)
		}
		if all && (isFile(s.From) || isFile(s.To)) || !all && named[s.Path] {
			files++
		}
	}
	return paths, files
}
