package project_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine"
	"rewind/engine/project"
	"rewind/internal/relay"
)

// TestPromise17StoreOfAnotherUser: a store of another user is not opened, in either mode, and nothing in it is changed.
func TestPromise17StoreOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	for _, mode := range []project.Mode{project.ModeGlobal, project.ModeProject} {
		base := t.TempDir()
		home, root := project.Home{Dir: filepath.Join(base, "home")}, filepath.Join(base, "p")
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		e, plan, err := engine.Init(context.Background(), home, root, mode, project.Options{})
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		p := e.Project()
		if err := os.Chown(p.Store, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadDir(filepath.Join(p.Store, "db"))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []project.Options{{}, {Salvage: true}} {
			var owner *relay.OwnerError
			if e, err := engine.OpenProject(context.Background(), home, &p, o); !errors.As(err, &owner) || owner.Owner != 65534 ||
				owner.Dir != p.Store {
				t.Errorf("%s: %v, %v", plan.Mode, e, err)
			}
		}
		if after, err := os.ReadDir(filepath.Join(p.Store, "db")); err != nil || len(after) != len(before) {
			t.Errorf("%v, then %v, %v", before, after, err)
		}
	}
}
