package history

import (
	"maps"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/transcript"
)

// Targets gives what the tool calls that made checkpoints were about (the path, the command), by the calls' ids. Each conversation is read
// once, as far as it was captured; what is in none, as a subagent's, is left out.
func (h *History) Targets(steps []*model.Checkpoint) map[string]string {
	calls, newest := map[string]map[string]bool{}, map[string]objstore.ID{}
	for _, cp := range steps {
		if cp.Cause.Call == "" {
			continue
		}
		if calls[cp.Session] == nil {
			calls[cp.Session], newest[cp.Session] = map[string]bool{}, cp.Conversation.Transcript
		}
		calls[cp.Session][cp.Cause.Call] = true
	}
	out := map[string]string{}
	for session, ids := range calls {
		s, err := h.log.StoredSession(session)
		if err != nil || s == nil || !model.Understood(s.Agent) {
			continue
		}
		for _, said := range []objstore.ID{s.Cursor.Transcript, newest[session]} { // what was cut in place is only in the other
			if said.IsZero() {
				continue
			}
			src, _, err := h.Source(s, said)
			if err != nil {
				continue
			}
			found, err := transcript.Targets(s.Agent, src, ids)
			maps.Copy(out, found)
			if err == nil && len(found) == len(ids) {
				break
			}
		}
	}
	return out
}

// Said is the prompt that a checkpoint's turn began with and what was answered last before it, as far as they are told: each "" if not.
func Said(list []transcript.Message) (asked, answered transcript.Message) {
	for i := len(list) - 1; i >= 0 && asked.Who == ""; i-- {
		switch m := list[i]; {
		case m.Who == "user":
			asked = m
		case m.Who == "assistant" && answered.Who == "" && m.Text != "":
			answered = m
		}
	}
	return asked, answered
}
