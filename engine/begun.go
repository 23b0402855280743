package engine

import (
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
	c, err := transcript.Scan(agent, f.source(f.info.Size()))
	if err != nil {
		return 0, nil
	}
	if ev.Agent == hooks.Droid {
		from = e.goesOnFrom(ev, c)
	}
	return uint64(len(c.Turns)), from
}

// goesOnFrom is where a conversation goes on from, if the session before it is known here.
func (e *Engine) goesOnFrom(ev hooks.Event, c *transcript.Conversation) *Lineage {
	id := ev.Previous
	if id == "" {
		id = c.Parent.Session
	}
	if id == "" || id == ev.Session {
		return nil
	}
	name := sessionName(hooks.Event{Agent: ev.Agent, Session: id})
	e.mu.Lock()
	old := e.sessions[name]
	e.mu.Unlock()
	if old == nil || old.LaneOf != "" {
		return nil
	}
	l := &Lineage{Session: name, Message: c.Parent.Message, Time: e.now(), Kind: "agent"}
	if before, err := e.conversation(old, old.Cursor.Transcript); err == nil {
		l.Turn = commonTurns(before, c)
	}
	return l
}

// commonTurns is how many turns two conversations begin with that are the same in both.
func commonTurns(a, b *transcript.Conversation) int {
	n := 0
	for n < min(len(a.Turns), len(b.Turns)) && a.Turns[n].User == b.Turns[n].User && a.Turns[n].Summary == b.Turns[n].Summary {
		n++
	}
	return n
}
