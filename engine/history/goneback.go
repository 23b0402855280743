package history

import (
	"cmp"
	"errors"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/naming"
	"rewind/objstore"
	"rewind/transcript"
)

// A person can go back in the agent itself: the turns behind that place stay in its file, and the next prompt goes on
// from further up. Where that prompt was typed the agent had not written it yet, so that the conversation that was
// captured there ends with what was thrown away. A later capture has the prompt, and with it where it goes on from.

// goneBack is what the prompt of a turn goes on from where the person had gone back before they typed it.
type goneBack struct {
	said  objstore.ID // the conversation that has the prompt
	after int         // the turn of it, by its place; 0: none is left
	then  uint64      // the number of that turn
}

// goneBackBefore says where the person had gone back to before the prompt of turn n of a session. nil: they had not, or
// it is not known, or the turn was said in another session. The caller need not hold the log's lock.
func (h *turnReader) goneBackBefore(session string, n uint64) (*goneBack, error) {
	s, err := h.log.StoredSession(session)
	if err != nil || s == nil || n == 0 || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return nil, err
	}
	at, err := taken(session, n, h.log.StoredSession, h.readTurns)
	if err != nil || at.session != session {
		return nil, err
	}
	c, err := h.Conversation(s, s.Cursor.Transcript)
	if err != nil {
		return nil, nil //nolint:nilerr // the code goes back whatever the conversation is like
	}
	num, err := h.numbersNow(s, c.Turns)
	if err != nil {
		return nil, err
	}
	place, said := num.place(n)
	if !said || place > len(c.Turns) {
		return nil, nil
	}
	after := c.Turns[place-1].After
	if after+1 == place {
		return nil, nil
	}
	return &goneBack{s.Cursor.Transcript, after, num.of(after)}, nil
}

// typedCode returns the code at the prompt of turn n of a session, with a person's changes since the turn before, and
// the operation that found it. nil: the log does not have it. The caller need not hold the log's lock.
func (h *turnReader) typedCode(session string, n uint64) (cp *model.Checkpoint, found uint64, err error) {
	at, err := taken(session, n, h.log.StoredSession, h.readTurns)
	if err != nil {
		return nil, 0, err
	}
	l, err := h.readTurns(at)
	if err != nil {
		return nil, 0, err
	}
	f, err := l.factsOf(at.turn)
	if err != nil || f == nil || f.begin.IsZero() {
		return nil, 0, err
	}
	cp, err = h.log.Checkpoint(f.begin)
	return cp, f.begun, err
}

// typedMoment returns the moment of before:N: the code at the prompt of turn N, and the conversation that the prompt
// continues. That is the end of the turn before, unless the person had gone back.
func (h *turnReader) typedMoment(session string, is naming.Name) (*Moment, error) {
	cp, found, err := h.typedCode(session, is.Turn+1)
	if err != nil {
		return nil, err
	}
	back, err := h.goneBackBefore(session, is.Turn+1)
	if err != nil {
		return nil, err
	}
	if back != nil && cp != nil {
		p := &Moment{Name: cp.ID.Short(), Checkpoint: cp, Found: found, Session: session, Ended: true}
		p.endAt(back)
		return p, nil
	}
	p, err := h.endOfTurnMoment(session, is.End())
	var none *model.NoTurnError
	if errors.As(err, &none) {
		none.Before = true
	}
	if cp == nil {
		return p, err
	}
	if errors.Is(err, model.ErrNotFound) {
		p, err = &Moment{Session: session, Start: is.Turn == 0, Ended: true}, nil
	}
	if err == nil {
		p.Name, p.Checkpoint, p.Found = is.String(), cp, found
	}
	return p, err
}

// TypedBefore returns the moment of a checkpoint of another line from which a session's turn n went on. Its
// conversation is the one in which the prompt of the turn was typed. The records are loaded.
func (h *turnReader) TypedBefore(session string, n uint64, cp *model.Checkpoint) (*Moment, error) {
	is := naming.Name{Kind: naming.Turn, Turn: n - 1, Before: true, Session: session}
	p, err := h.typedMoment(h.saidIn(session, n), is)
	if err == nil {
		p.Name, p.Checkpoint = cp.ID.Short(), cp
	}
	return p, err
}

// PromptOf is the prompt of a turn of a session: whole where its conversation has it, else as its hook told how it
// begins; "": it is not known. The log's lock is held.
func (h *turnReader) PromptOf(session string, n uint64) string {
	prompt, _ := h.promptOf(session, n)
	return prompt
}

// promptOf is PromptOf, with why the log could not be asked.
func (h *turnReader) promptOf(session string, n uint64) (string, error) {
	told := &turnFacts{}
	at, err := taken(session, n, h.log.StoredSession, h.readTurns)
	if err == nil {
		var l *turnLog
		if l, err = h.readTurns(at); err == nil {
			told, err = l.factsOf(at.turn)
		}
	}
	if told == nil || err != nil {
		told = &turnFacts{}
	}
	return cmp.Or(h.promptSaid(h.log.Session(session), n, told), told.Prompt), err
}

// PromptsBehind are the prompts, as PromptOf has them, with which a session's conversation goes on behind turn n of
// another one, or of its own: 0 is before the first. They are the first so many; more counts the others. None: it does
// not, or the two do not share that turn. The log's lock is held.
func (h *turnReader) PromptsBehind(session, of string, n uint64, most int) (list []string, more int, err error) {
	s := h.log.Session(session)
	if s == nil {
		return nil, 0, nil
	}
	if n > 0 && session != of {
		its, err := taken(session, n, h.loaded, h.readTurns)
		if err != nil {
			return nil, 0, err
		}
		others, err := taken(of, n, h.loaded, h.readTurns)
		if same := its.session == others.session && its.turn == others.turn; err != nil || !same {
			return nil, 0, err
		}
	}
	turns, num, err := h.numbered(s)
	if err != nil {
		return nil, 0, err
	}
	for n++; n <= s.Turn; n++ {
		place, said := num.place(n)
		if !said {
			continue
		}
		if written := place <= len(turns); written && turns[place-1].Gone { // else the agent may write it yet
			continue
		}
		if len(list) == most {
			more++
			continue
		}
		prompt, err := h.promptOf(session, n)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, prompt)
	}
	return list, more, nil
}

// numbered are the turns of a session's conversation as it is, and their numbers; none of a fork that nobody has
// opened.
func (h *turnReader) numbered(s *model.Session) (turns []transcript.Turn, num numbers, err error) {
	if !hasTalk(s) {
		return nil, num, nil
	}
	if turns, err = h.turnsTo(s, s.Cursor.Transcript); err == nil {
		num, err = h.numbersNow(s, turns)
	}
	return turns, num, err
}

// maxPrompt is how many bytes of a prompt are given back to a person who goes back in front of it.
const maxPrompt = 64 << 10

// promptSaid is PromptOf as the conversation has it, also of a turn that the person has gone back behind; what cannot
// be read is not known.
func (h *turnReader) promptSaid(s *model.Session, n uint64, told *turnFacts) string {
	turns, place := h.saidTurns(s, n)
	if place == 0 {
		return ""
	}
	if told.Prompt != "" && !told.begins(&turns[place-1]) {
		return ""
	}
	st, err := conversation.OpenEnd(h.log.Objs, s.Cursor.Transcript)
	if err != nil {
		return ""
	}
	turns = slices.Clone(turns[:place])
	turns[place-1].Gone = false // else the next turn's prompt is the first message
	page, err := transcript.MessagesFrom(s.Agent, sourceOf(s, st), turns, turns[place-1].At, 1, maxPrompt)
	if err != nil || len(page.Messages) == 0 || page.Messages[0].Who != "user" {
		return ""
	}
	return page.Messages[0].Text
}

// withoutGone has a moment, at which the prompt of turn n of its session was typed or which that turn went back behind,
// stand for the conversation that the prompt goes on from.
func (h *turnReader) withoutGone(p *Moment, n uint64) error {
	back, err := h.goneBackBefore(p.Session, n)
	if err != nil || back == nil {
		return err
	}
	if on, err := h.GoesOn(back.said, p.Transcript); err != nil || !on {
		return err // the file was cut, and the number has come again
	}
	p.endAt(back)
	return nil
}

// prompted reports whether a checkpoint is what a prompt found changed.
func prompted(cp *model.Checkpoint) bool { return cp.Cause.Event == model.EventWords[hooks.Prompt] }

// endAt has a moment's conversation end where a prompt goes on from.
func (p *Moment) endAt(b *goneBack) {
	p.Transcript, p.Turn, p.Start = b.said, b.after, b.after == 0
}

// Undone is the moment of the checkpoint that an undo goes back to, from another one. A person may have gone back in
// the agent between the two, with no file changed by the next prompt. Then that conversation is of a turn that they had
// thrown away, and the result is the one that they went back to. Turns that only talked may lie between.
func (h *turnReader) Undone(to, from *model.Checkpoint) (*Moment, error) {
	p, err := h.MomentOf(to)
	if err != nil || p.Err != nil || from.Session != to.Session || from.Cause.Turn <= to.Cause.Turn || prompted(from) {
		return p, err
	}
	for n := from.Cause.Turn; n > to.Cause.Turn; {
		back, err := h.goneBackBefore(from.Session, n)
		switch {
		case err != nil:
			return p, nil //nolint:nilerr // as where the person had not gone back
		case back == nil:
			n--
		case back.then < to.Cause.Turn:
			p.Err = h.withoutGone(p, n)
			return p, nil
		default:
			n = back.then
		}
	}
	return p, nil
}

// ForkedBefore returns a fork's moment for a checkpoint of its original. The code is the checkpoint's. The fork's
// conversation ends with the checkpoint's turn, or with the last turn before it that the fork has. nil: the checkpoint
// lies within a turn of both, or what the fork has is not known. The records are loaded.
func (h *turnReader) ForkedBefore(session string, cp *model.Checkpoint) (*Moment, error) {
	shared := cp.Cause.Turn
	for name, n := session, 0; name != cp.Session && n < conversation.MaxForks; n++ {
		s := h.log.Session(name)
		if s == nil || s.Fork == nil || s.InSummary() > 0 {
			return nil, nil
		}
		if !s.Fork.Resolved() || s.Fork.Both <= 0 {
			return nil, nil
		}
		shared, name = min(shared, uint64(s.Fork.Both)), s.Fork.Session
	}
	if session == cp.Session {
		return nil, nil
	}
	if shared == cp.Cause.Turn {
		if last, err := h.endsTurn(cp); err != nil || !last {
			return nil, err
		}
	}
	p, err := h.endOfTurnMoment(session, naming.Name{Kind: naming.Turn, Turn: shared, Session: session})
	if err != nil {
		return nil, err
	}
	p.Name, p.Checkpoint = cp.ID.Short(), cp
	return p, nil
}
