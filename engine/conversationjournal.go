package engine

import (
	"context"
	"fmt"

	"rewind/internal/record"
	"rewind/refs"
	"rewind/transcript"
)

// Field tags of a session in a journal, docs/format.md#journal.
const (
	tagNamedName = iota + 1
	tagNamedRecord
)

func namedSession(s *Session) []byte {
	if s == nil {
		return nil
	}
	var e record.Encoder
	e.String(tagNamedName, s.Name)
	e.Bytes(tagNamedRecord, s.encode())
	return e.Encoded()
}

func decodeNamedSession(raw record.Field) (*Session, error) {
	name, rec := "", record.Field(nil)
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagNamedName:
			name = string(f)
		case tagNamedRecord:
			rec = f
		default:
			return record.Unknown(tag)
		}
		return nil
	})
	if err == nil && name == "" {
		err = fmt.Errorf("%w: session without a name", record.ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	return decodeSession(name, rec)
}

// from is the session that a fork is made of; "": none is.
func (t *conversationPlan) from() string {
	if t == nil || t.fork == nil {
		return ""
	}
	return t.fork.of.Name
}

func (s *Session) from() string {
	if s == nil || s.Fork == nil {
		return ""
	}
	return s.Fork.Session
}

// idle reports whether there is nothing to be done to session files.
func (t *conversationPlan) idle() bool { return t == nil || len(t.files) == 0 }

// enter writes the plan into the journal.
func (t *conversationPlan) enter(j *journal) {
	if t != nil {
		j.Files, j.Made, j.Moved = t.files, t.made, t.moved
	}
}

// sessions gives the records that change with the end of the restore, which is operation seq.
func (j *journal) sessions(seq uint64, set func(*Session) error) error {
	for _, s := range []*Session{j.Made, j.Moved} {
		if s == nil {
			continue
		}
		if s == j.Made {
			s.Began = seq
			s.Fork.Checkpoint = j.Target.String()
		}
		if err := set(s); err != nil {
			return err
		}
	}
	return nil
}

// conversation is what an unfinished restore does to the conversation.
func (j *journal) conversation() *Conversation {
	switch {
	case j.Made != nil:
		f := &Fork{Session: j.Made.Name, Title: j.Made.Title, Path: j.Made.Transcript, From: *j.Made.Fork}
		return &Conversation{Mode: ConversationFork, Fork: f, Session: f.Session, Path: f.Path, Turn: int(j.Made.Turn)}
	case j.Moved != nil && j.Kind == refs.KindUndoRestore:
		return &Conversation{Mode: ConversationBack, Session: j.Moved.Name, Path: j.Moved.Transcript, Turn: int(j.Moved.Turn)}
	case j.Moved != nil:
		return &Conversation{Mode: ConversationInPlace, Session: j.Moved.Name, Path: j.Moved.Transcript, Turn: int(j.Moved.Turn)}
	case len(j.Files) > 0:
		return &Conversation{Mode: ConversationBack, Session: j.Session}
	}
	return nil
}

// codeAlone ends a restore whose session files could not be set: the code is where it was to go, and stays there. What was done to session files is taken back; what
// cannot be is named in the operation, so that its bytes stay and undo-restore finds it.
func (e *Engine) codeAlone(j *journal, res *RestoreResult, why error) {
	for _, f := range reverseFiles(j.Files) {
		_ = e.setSession(j.own, f) // what is not as it was is found below
	}
	j.left = append(j.left, e.leftAlone(j)...)
	j.Files, j.Made, j.Moved, j.Goes = nil, nil, nil, ""
	if goes, err := e.stillOf(j.Session); err == nil && goes != j.Session {
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

func (s *Session) name() string {
	if s == nil {
		return ""
	}
	return s.Name
}

// tellAgents has the agents' own lists and caches know what became of session files. The restore is done: what goes wrong is a notice.
func (e *Engine) tellAgents(ctx context.Context, env AgentEnv, j *journal, res *RestoreResult) {
	if res.Operation != nil && res.Operation.Restore != nil {
		for _, f := range res.Operation.Restore.Files {
			if f.From.IsZero() || f.To.IsZero() {
				e.linkHistory(env.folders(), f.Path, f.To.IsZero())
			}
		}
	}
	if j.Made != nil && res.Conversation != nil && res.Conversation.Fork != nil {
		e.list(ctx, transcript.Agent(j.Made.Agent), env, res.Conversation.Fork)
	}
	if j.Moved != nil {
		if err := e.forget(ctx, j.Moved, env); err != nil {
			e.Notice(told(err))
		}
	}
}

// readyConversation captures the conversation up to now, for a restore that takes it along.
func (e *Engine) readyConversation(ctx context.Context, session string, o RestoreOptions) error {
	if o.Conversation.CodeOnly || o.Env.Home == "" {
		return nil
	}
	if err := e.loadSessions(); err != nil {
		return err
	}
	return e.catchUp(ctx, session)
}
