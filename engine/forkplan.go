package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"rewind/hooks"
	"rewind/internal/agentfiles"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// forkPlan is a fork that has not been written yet: everything that its bytes depend on.
type forkPlan struct {
	agent transcript.Agent
	of    *Session
	src   transcript.Source // from the live file where that still has what is wanted, else from the store: the same bytes
	live  *sessionFile      // nil: from the store
	fork  transcript.Fork
	cut   transcript.Cut
	path  string
	sides []transcript.Side
	from  Lineage
	name  string // of the new session
	last  string // how the prompt of its last turn begins
}

func (p *forkPlan) close() {
	if p.live != nil {
		p.live.Close()
	}
}

func (p *forkPlan) write(w io.Writer) error {
	return transcript.WriteFork(w, p.agent, p.src, p.fork)
}

// check refuses what must not become a session: it reads what write gave as the agent would.
func (p *forkPlan) check(r io.ReaderAt, size int64) error {
	if p.cut.Messages == 0 {
		return nil // a clone of a session in which nothing was said holds nothing that could be wrong
	}
	return transcript.CheckFork(p.agent, transcript.Source{ReaderAt: r, Size: size, Name: p.path}, p.src, p.fork)
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
func (e *Engine) cutPoint(p *point, all bool) (s *Session, src transcript.Source, st *stored, cut transcript.Cut, err error) {
	s = e.sessions[p.session]
	switch {
	case s == nil || p.session == Manual:
		return nil, src, nil, cut, &NoConversationError{Place: p.name, Why: "it belongs to no agent's session"}
	case !understood(s.Agent):
		return nil, src, nil, cut, &NoConversationError{Place: p.name, Why: fmt.Sprintf("the session files of %s are not understood", s.Agent)}
	case p.err != nil:
		return nil, src, nil, cut, p.err
	case p.start:
		return nil, src, nil, cut, &NoConversationError{Place: p.name, Why: beforeFirst(e.turnCount(s))}
	case p.transcript.IsZero():
		why := "it was not captured"
		if s.Problem != "" {
			why += ": " + s.Problem
		}
		return nil, src, nil, cut, &NoConversationError{Place: p.name, Why: why}
	}
	if src, st, err = e.source(s, p.transcript); err != nil {
		return nil, src, nil, cut, err
	}
	switch {
	case all:
		cut, err = transcript.CutAll(transcript.Agent(s.Agent), src)
	case p.call != "":
		cut, err = transcript.CutCall(transcript.Agent(s.Agent), src, p.call)
	case p.turn > 0:
		cut, err = transcript.CutTurn(transcript.Agent(s.Agent), src, p.turn)
	default:
		cut, err = transcript.CutAt(transcript.Agent(s.Agent), src, src.Size)
	}
	if errors.Is(err, transcript.ErrEmpty) || errors.Is(err, transcript.ErrNoTurn) {
		err = &NoConversationError{Place: p.name, Why: told(err), Cause: err}
	}
	if err == nil {
		cut.LaterCompaction, err = e.compactedLater(s, st, cut)
	}
	return s, src, st, cut, err
}

// compactedLater reports whether the session, as it is, was compacted behind a place of it.
func (e *Engine) compactedLater(s *Session, st *stored, cut transcript.Cut) (bool, error) {
	now, err := e.conversation(s, s.Cursor.Transcript)
	if err != nil || len(now.Compactions) == 0 || now.Compactions[len(now.Compactions)-1].Offset < cut.Offset {
		return false, err
	}
	newest, err := openTranscript(e.objs, s.Cursor.Transcript)
	if err != nil {
		return false, err
	}
	same, err := st.begins(newest, cut.Offset)
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

// planFork decides what a fork of a moment is. close lets go of the file that it is copied from.
func (e *Engine) planFork(p *point, title, kind string, clone bool) (*forkPlan, error) {
	s, src, st, cut, err := e.cutPoint(p, clone)
	if err != nil {
		return nil, err
	}
	agent := transcript.Agent(s.Agent)
	now := e.now().Truncate(time.Millisecond)
	f := &forkPlan{agent: agent, of: s, src: src, cut: cut}
	if f.live, err = e.stillThere(s, st, cut.Offset); err != nil {
		return nil, err
	}
	if f.live != nil {
		f.src = f.live.source(cut.Offset)
		f.src.Ended = true
	}
	if title == "" {
		if title, err = e.title(s); err != nil {
			f.close()
			return nil, err
		}
	}
	if !clone {
		title = transcript.ForkTitle(title)
	}
	id := transcript.NewID(agent, now, random())
	if f.path, err = transcript.ForkPath(agent, s.Cursor.Path, id, now); err != nil {
		f.close()
		return nil, err
	}
	f.fork = transcript.Fork{Cut: cut.Offset, ID: id, Title: title, Time: now, From: s.ID, Clone: clone}
	f.sides = transcript.Sides(agent, s.Cursor.Path, f.path)
	f.name = string(agent) + "/" + id
	f.from = Lineage{Session: s.Name, Turn: cut.Turn, Message: cut.LastMessage, Time: now, Clone: clone, Kind: kind}
	if p.cp != nil {
		f.from.Checkpoint = p.cp.ID.String()
	}
	if c, err := e.conversation(s, p.transcript); err == nil && cut.Turn > 0 && cut.Turn <= len(c.Turns) {
		f.last = c.Turns[cut.Turn-1].Summary
	}
	return f, nil
}

// stillThere opens the session's file if it begins with the first length bytes of what was captured; nil if it does not, or if they are not all its own.
func (e *Engine) stillThere(s *Session, st *stored, length int64) (*sessionFile, error) {
	if s.Cursor.Base > 0 {
		return nil, nil
	}
	f, err := openSession(transcript.Agent(s.Agent), s.Cursor.Path)
	if err != nil || f.document() {
		if f != nil {
			f.Close()
		}
		return nil, nil //nolint:nilerr // the store has it
	}
	same, err := st.begins(f, length)
	if err != nil || same < length {
		f.Close()
		return nil, err
	}
	return f, nil
}

// title is what a session is called: as the agent's list shows it, or as it was named when it was made.
func (e *Engine) title(s *Session) (string, error) {
	if s.Title != "" && transcript.Agent(s.Agent) == transcript.Codex {
		return s.Title, nil // the file does not say
	}
	c, err := e.conversation(s, s.Cursor.Transcript)
	if err != nil {
		return "", err
	}
	if c.Title == "" {
		return s.Title, nil
	}
	return c.Title, nil
}

// session is the record of the fork's session.
func (p *forkPlan) session(written objstore.ID, seq uint64) *Session {
	from := p.from
	from.Transcript = written
	return &Session{
		Name: p.name, Agent: hooks.Agent(p.agent), ID: p.fork.ID, Transcript: p.path, Cwd: p.of.Cwd, Previous: p.of.ID, Began: seq,
		First: p.fork.Time, Last: p.fork.Time, Turn: uint64(p.cut.Turn), Prompt: p.last, Fork: &from, Title: p.fork.Title,
	}
}

// result is the fork as it is told.
func (p *forkPlan) result() *Fork {
	return &Fork{Session: p.name, Title: p.fork.Title, Path: p.path, From: p.from, Cut: p.cut}
}

// place gives a new session its branch and its cursor.
func (e *Engine) place(session string, at objstore.ID) []refs.Change {
	if at.IsZero() {
		return nil
	}
	return []refs.Change{{Name: refs.Session(session), New: at}, {Name: refs.Cursor(session), New: at}}
}

func updatesOf(changes []refs.Change) []refs.Update {
	var out []refs.Update
	for _, c := range changes {
		out = append(out, refs.Update(c))
	}
	return out
}

// mayWrite refuses a fork that would not lie in the agent's own folder, reached through no link.
func (p *forkPlan) mayWrite(own agentfiles.Folders) error {
	paths := []string{p.path}
	for _, s := range p.sides {
		paths = append(paths, s.From, s.To)
	}
	for _, path := range paths {
		if err := placed(own, path); err != nil {
			return &ForeignFileError{In: "session " + p.of.Name, Cause: err}
		}
	}
	return nil
}

// copySides copies the files that belong to a session beside its own. One that is not there is none.
func (p *forkPlan) copySides(own agentfiles.Folders) error {
	for _, s := range p.sides {
		raw, err := readSide(own, s)
		if err != nil {
			return err
		}
		if raw == nil {
			continue
		}
		err = writeSession(own, s.To, false, func(w io.Writer) error {
			_, err := w.Write(raw)
			return err
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// remove takes a fork away that nobody has seen, or what there is of it.
func (p *forkPlan) remove(own agentfiles.Folders) error {
	paths := []string{p.path}
	for _, s := range p.sides {
		paths = append(paths, s.To)
	}
	var err error
	for _, path := range paths {
		if e := removeSession(own, path); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("engine: fork: %w", err)
	}
	return nil
}
