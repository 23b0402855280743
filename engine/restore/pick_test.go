package restore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/internal/torture"
	"rewind/internal/value"
)

// TestRevertOfASessionLeavesTheOthers: two to four sessions, in any order, each at lines of its own in the same files,
// and with files of its own. Taking out one's work leaves the bytes of the others exactly, takes all of its own, and is
// undone at once.
func TestRevertOfASessionLeavesTheOthers(t *testing.T) {
	enginetest.SetChecks(t, torture.Points(60, 5000), 0)
	dir, run := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		base := fmt.Sprintf("%s/%d", dir, run)
		if err := os.MkdirAll(base+"/project", 0o755); err != nil {
			t.Fatal(err)
		}
		p := enginetest.OpenProject(t, base+"/project", base+"/home")
		defer func() { p.Close(); _ = os.RemoveAll(base) }()
		const files, owned = 2, 3 // each session has owned lines of each file, with a line of nobody's between
		agents := make([]*enginetest.Agent, rapid.IntRange(2, 4).Draw(t, "sessions"))
		lines := make([][]string, files)
		for f := range lines {
			for s := range agents {
				for i := range owned {
					lines[f] = append(lines[f], fmt.Sprintf("line %d of %d", i, s),
						fmt.Sprintf("between %d %d", s, i), "")
				}
			}
		}
		write := func() {
			for f := range lines {
				p.Write(fmt.Sprint("f", f), strings.Join(lines[f], "\n"))
			}
		}
		write()
		p.Save("start")
		first := [][]string{append([]string(nil), lines[0]...), append([]string(nil), lines[1]...)}
		for s := range agents {
			agents[s] = p.Agent(fmt.Sprint("s", s))
			agents[s].Start()
			agents[s].Prompt("go")
		}
		own := map[string]int{}
		for n := range rapid.IntRange(1, 14).Draw(t, "edits") {
			s := rapid.IntRange(0, len(agents)-1).Draw(t, "session")
			f := rapid.IntRange(0, files-1).Draw(t, "file")
			i := rapid.IntRange(0, owned-1).Draw(t, "line")
			agents[s].Run(fmt.Sprint("call", n), func() {
				if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
					path := fmt.Sprintf("of%d/%d", s, i)
					p.Write(path, fmt.Sprint("content ", n))
					own[path] = s
					return
				}
				lines[f][(s*owned+i)*3] = fmt.Sprintf("edit %d by %d", n, s)
				write()
			})
		}
		before := enginetest.List(t, p.Root)
		who := rapid.IntRange(0, len(agents)-1).Draw(t, "who")
		res, err := p.E.Restorer.Revert(enginetest.Bg, restore.PickOptions{Of: agents[who].Name()})
		if errors.Is(err, model.ErrNotFound) {
			return // it wrote nothing
		}
		p.Must(err)
		for _, m := range res.Plan.Merges {
			if m.Verdict == value.MergeConflict {
				t.Fatalf("%s: conflict %s", m.Path, m.Reason)
			}
		}
		undo := enginetest.List(t, p.Root)
		for f := range lines {
			for i := range owned {
				at := (who*owned + i) * 3
				lines[f][at] = first[f][at]
			}
			if got, want := p.Read(fmt.Sprint("f", f)), strings.Join(lines[f], "\n"); got != want {
				t.Fatalf("f%d: %q, want %q", f, got, want)
			}
		}
		for path, s := range own {
			_, there := undo[path]
			if there == (s == who) {
				t.Fatalf("%s of %d: there %v after %d was taken out", path, s, there, who)
			}
		}
		if res.Operation != nil {
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{CodeOnly: true})
			p.Must(err)
		}
		if diff := enginetest.List(t, p.Root).Diff(before); diff != "" {
			t.Fatalf("undone: %s", diff)
		}
	})
}

// TestPickDecides: what becomes of a path, by what the change did and what is there.
func TestPickDecides(t *testing.T) {
	big := strings.Repeat("x", textdiff.MaxBytes+1)
	write := func(path, text string) func(*enginetest.Project) {
		return func(p *enginetest.Project) { p.Write(path, text) }
	}
	remove := func(path string) func(*enginetest.Project) {
		return func(p *enginetest.Project) { p.Must(os.RemoveAll(p.Path(path))) }
	}
	link := func(path, to string) func(*enginetest.Project) {
		return func(p *enginetest.Project) { _ = os.Remove(p.Path(path)); p.Must(os.Symlink(to, p.Path(path))) }
	}
	chmod := func(path string, mode os.FileMode) func(*enginetest.Project) {
		return func(p *enginetest.Project) { p.Must(os.Chmod(p.Path(path), mode)) }
	}
	rename := func(from, to string) func(*enginetest.Project) {
		return func(p *enginetest.Project) { p.Must(os.Rename(p.Path(from), p.Path(to))) }
	}
	both := func(list ...func(*enginetest.Project)) func(*enginetest.Project) {
		return func(p *enginetest.Project) {
			for _, do := range list {
				do(p)
			}
		}
	}
	for _, c := range []struct {
		name                string
		base, theirs, since func(*enginetest.Project)
		path                string
		verdict             value.MergeVerdict
		reason              value.MergeReason
		text                string // what is there afterwards; "-": nothing
	}{
		{"applied", write("f", "1\n"), write("f", "2\n"), write("g", ""), "f", value.MergeApplied, "", "2\n"},
		{"already", write("f", "1\n"), write("f", "2\n"), write("f", "2\n"), "f", value.MergeAlready, "", "2\n"},
		{
			"merged", write("f", "1\n2\n3\n"), write("f", "1\n2\nC\n"), write("f", "A\n2\n3\n"), "f", value.MergeMerged,
			"", "A\n2\nC\n",
		},
		{
			"text", write("f", "1\n"), write("f", "2\n"), write("f", "3\n"), "f", value.MergeConflict, value.ReasonText,
			"<<<<<<< worktree\n3\n=======\n2\n>>>>>>> change\n",
		},
		{
			"binary", write("f", "\x001"), write("f", "\x002"), write("f", "\x003"), "f", value.MergeConflict,
			value.ReasonBinary, "\x003",
		},
		{
			"too large", write("f", "1"), write("f", big), write("f", "3"), "f", value.MergeConflict,
			value.ReasonTooLarge, "3",
		},
		{
			"added", write("g", ""), write("f", "2\n"), write("f", "3\n"), "f", value.MergeConflict, value.ReasonAdded,
			"<<<<<<< worktree\n3\n=======\n2\n>>>>>>> change\n",
		},
		{
			"deleted", write("f", "1\n"), write("f", "2\n"), remove("f"), "f", value.MergeConflict,
			value.ReasonDeleted, "-",
		},
		{
			"modified", write("f", "1\n"), remove("f"), write("f", "3\n"), "f", value.MergeConflict,
			value.ReasonModified, "3\n",
		},
		{"removed", write("f", "1\n"), remove("f"), write("g", ""), "f", value.MergeApplied, "", "-"},
		{"moved", write("f", "one\n"), write("f", "two\n"), rename("f", "h"), "h", value.MergeApplied, "", "two\n"},
		{"link", link("f", "a"), link("f", "b"), link("f", "c"), "f", value.MergeConflict, value.ReasonLink, "->c"},
		{
			"type", write("f", "1\n"), write("f", "2\n"), link("f", "c"), "f", value.MergeConflict,
			value.ReasonType, "->c",
		},
		{
			"directory", write("f", "1\n"), write("f", "2\n"), both(remove("f"), write("f/x", "")), "f",
			value.MergeConflict, value.ReasonType, "",
		},
		{
			"blocked", write("g", ""), write("d/f", "1\n"), write("d", "file"), "d/f", value.MergeConflict,
			value.ReasonBlocked, "-",
		},
		{
			"ignored", write("g", ""), write("f", "1\n"), both(write("f", "mine"), write(".gitignore", "f\n")), "f",
			value.MergeConflict, value.ReasonUncaptured, "mine",
		},
		{
			"mode", write("f", "1\n"), both(write("f", "2\n"), chmod("f", 0o600)), chmod("f", 0o755), "f",
			value.MergeConflict, value.ReasonMode, "2\n",
		},
		{"mode of one", write("f", "1\n"), chmod("f", 0o700), write("f", "3\n"), "f", value.MergeApplied, "", "3\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			c.base(p)
			p.Save("base")
			base := enginetest.List(t, p.Root)
			c.theirs(p)
			p.Save("theirs")
			change, err := p.E.History.Resolve("@")
			p.Must(err)
			for path := range enginetest.List(t, p.Root) { // back to the base by hand
				if _, there := base[path]; !there && path != ".agent" && !strings.HasPrefix(path, ".agent/") {
					_ = os.RemoveAll(p.Path(path))
				}
			}
			c.base(p)
			if c.name == "mode" || c.name == "mode of one" {
				p.Must(os.Chmod(p.Path("f"), 0o644))
			}
			c.since(p)
			before := enginetest.List(t, p.Root)
			o := restore.PickOptions{Change: change.ID.String()}
			o.DryRun = true
			dry, err := p.E.Restorer.Pick(enginetest.Bg, o)
			p.Must(err)
			if diff := enginetest.List(t, p.Root).Diff(before); diff != "" {
				t.Fatalf("a dry run: %s", diff)
			}
			o.DryRun = false
			res, err := p.E.Restorer.Pick(enginetest.Bg, o)
			p.Must(err)
			if fmt.Sprint(dry.Plan.Merges) != fmt.Sprint(res.Plan.Merges) {
				t.Errorf("a dry run said %v, then %v", dry.Plan.Merges, res.Plan.Merges)
			}
			found := false
			for _, m := range res.Plan.Merges {
				if string(m.Path) == c.path {
					found = true
					if m.Verdict != c.verdict || m.Reason != c.reason {
						t.Errorf("%s %q, want %s %q", m.Verdict, m.Reason, c.verdict, c.reason)
					}
				}
			}
			if !found {
				t.Errorf("nothing said of %s: %v", c.path, res.Plan.Merges)
			}
			got := "-"
			if to, err := os.Readlink(p.Path(c.path)); err == nil {
				got = "->" + to
			} else if b, err := os.ReadFile(p.Path(c.path)); err == nil {
				got = string(b)
			}
			if c.text != "" && got != c.text {
				t.Errorf("%s: %q, want %q", c.path, got, c.text)
			}
			if res.Operation == nil {
				return
			}
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{CodeOnly: true})
			p.Must(err)
			if diff := enginetest.List(t, p.Root).Diff(before); diff != "" {
				t.Errorf("undone: %s", diff)
			}
		})
	}
}

// TestPickOutlivesItsCheckpoint: what a merge made is the operation's alone, and gc and a repair's look find nothing
// wrong.
func TestPickOutlivesItsCheckpoint(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1\n2\n3\n")
	p.Save("base")
	p.Write("f", "1\n2\nC\n")
	p.Save("change")
	p.Write("f", "A\n2\nC\n")
	before := enginetest.List(t, p.Root)
	if _, err := p.E.Restorer.Revert(enginetest.Bg, restore.PickOptions{Change: "@"}); err != nil {
		t.Fatal(err)
	}
	if got := p.Read("f"); got != "A\n2\n3\n" {
		t.Fatalf("f is %q", got)
	}
	p.Set("gc.grace", "0s")
	p.Gc(gc.Options{Keep: 1})
	p.Sound()
	p.Reopen()
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{CodeOnly: true})
	p.Must(err)
	if diff := enginetest.List(t, p.Root).Diff(before); diff != "" {
		t.Errorf("undone: %s", diff)
	}
}
