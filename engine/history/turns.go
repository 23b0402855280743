package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Turns lists the turns of a session: those that events tell of, each as its conversation stood at its end, and those
// that were there before. A turn that the conversation does not hold any more is there, too, and can be forked. At most
// limit, the newest; 0: all.
func (h *turnReader) Turns(ctx context.Context, w model.SessionChoice, limit int) (*model.TurnList, error) {
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	session, err := h.sessions.OfTurn(w, 0)
	if err != nil {
		return nil, err
	}
	l, err := h.turnsOf(ctx, session, limit)
	if err != nil {
		return nil, err
	}
	if s := h.log.Session(session); s != nil {
		l.Loss = h.toldLoss(s)
	}
	return l, h.addCut(l, limit)
}

// addCut adds to a list of turns those that restores have cut off the session's file, each in front of the turn that
// has its number now. Turns whose numbers were not used again are there if the log has them. Of turns that only the
// conversation had, it adds no more than the limit leaves room for: the present line comes first.
func (h *turnReader) addCut(l *model.TurnList, limit int) error {
	if len(l.Turns) == 0 {
		return nil
	}
	fu := &future{h: h}
	cuts, err := fu.cuts(h.log.Session(l.Session))
	if err != nil || len(cuts) == 0 {
		return err
	}
	listed := map[aTurn]bool{}
	for i := range l.Turns {
		listed[of(&l.Turns[i])] = true
	}
	first, newest := l.Turns[0].Number, l.Turns[len(l.Turns)-1].Number
	var again []model.TurnInfo
	for _, c := range slices.Backward(cuts) { // the oldest first
		for _, t := range c.Turns {
			room := t.Number <= newest || limit == 0 || len(l.Turns)+len(again) < limit
			if k := of(&t); !listed[k] && first <= t.Number && room {
				listed[k], t.Cut = true, true
				again = append(again, t)
			}
		}
	}
	l.Turns = append(again, l.Turns...)
	slices.SortStableFunc(l.Turns, func(a, b model.TurnInfo) int { return cmp.Compare(a.Number, b.Number) })
	if over := len(l.Turns) - limit; limit > 0 && over > 0 {
		l.Turns, l.More = l.Turns[over:], true
	}
	return nil
}

// turnsOf is Turns of a session; the log's lock is held, and the records are loaded.
func (h *turnReader) turnsOf(ctx context.Context, session string, limit int) (*model.TurnList, error) {
	s := h.log.Session(session)
	if s == nil {
		return nil, h.noAgents(session)
	}
	if err := h.catchUpWhole(ctx, session); err != nil {
		return nil, err
	}
	h.conversations.ResolveOrigin(ctx, session)
	s = h.log.Session(session)
	l := &model.TurnList{Session: session}
	if s.Fork != nil && s.Event == "" {
		if of := h.log.Session(s.Fork.Session); of != nil && of.Turn > s.Turn {
			l.Left, l.LeftTurns = of.Name, int(of.Turn-s.Turn)
		}
	}
	if !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return l, h.listTurns(l, s, nil, limit)
	}
	now, err := h.Conversation(s, s.Cursor.Transcript)
	if err != nil {
		return nil, err
	}
	h.keepTalks(ctx)
	l.Title, l.Compactions, l.Breaks = now.Title, now.Compactions, now.Breaks
	if s.Title != "" && s.Agent == transcript.Codex {
		l.Title = s.Title
	}
	return l, h.listTurns(l, s, now, limit)
}

// noAgents is the error of who wants the turns of a session that is no agent's. The log's lock is held, and the records
// are loaded.
func (h *turnReader) noAgents(session string) error {
	err := &model.NoConversationError{Moment: "session " + session, Why: "it is a person's own", None: true}
	for _, s := range h.log.ListSessions() { // the newest first
		silent := s.Turn == 0 && s.Cursor.Transcript.IsZero()
		if silent || sessions.IsUnused(&s) || h.Unseen(&s) {
			continue
		}
		all, lost := h.sessions.SessionNames()
		if err.None = false; lost == nil {
			err.Instead = sessions.ShortOf(s.Name, all)
		}
		break
	}
	return err
}

// Messages gives the last n messages of the conversation before a checkpoint, in order, as a person reads them; why
// says why there are none.
func (h *nameReader) Messages(
	ctx context.Context, name string, n int,
) (list []transcript.Message, why string, err error) {
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, "", err
	}
	p, err := h.Moment("", name)
	if err != nil {
		return nil, "", err
	}
	s := h.log.Session(p.Session)
	if why = unsaid(s, p); why != "" {
		return nil, why, nil
	}
	defer h.keepTalks(ctx)
	src, err := h.sourceAt(s, p)
	most := 4*n + maxTools
	for more := 2*n + fewTools; err == nil; more *= 4 {
		more = min(more, most)
		if list, err = transcript.LastMessages(s.Agent, src, more); more == most || len(list) < more || spoken(list) >= n {
			break
		}
	}
	if err != nil {
		return nil, "it cannot be read: " + err.Error(), nil //nolint:nilerr // what else is known of the checkpoint is shown
	}
	return LastMessages(list, n), "", nil
}

// unsaid says why nothing can be read of what was said before a moment.
func unsaid(s *model.Session, p *Moment) string {
	switch {
	case s == nil:
		return "it belongs to no agent's session"
	case !model.Understood(s.Agent):
		return fmt.Sprintf("the session files of %s are not understood", s.Agent)
	case p.Err != nil:
		return "it cannot be read: " + p.Err.Error()
	case p.Transcript.IsZero():
		return "the conversation had not begun, or was not captured"
	}
	return ""
}

// Place says which messages are asked for: a page before a byte of the conversation (Before), from a byte on (From), or
// from the beginning of its last turn on (Begin). The zero Place is the end of the conversation. Generation, unless it
// is 0, is the one that the byte belongs to. Whole asks for more of each text.
type Place struct {
	Before, From *int64
	Begin, Whole bool
	Generation   uint64
}

// read reads the messages that are asked for.
func (at Place) read(
	agent transcript.Agent, src transcript.Source, turns []transcript.Turn, n int,
) (transcript.Page, error) {
	text := transcript.ShownText
	if at.Whole {
		text = transcript.WholeText
	}
	switch {
	case at.Begin:
		return transcript.MessagesFrom(agent, src, turns, lastTurn(turns, src.Size), n, text)
	case at.From != nil:
		return transcript.MessagesFrom(agent, src, turns, max(*at.From, 0), n, text)
	case at.Before != nil:
		return transcript.MessagesBefore(agent, src, turns, max(*at.Before, 0), n, text)
	}
	return transcript.MessagesBefore(agent, src, turns, src.Size, n, text)
}

// lastTurn is where the last turn of a conversation of a length begins that nobody went back behind; 0: it has none.
func lastTurn(turns []transcript.Turn, length int64) int64 {
	turns = turnsBefore(turns, length)
	for i := len(turns) - 1; i >= 0; i-- {
		if !turns[i].Gone {
			return turns[i].At
		}
	}
	return 0
}

// SaidPage is a page of a conversation.
type SaidPage struct {
	transcript.Page
	Session    string
	Generation uint64
	Turns      int    // of the whole conversation
	End        int64  // its length
	Why        string // there is none
}

// Page gives n messages of a session's conversation, as far as it is captured now, or up to the moment that a name
// stands for. What is read for it is around the place; what a person went back behind, and the numbers of turns, are
// known from what was read of the session before.
func (h *nameReader) Page(ctx context.Context, w model.SessionChoice, name string, at Place, n int) (*SaidPage, error) {
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	var p *Moment
	var err error
	if name != "" {
		p, err = h.Moment("", name)
	} else {
		p, err = h.now(ctx, w)
	}
	if err != nil {
		return nil, err
	}
	s := h.log.Session(p.Session)
	out := &SaidPage{Session: p.Session, Why: unsaid(s, p)}
	if out.Why != "" {
		return out, nil
	}
	if out.Generation = s.Cursor.Generation; p.Checkpoint != nil && !p.Checkpoint.Conversation.Transcript.IsZero() {
		out.Generation = p.Checkpoint.Conversation.Generation
	}
	if at.Generation != 0 && at.Generation != out.Generation {
		return nil, &value.OpError{Op: "conversation", Subject: p.Session, Err: ErrReplaced}
	}
	defer h.keepTalks(ctx)
	src, err := h.sourceAt(s, p)
	if err != nil {
		return nil, err
	}
	turns, err := h.turnsTo(s, p.Transcript)
	if err != nil {
		return nil, err
	}
	out.Turns, out.End = len(turns), src.Size
	if out.Page, err = at.read(s.Agent, src, turns, n); err == nil {
		err = h.numberMessages(s, p.Transcript, out.Page.Messages)
	}
	return out, err
}

// ErrReplaced is returned for a place in a session file that was replaced by one that does not go on from it.
var ErrReplaced = errors.New("the session file is another one now")

// now is the newest moment of a session that was asked for, with the conversation captured up to now.
func (h *turnReader) now(ctx context.Context, w model.SessionChoice) (*Moment, error) {
	session, err := h.sessions.OfTurn(w, 0)
	if err != nil {
		return nil, err
	}
	if err := h.catchUpWhole(ctx, session); err != nil {
		return nil, err
	}
	p := &Moment{Session: session, Now: true}
	if s := h.log.Session(session); s != nil {
		p.Transcript = s.Cursor.Transcript
	}
	return p, nil
}

// sourceAt is the conversation up to a moment, to be read.
func (h *nameReader) sourceAt(s *model.Session, p *Moment) (transcript.Source, error) {
	agent := s.Agent
	st, err := conversation.OpenEnd(h.log.Objs, p.Transcript)
	src := sourceOf(s, st)
	if err != nil || p.Turn == 0 && p.Call == "" {
		return src, err
	}
	var end int64
	if p.Call != "" {
		end, err = transcript.EndOfCall(agent, src, p.Call)
	} else {
		var turns []transcript.Turn
		if turns, err = h.turnsTo(s, p.Transcript); err == nil {
			end, err = transcript.EndOfTurn(agent, src, turns, p.Turn)
		}
	}
	if err != nil {
		return src, err
	}
	if conversation.IsDocument(src.Name) { // a part of one is none
		var b bytes.Buffer
		if err := transcript.WriteCut(&b, agent, src, end); err != nil {
			return src, err
		}
		src.ReaderAt, end = bytes.NewReader(b.Bytes()), int64(b.Len())
	}
	src.Size = end
	return src, nil
}

const (
	maxTools = 256 // how many answers of tools at least are looked behind for messages
	fewTools = 16  // how many there are at first
)

// spoken is how many messages are of people and the model.
func spoken(list []transcript.Message) (n int) {
	for i := range list {
		if list[i].Who != "tool" {
			n++
		}
	}
	return n
}

// LastMessages are the last n messages of people and the model, with what tools answered between them.
func LastMessages(list []transcript.Message, n int) []transcript.Message {
	i := len(list)
	for left := n; i > 0 && (left > 0 || list[i-1].Who == "tool"); i-- {
		if list[i-1].Who != "tool" {
			left--
		}
	}
	for i < len(list) && list[i].Who == "tool" { // what they answer is not there
		i++
	}
	return list[i:]
}

// NewestOf is a session's newest checkpoint; zero: it has none.
func (h *talkReader) NewestOf(session string) (objstore.ID, error) {
	return h.log.Refs.ID(refs.Session(session))
}
