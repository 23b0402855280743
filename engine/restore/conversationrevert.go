package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/agentfiles"
	"rewind/internal/clients"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// planRevert plans to take back what the reverted restore did to session files. A session that it made is deleted if
// nobody has used it. One that it cut gets its whole file back. nil: the restore changed none.
func (rs *talkPlanner) planRevert(r *request, tx *objstore.Tx) (*conversationPlan, error) {
	op := r.reverts
	if op == nil || len(op.Restore.Files) == 0 {
		return nil, nil
	}
	at, err := rs.sessions.PositionBefore(op.Seq)
	if err != nil {
		return nil, err
	}
	t := &conversationPlan{conversation: model.Conversation{Mode: model.ConversationBack, Session: at.Session}}
	if op.Restore.TakesBack && rs.sessions.Family(op.Session) != rs.sessions.Family(at.Session) {
		t.conversation.Session = op.Session // whose turns come back, wherever the person stood
	}
	own := register.Folders(r.options.Env)
	for _, f := range op.Restore.Files {
		if err := model.Placed(own, f.Path); err != nil {
			return planForeign(r, op, err)
		}
	}
	for _, f := range conversation.ReverseFiles(op.Restore.Files) {
		if err := rs.revertFile(own, op, f, t, tx); err != nil {
			return nil, err
		}
	}
	return t, rs.setReverted(r, t, tx)
}

// revertFile plans what becomes of one session file of an operation that is taken back; f goes from what the operation
// left to what was there before.
func (rs *talkPlanner) revertFile(
	own agentfiles.Folders, op *refs.Operation, f refs.File, t *conversationPlan, tx *objstore.Tx,
) error {
	as, err := conversation.IsStored(rs.log.Objs, own, f.Path, f.From)
	if err == nil && f.To.IsZero() {
		if f, as, err = rs.removalIfUnused(own, refs.File{Path: f.Path, To: f.From}, tx); rs.isOpen(op.Restore.Fork) ||
			len(t.conversation.Kept) > 0 {
			as = false // files beside a session that is kept stay, too
		}
	}
	switch {
	case err != nil:
		return err
	case as:
		t.files = append(t.files, f)
	case f.To.IsZero():
		gone, err := conversation.IsStored(rs.log.Objs, own, f.Path, objstore.ID{})
		if err != nil {
			return err
		}
		if !gone { // the session was used since
			t.conversation.Kept = append(t.conversation.Kept, rs.sessionFiles([]refs.File{f})...)
		}
	case f.From.IsZero():
		return model.UndoError(op.Seq, &value.OpError{Op: "session file", Subject: f.Path, Err: fs.ErrExist})
	default:
		if f, err = rs.storeGrown(f, tx); err != nil {
			return err
		}
		t.files = append(t.files, f)
	}
	return nil
}

// planForeign is the plan when an operation names a session file that must not be touched. If no agent has such files
// the operation is not ours, which is an error; else the code goes alone.
func planForeign(r *request, op *refs.Operation, err error) (*conversationPlan, error) {
	foreign := &model.ForeignFileError{In: fmt.Sprintf("operation %d", op.Seq), Cause: err}
	if foreign.Foreign() || r.ContextOnly {
		return nil, foreign
	}
	return noConversation(foreign.Error()), nil
}

// storeGrown completes the step that brings a session file back although the agent has appended to it: the file's
// present bytes are stored and become the step's From.
func (rs *talkPlanner) storeGrown(f refs.File, tx *objstore.Tx) (refs.File, error) {
	agent, ok := rs.agentOf(f.Path)
	if !ok {
		return f, &value.OpError{Op: "session file", Subject: f.Path, Err: conversation.ErrSessionChanged}
	}
	file, err := conversation.OpenSession(agent, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		f.From = objstore.ID{}
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer file.Close()
	if tx != nil {
		f.From, err = conversation.PutFile(tx, file, f.From)
	}
	return f, err
}

// agentOf is the agent of the session whose file path is; false: no known session has it.
func (rs *talkPlanner) agentOf(path string) (transcript.Agent, bool) {
	for _, s := range rs.log.EachSession() {
		if s.Transcript == path {
			return s.Agent, true
		}
	}
	return "", false
}

// setReverted says in the plan t whose conversation comes back and with which turn, and fails while an agent has that
// session open.
func (rs *talkPlanner) setReverted(r *request, t *conversationPlan, tx *objstore.Tx) error {
	for _, f := range t.files {
		if f.From.IsZero() || f.To.IsZero() {
			if f.To.IsZero() {
				t.conversation.Removed = append(t.conversation.Removed, rs.sessionFiles([]refs.File{f})...)
			}
			continue
		}
		for _, s := range rs.log.EachSession() {
			if s.Transcript != f.Path {
				continue
			}
			if err := rs.sessions.MustRest(s, r.options.Force); err != nil {
				return err
			}
			t.conversation.Session, t.conversation.Path = s.Name, f.Path
			if tx == nil {
				return nil
			}
			size, cut, err := cutOfStored(s, tx, f.To)
			if err != nil {
				return err
			}
			number := 0
			if s.Cursor.Base == 0 { // else the file has a part of the conversation only
				if number, err = rs.history.NumberBefore(s, f.To, r.reverts.Seq); err != nil {
					return err
				}
			}
			if t.moved, err = rs.changedRecord(s, tx, f.To, size, cut, number); err == nil {
				t.conversation.Turn = int(t.moved.Turn)
			}
			return err
		}
	}
	if s := rs.log.Session(t.conversation.Session); s != nil {
		t.conversation.Path = s.Transcript
	}
	return nil
}

// removalOfUnusedFork returns the steps that delete the session of earlier restores, if it is current, nobody has used
// it and nothing was saved in it. So a run of restores leaves one session behind, not one for each.
func (rs *talkPlanner) removalOfUnusedFork(r *request, tx *objstore.Tx) []refs.File {
	own := register.Folders(r.options.Env)
	made := rs.unusedForkHere(r)
	if made == nil {
		return nil
	}
	var out []refs.File
	// the session's own file first: what lies beside one that is used stays
	for _, f := range slices.Backward(made.Files) {
		if f.From.IsZero() {
			step, ok, err := rs.removalIfUnused(own, f, tx)
			if err != nil || !ok {
				break
			}
			out = append(out, step)
		}
	}
	return out
}

// unusedForkHere is what the operation did that made the fork in which one stands, where nobody has used it; nil: there
// is none.
func (rs *talkPlanner) unusedForkHere(r *request) *refs.Restore {
	at, err := rs.sessions.Position()
	if r.keepForks || err != nil {
		return nil
	}
	s := rs.log.Session(at.Session)
	if at.Branch != r.Session || at.Session == r.Session || s == nil {
		return nil
	}
	if s.Event != "" || rs.sessions.Elsewhere(s) != "" || rs.isOpen(s.Name) {
		return nil
	}
	op, err := rs.log.Refs.Operation(s.Began)
	if err != nil || op.Restore == nil || op.Restore.Fork != s.Name {
		return nil
	}
	if tip, err := rs.history.NewestOf(s.Name); err != nil || s.Fork == nil || tip.String() != s.Fork.Checkpoint {
		return nil
	}
	return op.Restore
}

// removalIfUnused is the step that removes a session file which a restore made. ok: nobody has used the file. It has
// the bytes that it was made with, or behind them only records that say nothing (Codex 0.125 appends the session's
// name).
func (rs *talkPlanner) removalIfUnused(
	own agentfiles.Folders, made refs.File, tx *objstore.Tx,
) (step refs.File, ok bool, err error) {
	step = refs.File{Path: made.Path, From: made.To}
	if ok, err = conversation.IsStored(rs.log.Objs, own, made.Path, made.To); err != nil || ok {
		return step, ok, err
	}
	agent, known := rs.agentOf(made.Path)
	if !known {
		return step, false, nil
	}
	f, err := conversation.OpenSession(agent, made.Path)
	if err != nil {
		return step, false, nil //nolint:nilerr // the file is gone, or is none that a restore made
	}
	defer f.Close()
	st, err := conversation.OpenTranscript(rs.log.Objs, made.To)
	if err != nil {
		return step, false, err
	}
	if same, err := st.Begins(f, st.Size); err != nil || same < st.Size || f.Document() {
		return step, false, err
	}
	said := false
	err = transcript.Read(agent, f.Source(f.Info.Size()), st.Size, func(r *transcript.Record) error {
		said = said || r.Kind != transcript.Other
		return nil
	})
	if err != nil || said || tx == nil {
		return step, err == nil && !said, err
	}
	step.From, err = conversation.PutFile(tx, f, made.To)
	return step, err == nil, err
}

// isHeardOf reports whether events of a session of an agent that has not ended have come.
func (rs *talkPlanner) isHeardOf(agent transcript.Agent) bool {
	for _, s := range rs.log.EachSession() {
		over := s.Ended || s.Imported
		if s.Agent == agent && s.Event != "" && !over {
			return true
		}
	}
	return false
}

// isOpen reports whether an agent has a session open. A running program may not show its session. Then a session
// without events counts as closed if another one of the agent's does not: agents send an event when they open a
// session.
func (rs *talkPlanner) isOpen(session string) bool {
	s := rs.log.Session(session)
	if s == nil || rs.sessions.OpenBy(s) == "" {
		return false
	}
	live := rs.sessions.Live(s, new(clients.Processes))
	return s.Event != "" || !live.Running || !live.Guess ||
		!rs.isHeardOf(s.Agent)
}
