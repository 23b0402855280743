package history_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/history"
)

// TestCommandsDoNotReadTheHistory: what list, show and status read of the store does not grow with the history.
func TestCommandsDoNotReadTheHistory(t *testing.T) {
	p := enginetest.NewProject(t)
	p.E.Log.Now = func() time.Time {
		p.Tick = p.Tick.Add(time.Minute)
		return p.Tick
	}
	ctx := context.Background()
	commands := map[string]func() error{
		"list":  func() error { _, err := p.E.History.List(ctx, history.ListOptions{Limit: 20}); return err },
		"turns": func() error { _, err := p.E.History.Rows(ctx, history.RowOptions{Limit: 20}); return err },
		"show":  func() error { _, err := p.E.History.Show(ctx, "@", nil); return err },
		"status": func() error {
			s, err := p.E.Status(ctx, nil)
			if err == nil && (s.Checkpoints == 0 || s.LastOp == nil || len(s.Changes) > 0) {
				err = fmt.Errorf("%+v", s)
			}
			return err
		},
	}
	read := func() map[string]uint64 {
		n := map[string]uint64{}
		for name, run := range commands {
			p.Must(run()) // counts what is new
			before := p.E.Log.DB.Reads()
			p.Must(run())
			n[name] = p.E.Log.DB.Reads() - before
		}
		return n
	}
	saved := 0
	grow := func(to int) {
		for ; saved < to; saved++ {
			p.Write("a/b", fmt.Sprintf("%d\n", saved))
			p.Save("")
		}
	}
	grow(64)
	few := read()
	grow(512)
	many := read()
	for name := range commands {
		// 22 deltas, each a key, may lie on the way to an object.
		if few[name] == 0 || many[name] > few[name]+100 {
			t.Errorf("%s: %d keys are read of 64 checkpoints, %d of 512", name, few[name], many[name])
		}
		t.Logf("%s: %d and %d", name, few[name], many[name])
	}
	if s, err := p.E.Status(ctx, nil); err != nil || s.Checkpoints != 512 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestPositionReadsNoOperations: who was at work in ten minutes of many calls is told by a key for each time that
// another one worked.
func TestPositionReadsNoOperations(t *testing.T) {
	p := enginetest.NewProject(t)
	a, b := p.Agent("a"), p.Agent("b")
	for _, s := range []*enginetest.Agent{a, b} {
		s.Start()
		s.Prompt("go")
	}
	read := func() uint64 {
		_, err := p.E.Ledger.Turns(a.Name())
		p.Must(err)
		p.Must(p.E.Close())
		p.E, err = engine.Open(t.Context(), p.Home, p.Root, p.Options())
		p.Must(err)
		before := p.E.Log.DB.Reads()
		at, names, err := p.E.Sessions.Active()
		p.Must(err)
		if at.Session != b.Name() || len(names) != 2 {
			t.Fatalf("%v, %v", at, names)
		}
		return p.E.Log.DB.Reads() - before
	}
	calls := 0
	grow := func(to int) {
		for ; calls < to; calls++ {
			for _, s := range []*enginetest.Agent{a, b} {
				s.Run(fmt.Sprint(s.ID, calls), func() { p.Write(s.ID, enginetest.Big(fmt.Sprint(calls))) })
			}
		}
	}
	grow(8)
	few := read()
	grow(80)
	if many := read(); many > few+160-16 {
		t.Errorf("%d keys are read of 16 calls, %d of 160", few, many)
	}
}
