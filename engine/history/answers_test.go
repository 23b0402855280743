package history_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/torture"
)

// TestPromise19AnswersBesideEvents: every command may be given while events come in, and once more under the race
// detector.
func TestPromise19AnswersBesideEvents(t *testing.T) {
	p := enginetest.NewProject(t)
	a, b := p.Scribe(hooks.Claude, enginetest.Unique()), p.Scribe(hooks.Codex, enginetest.Unique())
	turn := func(n int) {
		for _, s := range []*enginetest.Scribe{a, b} {
			s.Asked(fmt.Sprint("do ", n))
			s.Tell(hooks.Prompt, map[string]any{"prompt": fmt.Sprint("do ", n)})
			path := fmt.Sprintf("%s%d", s.Agent, n%3)
			call, more := enginetest.Unique(), map[string]any{}
			more["tool_name"], more["tool_input"] = s.Tool(path)
			more["tool_use_id"] = call
			s.Tell(hooks.BeforeTool, more)
			p.Write(path, enginetest.Big(fmt.Sprint(n)))
			more["tool_response"] = map[string]any{"success": true}
			s.Tell(hooks.AfterTool, more)
			s.Says("done")
			s.Tell(hooks.Stop, nil)
		}
	}
	for _, s := range []*enginetest.Scribe{a, b} {
		s.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
	}
	turn(0)
	turn(1)
	turnOne := "turn:1@" + a.Name()
	asks := map[string]func() error{
		"show": func() error { _, err := p.E.History.Show(enginetest.Bg, turnOne, nil); return err },
		"show -s": func() error {
			_, err := p.E.History.Named(model.SessionChoice{Session: b.Name()}, "turn:1")
			return err
		},
		"messages": func() error { _, _, err := p.E.History.Messages(enginetest.Bg, turnOne, 3); return err },
		"cat": func() error {
			f, _, err := p.E.History.Cat(enginetest.Bg, turnOne, "claude0")
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"diff": func() error {
			_, err := p.E.Diff(enginetest.Bg, engine.DiffOptions{From: turnOne}, func(engine.FileDiff) error { return nil })
			return err
		},
		"tag":    func() error { _, err := p.E.History.Tag(enginetest.Bg, "here", turnOne, true); return err },
		"list":   func() error { _, err := p.E.History.List(enginetest.Bg, history.ListOptions{All: true}); return err },
		"status": func() error { _, err := p.E.Status(enginetest.Bg, nil); return err },
		"turns": func() error {
			_, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: a.Name()}, 0)
			return err
		},
		"sessions": func() error { _, _, err := p.E.History.SessionList(enginetest.Bg, true, 0); return err },
		"undo": func() error {
			_, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{DryRun: true, Session: model.SessionChoice{Session: a.Name()}})
			return err
		},
		"before": func() error { _, err := p.E.History.Resolve("before:2@" + a.Name()); return err },
		"rows":   func() error { _, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{}); return err },
		"row":    func() error { _, err := p.E.History.TurnRow(enginetest.Bg, turnOne, ""); return err },
		"ops":    func() error { _, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring); return err },
		"name":   func() error { _, err := p.E.History.Resolve("session:" + b.Name()); return err },
		"no name": func() error {
			_, err := p.E.History.Resolve("turn:1")
			var several *sessions.SeveralSessionsError
			if errors.As(err, &several) {
				p.E.History.Describe(enginetest.Bg, several)
				return nil
			}
			return err
		},
	}
	for n := range torture.Points(4, 40) {
		var all sync.WaitGroup
		for name, ask := range asks {
			all.Go(func() {
				for range torture.Points(2, 20) {
					if err := ask(); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		turn(n + 2)
		all.Wait()
	}
}
