package engine

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/internal/agentfiles"
	"rewind/internal/clients"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// conversationPlan is what a restore does to session files. Like the plan of the worktree it is all decided before anything is touched, and the bytes that
// will be there, and those that are, are stored in the batch that makes the restore durable.
type conversationPlan struct {
	conversation Conversation
	files        []refs.File // in the order in which they are set
	made         *Session    // the session that a fork makes; nil: none
	moved        *Session    // the session that is cut, or comes back, as it will be; nil: none
	fork         *forkPlan   // nil: none
}

// none leaves the conversation alone.
func noConversation(why string) *conversationPlan {
	return &conversationPlan{conversation: Conversation{Mode: ConversationNone, Why: why}}
}

func (t *conversationPlan) close() {
	if t != nil && t.fork != nil {
		t.fork.close()
	}
}

// planConversation decides what becomes of the conversation when the code goes to r's target. With a dry run, tx is nil and nothing is stored. Whatever keeps the
// conversation from going, the code goes, unless the conversation was asked for by itself: only then, and where the log names a file that is none of an agent's,
// an error refuses the whole restore.
func (e *Engine) planConversation(r *restore, tx *objstore.Tx) (*conversationPlan, error) {
	o := r.conversation
	if o.CodeOnly || len(r.opt.paths) > 0 || r.env.Home == "" {
		return nil, nil
	}
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	t, err := e.planTalk(r, tx)
	if err == nil {
		err = t.writable(r.env.folders())
	}
	if err == nil {
		return t, nil
	}
	t.close()
	var foreign *ForeignFileError
	if r.mustTalk() || r.reverts != nil && errors.As(err, &foreign) && foreign.Foreign() {
		return nil, err
	}
	return e.planWithout(r, err, tx), nil
}

// mustTalk reports whether a restore is of no use without the conversation.
func (r *restore) mustTalk() bool {
	return r.conversation.ContextOnly || r.conversation.InPlace || r.mustFork
}

// planWithout is the plan when the conversation cannot go: the code goes all the same. An unused fork that nothing takes the place of stays if it is the one that
// the restore was asked for.
func (e *Engine) planWithout(r *restore, why error, tx *objstore.Tx) *conversationPlan {
	if r.reverts != nil {
		return noConversation(notBack(r.reverts.Seq, why))
	}
	t := noConversation(later(why, r.target.ID))
	own := r.env.folders()
	if at, err := e.position(); err == nil && at.Session != r.named {
		t.files = e.dropUnused(r, tx)
	}
	if t.writable(own) != nil {
		t.files = nil
	}
	t.conversation.Removed = e.sessionFiles(t.files)
	return t
}

// later says why the conversation did not go with the code to a checkpoint, and where that can be mended, how it goes then.
func later(why error, target objstore.ID) string {
	var unread *transcript.Error
	if errors.Is(why, ErrNoConversation) || errors.As(why, &unread) || errors.Is(why, kv.ErrCorrupt) {
		return whyNot(why)
	}
	return fmt.Sprintf("%s; 'rewind checkout %s --context-only' takes it there later", whyNot(why), target.Short())
}

// notBack says why an undo-restore leaves the conversation, and how it comes back.
func notBack(seq uint64, why error) string {
	return fmt.Sprintf("%s; 'rewind undo-restore %d --context-only' brings it back later", whyNot(why), seq)
}

// writable refuses session files that could not be set, since their directories cannot be written.
func (t *conversationPlan) writable(own agentfiles.Folders) error {
	if t == nil {
		return nil
	}
	for _, f := range t.files {
		if err := writable(own, f.Path); err != nil {
			return err
		}
	}
	return nil
}

func writable(own agentfiles.Folders, path string) error {
	f, err := own.Locate(path)
	if err != nil {
		return &ForeignFileError{In: "a restore", Cause: err}
	}
	if err := f.Writable(); err != nil {
		return sessionError(path, err)
	}
	return nil
}

// planTalk is what becomes of the conversation if nothing keeps it.
func (e *Engine) planTalk(r *restore, tx *objstore.Tx) (*conversationPlan, error) {
	o := r.conversation
	if r.kind == refs.KindUndoRestore {
		return e.planBack(r, tx)
	}
	if r.kind == refs.KindUndo && r.target.ID == r.before {
		return nil, nil // a person's own edits go: nothing was said about them
	}
	p, err := r.point, error(nil)
	if p == nil {
		if p, err = e.pointOf(r.target); err != nil {
			return nil, err
		}
	}
	if p.session == Manual && !o.ContextOnly && !o.InPlace {
		if s := e.sessions[r.session]; s != nil && s.Turn > 0 && p.cp != nil && p.cp.Seq < s.Began {
			return noConversation("it begins behind that checkpoint"), nil
		}
		return nil, nil
	}
	if r.point == nil && !e.continues(r.session, p.session) {
		p = &point{name: p.name, cp: p.cp, session: r.session, start: true} // undo went along the line that this one began on
	}
	if o.InPlace {
		return e.planCut(r, p, tx)
	}
	return e.planBranch(r, p, tx)
}

// continues reports whether a session's conversation goes on from another's, or is it. No agent's is taken for any.
func (e *Engine) continues(session, of string) bool {
	if session == Manual || e.sessions[session] == nil {
		return true
	}
	for range maxBases {
		if session == of {
			return true
		}
		s := e.sessions[session]
		if s == nil || s.Fork == nil {
			break
		}
		session = s.Fork.Session
	}
	return false
}

func whyNot(err error) string {
	var none *NoConversationError
	if errors.As(err, &none) {
		return none.Why
	}
	return told(err)
}

// planBranch makes a new session of the conversation up to a moment, unless the session as it is ends there.
func (e *Engine) planBranch(r *restore, p *point, tx *objstore.Tx) (*conversationPlan, error) {
	s := e.sessions[p.session]
	t := &conversationPlan{files: e.dropUnused(r, tx)}
	if s != nil && !r.mustFork && r.conversation.Title == "" {
		as, turn, err := e.thereAlready(r, p, s)
		if err != nil {
			return nil, err
		}
		if as != nil {
			if slices.ContainsFunc(t.files, func(f refs.File) bool { return f.Path == as.Transcript }) {
				t.files = nil // it is what would have gone
			}
			t.conversation = Conversation{
				Mode: ConversationOriginal, Session: as.Name, Path: as.Transcript, Turn: turn, Why: "the conversation ends there", Removed: e.sessionFiles(t.files),
			}
			return t, nil
		}
	}
	removed := e.sessionFiles(t.files)
	plan, err := e.planFork(p, r.conversation.Title, r.kind.String(), false)
	if err != nil {
		return nil, err
	}
	own := r.env.folders()
	if err := plan.mayWrite(own); err != nil {
		plan.close()
		return nil, &NoConversationError{Place: p.name, Why: told(err), Cause: err} // the code goes all the same
	}
	if err := writable(own, plan.path); err != nil {
		plan.close()
		return nil, err
	}
	t.fork = plan
	t.conversation = Conversation{Mode: ConversationFork, Fork: plan.result(), Session: plan.name, Path: plan.path, Turn: plan.cut.Turn, Removed: removed}
	if tx == nil {
		return t, nil
	}
	id, size, err := putBytes(tx, plan.write)
	if err == nil {
		var st *stored
		if st, err = openTranscript(tx, id); err == nil {
			err = plan.check(st, size)
		}
	}
	if err != nil {
		plan.close()
		return nil, err
	}
	t.conversation.Fork.Bytes = size
	for _, side := range plan.sides {
		raw, err := readSide(own, side)
		if err == nil && len(raw) == 0 {
			continue
		}
		var sideID objstore.ID
		if err == nil {
			sideID, _, err = putBytes(tx, func(w io.Writer) error {
				_, err := w.Write(raw)
				return err
			})
		}
		if err != nil {
			plan.close()
			return nil, err
		}
		t.files = append(t.files, refs.File{Path: side.To, To: sideID})
	}
	t.files = append(t.files, refs.File{Path: plan.path, To: id}) // the last: an agent lists it as soon as it is there
	t.made = plan.session(id, 0)
	return t, nil
}

// thereAlready is a session that, as it is, ends where a moment of s does: the one that the restore is about, if it is an unused fork of s, else s itself, else
// another unused fork. nil: there is none.
func (e *Engine) thereAlready(r *restore, p *point, s *Session) (*Session, int, error) {
	f, err := e.alike(r, p, s)
	if err != nil {
		return nil, 0, err
	}
	if f != nil && f.Name == r.session {
		return f, f.Fork.Turn, nil
	}
	if err := e.newestIsNow(s, p); err != nil {
		return nil, 0, err
	}
	as, turn, err := e.endsThere(s, p)
	switch {
	case err != nil:
		return nil, 0, err
	case as:
		return s, turn, nil
	case f != nil:
		return f, f.Fork.Turn, nil
	}
	return nil, 0, nil
}

// newestIsNow takes a session's newest step for the session as it is: what was said since it changed no code, and going to the newest state of the code
// leaves nothing of that behind.
func (e *Engine) newestIsNow(s *Session, p *point) error {
	if p.cp == nil || p.turn > 0 || p.ended {
		return nil
	}
	tip, err := e.newestOf(s.Name)
	if err != nil || tip != p.cp.ID {
		return err
	}
	on, err := e.goesOn(s.Cursor.Transcript, p.cp.Mark.Transcript)
	if err == nil && on { // it was not cut back to before that
		p.now, p.transcript = true, s.Cursor.Transcript
	}
	return err
}

// endsThere reports whether a session's conversation, as it is, ends where a moment's does: nothing that a model sees comes after it.
func (e *Engine) endsThere(s *Session, p *point) (bool, int, error) {
	if !understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return false, 0, nil
	}
	if _, err := statSession(s); err != nil {
		return false, 0, nil //nolint:nilerr // there is nothing to go on with: a fork brings it back
	}
	c, err := e.conversation(s, s.Cursor.Transcript)
	if err != nil {
		return false, 0, err
	}
	if p.now {
		return true, len(c.Turns), nil
	}
	_, _, _, cut, err := e.cutPoint(p, false)
	if err != nil {
		return false, 0, err
	}
	return cut.Messages == c.Messages && cut.Turn == len(c.Turns), cut.Turn, nil
}

// planCut cuts the session file itself.
func (e *Engine) planCut(r *restore, p *point, tx *objstore.Tx) (*conversationPlan, error) {
	s, _, _, cut, err := e.cutPoint(p, false)
	if err != nil {
		return nil, err
	}
	if err := e.mustRest(s, r.conversation.Force); err != nil {
		return nil, err
	}
	agent := transcript.Agent(s.Agent)
	own, err := r.env.folders().Of(agent, s.Transcript)
	if err == nil {
		err = own.Check()
	}
	if err != nil {
		return nil, &ForeignFileError{In: "session " + s.Name, Cause: err}
	}
	if err := own.Writable(); err != nil {
		return nil, sessionError(s.Transcript, err)
	}
	f, err := openSession(agent, s.Transcript)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src := f.source(f.info.Size())
	at, err := e.placeIn(s, f, p, cut)
	if err != nil {
		return nil, err
	}
	on, err := clients.Dependents(own.Folder, s.ID, at)
	if err != nil {
		return nil, err
	}
	if on = slices.DeleteFunc(on, func(path string) bool { return sameFile(path, f.path) }); len(on) > 0 {
		return nil, &DependentError{Session: s.Name, Paths: on}
	}
	t := &conversationPlan{conversation: Conversation{Mode: ConversationInPlace, Session: s.Name, Path: f.path, Turn: cut.Turn}}
	if tx == nil {
		return t, nil
	}
	from, err := putFile(tx, f)
	if err != nil {
		return nil, err
	}
	to, size, err := putBytes(tx, func(w io.Writer) error { return transcript.WriteCut(w, agent, src, at) })
	if err != nil {
		return nil, err
	}
	if from == to {
		t.conversation.Mode, t.conversation.Why = ConversationOriginal, "the conversation ends there"
		return t, nil
	}
	t.files = []refs.File{{Path: f.path, From: from, To: to}}
	t.moved, err = e.movedSession(s, tx, to, size, cut)
	return t, err
}

// placeIn is where the cut of a stored conversation lies in the session's file as it is now. The file must still begin with what is left of it.
func (e *Engine) placeIn(s *Session, f *sessionFile, p *point, cut transcript.Cut) (int64, error) {
	st, err := openTranscript(e.objs, p.transcript)
	if err != nil {
		return 0, err
	}
	at := cut.Offset - s.Cursor.Base
	if at <= 0 {
		return 0, &NotInPlaceError{Session: s.Name, Why: fmt.Sprintf("that part stands in the file that %s goes on from", f.path)}
	}
	if f.document() {
		c, err := transcript.CutTurn(f.agent, f.source(f.info.Size()), cut.Turn)
		if err != nil {
			return 0, err
		}
		if c.LastMessage != cut.LastMessage {
			return 0, &NotInPlaceError{Session: s.Name, Why: f.path + " does not hold it any more"}
		}
		return c.Offset, nil
	}
	same, err := st.begins(behind{f: f, base: s.Cursor.Base, of: st}, cut.Offset)
	if err == nil && same < cut.Offset {
		err = &NotInPlaceError{Session: s.Name, Why: f.path + " does not begin with it any more"}
	}
	return at, err
}
