package restore_test

import (
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
)

// What was done to a file and taken back changes nothing of what going back does later: what another session has
// removed since stays away.
func TestPromise19TakenBackIsNoChange(t *testing.T) {
	for name, goes := range map[string]func(p *enginetest.Project, base *model.Checkpoint, o restore.Options) error{
		"a turn": func(p *enginetest.Project, _ *model.Checkpoint, o restore.Options) error {
			_, err := p.E.Restorer.Revert(enginetest.Bg, restore.PickOptions{Options: o, Of: "a"})
			return err
		},
		"all": func(p *enginetest.Project, base *model.Checkpoint, o restore.Options) error {
			o.Exact = true
			_, err := p.E.Restorer.Checkout(enginetest.Bg, base.ID.String(), o)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Write("x", "1")
			base := p.Save("base")
			a, b := p.Agent("a"), p.Agent("b")
			for _, k := range []*enginetest.Agent{a, b} {
				k.Start()
				k.Prompt("go")
			}
			target := p.Get(a.Run("1", func() { p.Write("docs/f", "1\n") }))
			o := restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: "a"}}
			p.Must(goes(p, base, o))
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			if p.Read("docs/f") != "1\n" {
				t.Fatal("it was not taken back")
			}
			b.Run("2", func() { p.Write("docs/g", "1\n"); p.Remove("docs/f") })
			_, err = p.E.Restorer.Checkout(enginetest.Bg, target.ID.String(), o)
			p.Must(err)
			if _, err := os.Lstat(p.Path("docs/f")); err == nil {
				t.Error("what another session has removed is there again")
			}
		})
	}
}
