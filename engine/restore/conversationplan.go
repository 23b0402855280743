package restore

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/sessions"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// conversationPlan is what a restore does to session files. As the plan of the worktree it is complete before anything
// is changed. The bytes of every file, before and after, are stored in the batch that makes the restore durable.
type conversationPlan struct {
	conversation model.Conversation
	files        []refs.File    // in the order in which they are set
	made         *model.Session // the session that a fork makes; nil: none
	moved        *model.Session // the session that is cut, or comes back, as it will be; nil: none
	fork         *forkPlan      // nil: none
	behind       string         // the session whose conversation stays, since it begins behind the target; "": none
}

// noConversation is the plan that leaves the conversation alone, for the reason why.
func noConversation(why string) *conversationPlan {
	return &conversationPlan{conversation: model.Conversation{Mode: model.ConversationNone, Why: why}}
}

// PlanConversation decides what becomes of the conversation when the code goes to r's target; nil: nothing was asked
// about one. With tx nil, for a dry run, nothing is stored. If the conversation cannot go back, the reason is in the
// plan, and the code goes alone. It is an error only if the request is useless without the conversation, or if the log
// names a file of no agent's.
func (rs *talkPlanner) PlanConversation(r *request, tx *objstore.Tx) (*conversationPlan, error) {
	if r.options.CodeOnly || len(r.Paths) > 0 || r.options.Env.Home == "" {
		return nil, nil
	}
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	t, err := rs.planSessionFiles(r, tx)
	if err == nil {
		err = t.checkWritable(register.Folders(r.options.Env))
	}
	if err == nil {
		return t, nil
	}
	var foreign *model.ForeignFileError
	if r.mustHaveConversation() || r.reverts != nil && errors.As(err, &foreign) && foreign.Foreign() {
		return nil, err
	}
	return rs.planCodeOnly(r, err, tx), nil
}

// promptTaken returns the prompt before which a restore goes, by the name of its target. Otherwise it returns the first
// prompt that is taken out of the current conversation; "": there is none. also are the others that go, as far as they
// are known, and more counts the rest.
func (rs *talkPlanner) promptTaken(
	r *request, t *conversationPlan,
) (prompt string, also []string, more int, err error) {
	if t == nil || r.again { // the conversation stays, or has more turns than where one stands
		return "", nil, 0, nil
	}
	list, more, err := rs.promptsOut(r, t)
	if model.IsLost(err) {
		list, more, err = nil, 0, nil // it is only told
	}
	switch {
	case r.front > 0:
		prompt = rs.history.PromptOf(r.moment.Session, r.front)
	case len(list) > 0:
		prompt = list[0]
	}
	if i := slices.Index(list, prompt); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	return prompt, slices.DeleteFunc(list, func(p string) bool { return p == "" }), more, err
}

// mostPrompts is how many prompts that go are told; the others are counted.
const mostPrompts = 20

// promptsOut are the prompts that a restore takes out of the conversation in which one stands.
func (rs *talkPlanner) promptsOut(r *request, t *conversationPlan) (list []string, more int, err error) {
	to := t.conversation
	if t.behind != "" {
		return rs.allPrompts(r, t.behind)
	}
	if to.Mode == model.ConversationNone || to.Session == "" {
		return nil, 0, nil
	}
	of, n := to.Session, uint64(to.Turn)
	if to.Fork != nil {
		of = to.Fork.From.Session
	}
	from, err := rs.shortened(r, of)
	if err != nil {
		return nil, 0, err
	}
	if s := rs.log.Session(of); to.Mode == model.ConversationBack && n == 0 && s != nil {
		n = s.Turn
	}
	return rs.history.PromptsBehind(from, of, n, mostPrompts)
}

// allPrompts are the prompts of the conversation in which one stands, where a restore goes to before the first of of's.
// The agent keeps them; who begins anew types them again. Who stands before the first one already was told.
func (rs *talkPlanner) allPrompts(r *request, of string) (list []string, more int, err error) {
	from, err := rs.shortened(r, of)
	if err != nil || from == "" {
		return nil, 0, err
	}
	if in, err := rs.history.StandsIn(from); err != nil || in == 0 {
		return nil, 0, err
	}
	return rs.history.PromptsBehind(from, of, 0, mostPrompts)
}

// shortened returns the session whose conversation a restore shortens: the session that is taken back, or the current
// one. The restore takes out everything after a place in of's conversation. "": that is of another family.
func (rs *talkPlanner) shortened(r *request, of string) (string, error) {
	if r.options.TakeBack || r.Kind == refs.KindUndo || r.Kind == refs.KindUndoRestore {
		return rs.sessions.Ongoing(r.Session)
	}
	at, err := rs.sessions.Position()
	if rs.sessions.Family(at.Session) != rs.sessions.Family(of) {
		return "", err
	}
	return at.Session, err
}

// mustHaveConversation reports whether a restore is of no use without the conversation.
func (r *request) mustHaveConversation() bool {
	return r.ContextOnly || r.options.InPlace || r.mustFork
}

// planCodeOnly is the plan when the conversation cannot go, which is why. An unused fork of earlier restores is removed
// all the same, unless the request names it.
func (rs *talkPlanner) planCodeOnly(r *request, why error, tx *objstore.Tx) *conversationPlan {
	if r.reverts != nil {
		return noConversation(whyNotReverted(r.reverts.Seq, why))
	}
	t := noConversation(whyCodeOnly(why, r.target.ID))
	if none := (*model.NoConversationError)(nil); errors.As(why, &none) {
		t.behind = none.Behind
	}
	own := register.Folders(r.options.Env)
	if at, err := rs.sessions.Position(); err == nil && at.Session != r.namedSession {
		t.files = rs.removalOfUnusedFork(r, tx)
	}
	if t.checkWritable(own) != nil {
		t.files = nil
	}
	t.conversation.Removed = rs.sessionFiles(t.files)
	return t
}

// whyCodeOnly is, for people, why the conversation did not go to a checkpoint with the code, and where a second try can
// help, the command for it.
func whyCodeOnly(why error, target objstore.ID) string {
	var unread *transcript.Error
	if errors.Is(why, model.ErrNoConversation) || errors.As(why, &unread) || errors.Is(why, kv.ErrCorrupt) {
		return WhyNot(why)
	}
	return fmt.Sprintf("%s; 'rewind checkout %s --context-only' takes it there later", WhyNot(why), target.Short())
}

// whyNotReverted is, for people, why an undo-restore leaves the conversation, and the command that brings it back
// later.
func whyNotReverted(seq uint64, why error) string {
	return fmt.Sprintf("%s; 'rewind undo-restore %d --context-only' brings it back later", WhyNot(why), seq)
}

// checkWritable fails if the directory of one of the plan's session files cannot be written.
func (t *conversationPlan) checkWritable(own agentfiles.Folders) error {
	if t == nil {
		return nil
	}
	for _, f := range t.files {
		if err := conversation.CheckWritable(own, f.Path); err != nil {
			return err
		}
	}
	return nil
}

// planSessionFiles is PlanConversation without its fallback: whatever keeps the conversation from going is an error.
func (rs *talkPlanner) planSessionFiles(r *request, tx *objstore.Tx) (*conversationPlan, error) {
	if r.Kind == refs.KindUndoRestore {
		return rs.planRevert(r, tx)
	}
	if r.Kind == refs.KindUndo && r.target.ID == r.Before {
		return nil, nil // only unsaved edits are taken back: no turn of the conversation was about them
	}
	p, err := r.moment, error(nil)
	if p == nil {
		if p, err = rs.momentOfStep(r); err != nil {
			return nil, err
		}
	}
	if p.Session == model.Manual && !r.ContextOnly && !r.options.InPlace {
		return rs.planOfNobody(r, p), nil
	}
	if r.moment == nil && !rs.descendsFrom(r.Session, p.Session) {
		// undo has gone back beyond the fork that r.Session is
		p = &history.Moment{Name: p.Name, Checkpoint: p.Checkpoint, Session: r.Session, Start: true}
	}
	if r.options.InPlace {
		return rs.planInPlace(r, p, tx)
	}
	return rs.planNewSession(r, p, tx)
}

// planOfNobody plans for a state that no session made: the conversation stays, or begins behind it.
func (rs *talkPlanner) planOfNobody(r *request, p *history.Moment) *conversationPlan {
	s := rs.log.Session(r.Session)
	if s == nil || s.Turn == 0 || p.Checkpoint == nil {
		return nil
	}
	if p.Checkpoint.Seq >= s.Began {
		return nil
	}
	t := noConversation("it begins behind that checkpoint")
	t.behind = s.Name
	return t
}

// momentOfStep is the moment of the step that a restore without a name goes to.
func (rs *talkPlanner) momentOfStep(r *request) (*history.Moment, error) {
	if r.Kind != refs.KindUndo {
		return rs.history.MomentOf(r.target)
	}
	from, err := rs.log.Checkpoint(r.Before)
	if err != nil {
		return nil, err
	}
	if p, err := rs.history.ForkedBefore(r.Session, r.target); err != nil || p != nil {
		return p, err
	}
	if of := r.target.Session; of == model.Manual || !rs.descendsFrom(r.Session, of) {
		if p, err := rs.beforeUndone(r); err != nil || p != nil {
			return p, err
		}
	}
	return rs.history.Undone(r.target, from)
}

// beforeUndone is the moment of an undo to a step of another line: the conversation is the one in which the prompt of
// the first turn that is undone was typed. nil: that turn is not known, or its prompt was the first.
func (rs *talkPlanner) beforeUndone(r *request) (*history.Moment, error) {
	for _, cp := range slices.Backward(r.undone) {
		if cp.Session != r.Session || cp.Cause.Turn == 0 {
			continue
		}
		p, err := rs.history.TypedBefore(r.Session, cp.Cause.Turn, r.target)
		if err != nil || p.Start {
			return nil, err
		}
		return p, nil
	}
	return nil, nil
}

// descendsFrom reports whether a session is of, or was forked from it over any number of forks. Of manual, and of a
// session that is not known, it is true.
func (rs *talkPlanner) descendsFrom(session, of string) bool {
	if session == model.Manual || rs.log.Session(session) == nil {
		return true
	}
	for range conversation.MaxForks {
		if session == of {
			return true
		}
		s := rs.log.Session(session)
		if s == nil || s.Fork == nil {
			break
		}
		session = s.Fork.Session
	}
	return false
}

// WhyNot is, for people, why a conversation cannot be continued: the reason of a *model.NoConversationError, else the
// error's text.
func WhyNot(err error) string {
	var none *model.NoConversationError
	if errors.As(err, &none) {
		return none.Why
	}
	return err.Error()
}

// planNewSession plans a new session with the conversation up to a moment, or chooses a session that ends there
// already.
func (rs *talkPlanner) planNewSession(r *request, p *history.Moment, tx *objstore.Tx) (*conversationPlan, error) {
	s := rs.log.Session(p.Session)
	t := &conversationPlan{files: rs.removalOfUnusedFork(r, tx)}
	if s != nil && !r.mustFork && r.options.Title == "" {
		as, turn, err := rs.existingSession(r, p, s)
		if err != nil {
			return nil, err
		}
		if as != nil {
			if slices.ContainsFunc(t.files, func(f refs.File) bool { return f.Path == as.Transcript }) {
				t.files = nil // the fork that was to be removed is the one that is used
			}
			t.conversation = model.Conversation{
				Mode: model.ConversationOriginal, Session: as.Name, Path: as.Transcript, Turn: turn, Why: "the conversation ends there",
				Removed: rs.sessionFiles(t.files),
			}
			return t, nil
		}
	}
	err := rs.addFork(r, p, t, tx)
	if foreign := (*model.ForeignFileError)(nil); errors.As(err, &foreign) {
		err = &model.NoConversationError{Moment: p.Name, Why: err.Error(), Cause: err} // no reason to refuse the code
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// addFork adds to the plan t the session that a fork of a moment makes, its record and its files. The session file is
// checked as its agent would read it before it gets a name. With tx nil nothing is stored or checked.
func (rs *talkPlanner) addFork(r *request, p *history.Moment, t *conversationPlan, tx *objstore.Tx) (err error) {
	kind, own := r.Kind.String(), register.Folders(r.options.Env)
	if r.clone {
		kind = "clone"
	}
	plan, err := rs.PlanFork(p, r.options.Title, kind, r.clone)
	if err != nil {
		return err
	}
	if err := plan.checkFolders(own); err != nil {
		return err
	}
	if err := conversation.CheckWritable(own, plan.Path); err != nil {
		return err
	}
	t.fork = plan
	t.conversation = model.Conversation{
		Mode: model.ConversationFork, Fork: plan.fork(), Session: plan.name, Path: plan.Path,
		Turn:    rs.number(rs.log.Session(p.Session), p, plan.Cut),
		Removed: rs.sessionFiles(t.files),
	}
	if tx == nil {
		return nil
	}
	id, size, err := conversation.PutFork(tx, plan.stored, plan.agent, plan.source.Name, plan.Fork, plan.Write)
	if err != nil {
		return err
	}
	t.conversation.Fork.Bytes = size
	for _, side := range plan.sides {
		raw, err := conversation.ReadSide(own, side)
		if err != nil {
			return err
		}
		if len(raw) == 0 {
			continue
		}
		sideID, _, err := conversation.PutBytes(tx, objstore.ID{}, func(w io.Writer) error {
			_, err := w.Write(raw)
			return err
		})
		if err != nil {
			return err
		}
		t.files = append(t.files, refs.File{Path: side.To, To: sideID})
	}
	t.files = append(t.files, refs.File{Path: plan.Path, To: id}) // the last: an agent lists it as soon as it is there
	t.made = plan.record(id, 0)
	return nil
}

// existingSession returns a session that already ends where a moment of s ends, and its turn there. It is r's own
// session if that is an unused fork, else s, else another unused fork; nil: there is none.
func (rs *talkPlanner) existingSession(r *request, p *history.Moment, s *model.Session) (*model.Session, int, error) {
	f, err := rs.findUnusedFork(r, p, s)
	if err != nil {
		return nil, 0, err
	}
	if f != nil && f.Name == r.Session {
		return f, f.Fork.Both, nil
	}
	if err := rs.extendToNow(s, p); err != nil {
		return nil, 0, err
	}
	as, turn, err := rs.endsAt(s, p)
	switch {
	case err != nil:
		return nil, 0, err
	case as:
		return s, turn, nil
	case f != nil:
		return f, f.Fork.Both, nil
	}
	return nil, 0, nil
}

// extendToNow moves a moment that is a session's newest step to the present end of the conversation. Nothing said since
// changed code, so who goes to the newest code leaves none of it behind.
func (rs *talkPlanner) extendToNow(s *model.Session, p *history.Moment) error {
	if p.Checkpoint == nil || p.Turn > 0 || p.Ended {
		return nil
	}
	tip, err := rs.history.NewestOf(s.Name)
	if err != nil || tip != p.Checkpoint.ID {
		return err
	}
	on, err := rs.history.GoesOn(s.Cursor.Transcript, p.Checkpoint.Conversation.Transcript)
	if err == nil && on { // the session was not cut to before that moment
		p.Now, p.Transcript = true, s.Cursor.Transcript
	}
	return err
}

// endsAt reports whether a session's conversation ends, as it is, where a moment's does, and in which turn: nothing
// that a model sees comes after.
func (rs *talkPlanner) endsAt(s *model.Session, p *history.Moment) (bool, int, error) {
	if !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() || rs.sessions.Elsewhere(s) != "" {
		return false, 0, nil
	}
	if _, err := sessions.StatSession(s); err != nil {
		return false, 0, nil //nolint:nilerr // no file to continue: a fork makes one
	}
	c, err := rs.history.Conversation(s, s.Cursor.Transcript)
	if err != nil {
		return false, 0, err
	}
	if p.Now {
		return true, int(rs.history.Number(s, len(c.Turns))), nil
	}
	_, _, _, cut, err := rs.findCut(p, false)
	if err != nil {
		return false, 0, err
	}
	return cut.Messages == c.Messages && cut.Turn == len(c.Turns), rs.number(s, p, cut), nil
}
