package sessions_test

import (
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// A turn that ends in what a restore left, with another session's file kept, ends with that file, too; and one
// checkpoint says so, not each event.
func TestPromise19TurnBehindARestoreThatKept(t *testing.T) {
	p := enginetest.NewProject(t)
	a, b := p.Two()
	a.Does("f", "one")
	a.Tell(hooks.Stop, map[string]any{"stop_hook_active": false})
	b.Does("e", "b's")
	a.Tell(hooks.Prompt, map[string]any{"prompt": "two"})
	a.Does("f", "two")
	a.Tell(hooks.Stop, map[string]any{"stop_hook_active": false})
	of := model.SessionChoice{Session: a.Name()}
	_, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Session: of})
	p.Must(err)
	made := 0
	for _, kind := range []hooks.Kind{hooks.SessionStart, hooks.Prompt, hooks.Stop} {
		if h := a.Tell(kind, map[string]any{"prompt": "three", "source": "resume", "stop_hook_active": false}); h.New {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d checkpoints were made", made)
	}
	list, err := p.E.History.Turns(enginetest.Bg, of, 0)
	p.Must(err)
	last := list.Turns[len(list.Turns)-1]
	cp, err := p.E.History.Resolve(last.Checkpoint)
	p.Must(err)
	if !cp.Minor || len(cp.Authors()) > 0 {
		t.Errorf("%+v", cp)
	}
	for path, want := range map[string]string{"f": "one", "e": "b's"} {
		if got := p.Cat(cp, path); got != enginetest.Big(want) {
			t.Errorf("at the end of turn %d %s is %.8q", last.Number, path, got)
		}
	}
}
