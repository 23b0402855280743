package engine

import (
	"errors"
	"io"
	"slices"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/value"
)

// testFork is the size in bytes up to which a conversation is forked to see whether it can be.
const testFork = 32 << 20

// toldProblems is how many conversations that are not captured are told of by name, the newest.
const toldProblems = 3

// checkConversations looks at the conversations: what keeps one from being captured, and unless quick, whether the
// newest of each agent can be forked. No file is written for that.
func (e *Engine) checkConversations(quick bool) ([]value.Check, error) {
	e.Log.Lock()
	defer e.Log.Unlock()
	if err := e.Log.LoadSessions(); err != nil {
		return nil, err
	}
	var out []value.Check
	var tried []hooks.Agent
	var wrong int
	const remedy = "rewind sessions shows which are"
	for _, s := range e.Log.ListSessions() {
		if s.Problem != "" {
			if wrong++; wrong <= toldProblems {
				out = append(out, value.Check{
					Name: "conversation", Level: value.LevelFinding, Text: value.Textf("%s is not captured: %s", s.Name, s.Problem),
					Remedy: remedy,
				})
			}
		}
		enough := quick || slices.Contains(tried, s.Agent)
		if enough || s.Cursor.Transcript.IsZero() || s.Cursor.Length > testFork {
			continue
		}
		tried = append(tried, s.Agent)
		out = append(out, e.checkConversation(&s))
	}
	out = append(out, e.checkLosses()...)
	if more := wrong - toldProblems; more > 0 {
		out = append(out, value.Check{
			Name: "conversation", Level: value.LevelFinding, Text: value.Textf("%d more are not captured", more), Remedy: remedy,
		})
	}
	return out, nil
}

// checkConversation forks a conversation into nothing.
func (e *Engine) checkConversation(s *model.Session) value.Check {
	c := value.Check{Name: "conversation", Level: value.LevelOK}
	plan, err := e.Restorer.PlanFork(&history.Moment{
		Name: "session " + s.Name, Session: s.Name, Transcript: s.Cursor.Transcript,
		Now: true,
	}, "", "fork", false)
	if errors.Is(err, model.ErrNoConversation) {
		c.Text = value.Textf("%s: %s", s.Name, restore.WhyNot(err))
		return c
	}
	if err == nil {
		err = plan.Write(io.Discard)
	}
	if err != nil {
		c.Level, c.Text, c.Remedy = value.LevelFinding, value.Textf("%s cannot be forked: %v", s.Name, err), "rewind verify"
		return c
	}
	c.Text = value.Textf("%s can be forked: %d turns, every call of a tool has its result", s.Name, plan.Cut.Turn)
	return c
}

// checkLosses names the conversations that their agents have lost, the newest. Who has archived one knows.
func (e *Engine) checkLosses() (out []value.Check) {
	all, err := e.Sessions.SessionNames()
	if err != nil {
		return nil // what is wrong is told by others
	}
	more := 0
	for _, s := range e.Log.ListSessions() {
		if s.Away() || e.History.Unseen(&s) {
			continue
		}
		what := ""
		switch loss, _ := e.Talks.Loss(&s); loss {
		case value.LossGone:
			what = "its session file is gone"
		case value.LossCut:
			what = "its session file was cut"
		case value.NoLoss:
			continue
		}
		if len(out) == toldProblems {
			more++
			continue
		}
		short := sessions.ShortOf(s.Name, all)
		out = append(out, value.Check{
			Name: "conversation", Level: value.LevelFinding,
			Text:   value.Textf("%s %s: %s; it is captured whole", s.Agent, short, what),
			Remedy: value.Textf("rewind sessions restore %s, or rewind forks archive %[1]s", short),
		})
	}
	if more > 0 {
		out = append(out, value.Check{
			Name: "conversation", Level: value.LevelFinding, Text: value.Textf("%d more have lost something", more),
			Remedy: "rewind sessions shows which",
		})
	}
	return out
}
