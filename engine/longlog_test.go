package engine

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestCommandsDoNotReadTheHistory: what list, show and status read of the store does not grow with the history.
func TestCommandsDoNotReadTheHistory(t *testing.T) {
	p := newProject(t)
	p.e.now = func() time.Time {
		p.tick = p.tick.Add(time.Minute)
		return p.tick
	}
	ctx := context.Background()
	commands := map[string]func() error{
		"list": func() error { _, err := p.e.List(ctx, ListOptions{Limit: 20}); return err },
		"show": func() error { _, err := p.e.Show(ctx, "@", nil); return err },
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
			before := p.e.db.Reads()
			p.must(run())
			n[name] = p.e.db.Reads() - before
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
