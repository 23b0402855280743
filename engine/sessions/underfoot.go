package sessions

import (
	"cmp"
	"slices"

	"rewind/engine/model"
	"rewind/internal/clients"
	"rewind/internal/value"
	"rewind/tree"
)

// mostLooked is how many sessions Underfoot looks for among the processes, the newest first.
const mostLooked = 8

// Underfoot lists the agents that are at work here when a restore sets the files of steps. The restore goes on in
// `goes`, a fork of `from` if that is not "". The agents do not stop it: apply.Run sees a file that changes meanwhile.
// The caller holds the log's lock.
func (ss *Sessions) Underfoot(goes, from string, steps []tree.Change) ([]value.AtWork, error) {
	if err := ss.log.LoadSessions(); err != nil {
		return nil, err
	}
	family := ss.Family(cmp.Or(from, goes))
	var list []*model.Session
	for _, s := range ss.log.EachSession() {
		if heardOf(s) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *model.Session) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name)) })
	var out []value.AtWork
	look := ss.log.Processes()
	for _, s := range list[:min(len(list), mostLooked)] {
		w, ok := ss.worksOn(s, list, look)
		if !ok {
			continue
		}
		var open []model.Call
		if w.Known == value.WorkCall {
			open = s.Calls
		}
		w.Paths, w.Files = under(open, steps)
		if w.Left = s.Name != goes && ss.Family(s.Name) == family; w.Left {
			_, id := model.SplitSession(goes)
			w.Type = value.Text(clients.SwitchTo(s.Agent, id))
		}
		out = append(out, w)
	}
	return out, nil
}

// heardOf reports whether an agent was heard of in a session, and not of its end.
func heardOf(s *model.Session) bool { return !s.Ended && !s.Imported && s.Event != "" }

// worksOn is the work of one of all sessions that were heard of. One that a restore left counts while its turn runs on,
// or its program is seen.
func (ss *Sessions) worksOn(
	s *model.Session, all []*model.Session, look *clients.Processes,
) (w value.AtWork, ok bool) {
	s = ss.runsOn(s, all)
	w, ok = ss.work(s, look)
	return w, ok && (!s.Left || w.Seen != "")
}

// runsOn is a session as its agent goes on in it, also where a restore left it: an agent at work stays at work until
// its stop or its end. Where another session of its family was heard of since, the person went on in that one.
func (ss *Sessions) runsOn(s *model.Session, all []*model.Session) *model.Session {
	wentOn := func(o *model.Session) bool {
		return !o.Left && o.Last.After(s.Last) && ss.Family(o.Name) == ss.Family(s.Name)
	}
	if !s.Left || slices.ContainsFunc(all, wentOn) {
		return s
	}
	its := *s
	its.Left = false
	return &its
}

// UnderWay is the work of those sessions of the list, newest first, that have a call or a turn under way. Processes are
// looked at only if a record says so. The log's lock is held.
func (ss *Sessions) UnderWay(list []model.Session) []value.AtWork {
	var all, busy []*model.Session
	for i := range list {
		s := &list[i]
		if !heardOf(s) {
			continue
		}
		all = append(all, s)
		if len(s.Calls) > 0 || s.Busy {
			busy = append(busy, s)
		}
	}
	var out []value.AtWork
	look := new(clients.Processes)
	for _, s := range busy[:min(len(busy), mostLooked)] {
		if w, ok := ss.worksOn(s, all, look); ok && w.Known != value.WorkOpen {
			out = append(out, w)
		}
	}
	return out
}

// under returns the steps' files that open calls may be writing: paths are those that the calls name, files is how many
// there are. If a call names no path, or no call is open, files counts all files of the steps.
func under(calls []model.Call, steps []tree.Change) (paths []value.Text, files int) {
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
			paths = append(paths, value.Text(s.Path))
		}
		if all && (model.IsFile(s.Old) || model.IsFile(s.New)) || !all && named[s.Path] {
			files++
		}
	}
	return paths, files
}
