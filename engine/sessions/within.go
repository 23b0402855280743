package sessions

import (
	"slices"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/clients"
	"rewind/internal/value"
)

// CheckPerson returns a *model.WithinCallError for a command, given by its process, that an agent started: one whose
// hooks report to home.
func CheckPerson(home string, process int) error {
	if o := clients.OriginOf(process, home); o.Agent != "" {
		return &model.WithinCallError{Agent: o.Agent, PID: o.PID}
	}
	return nil
}

// CheckPerson is the same, and stricter while a call that can run commands is open here. Then it also returns that
// error for a process that does not come from a person's terminal: such a call may have left it behind. A process that
// is not known (0) does not.
func (ss *Sessions) CheckPerson(process int) error {
	switch o := clients.OriginOf(process, ss.log.Home.Dir); {
	case o.Agent != "":
		return &model.WithinCallError{Agent: o.Agent, PID: o.PID}
	case o.Terminal:
		return nil
	}
	defer ss.log.Hold()()
	if err := ss.log.LoadSessions(); err != nil {
		return err
	}
	var newest *value.AtWork
	for _, s := range ss.log.EachSession() {
		runsCommands := slices.ContainsFunc(s.Calls, func(c model.Call) bool { return c.Class == hooks.Changer })
		if s.Ended || s.Imported || !runsCommands {
			continue
		}
		w, ok := ss.work(s, ss.log.Processes())
		ended := ok && w.Known != value.WorkOpen
		if ended && (newest == nil || w.Since.After(newest.Since)) {
			newest = &w
		}
	}
	if newest == nil {
		return nil
	}
	return &model.WithinCallError{Call: newest}
}
