package engine

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/value"
)

// TestPromise19AnswersBesideEvents: every command may be given while events come in, and once more under the race detector.
func TestPromise19AnswersBesideEvents(t *testing.T) {
	p := newProject(t)
	a, b := p.scribe(hooks.Claude, unique()), p.scribe(hooks.Codex, unique())
	turn := func(n int) {
		for _, s := range []*scribe{a, b} {
			s.asked(fmt.Sprint("do ", n))
			s.tell(hooks.Prompt, map[string]any{"prompt": fmt.Sprint("do ", n)})
			path := fmt.Sprintf("%s%d", s.agent, n%3)
			call, more := unique(), map[string]any{}
			more["tool_name"], more["tool_input"] = s.tool(path)
			more["tool_use_id"] = call
			s.tell(hooks.BeforeTool, more)
			p.write(path, big(fmt.Sprint(n)))
			more["tool_response"] = map[string]any{"success": true}
			s.tell(hooks.AfterTool, more)
			s.says("done")
			s.tell(hooks.Stop, nil)
		}
	}
	for _, s := range []*scribe{a, b} {
		s.tell(hooks.SessionStart, map[string]any{"source": "startup"})
	}
	turn(0)
	turn(1)
	turnOne := "turn:1@" + a.name()
	asks := map[string]func() error{
		"show": func() error { _, err := p.e.History.Show(bg, turnOne, nil); return err },
		"show -s": func() error {
			_, err := p.e.History.Named(model.SessionChoice{Session: b.name()}, "turn:1")
			return err
		},
		"messages": func() error { _, _, err := p.e.History.Messages(bg, turnOne, 3); return err },
		"cat": func() error {
			f, _, err := p.e.History.Cat(bg, turnOne, "claude0")
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"diff": func() error {
			_, err := p.e.Diff(bg, DiffOptions{From: turnOne}, func(FileDiff) error { return nil })
			return err
		},
		"tag":      func() error { _, err := p.e.History.Tag(bg, "here", turnOne, true); return err },
		"list":     func() error { _, err := p.e.History.List(bg, history.ListOptions{All: true}); return err },
		"status":   func() error { _, err := p.e.Status(bg, nil); return err },
		"turns":    func() error { _, err := p.e.History.Turns(bg, model.SessionChoice{Session: a.name()}); return err },
		"sessions": func() error { _, err := p.e.History.SessionList(bg, value.AgentEnv{}); return err },
		"undo": func() error {
			_, err := p.e.Restorer.Undo(bg, 1, restore.Options{DryRun: true, Session: model.SessionChoice{Session: a.name()}})
			return err
		},
		"name": func() error { _, err := p.e.History.Resolve("session:" + b.name()); return err },
		"no name": func() error {
			_, err := p.e.History.Resolve("turn:1")
			var several *sessions.SeveralSessionsError
			if errors.As(err, &several) {
				p.e.History.Describe(bg, several)
				return nil
			}
			return err
		},
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	for name, ask := range asks {
		all.Go(func() {
			for n := 0; ; n++ {
				if err := ask(); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := range 6 {
		turn(n + 2)
	}
	close(done)
	all.Wait()
}
