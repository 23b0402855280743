package history_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/value"
)

// copied is a session that the agent itself made of the first lines of another one's file, up to a reply.
func copied(p *enginetest.Project, of *enginetest.Talker, n int, reply string) *enginetest.Talker {
	p.T.Helper()
	k := p.Talker(n)
	k.N = n * 10_000
	for line := range strings.Lines(p.Slurp(of.File)) {
		var l struct{ UUID string }
		p.Must(json.Unmarshal([]byte(line), &l))
		from := fmt.Sprintf(`"forkedFrom":{"sessionId":%q,"messageUuid":%q},"version"`, of.ID, l.UUID)
		line = strings.ReplaceAll(line, `"sessionId":"`+of.ID, `"sessionId":"`+k.ID)
		k.Append(strings.Replace(line, `"version"`, from, 1))
		k.Parent = l.UUID
		if strings.Contains(line, reply) {
			break
		}
	}
	return k
}

// TestAgentsFork: a fork that an agent made by itself branched off at the end of the last turn that both have; that is
// found, stored once the turn is over, and told by all that tell of forks.
func TestAgentsFork(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	kid := copied(p, first, 2, "done: one")
	kid.Start()
	kid.Take("other", p.Edits("g", "1"))
	h := p.E.History
	end, err := h.Resolve("turn:1@" + first.Name())
	p.Must(err)
	list, _, err := h.SessionList(enginetest.Bg, true, 0)
	p.Must(err)
	var found *model.Lineage
	for i := range list {
		if list[i].Name == kid.Name() {
			found = list[i].Fork
		} else if list[i].Fork != nil {
			t.Errorf("%s is a fork of %s", list[i].Name, list[i].Fork.Session)
		}
	}
	check := func(what string, l *model.Lineage) {
		t.Helper()
		if l == nil {
			t.Fatalf("%s: none", what)
		}
		got := fmt.Sprint(l.Session, l.Child, l.Checkpoint, l.Turn, l.Both, l.Depth, l.Kind == model.ByAgent, l.NoCode)
		if want := fmt.Sprint(first.Name(), kid.Name(), end.ID.String(), 1, 1, 1, true, ""); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("in the list of sessions", found)
	if few, left, err := h.SessionList(enginetest.Bg, true, 1); err != nil || len(few) != 1 || left.Older != 1 {
		t.Errorf("one session: %d, %+v, %v", len(few), left, err)
	}
	l, err := h.ForkPoint(enginetest.Bg, "fork:"+kid.ID)
	p.Must(err)
	check("by its name", l)
	points, err := h.ForkPoints(enginetest.Bg)
	if p.Must(err); len(points) != 1 {
		t.Fatalf("%d fork points", len(points))
	}
	check("of all", &points[0])
	if s := p.Session(kid.Name()); s.Fork == nil || s.Fork.Checkpoint != end.ID.String() {
		t.Errorf("stored is %+v", s.Fork)
	}
	cp, err := h.Resolve("fork:" + kid.ID)
	if p.Must(err); cp.ID != end.ID {
		t.Errorf("fork: is %q", cp.Cause.Prompt)
	}
	tree, err := h.FamilyTree(enginetest.Bg, "", false, nil)
	p.Must(err)
	if len(tree.Branches) != 2 || tree.Branches[1].Parent != first.Name() {
		t.Fatalf("%+v", tree.Branches)
	}
	check("in the tree", tree.Branches[1].Fork)
}

// TestForkOfImported: where a session was imported no code of its turns is known. Its forks have none, nor have their
// inherited turns, and it is said why; what git stood on when the last message was written is told.
func TestForkOfImported(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	git := gitOf(p,
		"GIT_COMMITTER_DATE=2026-11-19T10:00:00Z", "GIT_AUTHOR_DATE=2026-11-19T10:00:00Z",
	)
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "zero")
	p.Save("first")
	old := p.Talker(1)
	for _, text := range []string{"long ago", "later"} {
		old.Used(text)
		old.Say("done: " + text)
	}
	said := strings.ReplaceAll(p.Slurp(old.File), `"version"`, `"gitBranch":"main","version"`)
	p.Must(os.WriteFile(old.File, []byte(said), 0o600))
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	kid := p.Opened(p.Fork("turn:1@"+old.Name(), restore.Options{}).Fork)
	kid.Take("other", p.Edits("g", "1"))
	h := p.E.History
	l, err := h.ForkPoint(enginetest.Bg, "fork:"+kid.ID)
	p.Must(err)
	if l.Checkpoint != "" || !strings.Contains(string(l.NoCode), "was imported: the code of that time was not") {
		t.Errorf("%+v", l)
	}
	release := p.E.Log.Hold()
	p.Must(p.E.Log.LoadSessions())
	m, err := h.Moment("", "turn:1@"+kid.Name())
	release()
	p.Must(err)
	if m.Checkpoint != nil || m.Turn != 1 || m.Transcript.IsZero() {
		t.Errorf("the inherited turn: %+v, %v", m, err)
	}
	for what, want := range map[string]string{kid.Name(): git("rev-parse", "HEAD"), "": ""} {
		forks, err := h.Forks(enginetest.Bg, p.Env(), what)
		p.Must(err)
		l := forks[0].Fork
		if len(forks) != 1 || l.Commit != want || (l.GitBy == value.GitByHeadLog) != (want != "") {
			t.Errorf("%q: %+v", what, l)
		}
	}
	p.Must(os.RemoveAll(p.Path(".git/logs"))) // the branch that the agent wrote down is left
	then := func(commit, branch string, by value.GitBy) {
		t.Helper()
		forks, err := h.Forks(enginetest.Bg, p.Env(), kid.Name())
		p.Must(err)
		if l := forks[0].Fork; l.Commit != commit || l.Branch != branch || l.GitBy != by {
			t.Errorf("without git's log: %+v", l)
		}
	}
	then(git("rev-parse", "HEAD"), "main", value.GitByBranch)
	git("branch", "-q", "-m", "other")
	p.Must(os.RemoveAll(p.Path(".git/logs")))
	then("", "", value.GitUnknown)
}

// TestBranchWork: what a branch did since its fork point, taken together: files and links, their lines as far as they
// are counted.
func TestBranchWork(t *testing.T) {
	t.Parallel()
	p, first := enginetest.Begun(t)
	p.Write("m", "a\nb\n")
	p.Write("old", "1\n2\n3\n")
	first.Take("one", p.Edits("f", "1"))
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := p.Opened(p.Fork("turn:1", of).Fork)
	kid.Take("other", func() {
		p.Write("n", "a\nb\n")
		p.Write("m", "a\nc\n")
		p.Remove("old")
		p.Write("bin", "a\x00b\x00")
		p.Write("large", strings.Repeat("a line\n", 50_000))
		p.Must(os.Mkdir(p.Path("dir"), 0o755))
	})
	kid.Take("again", func() { p.Write("n", "a\nb\nc\n") })
	tree, err := p.E.History.FamilyTree(enginetest.Bg, kid.Name(), false, nil)
	p.Must(err)
	if len(tree.Branches) != 2 {
		t.Fatalf("%+v", tree.Branches)
	}
	for i, want := range [][5]int{{2, 1, 40, 40, 0}, {2, 5, 4, 4, 2}} {
		w := tree.Branches[i].Work
		if got := [5]int{w.Steps, w.Files, w.Added, w.Removed, w.Uncounted}; got != want {
			t.Errorf("branch %d: %d, want %d", i, got, want)
		}
	}
}

// TestBranchWorkOfManyFiles: the lines of the first of many files are counted, and the others told to be uncounted.
func TestBranchWorkOfManyFiles(t *testing.T) {
	t.Parallel()
	p, first := enginetest.Begun(t)
	first.Take("one", func() {
		for n := range 258 {
			p.Write(fmt.Sprint("d/", n), "a\n")
		}
	})
	tree, err := p.E.History.FamilyTree(enginetest.Bg, "", false, nil)
	p.Must(err)
	w := tree.Branches[0].Work
	if w.Files != 258 || w.Added != 256 || w.Uncounted != 2 {
		t.Errorf("%+v", w)
	}
}

// TestClashes: a branch clashes with each sibling, and with what its original did since, where they changed the same
// files; of many files and of many branches the first are named, and all are counted.
func TestClashes(t *testing.T) {
	t.Parallel()
	p, first := enginetest.Begun(t)
	first.Take("one", p.Edits("f", "1"))
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	var kids []*enginetest.Talker
	for range 9 {
		kids = append(kids, p.Opened(p.Fork("turn:1", of).Fork))
	}
	for i, kid := range kids {
		kid.Take("other", func() {
			for n := range []int{10, 10, 1, 1, 1, 1, 1, 1, 1}[i] {
				p.Write(fmt.Sprintf("d/%d", n), enginetest.Big(fmt.Sprint(i, n)))
			}
		})
	}
	first.Take("two", func() { p.Write("d/3", enginetest.Big("first")) })
	tree, err := p.E.History.FamilyTree(enginetest.Bg, first.Name(), false, nil)
	p.Must(err)
	at := map[string]*history.Branch{}
	for i := range tree.Branches {
		at[tree.Branches[i].Branch] = &tree.Branches[i]
	}
	files := func(a, b string) (int, int) {
		for _, c := range at[a].Conflicts {
			if c.With == b {
				return c.Files, len(c.Paths)
			}
		}
		return 0, 0
	}
	a, b, c := kids[0].Name(), kids[1].Name(), kids[2].Name()
	for pair, want := range map[[2]string][2]int{
		{a, b}: {10, 8}, {a, first.Name()}: {1, 1}, {c, a}: {1, 1}, {c, first.Name()}: {},
	} {
		if n, named := files(pair[0], pair[1]); n != want[0] || named != want[1] {
			t.Errorf("%s clash in %d files, %d named; want %d", pair, n, named, want)
		}
	}
	for name, want := range map[string]int{first.Name(): 0, a: 9, c: 8} {
		if got := at[name]; got.Clashes != want || len(got.Conflicts) != min(want, 8) {
			t.Errorf("%s: %d clashes, %d told; want %d", name, got.Clashes, len(got.Conflicts), want)
		}
	}
}

// TestEndBesideAnother: a turn that changed nothing ends with what another session's made meanwhile; one that changed
// something ends with its own, unless it changed something in the other's, too.
func TestEndBesideAnother(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	a, b := p.Agent("a"), p.Agent("b")
	a.Prompt("talk")
	b.Prompt("work")
	b.Run("b1", func() { p.Write("f", "1") })
	b.Stop()
	a.Stop()
	a.Prompt("work, too")
	a.Run("a1", func() { p.Write("f", "2") })
	b.Prompt("work more")
	b.Run("b2", func() { p.Write("f", "3") })
	b.Stop()
	a.Stop()
	for name, want := range map[string]string{"turn:1@claude/a": "1", "turn:2@claude/a": "2", "turn:2@claude/b": "3"} {
		cp, err := p.E.History.Resolve(name)
		p.Must(err)
		if got := p.Cat(cp, "f"); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
}

// TestWayAtOnce: a branch within a session is found by its name though no list has read the session's file.
func TestWayAtOnce(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	at := first.Parent
	first.Take("left", p.Edits("f", "3"))
	first.Parent = at
	first.Take("gone on", p.Edits("f", "4"))
	p.Settle()
	p.Reopen()
	want := "turn:3@" + first.Name()
	for name, is := range map[string]string{
		"turn:3@" + first.ID: want, "left": "", "turn:3": "", "before:3@" + first.ID: "",
	} {
		if got, err := p.E.History.Way(enginetest.Bg, name); err != nil || got != is {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"turn:2@" + first.ID, "turn:3@none"} {
		if got, err := p.E.History.Way(enginetest.Bg, name); err == nil || got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestPromptIsWhole: a prompt is told whole, as the conversation has it; of a turn that is not there nothing is told.
func TestPromptIsWhole(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	long := "first line\nsecond line " + strings.Repeat("and more of it ", 1000) + "end"
	k.Take("short", nil)
	k.Take(long, p.Edits("f", "1"))
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	for n, want := range map[uint64]string{0: "", 1: "short", 2: long, 3: ""} {
		if got := p.E.History.PromptOf(k.Name(), n); got != want {
			t.Errorf("of turn %d: %d bytes, want %d", n, len(got), len(want))
		}
	}
	if got := p.E.History.PromptOf("claude/nobody", 1); got != "" {
		t.Errorf("of nobody: %q", got)
	}
}

// TestTargets: what a call was about is told of its step; beside a checkpoint only of one that was found in a call.
func TestTargets(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	h := k.Take("one", p.Edits("f", "1"))
	p.Settle()
	var steps []*model.Checkpoint
	for _, l := range p.Listed() {
		if l.Cause.Call != "" {
			steps = append(steps, l.Checkpoint)
		}
	}
	if len(steps) != 1 || h == nil {
		t.Fatalf("%d steps of calls", len(steps))
	}
	if got := p.E.History.Targets(steps); len(got) != 1 || got[steps[0].Cause.Call] != "x" {
		t.Errorf("%q", got)
	}
	if got := p.E.History.TargetIn(steps[0]); got != "" {
		t.Errorf("of a step that its own event made: %q", got)
	}
	found := *steps[0]
	found.Cause.Event = model.EventScan
	if got := p.E.History.TargetIn(&found); got != "x" {
		t.Errorf("of a step that was found in a call: %q", got)
	}
	found.Cause.Call = ""
	if got := p.E.History.TargetIn(&found); got != "" {
		t.Errorf("of a step that was found between calls: %q", got)
	}
}

// TestTitleOf: a session's title is the one in its file, also where a person gave another when the session was made.
func TestTitleOf(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	kid := p.Opened(p.Fork("turn:1", restore.Options{Title: "given"}).Fork)
	kid.Take("other", nil)
	title := func(want string) {
		t.Helper()
		p.Settle()
		s := p.Session(kid.Name())
		if got, err := p.E.History.TitleOf(&s); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	title("[Fork @1] given")
	kid.Append(fmt.Sprintf(`{"type":"custom-title","customTitle":"typed later","sessionId":%q}`+"\n", kid.ID))
	kid.Take("more", nil)
	title("typed later")
	s := p.Session(first.Name())
	if got, err := p.E.History.TitleOf(&s); err != nil || got != "one" {
		t.Errorf("of the first: %q, %v", got, err)
	}
}

// TestTitleOfCodex: the title that a session of Codex was given is meant, since its file says none.
func TestTitleOfCodex(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Scribe(hooks.Codex, enginetest.Unique())
	k.Asked("do it")
	k.Tell(hooks.Prompt, map[string]any{"prompt": "do it"})
	k.Says("done")
	k.Tell(hooks.Stop, nil)
	p.Settle()
	s := p.Session(k.Name())
	for given, want := range map[string]string{"given": "given", "": "do it"} {
		s.Title = given
		if got, err := p.E.History.TitleOf(&s); err != nil || got != want {
			t.Errorf("given %q: %q, %v", given, got, err)
		}
		recorded(p, k.Name(), func(s *model.Session) { s.Title = given })
		titles := map[string]string{}
		l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: k.Name()}, 0)
		p.Must(err)
		titles["turns"] = l.Title
		list, _, err := p.E.History.SessionList(enginetest.Bg, true, 0)
		p.Must(err)
		titles["list"] = list[0].Title
		tree, err := p.E.History.FamilyTree(enginetest.Bg, "", false, nil)
		p.Must(err)
		titles["tree"] = tree.Branches[0].Title
		for where, title := range titles {
			if title != want {
				t.Errorf("given %q, the %s has %q", given, where, title)
			}
		}
		for _, name := range []string{"given", "do it"} {
			release := p.E.Log.Hold()
			_, err := p.E.History.BranchNamed(name)
			if release(); (err == nil) != (name == want) {
				t.Errorf("given %q, named %q: %v", given, name, err)
			}
		}
	}
}

// TestTipOfNone: a session that made no checkpoint has no newest state.
func TestTipOfNone(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	for name, want := range map[string]bool{"claude/nobody": false, k.Name(): true} {
		if cp, err := p.E.History.Tip(name); err != nil || (cp != nil) != want {
			t.Errorf("%s: %v, %v", name, cp, err)
		}
	}
}

// TestNearDigits: of an id that no checkpoint has those are told that begin with most of it.
func TestNearDigits(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	cp := p.Save("first")
	id := cp.ID.String()
	for n := 4; n < 12; n++ {
		wrong := id[:n] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", id[n])+1)%16])
		if got := p.E.History.Near(enginetest.Bg, wrong, false); len(got) != 1 || got[0] != cp.ID.Short() {
			t.Errorf("near %s: %s", wrong, got)
		}
	}
}

// TestTimesApart: a row's time is its newest operation's.
func TestTimesApart(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	now := time.Date(2027, 1, 1, 10, 0, 0, 0, time.UTC)
	p.E.Log.Now = func() time.Time { now = now.Add(time.Second); return now }
	k.Take("one", p.Edits("f", "1"))
	end := now
	p.Write("f", "2")
	p.Save("mine")
	for what, tt := range map[string]struct {
		f    value.Filter
		want int
	}{
		"all":           {value.Filter{}, 3},
		"since the end": {value.Filter{Since: end.Add(-time.Second)}, 2},
		"behind it":     {value.Filter{Since: end.Add(time.Millisecond)}, 1},
		"up to it":      {value.Filter{Until: end}, 2},
		"before it":     {value.Filter{Until: now.Add(-time.Hour)}, 1},
	} {
		res, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{Filter: history.Filter{Filter: tt.f}})
		p.Must(err)
		if len(res.Rows) != tt.want {
			t.Errorf("%s: %d rows, want %d", what, len(res.Rows), tt.want)
		}
	}
}

// TestForkOfNobody: of a fork that an agent made of a session that nobody knows it is said what is not known; where its
// agent has the file still, how much both have is found in that. With forks.detect off it is none.
func TestForkOfNobody(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{false, true} {
		p, _ := enginetest.Begun(t)
		gone := p.Talker(9)
		gone.Used("one")
		gone.Say("done: one")
		gone.Used("two")
		gone.Say("done: two")
		kid := copied(p, gone, 2, "done: one")
		if !there {
			p.Must(os.Remove(gone.File))
		}
		kid.Start()
		kid.Take("other", p.Edits("g", "1"))
		gitOf(p)("init", "-q")
		h := p.E.History
		its, err := h.Forks(enginetest.Bg, p.Env(), kid.Name())
		p.Must(err)
		if l := its[0].Fork; l.Commit != "" || l.GitBy != value.GitUnknown {
			t.Errorf("by git: %+v", l)
		}
		forks, err := h.Forks(enginetest.Bg, p.Env(), "")
		p.Must(err)
		if len(forks) != 1 {
			t.Fatalf("%+v", forks)
		}
		l := forks[0].Fork
		got := fmt.Sprint(l.Session, l.Turn, l.Both, l.Depth, l.Checkpoint, l.NoCode)
		want := fmt.Sprint(gone.Name(), 1, 1, 1, "", gone.Name()+" is not known here")
		if got != want {
			t.Errorf("the file is there: %t: %s, want %s", there, got, want)
		}
		tree, err := h.FamilyTree(enginetest.Bg, "", true, nil)
		p.Must(err)
		if len(tree.Branches) != 1 || tree.Branches[0].Parent != "" || tree.Branches[0].Depth != 0 {
			t.Errorf("%+v", tree.Branches)
		}
		fu, err := h.Future(enginetest.Bg, model.SessionChoice{Session: kid.Name()})
		if p.Must(err); len(fu.Lines) > 0 || fu.At != 2 {
			t.Errorf("future: %+v", fu)
		}
		if kin, err := h.Kin(); err != nil {
			t.Error(err)
		} else if _, n := kin(gone.Name(), 1); n != 1 {
			t.Errorf("%d forks at its turn", n)
		}
	}
}

// TestForksAreNotLookedFor: with forks.detect off a session is no fork that its agent made, and has no branches within.
func TestForksAreNotLookedFor(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	p.Set("forks.detect", "false")
	at := first.Parent
	first.Take("left", p.Edits("f", "3"))
	first.Parent = at
	first.Take("gone on", p.Edits("f", "4"))
	kid := copied(p, first, 2, "done: one")
	kid.Start()
	kid.Take("other", p.Edits("g", "1"))
	h := p.E.History
	tree, err := h.FamilyTree(enginetest.Bg, "", true, nil)
	p.Must(err)
	for i := range tree.Branches {
		if b := &tree.Branches[i]; b.Depth != 0 || b.Fork != nil || b.Way != nil {
			t.Errorf("%+v", b)
		}
	}
	forks, err := h.Forks(enginetest.Bg, p.Env(), "")
	p.Must(err)
	ends, err := h.ForkEnds(enginetest.Bg)
	if p.Must(err); len(forks)+len(ends) > 0 || len(tree.Branches) != 2 {
		t.Errorf("%d branches, forks %+v, ends %v", len(tree.Branches), forks, ends)
	}
}

// TestTurnsOfBeforeACut: a fork has the turns of its original as that had them, also once the original's file was cut,
// and their numbers have come again: those that changed nothing, too.
func TestTurnsOfBeforeACut(t *testing.T) {
	t.Parallel()
	p, first := enginetest.Begun(t)
	first.Take("one", p.Edits("f", "1"))
	first.Take("talk", nil)
	first.Take("three", p.Edits("f", "3"))
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := p.Opened(p.Fork("turn:3", of).Fork)
	kid.Take("kid's", p.Edits("g", "1"))
	back := of
	back.InPlace = true
	p.Back("turn:1@"+first.Name(), back)
	reopened(p, first)
	first.Take("two again", p.Edits("f", "4"))
	first.Take("talk again", nil)
	p.Settle()
	for name, want := range map[string]string{
		"turn:1@" + kid.ID: "one 1", "turn:2@" + kid.ID: "talk 1", "turn:3@" + kid.ID: "three 3",
		"turn:4@" + kid.ID:   "kid's 3",
		"turn:2@" + first.ID: "two again 4", "turn:3@" + first.ID: "talk again 4", "turn:1@" + first.ID: "one 1",
	} {
		row, err := p.E.History.TurnRow(enginetest.Bg, name, "")
		p.Must(err)
		cp, err := p.E.History.Resolve(name)
		p.Must(err)
		got := row.Prompt + " " + p.Cat(cp, "f")[:1]
		if got != want || row.ID != cp.ID {
			t.Errorf("%s: %s, its row has %s; want %s", name, got, p.Cat(row.Checkpoint, "f")[:1], want)
		}
	}
}

// TestTargetsAfterCut: what calls were about is told of calls alone, of each session; also of one that was cut off the
// session's file; a session that nobody has adds nothing.
func TestTargetsAfterCut(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	other := p.Talker(2)
	other.Take("other", p.Edits("g", "1"))
	p.Settle()
	steps := func() (list []*model.Checkpoint) {
		for _, l := range p.Listed() {
			list = append(list, l.Checkpoint)
		}
		return list
	}
	want := len(p.E.History.Targets(steps()))
	if want != 3 {
		t.Fatalf("%d calls", want)
	}
	p.Back("turn:1@"+first.Name(), restore.Options{InPlace: true, Session: model.SessionChoice{Session: first.Name()}})
	all := steps()
	nobodys := *all[len(all)-2]
	nobodys.Session, nobodys.Cause.Call = "claude/nobody", "toolu_nobody"
	got := p.E.History.Targets(append([]*model.Checkpoint{&nobodys}, all...))
	if len(got) != want {
		t.Errorf("%d calls after the cut", len(got))
	}
	for call, target := range got {
		if target != "x" {
			t.Errorf("%s is about %q", call, target)
		}
	}
}

// TestTurnsCountedEarly: the turns that an agent's fork took before its file was there count on from those that it has
// of the other session, in every list.
func TestTurnsCountedEarly(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	kid := p.Talker(2)
	kid.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "other"}, capture.HandleOptions{})
	tool := hooks.Tool{Name: "Bash", Call: "early"}
	kid.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	p.Edits("f", "3")()
	step := kid.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{}).Checkpoint
	kid = copied(p, first, 2, "done: two")
	kid.Used("other")
	kid.Say("done: other")
	kid.Stop()
	p.Settle()
	h := p.E.History
	list, err := h.List(enginetest.Bg, history.ListOptions{})
	p.Must(err)
	if l := list.Checkpoints[0]; l.ID != step || l.Cause.Turn != 3 {
		t.Errorf("the step is of turn %d", l.Cause.Turn)
	}
	rows, err := h.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
	if r := &rows.Rows[0]; r.Of != kid.Name() || r.Turn != 3 || r.Prompt != "other" {
		t.Errorf("%+v", r)
	}
	ops, err := h.Operations(enginetest.Bg, 1, history.Changing)
	if p.Must(err); ops[0].Turn != 3 {
		t.Errorf("the operation is of turn %d", ops[0].Turn)
	}
	cp, err := h.Resolve("turn:3@" + kid.ID)
	if p.Must(err); cp.ID != step {
		t.Errorf("turn 3 is %q", cp.Cause.Prompt)
	}
	p.ReadFails("turn 3", 200, func(q *enginetest.Project) (string, error) {
		r, err := q.E.History.TurnRow(enginetest.Bg, "turn:3@"+kid.ID, "")
		if err != nil {
			return "", err
		}
		return fmt.Sprint(r != nil && r.ID == step), nil
	})
}
