package restore

import (
	"errors"
	"fmt"
	"io"
	"time"

	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/agentfiles"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// forkPlan is a fork that has not been written yet: everything that its bytes depend on.
type forkPlan struct {
	agent transcript.Agent
	of    *model.Session
	src   transcript.Source         // from the live file where that still has what is wanted, else from the store: the same bytes
	Live  *conversation.SessionFile // nil: from the store
	Fork  transcript.Fork
	Cut   transcript.Cut
	Path  string
	sides []transcript.Side
	from  model.Lineage
	name  string // of the new session
	last  string // how the prompt of its last turn begins
}

func (p *forkPlan) Close() {
	if p.Live != nil {
		p.Live.Close()
	}
}

func (p *forkPlan) Write(w io.Writer) error {
	return transcript.WriteFork(w, p.agent, p.src, p.Fork)
}

// Check refuses what must not become a session: it reads what write gave as the agent would.
func (p *forkPlan) Check(r io.ReaderAt, size int64) error {
	if p.Cut.Messages == 0 {
		return nil // a clone of a session in which nothing was said holds nothing that could be wrong
	}
	return transcript.CheckFork(p.agent, transcript.Source{ReaderAt: r, Size: size, Name: p.Path}, p.src, p.Fork)
}

// beforeFirst says of turn 0 which turns there are.
func beforeFirst(turns uint64) string {
	const why = "it lies before the first prompt"
	switch turns {
	case 0:
		return why
	case 1:
		return why + "; the session has one turn, turn:1"
	}
	return fmt.Sprintf("%s; the session has %d turns, turn:1 to turn:%d", why, turns, turns)
}

// cutPoint is the conversation of a moment, and where it is cut: all is for a copy of all of it.
func (rs *Restorer) cutPoint(p *history.Moment, all bool) (s *model.Session, src transcript.Source, st *conversation.Stored, cut transcript.Cut, err error) {
	s = rs.log.Records[p.Session]
	switch {
	case s == nil || p.Session == model.Manual:
		return nil, src, nil, cut, &model.NoConversationError{Moment: p.Name, Why: "it belongs to no agent's session"}
	case !model.Understood(s.Agent):
		return nil, src, nil, cut, &model.NoConversationError{Moment: p.Name, Why: fmt.Sprintf("the session files of %s are not understood", s.Agent)}
	case p.Err != nil:
		return nil, src, nil, cut, p.Err
	case p.Start:
		return nil, src, nil, cut, &model.NoConversationError{Moment: p.Name, Why: beforeFirst(rs.history.TurnCount(s))}
	case p.Transcript.IsZero():
		why := "it was not captured"
		if s.Problem != "" {
			why += ": " + s.Problem
		}
		return nil, src, nil, cut, &model.NoConversationError{Moment: p.Name, Why: why}
	}
	if src, st, err = rs.history.Source(s, p.Transcript); err != nil {
		return nil, src, nil, cut, err
	}
	switch {
	case all:
		cut, err = transcript.CutAll(s.Agent, src)
	case p.Call != "":
		cut, err = transcript.CutCall(s.Agent, src, p.Call)
	case p.Turn > 0:
		cut, err = transcript.CutTurn(s.Agent, src, p.Turn)
	default:
		cut, err = transcript.CutAt(s.Agent, src, src.Size)
	}
	if errors.Is(err, transcript.ErrEmpty) || errors.Is(err, transcript.ErrNoTurn) {
		err = &model.NoConversationError{Moment: p.Name, Why: err.Error(), Cause: err}
	}
	if err == nil {
		cut.LaterCompaction, err = rs.compactedLater(s, st, cut)
	}
	return s, src, st, cut, err
}

// compactedLater reports whether the session, as it is, was compacted behind a place of it.
func (rs *Restorer) compactedLater(s *model.Session, st *conversation.Stored, cut transcript.Cut) (bool, error) {
	now, err := rs.history.Conversation(s, s.Cursor.Transcript)
	if err != nil || len(now.Compactions) == 0 || now.Compactions[len(now.Compactions)-1].Offset < cut.Offset {
		return false, err
	}
	newest, err := conversation.OpenTranscript(rs.log.Objs, s.Cursor.Transcript)
	if err != nil {
		return false, err
	}
	same, err := st.Begins(newest, cut.Offset)
	return same == cut.Offset, err
}

// wholeOf is the end of a conversation as a cut.
func wholeOf(agent transcript.Agent, src transcript.Source) (transcript.Cut, error) {
	c, err := transcript.Scan(agent, src)
	if err != nil {
		return transcript.Cut{}, err
	}
	cut := transcript.Cut{Offset: c.End, Turn: len(c.Turns), Messages: c.Messages, LastMessage: c.Last}
	if n := len(c.Compactions); n > 0 {
		cut.Compaction = &c.Compactions[n-1]
	}
	return cut, nil
}

// PlanFork decides what a fork of a moment is. close lets go of the file that it is copied from.
func (rs *Restorer) PlanFork(p *history.Moment, title, kind string, clone bool) (*forkPlan, error) {
	s, src, st, cut, err := rs.cutPoint(p, clone)
	if err != nil {
		return nil, err
	}
	agent := s.Agent
	now := rs.log.Now().Truncate(time.Millisecond)
	f := &forkPlan{agent: agent, of: s, src: src, Cut: cut}
	if f.Live, err = rs.stillThere(s, st, cut.Offset); err != nil {
		return nil, err
	}
	if f.Live != nil {
		f.src = f.Live.Source(cut.Offset)
		f.src.Ended = true
	}
	if title == "" {
		if title, err = rs.title(s); err != nil {
			f.Close()
			return nil, err
		}
	}
	if !clone {
		title = transcript.ForkTitle(title)
	}
	id := transcript.NewID(agent, now, conversation.Random())
	if f.Path, err = transcript.ForkPath(agent, s.Cursor.Path, id, now); err != nil {
		f.Close()
		return nil, err
	}
	f.Fork = transcript.Fork{Cut: cut.Offset, ID: id, Title: title, Time: now, From: s.ID, Clone: clone}
	f.sides = transcript.Sides(agent, s.Cursor.Path, f.Path)
	f.name = string(agent) + "/" + id
	f.from = model.Lineage{Lineage: value.Lineage{Session: s.Name, Message: cut.LastMessage, Time: now, Clone: clone, Kind: kind}}
	f.from.Share(cut.Turn, nil)
	if p.Checkpoint != nil {
		f.from.Checkpoint = p.Checkpoint.ID.String()
	}
	if c, err := rs.history.Conversation(s, p.Transcript); err == nil && cut.Turn > 0 && cut.Turn <= len(c.Turns) {
		f.last = c.Turns[cut.Turn-1].Summary
	}
	return f, nil
}

// stillThere opens the session's file if it begins with the first length bytes of what was captured; nil if it does not, or if they are not
// all its own.
func (rs *Restorer) stillThere(s *model.Session, st *conversation.Stored, length int64) (*conversation.SessionFile, error) {
	if s.Cursor.Base > 0 {
		return nil, nil
	}
	f, err := conversation.OpenSession(s.Agent, s.Cursor.Path)
	if err != nil || f.Document() {
		if f != nil {
			f.Close()
		}
		return nil, nil //nolint:nilerr // the store has it
	}
	same, err := st.Begins(f, length)
	if err != nil || same < length {
		f.Close()
		return nil, err
	}
	return f, nil
}

// title is what a session is called: as the agent's list shows it, or as it was named when it was made.
func (rs *Restorer) title(s *model.Session) (string, error) {
	if s.Title != "" && s.Agent == transcript.Codex {
		return s.Title, nil // the file does not say
	}
	c, err := rs.history.Conversation(s, s.Cursor.Transcript)
	if err != nil {
		return "", err
	}
	if c.Title == "" {
		return s.Title, nil
	}
	return c.Title, nil
}

// session is the record of the fork's session.
func (p *forkPlan) session(written objstore.ID, seq uint64) *model.Session {
	from := p.from
	from.Transcript = written
	return &model.Session{
		Name: p.name, Agent: p.agent, ID: p.Fork.ID, Transcript: p.Path, Cwd: p.of.Cwd, Previous: p.of.ID, Began: seq,
		First: p.Fork.Time, Last: p.Fork.Time, Turn: uint64(p.Cut.Turn), Prompt: p.last, Fork: &from, Title: p.Fork.Title,
	}
}

// result is the fork as it is told.
func (p *forkPlan) result() *model.Fork {
	return &model.Fork{Session: p.name, Title: p.Fork.Title, Path: p.Path, From: p.from, Cut: p.Cut}
}

// place gives a new session its branch and its cursor.
func (rs *Restorer) place(session string, at objstore.ID) []refs.Change {
	if at.IsZero() {
		return nil
	}
	return []refs.Change{{Name: refs.Session(session), New: at}, {Name: refs.Cursor(session), New: at}}
}

// mayWrite refuses a fork that would not lie in the agent's own folder, reached through no link.
func (p *forkPlan) mayWrite(own agentfiles.Folders) error {
	paths := []string{p.Path}
	for _, s := range p.sides {
		paths = append(paths, s.From, s.To)
	}
	for _, path := range paths {
		if err := model.Placed(own, path); err != nil {
			return &model.ForeignFileError{In: "session " + p.of.Name, Cause: err}
		}
	}
	return nil
}
