package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"rewind/internal/agentfiles"
	"rewind/internal/clients"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// planBack takes back what a restore did to session files: a session that it made and that nobody has used goes, one that it cut comes back whole.
func (e *Engine) planBack(r *restore, tx *objstore.Tx) (*conversationPlan, error) {
	op := r.reverts
	if op == nil || len(op.Restore.Files) == 0 {
		return nil, nil
	}
	at, err := e.positionBefore(op.Seq)
	if err != nil {
		return nil, err
	}
	t := &conversationPlan{conversation: Conversation{Mode: ConversationBack, Session: at.Session}}
	own := r.env.folders()
	for _, f := range op.Restore.Files {
		if err := placed(own, f.Path); err != nil {
			return noneBack(r, op, err)
		}
	}
	for _, f := range reverseFiles(op.Restore.Files) {
		as, err := e.isStored(own, f.Path, f.From)
		if err == nil && f.To.IsZero() {
			if f, as, err = e.unused(own, refs.File{Path: f.Path, To: f.From}, tx); e.inUse(op.Restore.Fork) || len(t.conversation.Kept) > 0 {
				as = false // what lies beside a session that is kept stays, too
			}
		}
		switch {
		case err != nil:
			return nil, err
		case as:
			t.files = append(t.files, f)
		case f.To.IsZero():
			t.conversation.Kept = append(t.conversation.Kept, e.sessionFiles([]refs.File{f})...) // somebody has gone on with it
		case f.From.IsZero():
			return nil, fmt.Errorf("engine: undo-restore %d: %s: %w", op.Seq, f.Path, fs.ErrExist)
		default:
			if f, err = e.grownSince(f, tx); err != nil {
				return nil, err
			}
			t.files = append(t.files, f)
		}
	}
	return t, e.comeBack(r, t, tx)
}

// noneBack is what becomes of the conversation when an operation names a file that must not be touched. Where no agent has such files the operation is not one of
// ours, and nothing is done on its word; else the code goes back, and it is said why the conversation does not.
func noneBack(r *restore, op *refs.Operation, err error) (*conversationPlan, error) {
	foreign := &ForeignFileError{In: fmt.Sprintf("operation %d", op.Seq), Cause: err}
	if foreign.Foreign() || r.conversation.ContextOnly {
		return nil, foreign
	}
	return noConversation(told(foreign)), nil
}

// grownSince is the step that brings a session file back although the agent has gone on with it: what it holds now is stored first.
func (e *Engine) grownSince(f refs.File, tx *objstore.Tx) (refs.File, error) {
	agent, ok := e.agentOf(f.Path)
	if !ok {
		return f, fmt.Errorf("engine: session file %s: %w", f.Path, errSessionChanged)
	}
	file, err := openSession(agent, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		f.From = objstore.ID{}
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer file.Close()
	if tx != nil {
		f.From, err = putFile(tx, file)
	}
	return f, err
}

// agentOf is the agent whose session a file is, as the sessions know it.
func (e *Engine) agentOf(path string) (transcript.Agent, bool) {
	for _, s := range e.sessions {
		if s.Transcript == path {
			return transcript.Agent(s.Agent), true
		}
	}
	return "", false
}

// comeBack settles whose conversation comes back, and refuses while the agent has it open.
func (e *Engine) comeBack(r *restore, t *conversationPlan, tx *objstore.Tx) error {
	for _, f := range t.files {
		if f.From.IsZero() || f.To.IsZero() {
			if f.To.IsZero() {
				t.conversation.Removed = append(t.conversation.Removed, e.sessionFiles([]refs.File{f})...)
			}
			continue
		}
		for _, s := range e.sessions {
			if s.Transcript != f.Path {
				continue
			}
			if err := e.mustRest(s, r.conversation.Force); err != nil {
				return err
			}
			t.conversation.Session, t.conversation.Path = s.Name, f.Path
			if tx == nil {
				return nil
			}
			st, err := openTranscript(tx, f.To)
			if err != nil {
				return err
			}
			cut, err := wholeOf(transcript.Agent(s.Agent), transcript.Source{ReaderAt: st, Size: st.size, Name: f.Path})
			if err != nil {
				return err
			}
			t.conversation.Turn = cut.Turn
			t.moved, err = e.movedSession(s, tx, f.To, st.size, cut)
			return err
		}
	}
	if s := e.sessions[t.conversation.Session]; s != nil {
		t.conversation.Path = s.Transcript
	}
	return nil
}

// dropUnused are the steps that take away the fork that the restores before this one have left current, if nobody has used it and nothing was saved in it: a run
// of restores leaves one session behind, not one for each step.
func (e *Engine) dropUnused(r *restore, tx *objstore.Tx) []refs.File {
	own := r.env.folders()
	at, err := e.position()
	s := e.sessions[at.Session]
	if err != nil || at.Line != r.session || at.Session == r.session || s == nil || s.Event != "" || e.inUse(s.Name) {
		return nil
	}
	op, err := e.refs.Operation(s.Began)
	if err != nil || op.Restore == nil || op.Restore.Fork != s.Name {
		return nil
	}
	if tip, err := e.newestOf(s.Name); err != nil || s.Fork == nil || tip.String() != s.Fork.Checkpoint {
		return nil
	}
	made := op.Restore
	var out []refs.File
	for _, f := range slices.Backward(made.Files) { // the session's own file first: what lies beside one that is used stays
		if f.From.IsZero() {
			step, ok, err := e.unused(own, f, tx)
			if err != nil || !ok {
				break
			}
			out = append(out, step)
		}
	}
	return out
}

// unused is the step that takes a session file away that a restore made, if nobody has used it: it has the bytes that it was made with, or behind them
// only what says nothing (Codex 0.125 appends the name that it is told), and no agent has it open.
func (e *Engine) unused(own agentfiles.Folders, made refs.File, tx *objstore.Tx) (step refs.File, ok bool, err error) {
	step = refs.File{Path: made.Path, From: made.To}
	if ok, err = e.isStored(own, made.Path, made.To); err != nil || ok {
		return step, ok, err
	}
	agent, known := e.agentOf(made.Path)
	if !known {
		return step, false, nil
	}
	f, err := openSession(agent, made.Path)
	if err != nil {
		return step, false, nil //nolint:nilerr // it is gone, or nothing that we made
	}
	defer f.Close()
	st, err := openTranscript(e.objs, made.To)
	if err != nil {
		return step, false, err
	}
	if same, err := st.begins(f, st.size); err != nil || same < st.size || f.document() {
		return step, false, err
	}
	said := false
	err = transcript.Read(agent, f.source(f.info.Size()), st.size, func(r *transcript.Record) error {
		said = said || r.Kind != transcript.Other
		return nil
	})
	if err != nil || said || tx == nil {
		return step, err == nil && !said, err
	}
	step.From, err = putFile(tx, f)
	return step, err == nil, err
}

// inUse reports whether an agent has a session open, whatever was said in it. A program of which it cannot be seen on which session it is has not the one that
// nothing was heard of, but another: agents tell of opening one.
func (e *Engine) inUse(session string) bool {
	s := e.sessions[session]
	if s == nil || e.openBy(s) == "" {
		return false
	}
	live := e.live(s, new(clients.Look))
	return s.Event != "" || !live.Running || !live.Guess || !slices.ContainsFunc(slices.Collect(maps.Values(e.sessions)), func(o *Session) bool {
		return o.Agent == s.Agent && o.Event != "" && !o.Ended && !o.Imported
	})
}

// sessionFiles are the paths of the sessions' own files among steps; what lies beside them goes without saying.
func (e *Engine) sessionFiles(files []refs.File) []string {
	var out []string
	for _, f := range files {
		if _, ok := e.agentOf(f.Path); ok {
			out = append(out, f.Path)
		}
	}
	return out
}
