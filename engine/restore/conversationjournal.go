package restore

import (
	"context"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/refs"
)

// forkedFrom is the session that the planned fork is made of; "" without a fork.
func (t *conversationPlan) forkedFrom() string {
	if t == nil || t.fork == nil {
		return ""
	}
	return t.fork.parent.Name
}

// isEmpty reports whether the plan changes no session file. That of a dry run has no files yet.
func (t *conversationPlan) isEmpty() bool {
	return t == nil || len(t.files) == 0 && t.conversation.Mode != model.ConversationInPlace
}

// FillJournal puts the plan's files and session records into the journal.
func (t *conversationPlan) FillJournal(j *model.Journal) {
	if t != nil {
		j.Files, j.Made, j.Moved = t.files, t.made, t.moved
	}
}

// Conversation is what the unfinished restore of a journal does to the conversation; nil: nothing.
func Conversation(j *model.Journal) *model.Conversation {
	switch {
	case j.Made != nil:
		f := &model.Fork{Session: j.Made.Name, Title: j.Made.Title, Path: j.Made.Transcript, From: *j.Made.Fork}
		return &model.Conversation{Mode: model.ConversationFork, Fork: f, Session: f.Session, Path: f.Path, Turn: int(j.Made.Turn)}
	case j.Moved != nil && j.Kind == refs.KindUndoRestore:
		return &model.Conversation{Mode: model.ConversationBack, Session: j.Moved.Name, Path: j.Moved.Transcript, Turn: int(j.Moved.Turn)}
	case j.Moved != nil:
		return &model.Conversation{
			Mode: model.ConversationInPlace, Session: j.Moved.Name, Path: j.Moved.Transcript,
			Turn: int(j.Moved.Turn),
		}
	case len(j.Files) > 0:
		return &model.Conversation{Mode: model.ConversationBack, Session: j.Session}
	}
	return nil
}

// isOtherVersion reports whether steps set a session file to what it did not begin with.
func (rs *talkPlanner) isOtherVersion(steps []refs.File) bool {
	return slices.ContainsFunc(steps, func(f refs.File) bool {
		if f.From.IsZero() || f.To.IsZero() {
			return false
		}
		on, err := rs.history.GoesOn(f.From, f.To)
		return err == nil && !on && !conversation.IsDocument(f.Path)
	})
}

// dropConversation makes a restore whose session files could not be set one of the code alone. Session files that were
// set are set back. Those that cannot be are put into j.KeptFiles, so that the operation names them: their bytes stay
// in the store, and undo-restore finds them.
func (rs *talkPlanner) dropConversation(j *model.Journal, res *Result, why error) {
	for _, f := range conversation.ReverseFiles(j.Files) {
		_ = conversation.SetSession(rs.log.Objs, j.Folders, f) // what is not as it was is found below
	}
	j.KeptFiles = append(j.KeptFiles, conversation.LeftAlone(rs.log.Objs, j)...)
	j.Files, j.Made, j.Moved, j.Goes = nil, nil, nil, ""
	if ongoing, err := rs.sessions.Ongoing(j.Session); err == nil && ongoing != j.Session {
		j.Goes = ongoing
	}
	if res.Conversation == nil {
		return
	}
	none := noConversation(whyCodeOnly(why, j.Aim()))
	if j.Undoes > 0 {
		none.conversation.Why = whyNotReverted(j.Undoes, why)
	}
	*res.Conversation = none.conversation
}

// notifyAgents tells the agents' lists and caches of the session files in set, which were changed. The restore is done
// by now: a failure becomes a notice, or c.Fork's problem.
func (rs *talkPlanner) notifyAgents(
	ctx context.Context, env value.AgentEnv, j *model.Journal, set []refs.File, c *model.Conversation,
) {
	for _, f := range set {
		if f.From.IsZero() || f.To.IsZero() {
			rs.conversations.LinkHistory(register.Folders(env), f.Path, f.To.IsZero())
		}
	}
	if j.Made != nil && c != nil && c.Fork != nil {
		manage.AddToAgentList(ctx, j.Made.Agent, env, c.Fork)
	}
	if j.Moved != nil {
		if err := rs.sessions.Forget(ctx, j.Moved, env); err != nil {
			rs.log.Notice(err.Error())
		}
	}
}

// catchUp captures what a session's file has beyond its transcript, for a restore that takes the conversation along.
func (rs *runner) catchUp(ctx context.Context, session string, o Options) error {
	if o.CodeOnly || o.Env.Home == "" {
		return nil
	}
	if err := rs.log.LoadSessions(); err != nil {
		return err
	}
	return rs.history.CatchUp(ctx, session)
}

// sessionFiles are the paths of files that are a known session's own, without the files that agents keep beside them.
func (rs *talkPlanner) sessionFiles(files []refs.File) []string {
	var out []string
	for _, f := range files {
		if _, ok := rs.agentOf(f.Path); ok {
			out = append(out, f.Path)
		}
	}
	return out
}
