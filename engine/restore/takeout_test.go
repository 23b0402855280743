package restore_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/torture"
	"rewind/internal/value"
)

const sharedFiles, ownedLines = 2, 3

// besides are sessions at work in one tree, and a person: each at lines of its own in the same files, and each session
// with files of its own.
type besides struct {
	*enginetest.Project
	agents []*enginetest.Agent
	now    shared
	n      int
	merged int
	last   []map[int]uint64 // of each file, by session: the step of its last change
	marks  []mark
}

// shared are the contents: of each file the lines by owner, the person's last, and the files that sessions have alone.
type shared struct {
	lines [sharedFiles][][ownedLines]string
	own   map[string]string
}

// mark is a step of a session, and what was there then.
type mark struct {
	by    int
	cp    *model.Checkpoint
	state shared
}

func (s shared) clone() shared {
	c := shared{own: map[string]string{}}
	for f := range s.lines {
		c.lines[f] = append([][ownedLines]string(nil), s.lines[f]...)
	}
	for path, text := range s.own {
		c.own[path] = text
	}
	return c
}

func (s shared) text(f int) string {
	var b strings.Builder
	for o, lines := range s.lines[f] {
		for i, line := range lines {
			fmt.Fprintf(&b, "%s\nbetween %d %d\n\n", line, o, i)
		}
	}
	return b.String()
}

func (m *besides) write() {
	for f := range sharedFiles {
		m.Write(fmt.Sprint("f", f), m.now.text(f))
	}
}

// edit has a session change one of its lines, or a file of its own.
func (m *besides) edit(t *rapid.T) {
	s := rapid.IntRange(0, len(m.agents)-1).Draw(t, "session")
	f := rapid.IntRange(0, sharedFiles-1).Draw(t, "file")
	i := rapid.IntRange(0, ownedLines-1).Draw(t, "line")
	m.change(s, f, i, rapid.IntRange(0, 4).Draw(t, "what") == 0)
}

// change has session s change line i of its lines in file f, or a file that it has alone.
func (m *besides) change(s, f, i int, alone bool) {
	m.n++
	h := m.agents[s].Run(fmt.Sprint("call", m.n), func() {
		if alone {
			path := fmt.Sprintf("of%d/%d", s, i)
			m.now.own[path] = fmt.Sprint("content ", m.n)
			m.Write(path, m.now.own[path])
			return
		}
		m.now.lines[f][s][i] = fmt.Sprintf("edit %d by %d", m.n, s)
		m.write()
	})
	cp := m.Get(h)
	if !alone {
		m.last[f][s] = cp.Seq
	}
	m.marks = append(m.marks, mark{s, cp, m.now.clone()})
}

// user has a person change a line, which is unsaved until the next capture.
func (m *besides) user(t *rapid.T) {
	m.n++
	f := rapid.IntRange(0, sharedFiles-1).Draw(t, "file")
	m.now.lines[f][len(m.agents)][rapid.IntRange(0, ownedLines-1).Draw(t, "line")] = fmt.Sprint("by hand ", m.n)
	m.write()
}

// back takes a session to one of its steps, and holds what is there then: its own lines as they were, all others as
// they are. A file that nobody else has changed since goes back whole.
func (m *besides) back(t *rapid.T) {
	if len(m.marks) == 0 {
		return
	}
	m.backTo(t, m.marks[rapid.IntRange(0, len(m.marks)-1).Draw(t, "to")])
}

// backTo is back to one of them.
func (m *besides) backTo(t *rapid.T, to mark) {
	o := restore.Options{
		Merge: true, KeepMine: true, CodeOnly: true, DryRun: true,
		Session: model.SessionChoice{Session: m.agents[to.by].Name()},
	}
	before := enginetest.List(t, m.Root)
	dry := m.Checkout(to.cp.ID.String(), o)
	if diff := enginetest.List(t, m.Root).Diff(before); diff != "" {
		t.Fatalf("a dry run: %s", diff)
	}
	o.DryRun, o.Plan = false, dry.PlanHash
	res := m.Checkout(to.cp.ID.String(), o)
	if fmt.Sprint(dry.Plan.Merges) != fmt.Sprint(res.Plan.Merges) {
		t.Fatalf("a dry run said %v, then %v", dry.Plan.Merges, res.Plan.Merges)
	}
	for _, k := range res.Plan.Merges {
		if k.Verdict == value.MergeConflict {
			t.Fatalf("%s: conflict %s", k.Path, k.Reason)
		}
	}
	others := map[value.Text]bool{} // what restores of others count for is not modelled
	for _, k := range res.Plan.Merges {
		others[k.Path] = true
		m.merged++
	}
	for _, k := range res.Plan.Kept {
		others[k.Path] = true
	}
	was := m.now.clone()
	for f := range sharedFiles {
		if others[value.Text(fmt.Sprint("f", f))] {
			m.now.lines[f][to.by] = to.state.lines[f][to.by]
		} else {
			for s, seq := range m.last[f] {
				if s != to.by && seq > to.cp.Seq && m.now.lines[f][s] != to.state.lines[f][s] {
					t.Fatalf("f%d, back to %d of %d: what %d did in step %d is not kept", f, to.cp.Seq, to.by, s, seq)
				}
			}
			m.now.lines[f] = append([][ownedLines]string(nil), to.state.lines[f]...)
		}
		if got, want := m.Read(fmt.Sprint("f", f)), m.now.text(f); got != want {
			t.Fatalf("f%d, back to %d of %d: %q, want %q", f, to.cp.Seq, to.by, got, want)
		}
	}
	mine := fmt.Sprintf("of%d/", to.by)
	for path := range m.now.own {
		if strings.HasPrefix(path, mine) {
			delete(m.now.own, path)
		}
	}
	for path, text := range to.state.own {
		if strings.HasPrefix(path, mine) {
			m.now.own[path] = text
		}
	}
	for path := range was.own {
		text, there := m.now.own[path]
		if is, err := os.ReadFile(m.Path(path)); (err == nil) != there || there && string(is) != text {
			t.Fatalf("%s, back to %d of %d: %q %v, want %q %v", path, to.cp.Seq, to.by, is, err, text, there)
		}
	}
	if res.Operation == nil {
		return
	}
	if at, err := m.E.Sessions.Current(m.agents[to.by].Name()); err != nil || at.ID != to.cp.ID {
		t.Fatalf("the cursor is at %v, %v, want %s", at, err, to.cp.ID)
	}
	if rapid.Bool().Draw(t, "undo") {
		_, err := m.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{CodeOnly: true})
		m.Must(err)
		if diff := enginetest.List(t, m.Root).Diff(before); diff != "" {
			t.Fatalf("undone: %s", diff)
		}
		m.now = was
	}
}

// TestMergeLeavesTheOthers: two to four sessions and a person, in any order. A session that goes back with a merge
// takes what it did behind the target, and nothing else; a dry run says so before, and undo-restore gives every byte
// back.
func TestMergeLeavesTheOthers(t *testing.T) {
	enginetest.SetChecks(t, torture.Points(60, 5000), 0)
	dir, run, merged := t.TempDir(), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		base := fmt.Sprintf("%s/%d", dir, run)
		if err := os.MkdirAll(base+"/project", 0o755); err != nil {
			t.Fatal(err)
		}
		m := &besides{Project: enginetest.OpenProject(t, base+"/project", base+"/home"), now: shared{own: map[string]string{}}}
		defer func() { m.Close(); _ = os.RemoveAll(base) }()
		m.agents = make([]*enginetest.Agent, rapid.IntRange(2, 4).Draw(t, "sessions"))
		for f := range m.now.lines {
			m.last = append(m.last, map[int]uint64{})
			for o := range len(m.agents) + 1 {
				m.now.lines[f] = append(m.now.lines[f], [ownedLines]string{})
				for i := range ownedLines {
					m.now.lines[f][o][i] = fmt.Sprintf("line %d of %d", i, o)
				}
			}
		}
		m.write()
		m.Save("start")
		for s := range m.agents {
			m.agents[s] = m.Agent(fmt.Sprint("s", s))
			m.agents[s].Start()
			m.agents[s].Prompt("go")
		}
		for range rapid.IntRange(3, 12).Draw(t, "acts") {
			rapid.SampledFrom([]func(*rapid.T){m.edit, m.edit, m.edit, m.user, m.back}).Draw(t, "act")(t)
		}
		m.back(t)
		m.change(0, 0, 0, false) // and once that is certain to merge, whatever was drawn
		to := m.marks[len(m.marks)-1]
		m.change(0, 0, 1, false)
		m.change(1, 0, 0, false)
		m.backTo(t, to)
		merged += m.merged
	})
	if merged < run {
		t.Errorf("%d paths were merged in %d runs", merged, run)
	}
}

// A merge takes nothing out of a file that no checkpoint has: one that a person made where others removed theirs.
func TestMergeLeavesWhatIsNew(t *testing.T) {
	t.Parallel()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	for _, anew := range []bool{true, false} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		p.Write("g", text("1", "1"))
		p.Save("before")
		a, b := p.Agent("a"), p.Agent("b")
		for _, x := range []*enginetest.Agent{a, b} {
			x.Start()
			x.Prompt("go")
		}
		one := p.Get(a.Run("1", func() { p.Write("f", "2") }))
		a.Run("2", func() { p.Write("f", "3"); p.Write("g", text("a's", "1")) })
		b.Run("3", func() { p.Write("g", text("a's", "b's")) })
		want := text("1", "b's")
		if anew {
			b.Run("4", func() { p.Remove("g") })
			want = text("a's", "mine")
			p.Write("g", want)
		}
		r := p.Checkout(one.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
		if p.Read("g") != want || p.Read("f") != "2" {
			t.Errorf("made anew %v: g %q, f %q; %+v", anew, p.Read("g"), p.Read("f"), r.Plan.Merges)
		}
	}
}

// A dry run that asks for it has what each merged file becomes, and what is done then is exactly that: of as many files
// as were asked for, and none unasked.
func TestDryRunHasWhatMergedFilesBecome(t *testing.T) {
	t.Parallel()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	p := enginetest.NewProject(t)
	for _, f := range []string{"f", "g"} {
		p.Write(f, text("1", "1"))
	}
	p.Save("before")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	a.Run("1", func() { p.Write("f", text("a's", "1")); p.Write("g", text("a's", "1")) })
	p.Write("f", text("a's", "mine"))
	p.Write("g", text("a's", "mine"))
	o := restore.Options{
		TakeBack: true, KeepMine: true, CodeOnly: true, DryRun: true, Session: model.SessionChoice{Session: "a"},
	}
	back := func() *restore.Result {
		r, err := p.E.Restorer.Checkout(t.Context(), "before:1", o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for asked := range 4 {
		o.Becomes = asked
		if n := len(back().Becomes); n != min(asked, 2) {
			t.Errorf("%d files were asked for, %d came", asked, n)
		}
	}
	said := back().Becomes
	o.DryRun = false
	if back(); p.Read("f") != text("1", "mine") {
		t.Fatalf("f is %q", p.Read("f"))
	}
	for _, b := range said {
		var now, then string
		for _, l := range b.Text.Hunks[0].Lines {
			switch l.Op {
			case '-':
				now += string(l.Text)
			case '+':
				then += string(l.Text)
			}
		}
		if len(b.Text.Hunks) != 1 || now != "a's" || then != "1" {
			t.Errorf("%s becomes %+v", b.Path, b.Text.Hunks)
		}
	}
}
