package compare_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/compare"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
)

// turnsOf are the turns of a side: number, prompt, steps.
func turnsOf(s compare.Side) (list []string) {
	for _, turn := range s.Turns {
		list = append(list, fmt.Sprintf("%d %s %d", turn.Turn, turn.Prompt, turn.Steps))
	}
	return list
}

// TestTurns: a whole session has the turns that changed nothing, too; a state has those up to it.
func TestTurns(t *testing.T) {
	p, k := enginetest.Begun(t)
	other := p.Talker(2)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", p.Edits("f", "2"))
	other.Take("beside", p.Edits("g", "1"))
	k.Take("three", nil)
	k.Take("four", p.Edits("f", "4"))
	first, whole := "turn:1@"+k.Name(), k.Name()
	all := []string{"2 two 1", "3 three 0", "4 four 1"}
	if got := turnsOf(compared(p, first, whole).Sides[1]); !slices.Equal(got, all) {
		t.Errorf("the session: %q", got)
	}
	if got := turnsOf(compared(p, first, "turn:2@"+k.Name()).Sides[1]); !slices.Equal(got, []string{"2 two 1"}) {
		t.Errorf("turn 2: %q", got)
	}
	r := compared(p, first, "session:"+k.Name()+"~1")
	if got := turnsOf(r.Sides[1]); !slices.Equal(got, []string{"2 two 1"}) || r.Sides[1].Whole {
		t.Errorf("the step before the newest: %q", got)
	}
	if got := r.Sides[1].Others; len(got) > 0 {
		t.Errorf("others in turn 2: %+v", got)
	}
}

// TestTurnsTakenBack: a turn whose number came again was taken back, and so was what came behind it.
func TestTurnsTakenBack(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	first, at := "turn:1@"+k.Name(), k.Parent
	k.Take("two", nil)
	k.Take("three", nil)
	o := restore.Options{InPlace: true, Force: true}
	p.Back(first, o)
	if got := turnsOf(compared(p, first, k.Name()).Sides[1]); !slices.Equal(got, []string{"2 two 0", "3 three 0"}) {
		t.Errorf("before anything came again: %q", got)
	}
	k.Parent = at
	k.Take("again", nil)
	if got := turnsOf(compared(p, first, k.Name()).Sides[1]); !slices.Equal(got, []string{"2 again 0"}) {
		t.Errorf("after that: %q", got)
	}
}

// TestOthersOfWhatStayed: what others wrote and took back between two steps is no part of the side's changes. What a
// third one wrote behind the last step has nothing to do with them.
func TestOthersOfWhatStayed(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0\n")
	root := p.Save("base")
	one, two := p.Agent("one"), p.Agent("two")
	p.Write("by hand", "1\n")
	one.Run("c1", func() { p.Write("f", "1\n") })
	two.Run("c2", func() { p.Write("gone", "1\n") })
	two.Run("c3", func() { p.Remove("gone"); p.Write("stays", "1\n") })
	p.Remove("by hand")
	one.Run("c4", func() { p.Write("f", "2\n") })
	p.Agent("three").Run("c5", func() { p.Write("stays", "2\n") })
	r := compared(p, root.ID.String(), "session:one")
	got := r.Sides[1].Others
	if len(got) != 1 || got[0].By != "claude/two" || !slices.Equal(got[0].Paths, []string{"stays"}) {
		t.Errorf("%+v", got)
	}
}

// TestModesEitherWay: what one side changed in the permissions and the other in the content goes together, whichever is
// asked for first; what a person did is no other's on a person's own side.
func TestModesEitherWay(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0\n")
	p.Write("g", "0\n")
	root := p.Save("base")
	p.Must(os.Chmod(p.Path("f"), 0o755))
	p.Write("g", "1\n")
	a := p.Save("a")
	exactly(p, root.ID)
	p.Write("f", "1\n")
	p.Write("g", "2\n")
	b := p.Save("b")
	for _, sides := range [][2]string{{a.ID.String(), b.ID.String()}, {b.ID.String(), a.ID.String()}} {
		r := compared(p, sides[0], sides[1])
		var got []string
		for _, o := range r.Overlaps {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Path, o.Verdict, o.Reason)))
		}
		if want := []string{"f " + string(value.OverlapClean), "g " + string(value.OverlapCollide)}; len(got) != 2 ||
			got[0] != want[0] || !strings.HasPrefix(got[1], want[1]) {
			t.Errorf("%q, want %q", got, want)
		}
		if r.Divergence != 0.7143 { // 5 of 7 lines: all 3 of f, and 2 of the 4 of g
			t.Errorf("divergence %v", r.Divergence)
		}
		for _, s := range r.Sides {
			if len(s.Others) > 0 {
				t.Errorf("a person's own: %+v", s.Others)
			}
		}
	}
}

// TestOwnPaths: what a person set back by a restore of one path, between two saves, is no other's on a person's side.
func TestOwnPaths(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0\n")
	p.Write("g", "0\n")
	root := p.Save("base")
	p.Write("g", "1\n")
	one := p.Save("one")
	p.Write("g", "2\n")
	p.Save("two")
	o := restore.Options{CodeOnly: true}
	o.Paths, o.Session = refs.PathSet{"g"}, model.SessionChoice{Session: model.Manual}
	p.Checkout(one.ID.String(), o)
	p.Write("f", "3\n")
	three := p.Save("three")
	if r := compared(
		p,
		root.ID.String(),
		three.ID.String(),
	); len(r.Sides[1].Others) > 0 ||
		len(r.Sides[1].Changes) != 2 {
		t.Errorf("%+v, %d changes", r.Sides[1].Others, len(r.Sides[1].Changes))
	}
}

// TestSessionBeforeAPerson: of a person's side that goes on from a session's step the session wrote what is in that.
func TestSessionBeforeAPerson(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0\n")
	root := p.Save("base")
	p.Agent("one").Run("c1", func() { p.Write("g", "1\n") })
	exactly(p, p.Listed()[0].ID)
	p.Write("h", "1\n")
	mine := p.Save("mine")
	s := compared(p, root.ID.String(), mine.ID.String()).Sides[1]
	if len(s.Others) != 1 || s.Session != model.Manual || s.Others[0].By != "claude/one" ||
		!slices.Equal(s.Others[0].Paths, []string{"g"}) {
		t.Errorf("%s: %+v", s.Session, s.Others)
	}
}
