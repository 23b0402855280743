package restore

import (
	"context"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/refs"
)

// from is the session that a fork is made of; "": none is.
func (t *conversationPlan) from() string {
	if t == nil || t.fork == nil {
		return ""
	}
	return t.fork.of.Name
}

// idle reports whether there is nothing to be done to session files.
func (t *conversationPlan) idle() bool { return t == nil || len(t.files) == 0 }

// Enter writes the plan into the journal.
func (t *conversationPlan) Enter(j *model.Journal) {
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

// codeAlone ends a restore whose session files could not be set: the code is where it was to go, and stays there. What was done to session
// files is taken back; what cannot be is named in the operation, so that its bytes stay and undo-restore finds it.
func (rs *Restorer) codeAlone(j *model.Journal, res *Result, why error) {
	for _, f := range conversation.ReverseFiles(j.Files) {
		_ = conversation.SetSession(rs.log.Objs, j.Own, f) // what is not as it was is found below
	}
	j.Left = append(j.Left, conversation.LeftAlone(rs.log.Objs, j)...)
	j.Files, j.Made, j.Moved, j.Goes = nil, nil, nil, ""
	if goes, err := rs.stillOf(j.Session); err == nil && goes != j.Session {
		j.Goes = goes
	}
	if res.Conversation == nil {
		return
	}
	none := noConversation(later(why, j.Target))
	if j.Undoes > 0 {
		none.conversation.Why = notBack(j.Undoes, why)
	}
	*res.Conversation = none.conversation
}

// tellAgents has the agents' own lists and caches know what became of session files, those that were set. What was to be done is done:
// what goes wrong is a notice.
func (rs *Restorer) tellAgents(ctx context.Context, env value.AgentEnv, j *model.Journal, set []refs.File, c *model.Conversation) {
	for _, f := range set {
		if f.From.IsZero() || f.To.IsZero() {
			rs.conversations.LinkHistory(register.Folders(env), f.Path, f.To.IsZero())
		}
	}
	if j.Made != nil && c != nil && c.Fork != nil {
		rs.list(ctx, j.Made.Agent, env, c.Fork)
	}
	if j.Moved != nil {
		if err := rs.sessions.Forget(ctx, j.Moved, env); err != nil {
			rs.log.Notice(err.Error())
		}
	}
}

// readyConversation captures the conversation up to now, for a restore that takes it along.
func (rs *Restorer) readyConversation(ctx context.Context, session string, o Options) error {
	if o.CodeOnly || o.Env.Home == "" {
		return nil
	}
	if err := rs.log.LoadSessions(); err != nil {
		return err
	}
	return rs.history.CatchUp(ctx, session)
}
