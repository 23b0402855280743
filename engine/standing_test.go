package engine

import (
	"testing"

	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// A turn that ends in what a restore left, with another session's file kept, ends with that file, too; and one checkpoint says so, not each event.
func TestPromise19TurnBehindARestoreThatKept(t *testing.T) {
	p := newProject(t)
	a, b := p.two()
	a.does("f", "one")
	a.tell(hooks.Stop, map[string]any{"stop_hook_active": false})
	b.does("e", "b's")
	a.tell(hooks.Prompt, map[string]any{"prompt": "two"})
	a.does("f", "two")
	a.tell(hooks.Stop, map[string]any{"stop_hook_active": false})
	of := model.SessionChoice{Session: a.name()}
	_, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{Session: of})
	p.must(err)
	made := 0
	for _, kind := range []hooks.Kind{hooks.SessionStart, hooks.Prompt, hooks.Stop} {
		if h := a.tell(kind, map[string]any{"prompt": "three", "source": "resume", "stop_hook_active": false}); h.New {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d checkpoints were made", made)
	}
	list, err := p.e.History.Turns(bg, of)
	p.must(err)
	last := list.Turns[len(list.Turns)-1]
	cp, err := p.e.History.Resolve(last.Checkpoint)
	p.must(err)
	if !cp.Minor || len(cp.Authors()) > 0 {
		t.Errorf("%+v", cp)
	}
	for path, want := range map[string]string{"f": "one", "e": "b's"} {
		if got := p.cat(cp, path); got != big(want) {
			t.Errorf("at the end of turn %d %s is %.8q", last.Number, path, got)
		}
	}
}
