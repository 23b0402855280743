package capture

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/transcript"
)

// maxHeadLine is how much of a session file is read to learn who called it.
const maxHeadLine = 64 << 10

// inLane makes the event of a subagent that its agent gives a session of its own (Droid's Task) one of the session that
// called it, in a lane. worker is the name of the subagent's session; "": the event is of no such one. A caller that is
// not known here does not count. While the worker's file is not written yet this is not known, and asked again at its
// next event.
func (wt *Worktree) inLane(ev hooks.Event) (_ hooks.Event, worker string, err error) {
	if ev.Agent != hooks.Droid || ev.Session == "" || ev.Subagent != "" {
		return ev, "", nil
	}
	name := model.SessionName(ev)
	of, known := wt.log.Lane(name)
	if !known {
		if of, known, err = wt.findCaller(name, ev); err != nil {
			return ev, "", err
		}
		if known {
			wt.log.KnowLane(name, of)
		}
	}
	if of != "" {
		_, id := model.SplitSession(of)
		return ev.InLane(id), name, nil
	}
	return ev, "", nil
}

// findCaller finds the name of the session that called another; "": none here did.
func (wt *Worktree) findCaller(name string, ev hooks.Event) (of string, known bool, err error) {
	wt.log.Lock()
	defer wt.log.Unlock()
	if err := wt.log.LoadSessions(); err != nil {
		return "", false, err
	}
	if s := wt.log.Session(name); s != nil && (s.LaneOf != "" || !s.Cursor.Transcript.IsZero()) {
		return s.LaneOf, true, nil // found at an earlier event
	}
	id, known := callingSession(ev.Transcript)
	if id == "" || id == ev.Session {
		return "", known, nil
	}
	caller := wt.log.Session(model.SessionName(hooks.Event{Agent: ev.Agent, Session: id}))
	if caller == nil {
		return "", true, nil
	}
	if caller.LaneOf != "" { // the caller is a subagent itself
		return caller.LaneOf, true, nil
	}
	return caller.Name, true, nil
}

// callingSession is the id of the session whose Task a session of Droid is, by the first line of its file; "": none.
// known: the line is complete. The path comes from a hook's payload, and is opened as every session file is.
func callingSession(path string) (id string, known bool) {
	if path == "" {
		return "", false
	}
	f, err := conversation.OpenSession(transcript.Droid, path)
	if err != nil {
		return "", !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxHeadLine)).ReadBytes('\n')
	if err != nil {
		return "", len(line) == maxHeadLine // a shorter line is still being written
	}
	var head struct {
		CallingSessionID string `json:"callingSessionId"`
	}
	if json.Unmarshal(line, &head) != nil || !transcript.ValidID(head.CallingSessionID) {
		return "", true
	}
	return head.CallingSessionID, true
}

// lane sets in the batch the record of a worker's session, which names its caller.
func (in *batch) lane(a *Pending) {
	if a.worker == "" || in.sessions[a.worker] != nil {
		return
	}
	s := &model.Session{Name: a.worker, First: in.wt.log.Now()}
	if old := in.wt.log.Session(a.worker); old != nil {
		if old.LaneOf != "" {
			return
		}
		c := *old
		s = &c
	}
	s.Agent, s.ID, s.Last, s.LaneOf = a.Event.Agent, a.Event.Subagent, in.wt.log.Now(), a.Name
	s.Calls, s.Busy, s.Ended = nil, false, true
	in.sessions[a.worker] = s
}
