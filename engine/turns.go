package engine

import (
	"bytes"
	"context"
	"fmt"

	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Turns lists the turns of a session: those that events tell of, each as its conversation stood at its end, and those that were there before. A turn
// that the conversation does not hold any more is there, too, and can be forked.
func (e *Engine) Turns(ctx context.Context, w Whose) (*TurnList, error) {
	defer e.hold()()
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	session, err := e.session(w)
	if err != nil {
		return nil, err
	}
	s := e.sessions[session]
	if s == nil {
		return nil, &NoConversationError{Place: "session " + session, Why: "it belongs to no agent's session"}
	}
	if e.checkWhole() == nil && e.Damage() == nil {
		if err := e.catchUp(ctx, session); err != nil {
			return nil, err
		}
	}
	e.placeSession(ctx, session)
	s = e.sessions[session]
	l := &TurnList{Session: session}
	if s.Fork != nil && s.Event == "" {
		if of := e.sessions[s.Fork.Session]; of != nil && of.Turn > s.Turn {
			l.Left, l.LeftTurns = of.Name, int(of.Turn-s.Turn)
		}
	}
	if !understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return l, e.listTurns(l, s, nil)
	}
	now, err := e.conversation(s, s.Cursor.Transcript)
	if err != nil {
		return nil, err
	}
	l.Title, l.Compactions, l.Breaks = now.Title, now.Compactions, now.Breaks
	if s.Title != "" && transcript.Agent(s.Agent) == transcript.Codex {
		l.Title = s.Title
	}
	return l, e.listTurns(l, s, now)
}

// Messages gives the last n messages of the conversation before a checkpoint, in order, as a person reads them; why says why there are none.
func (e *Engine) Messages(ctx context.Context, name string, n int) (list []transcript.Message, why string, err error) {
	defer e.hold()()
	if err := e.loadSessions(); err != nil {
		return nil, "", err
	}
	p, err := e.point("", name)
	if err != nil {
		return nil, "", err
	}
	s := e.sessions[p.session]
	switch {
	case s == nil:
		return nil, "it belongs to no agent's session", nil
	case !understood(s.Agent):
		return nil, fmt.Sprintf("the session files of %s are not understood", s.Agent), nil
	case p.err != nil:
		return nil, "it cannot be read: " + told(p.err), nil
	case p.transcript.IsZero():
		return nil, "the conversation had not begun, or was not captured", nil
	}
	if list, err = e.messagesAt(s, p, 4*n+maxTools); err != nil {
		return nil, "it cannot be read: " + told(err), nil //nolint:nilerr // what else is known of the checkpoint is shown
	}
	return said(list, n), "", nil
}

// messagesAt are the last n messages before a moment.
func (e *Engine) messagesAt(s *Session, p *point, n int) ([]transcript.Message, error) {
	agent := transcript.Agent(s.Agent)
	src, _, err := e.source(s, p.transcript)
	if err != nil {
		return nil, err
	}
	if p.turn == 0 && p.call == "" {
		return transcript.Messages(agent, src, n)
	}
	var cut transcript.Cut
	if p.call != "" {
		cut, err = transcript.CutCall(agent, src, p.call)
	} else {
		cut, err = transcript.CutTurn(agent, src, p.turn)
	}
	if err != nil {
		return nil, err
	}
	if isDocument(src.Name) { // a part of one is none
		var b bytes.Buffer
		if err := transcript.WriteCut(&b, agent, src, cut.Offset); err != nil {
			return nil, err
		}
		src.ReaderAt, cut.Offset = bytes.NewReader(b.Bytes()), int64(b.Len())
	}
	src.Size = cut.Offset
	return transcript.Messages(agent, src, n)
}

// maxTools is how many answers of tools at least are looked behind for messages.
const maxTools = 256

// said are the last n messages of people and the model, with what tools answered between them.
func said(list []transcript.Message, n int) []transcript.Message {
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

// newestOf is a session's newest checkpoint; zero: it has none.
func (e *Engine) newestOf(session string) (objstore.ID, error) {
	return e.refs.ID(refs.Session(session))
}
