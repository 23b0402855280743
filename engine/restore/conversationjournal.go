package restore

import (
	"context"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/refs"
)

// forkedFrom is the session that a fork is made of; "": none is.
func (t *conversationPlan) forkedFrom() string {
	if t == nil || t.fork == nil {
		return ""
	}
	return t.fork.parent.Name
}

// isEmpty reports whether there is nothing to be done to session files.
func (t *conversationPlan) isEmpty() bool { return t == nil || len(t.files) == 0 }

// FillJournal writes the plan into the journal.
func (t *conversationPlan) FillJournal(j *model.Journal) {
	if t != nil {
		j.Files, j.Made, j.Moved = t.files, t.made, t.moved
	}
}

// Conversation is what an unfinished restore does to the conversation.
func Conversation(j *model.Journal) *model.Conversation {
	switch {
	case j.Made != nil:
		f := &model.Fork{Session: j.Made.Name, Title: j.Made.Title, Path: j.Made.Transcript, From: *j.Made.Fork}
		return &model.Conversation{Mode: model.ConversationFork, Fork: f, Session: f.Session, Path: f.Path, Turn: int(j.Made.Turn)}
	case j.Moved != nil && j.Kind == refs.KindUndoRestore:
		return &model.Conversation{Mode: model.ConversationBack, Session: j.Moved.Name, Path: j.Moved.Transcript, Turn: int(j.Moved.Turn)}
	case j.Moved != nil:
		return &model.Conversation{Mode: model.ConversationInPlace, Session: j.Moved.Name, Path: j.Moved.Transcript, Turn: int(j.Moved.Turn)}
	case len(j.Files) > 0:
		return &model.Conversation{Mode: model.ConversationBack, Session: j.Session}
	}
	return nil
}

// dropConversation ends a restore whose session files could not be set: the code is where it was to go, and stays there. What was done to session
// files is taken back; what cannot be is named in the operation, so that its bytes stay and undo-restore finds it.
func (rs *Restorer) dropConversation(j *model.Journal, res *Result, why error) {
	for _, f := range conversation.ReverseFiles(j.Files) {
		_ = conversation.SetSession(rs.log.Objs, j.Own, f) // what is not as it was is found below
	}
	j.Left = append(j.Left, conversation.LeftAlone(rs.log.Objs, j)...)
	j.Files, j.Made, j.Moved, j.Goes = nil, nil, nil, ""
	if ongoing, err := rs.ongoingSession(j.Session); err == nil && ongoing != j.Session {
		j.Goes = ongoing
	}
	if res.Conversation == nil {
		return
	}
	none := noConversation(whyCodeOnly(why, j.Target))
	if j.Undoes > 0 {
		none.conversation.Why = whyNotReverted(j.Undoes, why)
	}
	*res.Conversation = none.conversation
}

// notifyAgents has the agents' own lists and caches know what became of session files, those that were set. What was to be done is done:
// what goes wrong is a notice.
func (rs *Restorer) notifyAgents(ctx context.Context, env value.AgentEnv, j *model.Journal, set []refs.File, c *model.Conversation) {
	for _, f := range set {
		if f.From.IsZero() || f.To.IsZero() {
			rs.conversations.LinkHistory(register.Folders(env), f.Path, f.To.IsZero())
		}
	}
	if j.Made != nil && c != nil && c.Fork != nil {
		rs.addToAgentList(ctx, j.Made.Agent, env, c.Fork)
	}
	if j.Moved != nil {
		if err := rs.sessions.Forget(ctx, j.Moved, env); err != nil {
			rs.log.Notice(err.Error())
		}
	}
}

// catchUp captures the conversation up to now, for a restore that takes it along.
func (rs *Restorer) catchUp(ctx context.Context, session string, o Options) error {
	if o.CodeOnly || o.Env.Home == "" {
		return nil
	}
	if err := rs.log.LoadSessions(); err != nil {
		return err
	}
	return rs.history.CatchUp(ctx, session)
}
