package engine_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/objstore"
)

// TestT18Promise12Interleaving: several sessions and a user at work in one tree, and gc. When one session goes back,
// what another one changed since stays byte for byte: what goes is what came behind it. Whatever else was there is in
// the safety checkpoint.
func TestT18Promise12Interleaving(t *testing.T) {
	dir := t.TempDir()
	run, size := 0, torture.Begin(t)
	enginetest.Checks(t, size)
	rapid.Check(t, func(t *rapid.T) {
		run++
		size.Point()
		base := fmt.Sprintf("%s/%d", dir, run)
		if err := os.MkdirAll(base+"/project", 0o755); err != nil {
			t.Fatal(err)
		}
		m := &interleaving{
			Project: enginetest.OpenProject(t, base+"/project", base+"/home"), wrote: map[string][]*written{},
			mine: map[string][]*model.Checkpoint{}, parent: map[objstore.ID]objstore.ID{},
			past: map[string]map[objstore.ID]bool{},
		}
		defer func() { m.Close(); _ = os.RemoveAll(base) }()
		m.Set("gc.grace", "0s")
		m.Write("start", enginetest.Big("start"))
		m.Save("start")
		m.agents = []*enginetest.Agent{m.Agent("a"), m.Agent("b")}
		for _, a := range m.agents {
			a.Start()
			a.Prompt("go")
		}
		t.Repeat(map[string]func(*rapid.T){
			"work": m.work, "work2": m.work, "overlap": m.overlap, "user": m.user, "undo": m.undo,
			"checkout": m.checkoutOld,
			"begin":    m.begin, "gc": m.thin,
			"reopen": func(*rapid.T) { m.Reopen() },
		})
	})
}

type interleaving struct {
	*enginetest.Project
	agents []*enginetest.Agent
	n      int
	wrote  map[string][]*written // path to what became of it, the oldest first
	mine   map[string][]*model.Checkpoint
	parent map[objstore.ID]objstore.ID     // of all checkpoints, those that gc has removed too
	past   map[string]map[objstore.ID]bool // of a session: the line that it began from
}

// written is a change of a path.
type written struct {
	by      []string    // the sessions that changed it; none: a person, or a restore
	since   uint64      // the newest operation before it
	in      objstore.ID // the checkpoint that has it
	was, is string      // what was there before and after
	restore bool
}

// last is the newest change of a path.
func (m *interleaving) last(path string) *written { return m.wrote[path][len(m.wrote[path])-1] }

// anothers reports whether a change is another session's, behind the target of a restore of a.
func (m *interleaving) anothers(w *written, a *enginetest.Agent, target *model.Checkpoint) bool {
	others := slices.ContainsFunc(w.by, func(name string) bool { return name != a.Name() })
	return others && w.since >= target.Seq && !m.past[a.Name()][w.in]
}

// without reports whether a path can be what it is, where it was now, once what is not another session's is taken back
// change by change, the newest first.
func (m *interleaving) without(path, is, now string, a *enginetest.Agent, target *model.Checkpoint) bool {
	back := reversing(now)
	for _, w := range slices.Backward(m.wrote[path]) {
		if w.since < target.Seq {
			break
		}
		if w.restore || !m.anothers(w, a, target) {
			back.perhaps(w.was, w.is)
		}
	}
	return slices.Contains(back, is)
}

// reverses are the contents that a path may have while changes of it are taken back, the newest first.
type reverses []string

func reversing(now string) reverses { return reverses{now} }

// perhaps may take back a change: two that cancel each other out are none.
func (r *reverses) perhaps(was, is string) {
	for _, c := range *r {
		if c == is && !slices.Contains(*r, was) {
			*r = append(*r, was)
		}
	}
}

// content is what lies at a path; "": nothing.
func (m *interleaving) content(path string) string {
	b, err := os.ReadFile(m.Path(path))
	if !errors.Is(err, os.ErrNotExist) {
		m.Must(err)
	}
	return string(b)
}

func (m *interleaving) draw(t *rapid.T) *enginetest.Agent {
	return m.agents[rapid.IntRange(0, len(m.agents)-1).Draw(t, "session")]
}

// change edits, makes or removes one of a few files.
func (m *interleaving) change(t *rapid.T, by ...string) (path string) {
	path = rapid.SampledFrom([]string{"one", "two", "dir/three", "dir/four"}).Draw(t, "path")
	m.n++
	// some comes back
	content := enginetest.Big(rapid.SampledFrom([]string{"some", "other", fmt.Sprint(by, m.n)}).Draw(t, "content"))
	was := m.content(path)
	remove := was != "" && (was == content || rapid.IntRange(0, 3).Draw(t, "remove") == 0)
	m.wrote[path] = append(m.wrote[path], &written{by: by, since: m.E.Log.DB.LastSeq(), was: was})
	defer func() { m.last(path).is = m.content(path) }()
	if remove {
		m.Remove(path)
	} else {
		m.Write(path, content)
	}
	return path
}

func (m *interleaving) work(t *rapid.T) {
	a := m.draw(t)
	m.n++
	path := ""
	h := a.Run(fmt.Sprint("c", m.n), func() { path = m.change(t, a.Name()) })
	m.keep(a, h)
	m.last(path).in = h.Checkpoint
	if rapid.Bool().Draw(t, "turn") {
		a.Stop()
		a.Prompt("on")
	}
}

func (m *interleaving) keep(a *enginetest.Agent, h *capture.Handled) {
	m.mine[a.Name()] = append(m.mine[a.Name()], m.Get(h))
}

// begin has one more session begin where the one stands that was moved last.
func (m *interleaving) begin(t *rapid.T) {
	if len(m.agents) == 4 {
		return
	}
	m.note()
	at, err := m.E.Sessions.NewestCursor()
	m.Must(err)
	a := m.Agent(fmt.Sprint("s", len(m.agents)))
	m.agents = append(m.agents, a)
	m.past[a.Name()] = map[objstore.ID]bool{}
	for ; !at.IsZero(); at = m.parent[at] {
		m.past[a.Name()][at] = true
	}
	a.Start()
	a.Prompt("go")
	path := ""
	h := a.Run("first", func() { path = m.change(t, a.Name()) })
	m.keep(a, h)
	m.last(path).in = h.Checkpoint
}

// note remembers the lines as they are before gc.
func (m *interleaving) note() {
	for _, l := range m.Listed() {
		if _, known := m.parent[l.ID]; !known && len(l.Parents) > 0 {
			m.parent[l.ID] = l.Parents[0]
		}
	}
}

// thin has gc remove steps of all; what they changed is still theirs.
func (m *interleaving) thin(t *rapid.T) {
	m.note()
	m.Collect(gc.Options{Keep: rapid.IntRange(1, 4).Draw(t, "keep")})
	for name, own := range m.mine {
		m.mine[name] = slices.DeleteFunc(own, func(cp *model.Checkpoint) bool { return !m.Has(cp) })
	}
}

func (m *interleaving) overlap(t *rapid.T) {
	a, b := m.agents[0], m.agents[1]
	m.n++
	call := fmt.Sprint("o", m.n)
	a.Before(call)
	b.Before(call)
	path := m.change(t, a.Name(), b.Name())
	h := a.After(call)
	m.last(path).in = h.Checkpoint
	m.keep(a, h)
	m.keep(b, b.After(call))
}

func (m *interleaving) user(t *rapid.T) { m.change(t) }

func (m *interleaving) undo(t *rapid.T) {
	a := m.draw(t)
	m.back(t, a, func() (*restore.Result, error) {
		return m.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Session: model.SessionChoice{Session: a.Name()}})
	})
}

func (m *interleaving) checkoutOld(t *rapid.T) {
	a := m.draw(t)
	own := m.mine[a.Name()]
	if len(own) == 0 {
		return
	}
	cp := own[rapid.IntRange(0, len(own)-1).Draw(t, "checkpoint")]
	m.back(t, a, func() (*restore.Result, error) {
		return m.E.Restorer.Checkout(enginetest.Bg, cp.ID.String(),
			restore.Options{Session: model.SessionChoice{Session: a.Name()}})
	})
}

// back restores, and holds that what others changed after the target is as it was.
func (m *interleaving) back(t *rapid.T, a *enginetest.Agent, restore func() (*restore.Result, error)) {
	before, was := enginetest.List(t, m.Root), map[string]string{}
	for path := range m.wrote {
		was[path] = m.content(path)
	}
	r, err := restore()
	if errors.Is(err, model.ErrNotFound) {
		return
	}
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	after := enginetest.List(t, m.Root)
	for path := range m.wrote {
		w := m.last(path)
		merged := slices.ContainsFunc(r.Plan.Merges, func(v value.Merge) bool { return v.Path == value.Text(path) })
		if merged || !m.anothers(w, a, r.Plan.Target) || before[path] == after[path] {
			continue
		}
		t.Fatalf("%s went back to operation %d: %q, changed after %d by %v, was %q and is %q", a.ID,
			r.Plan.Target.Seq, path, w.since, w.by, before[path], after[path])
	}
	for _, v := range r.Plan.Merges {
		path := string(v.Path)
		if m.wrote[path] != nil && !m.without(path, m.content(path), was[path], a, r.Plan.Target) {
			t.Fatalf("%s went back to operation %d: of %q was made what others did not leave there: %q", a.ID,
				r.Plan.Target.Seq, path, after[path])
		}
	}
	for path, was := range before {
		if after[path] == was || was[0] == 'd' {
			continue
		}
		if r.Safety == nil || m.Cat(r.Safety, path) == "" {
			t.Fatalf("%q was changed and is not in the safety checkpoint", path)
		}
	}
	for _, k := range r.Plan.Kept {
		if k.Reason == value.KeptSession && (k.By == "" || k.By == a.Name()) {
			t.Fatalf("%q is kept for %q", k.Path, k.By)
		}
	}
	for path := range m.wrote { // going back is nobody's change
		if before[path] != after[path] {
			m.wrote[path] = append(m.wrote[path], &written{
				was: was[path], is: m.content(path), since: m.E.Log.DB.LastSeq(), restore: true,
			})
		}
	}
}

// Two sessions at work: a name that each understands otherwise is not guessed.
func TestWhichSession(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	a, b := p.Agent("a"), p.Agent("b")
	for _, s := range []*enginetest.Agent{a, b} {
		s.Start()
		s.Prompt("go")
		s.Run("c", func() { p.Write(s.ID, enginetest.Big(s.ID)) })
		s.Stop()
	}
	for _, name := range []string{"turn:0", "@-"} {
		var several *sessions.SeveralSessionsError
		if _, err := p.E.Restorer.Checkout(enginetest.Bg, name, restore.Options{DryRun: true}); !errors.As(err,
			&several) ||
			len(several.Names) != 2 {
			t.Errorf("checkout %s: %v", name, err)
		}
		for session, want := range map[string]string{"a": "a", "b": "b"} {
			r, err := p.E.Restorer.Checkout(enginetest.Bg, name,
				restore.Options{DryRun: true, Session: model.SessionChoice{Session: session}})
			if err != nil || len(r.Plan.Steps) != 1 || r.Plan.Steps[0].Path != want {
				t.Errorf("checkout %s of %s: %+v, %v", name, session, r, err)
			}
		}
		if r, err := p.E.Restorer.Checkout(enginetest.Bg, name,
			restore.Options{DryRun: true, Session: model.SessionChoice{Choose: true}}); err != nil ||
			r.Plan.Steps[0].Path != "b" {
			t.Errorf("checkout %s of the newest: %+v, %v", name, r, err)
		}
	}
	// A restore says which one is meant from then on.
	if _, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Session: model.SessionChoice{Session: "a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := p.E.Restorer.Undo(enginetest.Bg, 1,
		restore.Options{Session: model.SessionChoice{Session: "nobody"}}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
}
