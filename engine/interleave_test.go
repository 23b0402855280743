package engine

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/torture"
)

// TestT18Promise12Interleaving: two sessions and a user at work in one tree. When one session goes back, what the other one changed
// since stays byte for byte, unless it is taken with --exact, and whatever else was there is in the safety checkpoint.
func TestT18Promise12Interleaving(t *testing.T) {
	dir := t.TempDir()
	run, size := 0, torture.Begin(t)
	checks(t, size)
	rapid.Check(t, func(t *rapid.T) {
		run++
		size.Point()
		base := fmt.Sprintf("%s/%d", dir, run)
		if err := os.MkdirAll(base+"/project", 0o755); err != nil {
			t.Fatal(err)
		}
		m := &interleaving{project: openProject(t, base+"/project", base+"/home"), owner: map[string]map[string]bool{}, since: map[string]uint64{}}
		defer func() { m.close(); _ = os.RemoveAll(base) }()
		m.write("start", big("start"))
		m.save("start")
		m.agents = []*agent{m.agent("a"), m.agent("b")}
		for _, a := range m.agents {
			a.start()
			a.prompt("go")
		}
		t.Repeat(map[string]func(*rapid.T){
			"work": m.work, "work2": m.work, "overlap": m.overlap, "user": m.user, "undo": m.undo, "checkout": m.checkoutOld, "reopen": func(*rapid.T) { m.reopen() },
		})
	})
}

type interleaving struct {
	*project
	agents []*agent
	n      int
	owner  map[string]map[string]bool // path to the sessions that changed it
	since  map[string]uint64          // path to the newest operation before its last change
	mine   map[string][]*Checkpoint
}

func (m *interleaving) draw(t *rapid.T) *agent {
	return m.agents[rapid.IntRange(0, len(m.agents)-1).Draw(t, "session")]
}

// change edits, makes or removes one of a few files.
func (m *interleaving) change(t *rapid.T, by ...string) {
	path := rapid.SampledFrom([]string{"one", "two", "dir/three", "dir/four"}).Draw(t, "path")
	m.since[path] = m.e.db.LastSeq()
	m.owner[path] = map[string]bool{}
	for _, b := range by {
		m.owner[path][b] = true
	}
	if _, err := os.Stat(m.path(path)); err == nil && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
		m.remove(path)
		return
	}
	m.n++
	m.write(path, big(fmt.Sprint(by, m.n)))
}

func (m *interleaving) work(t *rapid.T) {
	a := m.draw(t)
	m.n++
	h := a.run(fmt.Sprint("c", m.n), func() { m.change(t, a.name()) })
	m.keep(a, h)
	if rapid.Bool().Draw(t, "turn") {
		a.stop()
		a.prompt("on")
	}
}

func (m *interleaving) keep(a *agent, h *Handled) {
	if m.mine == nil {
		m.mine = map[string][]*Checkpoint{}
	}
	m.mine[a.name()] = append(m.mine[a.name()], m.get(h))
}

func (m *interleaving) overlap(t *rapid.T) {
	a, b := m.agents[0], m.agents[1]
	m.n++
	call := fmt.Sprint("o", m.n)
	a.before(call)
	b.before(call)
	m.change(t, a.name(), b.name())
	m.keep(a, a.after(call))
	m.keep(b, b.after(call))
}

func (m *interleaving) user(t *rapid.T) { m.change(t) }

func (m *interleaving) undo(t *rapid.T) {
	a := m.draw(t)
	m.back(t, a, func() (*RestoreResult, error) {
		return m.e.Undo(bg, 1, RestoreOptions{Session: Whose{Session: a.name()}})
	})
}

func (m *interleaving) checkoutOld(t *rapid.T) {
	a := m.draw(t)
	own := m.mine[a.name()]
	if len(own) == 0 {
		return
	}
	cp := own[rapid.IntRange(0, len(own)-1).Draw(t, "checkpoint")]
	m.back(t, a, func() (*RestoreResult, error) {
		return m.e.Checkout(bg, cp.ID.String(), RestoreOptions{Session: Whose{Session: a.name()}})
	})
}

// back restores, and holds that what others changed after the target is as it was.
func (m *interleaving) back(t *rapid.T, a *agent, restore func() (*RestoreResult, error)) {
	before := list(t, m.root)
	r, err := restore()
	if errors.Is(err, ErrNotFound) {
		return
	}
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	after := list(t, m.root)
	for path, owners := range m.owner {
		others := false
		for s := range owners {
			others = others || s != a.name()
		}
		if !others || m.since[path] < r.Plan.Target.Seq {
			continue
		}
		if before[path] != after[path] {
			t.Fatalf("%s went back to operation %d: %q, changed after %d by %v, was %q and is %q", a.id, r.Plan.Target.Seq, path, m.since[path], owners, before[path], after[path])
		}
	}
	for path, was := range before {
		if after[path] == was || was[0] == 'd' {
			continue
		}
		if r.Safety == nil || m.cat(r.Safety, path) == "" {
			t.Fatalf("%q was changed and is not in the safety checkpoint", path)
		}
	}
	for _, k := range r.Plan.Kept {
		if k.Reason == KeptSession && (k.By == "" || k.By == a.name()) {
			t.Fatalf("%q is kept for %q", k.Path, k.By)
		}
	}
	// Going back is nobody's change.
	for path := range m.owner {
		if before[path] != after[path] {
			m.owner[path] = nil
		}
	}
}

// Two sessions at work: a name that each understands otherwise is not guessed.
func TestWhichSession(t *testing.T) {
	p := newProject(t)
	p.write("f", big("0"))
	p.save("first")
	a, b := p.agent("a"), p.agent("b")
	for _, s := range []*agent{a, b} {
		s.start()
		s.prompt("go")
		s.run("c", func() { p.write(s.id, big(s.id)) })
		s.stop()
	}
	for _, name := range []string{"turn:0", "@-"} {
		var several *SeveralSessionsError
		if _, err := p.e.Checkout(bg, name, RestoreOptions{DryRun: true}); !errors.As(err, &several) || len(several.Names) != 2 {
			t.Errorf("checkout %s: %v", name, err)
		}
		for session, want := range map[string]string{"a": "a", "b": "b"} {
			r, err := p.e.Checkout(bg, name, RestoreOptions{DryRun: true, Session: Whose{Session: session}})
			if err != nil || len(r.Plan.Steps) != 1 || r.Plan.Steps[0].Path != want {
				t.Errorf("checkout %s of %s: %+v, %v", name, session, r, err)
			}
		}
		if r, err := p.e.Checkout(bg, name, RestoreOptions{DryRun: true, Session: Whose{Choose: true}}); err != nil || r.Plan.Steps[0].Path != "b" {
			t.Errorf("checkout %s of the newest: %+v, %v", name, r, err)
		}
	}
	// A restore says which one is meant from then on.
	if _, err := p.e.Undo(bg, 1, RestoreOptions{Session: Whose{Session: "a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.e.Redo(bg, 1, RestoreOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := p.e.Undo(bg, 1, RestoreOptions{Session: Whose{Session: "nobody"}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
}
