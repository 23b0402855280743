package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/refs"
	"rewind/transcript"
)

// Import takes in the agents' sessions of this project that are not known yet: what was said is stored, so that they can be cloned and forked. What they
// did to the code was not captured. A file that cannot be taken in stops no other.
func (e *Engine) Import(ctx context.Context, env AgentEnv, p Progress) (*Imported, error) {
	defer e.hold()()
	if err := e.readySessions(); err != nil {
		return nil, err
	}
	res := &Imported{}
	var bytes int64
	for _, agent := range transcript.Agents() {
		root := env.clientEnv().Root(agent)
		if _, err := os.Stat(root); root == "" || err != nil {
			continue
		}
		paths, err := transcript.Find(agent, os.DirFS(root), e.project.Root)
		if err != nil {
			res.Failed = append(res.Failed, err)
			continue
		}
		for _, rel := range paths {
			if err := ctx.Err(); err != nil {
				return res, err
			}
			s, err := e.importSession(ctx, agent, filepath.Join(root, filepath.FromSlash(rel)))
			if err != nil {
				res.Failed = append(res.Failed, err)
				continue
			}
			if s == nil {
				continue
			}
			res.Sessions = append(res.Sessions, s.Name)
			bytes += s.Cursor.Length
			if p != nil {
				p(len(res.Sessions), bytes)
			}
		}
	}
	if len(res.Sessions) > 0 {
		e.origins = nil // what was not known may be by now
	}
	for _, name := range res.Sessions {
		e.placeSession(ctx, name)
	}
	return res, nil
}

// importSession takes one session in; nil: it is known.
func (e *Engine) importSession(ctx context.Context, agent transcript.Agent, path string) (*Session, error) {
	f, err := openSession(agent, path)
	if err != nil {
		return nil, err
	}
	c, err := transcript.Scan(agent, f.source(f.info.Size()))
	f.Close()
	if err != nil {
		return nil, err
	}
	_, id, err := transcript.SessionFile(agent, path)
	if err != nil {
		return nil, err
	}
	if agent != transcript.Claude || id == "" { // of the others the id inside counts
		id = c.ID
	}
	if !transcript.ValidID(id) {
		return nil, fmt.Errorf("engine: import %s: %w: no id of a session in it", path, ErrUsage)
	}
	s := &Session{
		Name: sessionName(hooks.Event{Agent: hooks.Agent(agent), Session: id}), Agent: hooks.Agent(agent), ID: id, Transcript: path, Cwd: c.Cwd,
		First: c.First, Last: c.New, Turn: uint64(len(c.Turns)), Imported: true, Ended: true,
	}
	if e.sessions[s.Name] != nil {
		return nil, nil
	}
	if c.Parent.Session != "" && c.Parent.Session != id {
		s.Fork = &Lineage{Session: string(agent) + "/" + c.Parent.Session, Message: c.Parent.Message, Time: c.First, Kind: byAgent}
	}
	tx := e.objs.Begin()
	if err := e.follow(tx, s, maxSession); err != nil {
		tx.Discard()
		if errors.Is(err, errMoving) {
			err = fmt.Errorf("engine: import %s: %w", path, err)
		}
		return nil, err
	}
	_, err = e.refs.Commit(ctx, tx, kv.Written, func(seq uint64) (refs.Operation, []refs.Update, error) {
		s.Began = seq
		op := refs.Operation{Kind: refs.KindImport, Time: e.now().UnixMilli(), Session: s.Name, Message: path, Transcript: s.Cursor.Transcript, Turn: s.Turn}
		return op, nil, tx.Batch().Set(sessionKey(s.Name), s.encode())
	})
	if err != nil {
		tx.Discard()
		return nil, err
	}
	e.sessions[s.Name] = s
	return s, nil
}
