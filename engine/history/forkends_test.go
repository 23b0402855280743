package history_test

import (
	"fmt"
	"slices"
	"testing"

	"rewind/engine/enginetest"
)

// TestForkEndsWhileReadsFail: the checkpoints that stay for forks are those at which forks branched off, and at which
// branches within sessions part and end. Where one cannot be read for now it is an error, and never left out: gc would
// take it away.
func TestForkEndsWhileReadsFail(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	first := p.Talker(1)
	first.Start()
	first.Take("one", p.Edits("f", "1"))
	at := first.Parent
	first.Take("two", p.Edits("f", "2"))
	first.Parent = at // the person goes back behind the turn, and on in another way
	first.Take("three", p.Edits("f", "3"))
	kid := copied(p, first, 2, "done: one")
	kid.Start()
	kid.Take("other", p.Edits("g", "1"))
	ends := func(q *enginetest.Project) (string, error) {
		ids, err := q.E.History.ForkEnds(enginetest.Bg)
		var names []string
		for _, id := range ids {
			names = append(names, id.Short())
		}
		slices.Sort(names)
		return fmt.Sprint(slices.Compact(names)), err
	}
	var want []string
	for _, name := range []string{"turn:1@", "turn:2@"} {
		cp, err := p.E.History.Resolve(name + first.Name())
		p.Must(err)
		want = append(want, cp.ID.Short())
	}
	slices.Sort(want)
	got, err := ends(p)
	if p.Must(err); got != fmt.Sprint(want) {
		t.Errorf("they are %s, want %v", got, want)
	}
	p.ReadFails("fork ends", 12, ends)
}
