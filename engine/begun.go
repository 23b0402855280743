package engine

import (
	"cmp"

	"rewind/hooks"
	"rewind/transcript"
)

// begunBefore says what a session had when rewind hears of it first: how many turns, for it may be older than rewind, and, of Droid, the
// session that it goes on from: /compress and /rewind-conversation go on under a new id, in a file that names the one before.
func (e *Engine) begunBefore(ev hooks.Event) (turns uint64, from *Lineage) {
	if ev.Transcript == "" || !understood(ev.Agent) {
		return 0, nil
	}
	agent := transcript.Agent(ev.Agent)
	f, err := openSession(agent, ev.Transcript)
	if err != nil {
		return 0, nil
	}
	defer f.Close()
	src := f.source(f.info.Size())
	c, err := transcript.Scan(agent, src)
	if err != nil {
		return 0, nil
	}
	if ev.Agent == hooks.Droid {
		from = e.goesOnFrom(ev, c.Parent, src)
	}
	return uint64(len(c.Turns)), from
}

// goesOnFrom is where a conversation goes on from, if the session before it is known here. named is what its file says of that.
func (e *Engine) goesOnFrom(ev hooks.Event, named transcript.Lineage, src transcript.Source) *Lineage {
	id := cmp.Or(ev.Previous, named.Session)
	if id == "" || id == ev.Session {
		return nil
	}
	l := &Lineage{Session: sessionName(hooks.Event{Agent: ev.Agent, Session: id}), Message: named.Message, Time: e.now(), Kind: byAgent}
	e.mu.Lock()
	old := e.sessions[l.Session]
	e.mu.Unlock()
	if old == nil || old.LaneOf != "" {
		return nil
	}
	_ = l.place(e.objs, &Session{Agent: ev.Agent, ID: ev.Session, Transcript: ev.Transcript}, old, src, maxSession) // else what is captured tells it
	return l
}
