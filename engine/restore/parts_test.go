package restore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/tree"
)

// shown is a path of a checkpoint as a choice is based on it.
func shown(t *testing.T, p *enginetest.Project, cp *model.Checkpoint, path string) *tree.Entry {
	t.Helper()
	ent, err := tree.Lookup(p.E.Log.Objs, cp.Tree, path)
	if err != nil {
		t.Fatal(err)
	}
	return &ent
}

// What parts make is a state that only their restore names: it stays as long as that, gc and a repair's look find
// nothing wrong, and what is restored later does not need the checkpoint that the parts are of.
func TestPartsOutliveTheirCheckpoint(t *testing.T) {
	p := enginetest.NewProject(t)
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	old := "one\n2\n3\n4\nfive\n"
	a.Run("0", func() { p.Write("f", enginetest.Big("0")) })
	first := p.Get(a.Run("1", func() { p.Write("f", old); p.Write("gone", enginetest.Big("gone")) }))
	for i := range 5 {
		a.Run(fmt.Sprint("call", i), func() {
			p.Write("g", enginetest.Big(fmt.Sprint(i)))
			p.Write("f", "1\n2\n3\n4\n5\n")
			_ = os.Remove(p.Path("gone"))
		})
	}
	a.Stop()
	p.Write("unsaved", "only the safety checkpoint has it")
	before := enginetest.List(t, p.Root)
	last, err := p.E.History.Resolve("@")
	p.Must(err)
	hunks := textdiff.Diff([]byte(p.Read("f")), []byte(old), 1).Hunks
	parts := []restore.Part{
		{Path: "f", Was: shown(t, p, last, "f"), Hunks: hunks[1:]},
		{Path: "gone", Whole: true},
	}
	r, err := p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), parts, restore.Options{})
	p.Must(err)
	if got := p.Read("f"); got != "1\n2\n3\n4\nfive\n" || p.Read("gone") != enginetest.Big("gone") {
		t.Fatalf("f is %q", got)
	}
	if r.Plan.Target.ID != first.ID || len(r.Plan.Kept) > 0 || r.Changed != 2 {
		t.Errorf("%+v", r.Plan)
	}
	if now, err := p.E.History.Resolve("@"); err != nil || now.ID != last.ID {
		t.Errorf("the project is at %v, %v", now, err)
	}
	after := enginetest.List(t, p.Root)
	p.Set("gc.grace", "0s")
	p.Gc(gc.Options{Keep: 1})
	if p.Has(first) {
		t.Fatal("the checkpoint that the parts are of is still there: this tests nothing")
	}
	p.Sound()
	p.Reopen()
	r, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	p.WantTree(before)
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, r.Operation.Seq, restore.Options{})
	p.Must(err)
	p.WantTree(after)
	p.Checkout("@", restore.Options{})
	p.Sound()
}

// A part is refused where it is based on something else, whatever that is, and so are parts that are none. Nothing is
// changed then.
func TestPartsAreRefused(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "ignored\n")
	p.Write("f", "1\n")
	p.Write("dir", "a file")
	p.Write("ignored", "x")
	p.Write("below/x", "x")
	first := p.Save("first")
	p.Write("f", "2\n")
	p.Remove("dir", "below/x", "below")
	p.Write("dir/x", "x")
	p.Write("below", "a file")
	last := p.Save("last")
	is := shown(t, p, last, "f")
	other := *is
	other.ID = objstore.ID{1}
	mode := *is
	mode.Perm ^= 0o100
	link := *is
	link.Type = tree.TypeSymlink
	hunks := textdiff.Diff([]byte("2\n"), []byte("1\n"), 3).Hunks
	foreign := textdiff.Diff([]byte("3\n"), []byte("1\n"), 3).Hunks
	before := enginetest.List(t, p.Root)
	for name, c := range map[string]struct {
		part restore.Part
		is   error
		says string
	}{
		"content":         {restore.Part{Path: "f", Was: &other, Hunks: hunks}, restore.ErrMeanwhile, `"f"`},
		"permissions":     {restore.Part{Path: "f", Was: &mode, Whole: true}, restore.ErrMeanwhile, `"f"`},
		"type":            {restore.Part{Path: "f", Was: &link, Whole: true}, restore.ErrMeanwhile, `"f"`},
		"come":            {restore.Part{Path: "f", Whole: true}, restore.ErrMeanwhile, `"f"`},
		"gone":            {restore.Part{Path: "nosuch", Was: is, Whole: true}, restore.ErrMeanwhile, `"nosuch"`},
		"foreign hunk":    {restore.Part{Path: "f", Was: is, Hunks: foreign}, model.ErrUsage, "another one"},
		"nothing there":   {restore.Part{Path: "nosuch", Hunks: hunks}, model.ErrUsage, "no parts"},
		"a directory":     {restore.Part{Path: "dir", Whole: true}, model.ErrUsage, "a directory now"},
		"below a file":    {restore.Part{Path: "below/x", Whole: true}, model.ErrUsage, `"below" is no directory`},
		"the root":        {restore.Part{Path: "", Whole: true}, model.ErrUsage, ""},
		"outside":         {restore.Part{Path: "../f", Whole: true}, model.ErrUsage, ""},
		"another writing": {restore.Part{Path: "./f", Was: is, Whole: true}, model.ErrUsage, ""},
	} {
		_, err := p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), []restore.Part{c.part}, restore.Options{})
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.WantTree(before)
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("something was done: %v", err)
	}
	// With what is in the way chosen, too, it goes.
	_, err := p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), []restore.Part{
		{Path: "below", Was: shown(t, p, last, "below"), Whole: true}, {Path: "below/x", Whole: true},
	}, restore.Options{})
	p.Must(err)
	if p.Read("below/x") != "x" {
		t.Error("it is not there")
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	p.WantTree(before)
}

// A file that is not captured now, and was then, is not replaced unseen.
func TestPartsSpareWhatIsNotCaptured(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "then")
	first := p.Save("first")
	p.Write(".gitignore", "f\n")
	p.Write("f", "mine")
	p.Save("last")
	part := []restore.Part{{Path: "f", Whole: true}}
	_, err := p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), part, restore.Options{})
	if !errors.Is(err, model.ErrUsage) || !strings.Contains(err.Error(), "not captured") || p.Read("f") != "mine" {
		t.Fatalf("%v; f is %q", err, p.Read("f"))
	}
	p.Must(os.Remove(p.Path("f")))
	_, err = p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), part, restore.Options{})
	if err != nil || p.Read("f") != "then" {
		t.Fatalf("%v; f is %q", err, p.Read("f"))
	}
}

// A part takes what was chosen of its file: the permissions, the lines, or both; and what is below a directory that is
// gone comes with the directories.
func TestPartsTakeWhatWasChosen(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "1\n2\n3\n")
	p.Write("a/b/x", "x")
	p.Write("a/b/y", "y")
	p.Must(os.Chmod(p.Path("f"), 0o755))
	p.Must(os.Chmod(p.Path("a"), 0o700))
	first := p.Save("first")
	p.Write("f", "one\n2\n3\n")
	p.Must(os.Chmod(p.Path("f"), 0o644))
	p.Remove("a")
	p.Write("new", "n")
	last := p.Save("last")
	is := shown(t, p, last, "f")
	hunks := textdiff.Diff([]byte("one\n2\n3\n"), []byte("1\n2\n3\n"), 3).Hunks
	before := enginetest.List(t, p.Root)
	for name, c := range map[string]struct {
		part restore.Part
		perm os.FileMode
		text string
	}{
		"permissions": {restore.Part{Path: "f", Was: is, Mode: true}, 0o755, "one\n2\n3\n"},
		"lines":       {restore.Part{Path: "f", Was: is, Hunks: hunks}, 0o644, "1\n2\n3\n"},
		"both":        {restore.Part{Path: "f", Was: is, Hunks: hunks, Mode: true}, 0o755, "1\n2\n3\n"},
		"whole":       {restore.Part{Path: "f", Was: is, Whole: true}, 0o755, "1\n2\n3\n"},
	} {
		parts := []restore.Part{
			{Path: "a/b/x", Whole: true}, c.part, {Path: "new", Was: shown(t, p, last, "new"), Whole: true},
		}
		dry := restore.Options{DryRun: true}
		_, err := p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), parts, dry)
		if !errors.Is(err, model.ErrUsage) {
			t.Errorf("%s: a dry run: %v", name, err)
		}
		p.WantTree(before)
		_, err = p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), parts, restore.Options{})
		p.Must(err)
		if got := stat(t, p.Path("f")).Mode().Perm(); got != c.perm || p.Read("f") != c.text {
			t.Errorf("%s: f is %v %q", name, got, p.Read("f"))
		}
		if stat(t, p.Path("a")).Mode().Perm() != 0o700 || p.Read("a/b/x") != "x" {
			t.Errorf("%s: what is below the directory", name)
		}
		if _, err := os.Stat(p.Path("a/b/y")); err == nil {
			t.Errorf("%s: what was not chosen is there", name)
		}
		if _, err := os.Stat(p.Path("new")); err == nil {
			t.Errorf("%s: what the checkpoint does not have is there", name)
		}
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		p.Remove("a")
		p.WantTree(before)
	}
}

// Parts of what has none are refused, and so are those of a place without code; directories may be chosen with what is
// below them.
func TestPartsOfWhatHasNone(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "1\n")
	p.Write("was", "a file")
	p.Must(os.Symlink("f", p.Path("is")))
	p.Write("d/e/x", "x")
	p.Write("d/e/y", "y")
	first := p.Save("first")
	p.Remove("was", "is", "d")
	p.Must(os.Symlink("f", p.Path("was")))
	p.Write("is", "a file")
	p.Write("f", strings.Repeat("0123456789\n", textdiff.MaxBytes/11+1))
	last := p.Save("last")
	k := p.Talker(1)
	k.Line("user", `{"role":"user","content":"one"}`) // it was said before anything was captured of it
	k.Say("done: one")
	k.Take("two", nil)
	p.Settle()
	before := enginetest.List(t, p.Root)
	hunks := textdiff.Diff([]byte("2\n"), []byte("1\n"), 3).Hunks
	is := func(path string) *tree.Entry { return shown(t, p, last, path) }
	for name, c := range map[string]struct {
		of   string
		part restore.Part
		says string
	}{
		"a link now":  {first.ID.String(), restore.Part{Path: "was", Was: is("was"), Mode: true}, "no parts"},
		"a link then": {first.ID.String(), restore.Part{Path: "is", Was: is("is"), Mode: true}, "no parts"},
		"too large":   {first.ID.String(), restore.Part{Path: "f", Was: is("f"), Hunks: hunks}, "too large"},
		"no code":     {"turn:1@" + k.Name(), restore.Part{Path: "f", Was: is("f"), Whole: true}, ""},
	} {
		parts := []restore.Part{c.part}
		r, err := p.E.Restorer.CheckoutParts(enginetest.Bg, c.of, parts, restore.Options{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if none := (*model.NoCodeError)(nil); errors.As(err, &none) != (name == "no code") {
			t.Errorf("%s: %v", name, err)
		}
		p.WantTree(before)
	}
	for _, parts := range [][]restore.Part{
		{{Path: "d", Whole: true}, {Path: "d/e/x", Whole: true}},
		{{Path: "d/e", Whole: true}, {Path: "d/e/x", Whole: true}, {Path: "f", Was: is("f"), Whole: true}},
	} {
		r, err := p.E.Restorer.CheckoutParts(enginetest.Bg, first.ID.String(), parts, restore.Options{})
		p.Must(err)
		if names(p, "d/e/x", "d/e/y") != "d/e/x=x" || r.Plan.Target.ID != first.ID {
			t.Errorf("%q", names(p, "d/e/x", "d/e/y"))
		}
		if (p.Read("f") == "1\n") != (len(parts) == 3) {
			t.Errorf("f is %.8q", p.Read("f"))
		}
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		p.Remove("d")
		p.WantTree(before)
	}
}
