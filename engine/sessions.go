package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"rewind/transcript"
)

// SessionList lists the sessions of agents, the one with the newest event first.
func (e *Engine) SessionList(ctx context.Context, _ AgentEnv) ([]SessionInfo, error) {
	defer e.hold()()
	return e.sessionList(ctx, func(*Session) bool { return true })
}

// sessionList is SessionList for those that want says; e.mu is held. A session that a fork made, and whose file went away before anybody opened it, is none.
func (e *Engine) sessionList(ctx context.Context, want func(*Session) bool) ([]SessionInfo, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	at, err := e.position()
	if err != nil {
		return nil, err
	}
	var list []SessionInfo
	for _, s := range e.listSessions() {
		if !want(&s) {
			continue
		}
		if e.unseen(&s) {
			continue
		}
		info := SessionInfo{Session: s, Title: s.Title, Missing: understood(s.Agent) && gone(&s), Current: s.Name == at.Session, Imported: s.Imported, Problem: s.Problem}
		info.Running = e.openBy(&s) != ""
		newest, err := e.newestOf(s.Name)
		if err != nil {
			return nil, err
		}
		if !newest.IsZero() && !s.Imported {
			info.Newest = newest.String()
		}
		list = append(list, info)
	}
	err = e.readAll(ctx, list)
	for i := range list {
		if info := &list[i]; info.Fork != nil && !info.Fork.placed() {
			e.placeSession(ctx, info.Name)
			if s := e.sessions[info.Name]; s.Fork.placed() {
				info.Fork = s.Fork
			}
		}
	}
	return list, err
}

// unseen reports whether a session is none that a person knows of: only opened, or made by a restore or a fork and taken away again.
func (e *Engine) unseen(s *Session) bool {
	return (s.Fork != nil && s.Fork.Kind != byAgent && s.Event == "" || s.Turn == 0 && s.Cursor.Transcript.IsZero()) && understood(s.Agent) && gone(s)
}

// gone reports whether a session's file is not there.
func gone(s *Session) bool {
	_, err := statSession(s)
	return err != nil
}

// readAll reads what the conversations of sessions say, several at a time: the files where they are there, for they are the newest.
func (e *Engine) readAll(ctx context.Context, list []SessionInfo) error {
	next := make(chan *SessionInfo)
	var wg sync.WaitGroup
	for range min(len(list), max(2, runtime.GOMAXPROCS(0))) {
		wg.Go(func() {
			for info := range next {
				if err := e.readInfo(info); err != nil {
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

func (e *Engine) readInfo(info *SessionInfo) error {
	agent := transcript.Agent(info.Agent)
	if !understood(info.Agent) {
		return nil
	}
	c, size, err := e.readNewest(agent, &info.Session, info.Missing)
	if err != nil || c == nil {
		return err
	}
	info.Turns, info.Messages, info.Bytes = len(c.Turns), c.Messages, size
	if c.Title != "" && (agent != transcript.Codex || info.Title == "") {
		info.Title = c.Title
	}
	if info.Fork == nil && c.Parent.Session != "" && c.Parent.Session != info.ID {
		info.Fork = &Lineage{Session: string(agent) + "/" + c.Parent.Session, Message: c.Parent.Message, Time: c.First, Kind: byAgent}
	}
	return nil
}

// readNewest reads a session's file, or what is stored of it if it is not there, or begins in another file.
func (e *Engine) readNewest(agent transcript.Agent, s *Session, missing bool) (*transcript.Conversation, int64, error) {
	if !missing && s.Cursor.Base == 0 {
		f, err := openSession(agent, s.Transcript)
		if err != nil {
			return nil, 0, err
		}
		defer f.Close()
		src := f.source(f.info.Size())
		src.Ended = true // a last line that is half there is left out all the same
		c, err := transcript.Scan(agent, src)
		return c, f.info.Size(), err
	}
	if s.Cursor.Transcript.IsZero() {
		return nil, 0, nil
	}
	c, err := e.conversation(s, s.Cursor.Transcript)
	return c, s.Cursor.Length, err
}

// Forks lists the forks, newest first, each with all that it comes from; name limits it to one. A fork that an agent made by itself is one.
func (e *Engine) Forks(ctx context.Context, _ AgentEnv, name string) ([]ForkInfo, error) {
	defer e.hold()()
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	only := ""
	if name != "" {
		var err error
		if only, err = e.findSession(name); err != nil {
			return nil, err
		}
	}
	all, err := e.sessionList(ctx, func(*Session) bool { return true })
	if err != nil {
		return nil, err
	}
	from := map[string]*Lineage{}
	for _, s := range all {
		from[s.Name] = s.Fork
	}
	var out []ForkInfo
	for _, s := range all {
		if s.Fork == nil || only != "" && s.Name != only {
			continue
		}
		f := ForkInfo{SessionInfo: s, Own: max(s.Turns-s.Fork.Turn, 0)}
		seen := []string{s.Name}
		for l := s.Fork; l != nil && !slices.Contains(seen, l.Session); l = from[l.Session] {
			f.Lineage = append(f.Lineage, *l)
			seen = append(seen, l.Session)
		}
		out = append(out, f)
	}
	if only != "" && len(out) == 0 {
		return nil, fmt.Errorf("engine: session %s: %w: it is no fork", only, ErrNotFound)
	}
	return out, nil
}
