package restore_test

import (
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/project"
	"rewind/internal/worktreefs"
)

// What the worktree's file system cannot do is told, all of it, and nothing is left of the look at it, with a marker or
// without one.
func TestWeaker(t *testing.T) {
	t.Parallel()
	for _, marker := range []bool{true, false} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		if !marker {
			p.Remove(project.MarkerDir)
		}
		before := enginetest.List(t, p.Root)
		if says := p.E.Restorer.Weaker(); says != "" {
			t.Errorf("this file system: %s", says)
		}
		p.WantTree(before)
		for says, lacks := range map[string]worktreefs.Lacks{
			"": {}, "a name is free": {Moves: true},
			"symbolic links": {Symlinks: true}, "permissions": {Permissions: true},
		} {
			p.Must(p.E.Restorer.Found(lacks))
			got := p.E.Restorer.Weaker()
			if (got == "") != (says == "") || !strings.Contains(got, says) || strings.Contains(got, ";") {
				t.Errorf("%+v: %q", lacks, got)
			}
		}
		p.Must(p.E.Restorer.Found(worktreefs.Lacks{Moves: true, Symlinks: true, Permissions: true}))
		if got := p.E.Restorer.Weaker(); strings.Count(got, "; ") != 2 || strings.Count(got, "a restore ") != 3 {
			t.Errorf("all of it: %q", got)
		}
	}
}
