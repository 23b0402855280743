package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"rewind/engine/history"
)

// TestCommandsDoNotReadTheHistory: what list, show and status read of the store does not grow with the history.
func TestCommandsDoNotReadTheHistory(t *testing.T) {
	p := newProject(t)
	p.e.Log.Now = func() time.Time {
		p.tick = p.tick.Add(time.Minute)
		return p.tick
	}
	ctx := context.Background()
	commands := map[string]func() error{
		"list": func() error { _, err := p.e.History.List(ctx, history.ListOptions{Limit: 20}); return err },
		"show": func() error { _, err := p.e.History.Show(ctx, "@", nil); return err },
		"status": func() error {
			s, err := p.e.Status(ctx, nil)
			if err == nil && (s.Checkpoints == 0 || s.LastOp == nil || len(s.Changes) > 0) {
				err = fmt.Errorf("%+v", s)
			}
			return err
		},
	}
	read := func() map[string]uint64 {
		n := map[string]uint64{}
		for name, run := range commands {
			p.must(run()) // counts what is new
			before := p.e.Log.DB.Reads()
			p.must(run())
			n[name] = p.e.Log.DB.Reads() - before
		}
		return n
	}
	saved := 0
	grow := func(to int) {
		for ; saved < to; saved++ {
			p.write("a/b", fmt.Sprintf("%d\n", saved))
			p.save("")
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
	if s, err := p.e.Status(ctx, nil); err != nil || s.Checkpoints != 512 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestPositionReadsFewCheckpoints: who was at work in ten minutes of many calls is told without reading each call's checkpoint.
func TestPositionReadsFewCheckpoints(t *testing.T) {
	p := newProject(t)
	a, b := p.agent("a"), p.agent("b")
	for _, s := range []*agent{a, b} {
		s.start()
		s.prompt("go")
	}
	read := func() uint64 {
		p.must(p.e.Close())
		var err error
		p.e, err = Open(t.Context(), p.home, p.root, p.options())
		p.must(err)
		before := p.e.Log.DB.Reads()
		at, names, err := p.e.Sessions.Active()
		p.must(err)
		if at.Session != b.name() || len(names) != 2 {
			t.Fatalf("%v, %v", at, names)
		}
		return p.e.Log.DB.Reads() - before
	}
	calls := 0
	grow := func(to int) {
		for ; calls < to; calls++ {
			for _, s := range []*agent{a, b} {
				s.run(fmt.Sprint(s.id, calls), func() { p.write(s.id, big(fmt.Sprint(calls))) })
			}
		}
	}
	grow(8)
	few := read()
	grow(80)
	if many := read(); many > few+3*(160-16) { // two operations are a call
		t.Errorf("%d keys are read of 16 calls, %d of 160", few, many)
	}
}
