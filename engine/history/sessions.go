package history

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/value"
	"rewind/transcript"
)

// SessionList lists the sessions of agents, the one with the newest event first.
func (h *History) SessionList(ctx context.Context, _ value.AgentEnv) ([]model.SessionInfo, error) {
	defer h.log.Hold()()
	return h.sessionList(ctx, func(*model.Session) bool { return true })
}

// sessionList is SessionList for those that want says; the log's lock is held. A session that a fork made, and whose file went away before
// anybody opened it, is none.
func (h *History) sessionList(ctx context.Context, want func(*model.Session) bool) ([]model.SessionInfo, error) {
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	at, err := h.sessions.Position()
	if err != nil {
		return nil, err
	}
	var list []model.SessionInfo
	for _, s := range h.log.ListSessions() {
		if !want(&s) {
			continue
		}
		if h.Unseen(&s) {
			continue
		}
		info := model.SessionInfo{
			Session: s, Title: s.Title, Missing: model.Understood(s.Agent) && sessions.FileMissing(&s),
			Current: s.Name == at.Session, Imported: s.Imported, Problem: s.Problem,
		}
		info.Running = h.sessions.OpenBy(&s) != ""
		newest, err := h.NewestOf(s.Name)
		if err != nil {
			return nil, err
		}
		if !newest.IsZero() && !s.Imported {
			info.Newest = newest.String()
		}
		list = append(list, info)
	}
	err = h.readAll(ctx, list)
	for i := range list {
		if info := &list[i]; info.Fork != nil && !info.Fork.Resolved() {
			h.conversations.ResolveOrigin(ctx, info.Name)
			if s := h.log.Records[info.Name]; s.Fork.Resolved() {
				info.Fork = s.Fork
			}
		}
		if info := &list[i]; info.Fork != nil {
			info.Fork = h.completed(ctx, info.Name, *info.Fork)
		}
	}
	return list, err
}

// Unseen reports whether a session is none that a person knows of: only opened, or made by a restore or a fork and taken away again.
func (h *History) Unseen(s *model.Session) bool {
	return (s.Fork != nil && s.Fork.Kind != model.ByAgent && s.Event == "" || s.Turn == 0 && s.Cursor.Transcript.IsZero()) &&
		model.Understood(s.Agent) && sessions.FileMissing(s)
}

// readAll reads what the conversations of sessions say, several at a time: the files where they are there, for they are the newest.
func (h *History) readAll(ctx context.Context, list []model.SessionInfo) error {
	next := make(chan *model.SessionInfo)
	var wg sync.WaitGroup
	for range min(len(list), max(2, runtime.GOMAXPROCS(0))) {
		wg.Go(func() {
			for info := range next {
				if err := h.readInfo(info); err != nil {
					info.Problem = err.Error()
				}
			}
		})
	}
	for i := range list {
		if ctx.Err() == nil {
			next <- &list[i]
		}
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

func (h *History) readInfo(info *model.SessionInfo) error {
	agent := info.Agent
	if !model.Understood(info.Agent) {
		return nil
	}
	c, size, err := h.readNewest(agent, &info.Session, info.Missing)
	if err != nil || c == nil {
		return err
	}
	info.Turns, info.Messages, info.Bytes = len(c.Turns), c.Messages, size
	if c.Title != "" && (agent != transcript.Codex || info.Title == "") {
		info.Title = c.Title
	}
	if info.Fork == nil && c.Parent.Session != "" && c.Parent.Session != info.ID {
		info.Fork = model.MadeByAgent(agent, c)
	}
	return nil
}

// readNewest reads a session's file, or what is stored of it if it is not there, or begins in another file.
func (h *History) readNewest(agent transcript.Agent, s *model.Session, missing bool) (*transcript.Conversation, int64, error) {
	if !missing && s.Cursor.Base == 0 {
		f, err := conversation.OpenSession(agent, s.Transcript)
		if err != nil {
			return nil, 0, err
		}
		defer f.Close()
		src := f.Source(f.Info.Size())
		src.Ended = true // a last line that is half there is left out all the same
		c, err := transcript.Scan(agent, src)
		return c, f.Info.Size(), err
	}
	if s.Cursor.Transcript.IsZero() {
		return nil, 0, nil
	}
	c, err := h.Conversation(s, s.Cursor.Transcript)
	return c, s.Cursor.Length, err
}

// Forks lists the forks, newest first, each with all that it comes from; name limits it to one. A fork that an agent made by itself is one.
func (h *History) Forks(ctx context.Context, _ value.AgentEnv, name string) ([]model.ForkInfo, error) {
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	only := ""
	if name != "" {
		var err error
		if only, err = h.sessions.FindSession(name); err != nil {
			return nil, err
		}
	}
	all, err := h.sessionList(ctx, func(*model.Session) bool { return true })
	if err != nil {
		return nil, err
	}
	from := map[string]*model.Lineage{}
	for _, s := range all {
		from[s.Name] = s.Fork
	}
	var out []model.ForkInfo
	for _, s := range all {
		if s.Fork == nil || only != "" && s.Name != only {
			continue
		}
		f := model.ForkInfo{SessionInfo: s, Own: max(s.Turns-s.Fork.Both, 0)}
		seen := []string{s.Name}
		for l := s.Fork; l != nil && !slices.Contains(seen, l.Session); l = from[l.Session] {
			f.Lineage = append(f.Lineage, *l)
			seen = append(seen, l.Session)
		}
		out = append(out, f)
	}
	if only != "" && len(out) == 0 {
		return nil, &value.OpError{Op: "session", Subject: only, Err: fmt.Errorf("%w: it is no fork", model.ErrNotFound)}
	}
	return out, nil
}
