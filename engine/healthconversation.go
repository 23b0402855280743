package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"rewind/hooks"
)

// testFork is the size in bytes up to which a conversation is forked to see whether it can be.
const testFork = 32 << 20

// CheckConversations looks at the conversations: what keeps one from being captured, and unless quick, whether the newest of each agent can be forked. No file
// is written for that.
func (e *Engine) CheckConversations(quick bool) ([]Check, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	var out []Check
	var tried []hooks.Agent
	for _, s := range e.listSessions() {
		if s.Problem != "" {
			out = append(out, Check{
				Name: "conversation", Level: LevelFinding, Text: fmt.Sprintf("%s is not captured: %s", s.Name, s.Problem),
				Remedy: "rewind sessions shows which are",
			})
		}
		if quick || slices.Contains(tried, s.Agent) || s.Cursor.Transcript.IsZero() || s.Cursor.Length > testFork {
			continue
		}
		tried = append(tried, s.Agent)
		out = append(out, e.checkConversation(&s))
	}
	return out, nil
}

// checkConversation forks a conversation in memory.
func (e *Engine) checkConversation(s *Session) Check {
	c := Check{Name: "conversation", Level: LevelOK}
	plan, err := e.planFork(&point{name: "session " + s.Name, session: s.Name, transcript: s.Cursor.Transcript, now: true}, "", "fork", false)
	if errors.Is(err, ErrNoConversation) {
		c.Text = fmt.Sprintf("%s: %s", s.Name, whyNot(err))
		return c
	}
	var buf bytes.Buffer
	if err == nil {
		defer plan.close()
		err = plan.write(&buf)
	}
	if err == nil {
		err = plan.check(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	}
	if err != nil {
		c.Level, c.Text, c.Remedy = LevelFinding, fmt.Sprintf("%s cannot be forked: %v", s.Name, err), "rewind verify"
		return c
	}
	c.Text = fmt.Sprintf("%s can be forked: %d turns, every call of a tool has its result", s.Name, plan.cut.Turn)
	return c
}
