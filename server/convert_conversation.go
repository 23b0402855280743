package server

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/transcript"
)

// options are what is asked of a restore, of these paths or, with none, of the whole tree. Without an environment it
// leaves the conversation alone.
func options(of api.Walk, w api.Wish, paths []string, p model.Progress) restore.Options {
	return restore.Options{
		Scope:    refs.Scope{Paths: paths, Exact: w.Exact, ContextOnly: w.ContextOnly},
		CodeOnly: w.CodeOnly, InPlace: w.InPlace, Force: w.Force, Title: string(w.Title), DryRun: w.DryRun,
		Plan:    w.Plan,
		Session: of, Env: w.Env, Progress: p,
	}
}

// maxTitle is how many bytes of a title are taken: agents and lists show it in one line.
const maxTitle = 500

func checkTitle(title api.Text) error {
	if len(title) > maxTitle {
		return model.Usagef("title of %d bytes: at most %d", len(title), maxTitle)
	}
	return nil
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

func lineage(l model.Lineage) api.Lineage {
	l.Time = utc(l.Time)
	return l.Lineage
}

func sessionInfo(s *model.SessionInfo) api.SessionInfo {
	out := api.SessionInfo{
		ID: s.ID, Session: s.Name, Agent: s.Agent, Title: api.Text(s.Title), Path: api.Text(s.Transcript),
		Missing: s.Missing, Loss: string(s.Loss),
		Turns: s.Turns, Messages: s.Messages, Bytes: s.Bytes, First: utc(s.First), Last: utc(s.Last),
		Running:  s.Running,
		Current:  s.Current,
		Imported: s.Imported, Newest: s.Newest, Problem: api.Text(s.Problem), Resume: resume(s.Name),
		Standing: s.Standing.String(),
	}
	if s.Standing == value.Deleted && !s.Missing {
		out.Standing = ""
	}
	if s.Fork != nil {
		from := lineage(*s.Fork)
		out.Fork = &from
	}
	return out
}

// resume is the command line that opens a session; none for an agent that is not known.
func resume(session string) []string {
	if session == "" {
		return nil
	}
	return (&model.Conversation{Session: session}).Resume()
}

func forkInfo(f *model.ForkInfo) api.ForkInfo {
	out := api.ForkInfo{
		SessionInfo: sessionInfo(&f.SessionInfo), Branch: f.Branch, Lineage: []api.Lineage{},
		Own: f.Own,
	}
	for _, l := range f.Lineage {
		out.Lineage = append(out.Lineage, lineage(l))
	}
	if f.Branch != f.Name {
		out.Resume = nil // nobody goes on in it where it is
	}
	return out
}

func turnsResponse(r *model.TurnList, whose string) api.TurnsResponse {
	out := api.TurnsResponse{
		Session: r.Session, Title: api.Text(r.Title), Turns: make([]api.Turn, 0, len(r.Turns)), More: r.More,
		Whose: whose, Loss: string(r.Loss),
		Left:      r.Left,
		LeftTurns: r.LeftTurns, At: r.At, OwnAt: r.OwnAt,
	}
	for _, t := range r.Turns {
		out.Turns = append(out.Turns, turn(t))
	}
	for _, c := range r.Compactions {
		out.Compactions = append(out.Compactions, api.Compaction{Turn: c.Turn})
	}
	for _, b := range r.Breaks {
		out.Breaks = append(out.Breaks, api.Break{Turn: b.Turn, Line: b.Line})
	}
	return out
}

func turn(t model.TurnInfo) api.Turn {
	return api.Turn{
		Turn: t.Number, Prompt: api.Text(t.Summary), UserMessage: t.User, LastMessage: t.Last, Time: utc(t.Time),
		Messages:    t.Messages,
		Checkpoints: t.Checkpoints, Checkpoint: t.Checkpoint, Gone: t.Gone, Cut: t.Cut,
	}
}

func fork(e *engine.Engine, f *model.Fork) api.Fork {
	agent, id := model.SplitSession(f.Session)
	whose := e.Sessions.Whose()(f.From.Session)
	turn := func(n int) string { return naming.TurnWords(uint64(n), whose) }
	out := api.Fork{
		ID: id, Session: f.Session, Agent: agent, Title: api.Text(f.Title), Path: api.Text(f.Path),
		From:     lineage(f.From),
		Whose:    whose,
		Messages: f.Cut.Messages, Dropped: f.Cut.Dropped, Compacted: f.Cut.Compaction != nil,
		Before: f.Cut.LaterCompaction, Bytes: f.Bytes,
		Resume: resume(f.Session), Listed: f.Listed, Problem: api.Text(f.Problem), Checks: value.Texts(f.Checks),
		Why: api.Text(f.Cut.Because(turn)),
	}
	if f.Cut.Dangling != nil {
		out.Dangling = f.Cut.Dangling.Name
	}
	if b := f.Cut.Break; b != nil {
		out.Broken = &api.Break{Turn: b.Turn, Line: b.Line}
	}
	return out
}

func forkResponse(e *engine.Engine, dryRun bool, f *restore.Forked) (out api.ForkResponse, err error) {
	out.Fork, out.Reused = fork(e, f.Fork), f.Reused
	if f.Restore != nil {
		r, err := restoreResponse(e, f.Restored, dryRun, f.Restore)
		if err != nil {
			return out, err
		}
		r.Notices = nil // they are the response's
		out.Restore = &r
	}
	out.Notices = e.Project().Notices
	return out, nil
}

func conversationOf(e *engine.Engine, t *model.Conversation) *api.Conversation {
	if t == nil {
		return nil
	}
	out := &api.Conversation{
		Mode: string(t.Mode), Why: api.Text(t.Why), Session: t.Session, Resume: resume(t.Session),
		Path: api.Text(t.Path), Turn: t.Turn, Whose: e.Sessions.Whose()(t.Session),
		Version: t.Version, Removed: value.Texts(t.Removed), Kept: value.Texts(t.Kept),
	}
	if t.Fork != nil {
		f := fork(e, t.Fork)
		out.Fork, out.Whose = &f, f.Whose // the turns are counted as there
	}
	return out
}

// withoutUnmade takes the id of a session out of the answer of a dry run, if no such session is there: the restore
// itself makes one with another id.
func withoutUnmade(e *engine.Engine, out *api.RestoreResponse) error {
	c := out.Conversation
	if c == nil || c.Fork == nil || c.Fork.ID == "" {
		return nil
	}
	if there, err := e.Log.StoredSession(c.Fork.Session); err != nil || there != nil {
		return err
	}
	id := c.Fork.ID
	out.AtWork = slices.Clone(out.AtWork)
	for i := range out.AtWork {
		if w := &out.AtWork[i]; strings.Contains(string(w.Type), id) {
			w.Type = ""
		}
	}
	c.Session, c.Path, c.Resume = "", "", nil
	c.Fork.ID, c.Fork.Session, c.Fork.Path, c.Fork.Resume = "", "", "", nil
	return nil
}

func message(m transcript.Message) api.Message {
	out := api.Message{Who: m.Who, Time: utc(m.Time), Text: api.Text(m.Text), Cut: m.Cut}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls,
			api.ToolCall{Name: api.Text(c.Name), Target: api.Text(c.Target), ID: api.Text(c.ID)})
	}
	return out
}

// oneLine is a title in one line, without what a terminal would take for more than text.
func oneLine(title api.Text) string {
	return strings.Join(strings.FieldsFunc(string(title),
		func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func loss(l model.Loss) api.Loss {
	return api.Loss{
		Session: l.Session, Title: api.Text(l.Title), Turns: l.Turns, Checkpoints: l.Checkpoints,
		Bytes: l.Bytes,
	}
}

func manageResponse(r *restore.Managed, do string, dryRun bool) api.ManageResponse {
	out := api.ManageResponse{
		Do: do, DryRun: dryRun, Managed: append([]api.Managed{}, r.Sessions...), Kept: value.Texts(r.Kept),
		Problem: api.Text(r.Problem),
	}
	if r.Operation != nil {
		out.Operation = r.Operation.Seq
	}
	for _, l := range r.Losses {
		out.Losses = append(out.Losses, loss(l))
	}
	return out
}
