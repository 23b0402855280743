package sessions

import (
	"cmp"
	"slices"

	"rewind/engine/model"
	"rewind/internal/clients"
	"rewind/tree"
)

// Underfoot lists the agents that are at work while a restore sets the files of steps and goes on in the session `goes`, a fork of `from`
// if that is not "". They do not stop the restore: apply.Run sees a file that changes meanwhile. The log's lock is held.
type Underfoot struct {
	model.Work
	Left  bool     // the conversation goes on in another session: this one does not know of the restore
	Paths []string // files that the restore sets and an open call names
	Files int      // number of files that the restore sets and a call may be writing: Paths, or all where a call names none
	Type  string   // what to type into the agent's program to switch to the other session; "": it must be closed
}

// mostLooked is how many sessions Underfoot looks for among the processes, the newest first.
const mostLooked = 8

// Underfoot lists the agents that are at work here when a restore sets the files of steps and goes on in `goes`, a fork of `from` if that
// is not "". They do not hinder it: that a file changes while it is set is seen by apply.Run. the log's lock is held.
func (ss *Sessions) Underfoot(goes, from string, steps []tree.Step) ([]Underfoot, error) {
	if err := ss.log.LoadSessions(); err != nil {
		return nil, err
	}
	family := ss.Family(cmp.Or(from, goes))
	var list []*model.Session
	for _, s := range ss.log.Records {
		if !s.Ended && !s.Imported && s.Event != "" {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *model.Session) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name)) })
	var out []Underfoot
	look := ss.log.Processes()
	for _, s := range list[:min(len(list), mostLooked)] {
		w, ok := ss.work(s, look)
		if !ok || s.Left && w.Seen == "" {
			continue
		}
		u := Underfoot{Work: w, Left: s.Name != goes && ss.Family(s.Name) == family}
		u.Paths, u.Files = under(w.Calls, steps)
		if u.Left {
			_, id := model.SplitSession(goes)
			u.Type = clients.SwitchTo(s.Agent, id)
		}
		out = append(out, u)
	}
	return out, nil
}

// UnderWay is the work of those sessions of the list, newest first, that have a call or a turn under way. Processes are looked at only if a
// record says so. The log's lock is held.
func (ss *Sessions) UnderWay(list []model.Session) []model.Work {
	var out []model.Work
	look, looked := new(clients.Processes), 0
	for i := range list {
		s := &list[i]
		if s.Ended || s.Imported || len(s.Calls) == 0 && !s.Busy || looked == mostLooked {
			continue
		}
		looked++
		if w, ok := ss.work(s, look); ok && w.Kind != model.WorkOpen && (!s.Left || w.Seen != "") {
			out = append(out, w)
		}
	}
	return out
}

// under are the steps' files that open calls may be writing: paths that the calls name, with files as their number; all of them, in files
// alone, if a call names none or none is open.
func under(calls []model.Call, steps []tree.Step) (paths []string, files int) {
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
		if all && (model.IsFile(s.From) || model.IsFile(s.To)) || !all && named[s.Path] {
			files++
		}
	}
	return paths, files
}
