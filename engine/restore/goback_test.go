package restore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/refs"
)

// Who takes a turn back with files that cannot be merged gives up what only a person mended there, not what another
// session did, and neither with KeepMine; what stays says why.
func TestTakeBackWhatCannotBeMerged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other bool // another session has mended the file, not a person
		o     restore.Options
		want  string // what f is, and what is told of it
	}{
		"a person's":             {false, restore.Options{TakeBack: true}, "first, yours"},
		"a person's, to be kept": {false, restore.Options{TakeBack: true, KeepMine: true}, "mended, kept"},
		"a person's, by going":   {false, restore.Options{KeepMine: true}, "mended, kept"},
		"another session's":      {true, restore.Options{TakeBack: true}, "mended, kept"},
		"another's, exact":       {true, restore.Options{Scope: refs.Scope{Exact: true}}, "first, taken"},
		"another's, with a side": {
			true, restore.Options{TakeBack: true, Merge: true, Prefer: textdiff.Theirs}, "first, settled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write("f", "first\n")
			p.Write("alone", "1")
			p.Save("before")
			a, b := p.Agent("a"), p.Agent("b")
			for _, x := range []*enginetest.Agent{a, b} {
				x.Start()
				x.Prompt("go")
			}
			one := p.Get(a.Run("1", func() { p.Write("alone", "2") }))
			a.Run("2", func() { p.Write("f", "broken\n"); p.Write("alone", "3") })
			if c.other {
				b.Run("3", func() { p.Write("f", "mended\n") })
			} else {
				p.Write("f", "mended\n")
				p.Save("by hand")
			}
			c.o.Session = model.SessionChoice{Session: a.Name()}
			r := p.Checkout(one.ID.String(), c.o)
			if got := strings.TrimSpace(p.Read("f")) + toldOf(r.Plan, "f"); got != c.want || p.Read("alone") != "2" {
				t.Errorf("%s, want %s; alone is %q", got, c.want, p.Read("alone"))
			}
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
			p.Must(err)
			if p.Read("f") != "mended\n" || p.Read("alone") != "3" {
				t.Errorf("taken back: f %q, alone %q", p.Read("f"), p.Read("alone"))
			}
		})
	}
}

// toldOf is what a plan tells of a path beside its step.
func toldOf(p *restore.Plan, path string) (told string) {
	for _, k := range p.Kept {
		if string(k.Path) == path && k.Conflict != "" {
			told += ", kept"
		}
	}
	for _, m := range p.Merges {
		if string(m.Path) == path {
			told += ", " + string(m.Verdict)
		}
	}
	if slices.Contains(p.Yours, path) {
		told += ", yours"
	}
	for _, by := range p.Taken {
		if slices.Contains(by.Paths, value.Text(path)) {
			told += ", taken"
		}
	}
	return told
}

// What a merge leaves of another session's lies in directories that the target lacks: they stay with it. Where the
// target has a file in their place, it is blocked, and that is said.
func TestMergeInDirectoriesThatTheTargetLacks(t *testing.T) {
	t.Parallel()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	for _, file := range []bool{false, true} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		if file {
			p.Write("d", "a file")
		}
		p.Save("before")
		a, b := p.Agent("a"), p.Agent("b")
		for _, x := range []*enginetest.Agent{a, b} {
			x.Start()
			x.Prompt("go")
		}
		one := p.Get(a.Run("1", func() { p.Write("f", "2") }))
		b.Run("2", func() { p.Remove("d"); p.Write("d/e/x", text("1", "b's")) })
		a.Run("3", func() { p.Write("d/e/x", text("a's", "b's")); p.Write("f", "3") })
		b.Run("4", func() { p.Write("d/e/x", text("a's", "b's again")) })
		before := enginetest.List(t, p.Root)
		r := p.Checkout(one.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: a.Name()}})
		want, verdict := text("1", "b's again"), value.MergeMerged
		if file {
			want, verdict = text("a's", "b's again"), value.MergeConflict
		}
		if len(r.Plan.Merges) != 1 {
			t.Fatalf("%+v", r.Plan.Merges)
		}
		m := r.Plan.Merges[0]
		if p.Read("f") != "2" || p.Read("d/e/x") != want {
			t.Errorf("a file there %v: f %q, d/e/x %q", file, p.Read("f"), p.Read("d/e/x"))
		}
		if m.Verdict != verdict || file != (m.Reason == value.ReasonBlocked) {
			t.Errorf("a file there %v: %+v, kept %v", file, m, p.KeptNames(r))
		}
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		p.WantTree(before)
	}
}

// Who stands on a fork and takes back to a turn that both have takes back what the fork did, and no other's; to a turn
// that the fork does not have it goes.
func TestTakeBackFromAFork(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	made, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", restore.Options{
		Session: model.SessionChoice{Session: k.Name()}, Checkout: true, Env: p.Env(),
	})
	p.Must(err)
	f, b := p.Opened(made.Fork), p.Talker(2)
	f.Take("mine", p.Edits("h", "fork"))
	b.Take("else", p.Edits("b", "b's"))
	f.Take("again", p.Edits("h", "fork again"))
	p.Settle()
	before := enginetest.List(t, p.Root)
	for name, want := range map[string]string{"turn:1@" + k.Name(): "1", "turn:2@" + k.Name(): "2"} {
		r := p.Checkout(name, restore.Options{TakeBack: true, CodeOnly: true})
		if p.Read("f") != enginetest.Big(want) || p.Read("b") != enginetest.Big("b's") ||
			!r.Operation.Restore.TakesBack {
			t.Errorf("%s: f %.3q, b %.4q", name, p.Read("f"), p.Read("b"))
		}
		if _, err := os.Stat(p.Path("h")); err == nil {
			t.Errorf("%s: what the fork did is there, kept %v", name, p.KeptNames(r))
		}
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
		p.WantTree(before)
	}
}

// A restore of some paths makes nothing below a file that it leaves, and an ignored directory in the way of a file
// stays; both are named.
func TestPathsThatAreBlocked(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("d/e/x", "1")
	p.Write("f", "1")
	p.Write("g", "a file")
	one := p.Save("one")
	p.Remove("d", "g")
	p.Write("d", "a file")
	p.Write("f", "2")
	p.Write(".gitignore", "g/\n")
	p.Write("g/y", "ignored")
	p.Save("two")
	r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"d/e/x", "f", "g"}}})
	enginetest.Equal(t, "kept", p.KeptNames(r), []string{"below d/e", "below d/e/x", "occupied g"})
	if p.Read("d") != "a file" || p.Read("f") != "1" || p.Read("g/y") != "ignored" {
		t.Errorf("d %q, f %q, g/y %q", p.Read("d"), p.Read("f"), p.Read("g/y"))
	}
	r = p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"d", "d/e/x"}}})
	if len(r.Plan.Kept) > 0 || p.Read("d/e/x") != "1" {
		t.Errorf("with what is in the way: %v", p.KeptNames(r))
	}
}

// Bits that a restore gives to no file make no step of one that has all else, and are told.
func TestBitsThatAreNotGiven(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("s", "1")
	p.Must(os.Chmod(p.Path("s"), 0o755|os.ModeSetuid))
	p.Write("f", "1")
	one := p.Save("one")
	p.Must(os.Chmod(p.Path("s"), 0o755))
	p.Write("f", "2")
	p.Save("two")
	for _, dry := range []bool{true, false} {
		r := p.Checkout(one.ID.String(), restore.Options{DryRun: dry})
		if len(r.Plan.Steps) != 1 || r.Plan.Steps[0].Path != "f" || fmt.Sprint(r.Without) != "[{s [setuid]}]" {
			t.Errorf("dry run %v: %+v, without %+v", dry, r.Plan.Steps, r.Without)
		}
	}
	if info := stat(t, p.Path("s")); info.Mode()&os.ModeSetuid != 0 {
		t.Errorf("mode %v", info.Mode())
	}
}

// A file that is over the size limit only now, and as long as it was captured, is no unsaved change; one of another
// size is.
func TestUndoBesideAFileOverTheLimit(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{false, true} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		p.Write("big", "more than ten bytes")
		p.Save("one")
		p.Write("f", "2")
		p.Save("two")
		p.Set("limits.file_size", "10")
		if changed {
			p.Write("big", "more than ten bytes, and others")
		}
		r, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{})
		p.Must(err)
		want := map[bool]string{false: "1", true: "2"}[changed]
		if (r.Saved != nil) != changed || p.Read("f") != want {
			t.Errorf("changed %v: saved %v, f %q, kept %v", changed, r.Saved, p.Read("f"), p.KeptNames(r))
		}
	}
}

// A checkout by a turn moves that session's cursor, also where the checkpoint at its end is another one's, and one by a
// fork's name moves the fork's.
func TestWhoseCursorMoves(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	b := p.Talker(2)
	b.Take("only talk", nil)
	k.Take("three", p.Edits("f", "3"))
	f := p.Fork("turn:1@"+k.Name(), restore.Options{})
	p.Settle()
	for name, want := range map[string]string{
		"turn:1@" + b.Name():               b.Name(),
		"turn:1@" + k.Name():               k.Name(),
		"fork:" + filepath.Base(f.Session): f.Session,
		"before:3@" + k.Name():             k.Name(),
	} {
		r, err := p.E.Restorer.PrepareCheckout(enginetest.Bg, name, restore.Options{})
		if err != nil || r.Session != want {
			t.Errorf("%s moves %v, %v; want %s", name, r, err, want)
		}
	}
}

// What a checkout took of a person's over many steps, and the person wrote anew, is none of the work that is taken
// back.
func TestTakeBackWhatAPersonWroteAnew(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	before := p.Save("before")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	one := p.Get(a.Run("1", func() { p.Write("f", "1") }))
	p.Write("mine", "first")
	p.Save("by hand")
	for i := range 100 {
		a.Run(fmt.Sprint("more ", i), func() { p.Write("g", fmt.Sprint(i)) })
	}
	o := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	p.Checkout(one.ID.String(), o)
	if _, err := os.Stat(p.Path("mine")); !os.IsNotExist(err) {
		t.Fatalf("the checkout leaves what came behind: %v", err)
	}
	p.Write("mine", "anew")
	o.TakeBack = true
	p.Checkout(before.ID.String(), o)
	if f, mine := p.Read("f"), p.Read("mine"); f != "0" || mine != "anew" {
		t.Errorf("f is %q, mine is %q", f, mine)
	}
}

// TestTakeBackReadsEachStepOnce: what taking back costs grows with the history, not with its square, where restores
// have gone back over the same steps again and again.
func TestTakeBackReadsEachStepOnce(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	before := p.Save("before")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	reads := map[int]uint64{}
	const few, many = 20, 60
	for i := 1; i <= many; i++ {
		a.Run(fmt.Sprint("step ", i), func() { p.Write(fmt.Sprint("g", i), "1") })
		p.Write("mine", fmt.Sprint(i))
		p.Save("by hand")
		o := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
		p.Checkout(before.ID.String(), o)
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		if i == few || i == many {
			o.TakeBack, o.DryRun = true, true
			start := p.E.Log.DB.Reads()
			p.Checkout(before.ID.String(), o)
			reads[i] = p.E.Log.DB.Reads() - start
		}
	}
	t.Logf("%d rounds %d keys, %d rounds %d", few, reads[few], many, reads[many])
	if most := reads[few] * 2 * many / few; reads[many] > most {
		t.Errorf("behind %d rounds %d keys are read, want at most %d", many, reads[many], most)
	}
}
