package restore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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

// forkPlan is a fork before it is written: everything that its bytes depend on.
type forkPlan struct {
	agent      transcript.Agent
	parent     *model.Session
	source     transcript.Source    // what is stored: an agent may write its file at any time
	stored     *conversation.Stored // the same
	Fork       transcript.Fork
	Cut        transcript.Cut
	Path       string
	sides      []transcript.Side
	lineage    model.Lineage
	name       string // of the new session
	cwd        string // where it is gone on with
	lastPrompt string // how the prompt of its last turn begins
}

// Write writes the new session's file to w, and fails on what must not become a session: it is checked as its agent
// would read it.
func (p *forkPlan) Write(w io.Writer) error {
	if p.Cut.Messages == 0 { // a clone of a session in which nothing was said holds nothing that could be wrong
		return transcript.WriteFork(w, p.agent, p.source, p.Fork)
	}
	return transcript.WriteCheckedFork(w, p.agent, p.source, p.Fork, p.Path)
}

// whyNoTurn is, for people, why turn 0 cannot be forked: there are so many turns, from 1.
func whyNoTurn(turns uint64) string {
	const why = "it lies before the first prompt"
	switch turns {
	case 0:
		return why
	case 1:
		return why + "; the session has one turn, turn:1"
	}
	return fmt.Sprintf("%s; the session has %d turns, turn:1 to turn:%d", why, turns, turns)
}

// findCut is the conversation of a moment and where to cut it: behind the moment's turn or call, or with all at its
// end. A *model.NoConversationError where nothing was captured that could be cut.
func (rs *talkPlanner) findCut(p *history.Moment, all bool) (s *model.Session, src transcript.Source, st *conversation.Stored,
	cut transcript.Cut, err error,
) {
	s = rs.log.Session(p.Session)
	switch {
	case s == nil || p.Session == model.Manual:
		return nil, src, nil, cut, &model.NoConversationError{Moment: p.Name, Why: "it belongs to no agent's session"}
	case !model.Understood(s.Agent):
		return nil, src, nil, cut, &model.NoConversationError{
			Moment: p.Name,
			Why:    fmt.Sprintf("the session files of %s are not understood", s.Agent),
		}
	case p.Err != nil:
		return nil, src, nil, cut, p.Err
	case p.Start:
		return nil, src, nil, cut, &model.NoConversationError{
			Moment: p.Name, Why: whyNoTurn(rs.history.SaidTurns(s)), Behind: p.Session,
		}
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

// compactedLater reports whether the session, as it is now, was compacted behind a cut.
func (rs *talkPlanner) compactedLater(s *model.Session, st *conversation.Stored, cut transcript.Cut) (bool, error) {
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

// cutAtEnd is the cut that keeps a whole conversation.
func cutAtEnd(agent transcript.Agent, src transcript.Source) (transcript.Cut, error) {
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

// PlanFork decides what a fork of a moment is: the cut, its file, its name and title ("": of the session's own), its
// lineage of the given kind. Nothing is written.
func (rs *talkPlanner) PlanFork(p *history.Moment, title, kind string, clone bool) (*forkPlan, error) {
	s, src, st, cut, err := rs.findCut(p, clone)
	if err != nil {
		return nil, err
	}
	agent := s.Agent
	now := rs.log.Now().Truncate(time.Millisecond)
	f := &forkPlan{agent: agent, parent: s, source: src, stored: st, Cut: cut}
	if title, err = rs.newTitle(s, title, rs.number(s, p, cut), clone); err != nil {
		return nil, err
	}
	id := transcript.NewID(agent, now, conversation.Random())
	f.Fork = transcript.Fork{Cut: cut.Offset, ID: id, Title: title, Time: now, From: s.ID, Clone: clone}
	if f.Path, f.cwd, err = rs.placeFork(s, &f.Fork); err != nil {
		return nil, err
	}
	f.sides = transcript.Sides(agent, s.Cursor.Path, f.Path)
	f.name = string(agent) + "/" + id
	f.lineage = model.Lineage{Lineage: value.Lineage{
		Session: s.Name, Message: cut.LastMessage, Time: now, Clone: clone,
		Kind: kind,
	}}
	f.lineage.How = value.FoundMade
	f.lineage.Share(rs.shares(s, cut))
	f.lineage.Below(s.InSummary())
	if p.Checkpoint != nil {
		f.lineage.At(p.Checkpoint)
	}
	if c, err := rs.history.Conversation(s, p.Transcript); err == nil && cut.Turn > 0 && cut.Turn <= len(c.Turns) {
		f.lastPrompt = c.Turns[cut.Turn-1].Summary
	}
	return f, nil
}

// number is the number, in lists and names, of the turn of a session with which a cut of a moment's conversation ends.
func (rs *talkPlanner) number(s *model.Session, p *history.Moment, cut transcript.Cut) int {
	if p.Number > 0 {
		return int(p.Number)
	}
	return int(rs.history.Number(s, cut.Turn))
}

// shares is how many turns a cut of a session has, and which of its turns they are where their numbers are others, each
// counted behind what its summary has.
func (rs *talkPlanner) shares(s *model.Session, cut transcript.Cut) (both int, turns []int) {
	both, turns = cut.Turn, cut.Turns
	if turns != nil {
		both = len(turns)
	}
	number, before := rs.history.Numbers(s), s.InSummary()
	if int(number(cut.Turn)) == before+cut.Turn || cut.Turn == 0 {
		return both, turns
	}
	its := make([]int, both)
	for i := range its {
		place := i + 1
		if turns != nil {
			place = turns[i]
		}
		its[i] = int(number(place)) - before
	}
	return both, its
}

// placeFork says where the file of a fork of s goes, and in which directory its session is gone on with. The fork is
// told where that is not the original's.
func (rs *talkPlanner) placeFork(s *model.Session, f *transcript.Fork) (path, cwd string, err error) {
	from := rs.sessions.Elsewhere(s)
	if from == "" {
		path, err = transcript.ForkPath(s.Agent, s.Cursor.Path, f.ID, f.Time)
		return path, s.Cwd, err
	}
	f.Root, f.To = from, rs.log.Project.Root
	root, _, err := transcript.SessionFile(s.Agent, s.Cursor.Path)
	if err != nil {
		return "", "", err
	}
	cwd = filepath.Join(f.To, strings.TrimPrefix(s.Cwd, from)) // a session may have been begun below the root
	path, err = transcript.MovedPath(s.Agent, os.DirFS(root), s.Cursor.Path, f.ID, f.Time, s.Cwd, cwd)
	return path, cwd, err
}

// newTitle is the title of a fork of a session that ends with a turn, or of a clone; given is what a person wants ("":
// the session's own).
func (rs *talkPlanner) newTitle(s *model.Session, given string, turn int, clone bool) (string, error) {
	title := given
	if given == "" {
		var err error
		if title, err = rs.history.TitleOf(s); err != nil {
			return "", err
		}
	}
	switch {
	case !clone:
		return transcript.ForkTitle(title, turn), nil
	case given == "":
		return transcript.CopyTitle(title), nil
	}
	return title, nil
}

// record is the new session's record: written is its transcript, seq the operation that makes it.
func (p *forkPlan) record(written objstore.ID, seq uint64) *model.Session {
	from := p.lineage
	from.Transcript = written
	return &model.Session{
		Name: p.name, Agent: p.agent, ID: p.Fork.ID, Transcript: p.Path, Cwd: p.cwd, Previous: p.parent.ID, Began: seq,
		First: p.Fork.Time, Last: p.Fork.Time, Turn: uint64(p.lineage.Both), Prompt: p.lastPrompt, Fork: &from,
		Title: p.Fork.Title,
	}
}

// fork is the plan as an answer of Fork.
func (p *forkPlan) fork() *model.Fork {
	return &model.Fork{Session: p.name, Title: p.Fork.Title, Path: p.Path, From: p.lineage, Cut: p.Cut}
}

// newSessionRefs are the changes that make a new session's branch and cursor; none for the zero checkpoint.
func (rs *runner) newSessionRefs(session string, at objstore.ID) []refs.Change {
	if at.IsZero() {
		return nil
	}
	return []refs.Change{{Name: refs.Session(session), New: at}, {Name: refs.Cursor(session), New: at}}
}

// checkFolders fails with a *model.ForeignFileError unless all of the fork's files lie in the agent's own folder,
// reached through no link.
func (p *forkPlan) checkFolders(own agentfiles.Folders) error {
	paths := []string{p.Path}
	for _, s := range p.sides {
		paths = append(paths, s.From, s.To)
	}
	for _, path := range paths {
		if err := model.Placed(own, path); err != nil {
			return &model.ForeignFileError{In: "session " + p.parent.Name, Cause: err}
		}
	}
	return nil
}
