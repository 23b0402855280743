package capture

import (
	"cmp"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/value"
	"rewind/transcript"
)

// soonRead is how large a session file may be, in bytes, for its turns to be counted while an agent waits: about 4 ms.
const soonRead = 1 << 20

// begunBefore returns what a session had before its first event. It has turns if it is older than rewind. For Droid it
// has the session that it continues: /compress and /rewind-conversation go on under a new id, in a file that names the
// one before. long is called before a file is read that is not read in some milliseconds; nil: nobody asks.
func (wt *Worktree) begunBefore(ev hooks.Event, long func()) (turns uint64, from *model.Lineage) {
	if ev.Transcript == "" || !model.Understood(ev.Agent) {
		return 0, nil
	}
	agent := ev.Agent
	f, err := conversation.OpenSession(agent, ev.Transcript)
	if err != nil {
		return 0, nil
	}
	defer f.Close()
	if long != nil && f.Info.Size() > soonRead {
		long()
	}
	src := f.Source(f.Info.Size())
	c, err := transcript.Scan(agent, src)
	if err != nil {
		return 0, nil
	}
	if ev.Agent == hooks.Droid {
		from = wt.goesOnFrom(ev, c.Parent, src)
	}
	if from != nil { // it counts on behind what its summary has
		turns = uint64(from.Unsaid)
	}
	return turns + uint64(len(c.Turns)), from
}

// goesOnFrom is the lineage of a conversation that continues another, which its file names; nil: that one is not known
// here.
func (wt *Worktree) goesOnFrom(ev hooks.Event, named transcript.Parent, src transcript.Source) *model.Lineage {
	id := cmp.Or(ev.Previous, named.Session)
	if id == "" || id == ev.Session {
		return nil
	}
	l := &model.Lineage{Lineage: value.Lineage{
		Session: model.SessionName(hooks.Event{Agent: ev.Agent, Session: id}), Message: named.Message, Time: wt.log.Now(),
		Kind: model.ByAgent, How: value.FoundHeader,
	}}
	wt.log.Lock()
	old := wt.log.Session(l.Session)
	wt.log.Unlock()
	if old == nil || old.LaneOf != "" {
		return nil
	}
	// An error is no harm: the turns are counted again once the conversation is captured.
	_ = conversation.CommonTurns(l, wt.log.Objs, &model.Session{Agent: ev.Agent, ID: ev.Session, Transcript: ev.Transcript}, old, src)
	return l
}
