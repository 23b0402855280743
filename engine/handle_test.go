package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/value"
	"rewind/refs"
)

// agent calls the hooks of one session.
type agent struct {
	p    *fixture
	id   string
	tier hooks.Tier
}

func (p *fixture) agent(id string) *agent { return p.agentIn(id, "balanced") }

func (p *fixture) agentIn(id, tier string) *agent {
	p.t.Helper()
	t, err := hooks.LoadTier(tier)
	p.must(err)
	return &agent{p: p, id: id, tier: t}
}

func (a *agent) name() string { return "claude/" + a.id }

func (a *agent) send(ev hooks.Event, o capture.HandleOptions) *capture.Handled {
	a.p.t.Helper()
	ev.Agent, ev.Session, ev.Cwd, o.Tier = hooks.Claude, a.id, a.p.root, a.tier
	h, err := a.p.e.Worktree.Handle(bg, ev, o)
	if err != nil {
		a.p.t.Fatalf("handle %d of %s: %v", ev.Kind, a.id, err)
	}
	return h
}

func (a *agent) start() *capture.Handled {
	return a.send(hooks.Event{Kind: hooks.SessionStart, Source: "startup"}, capture.HandleOptions{})
}

func (a *agent) prompt(text string) *capture.Handled {
	return a.send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, capture.HandleOptions{})
}

func (a *agent) stop() *capture.Handled {
	return a.send(hooks.Event{Kind: hooks.Stop}, capture.HandleOptions{})
}

func (a *agent) before(call string) *capture.Handled {
	return a.send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
}

func (a *agent) after(call string) *capture.Handled {
	return a.send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: call}}, capture.HandleOptions{})
}

// run is a tool call that does something.
func (a *agent) run(call string, do func()) *capture.Handled {
	a.before(call)
	do()
	return a.after(call)
}

func (p *fixture) get(h *capture.Handled) *model.Checkpoint {
	p.t.Helper()
	cp, err := p.e.Log.Checkpoint(h.Checkpoint)
	p.must(err)
	return cp
}

// big is content that no rule folds.
func big(s string) string { return strings.Repeat(s+"\n", 40) }

func (p *fixture) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	p.must(err)
	return string(b)
}

func TestHandleTurn(t *testing.T) {
	p := newProject(t)
	p.write("f", big("zero"))
	first := p.save("first")
	a := p.agent("s1")
	if h := a.start(); h.New || !h.Recorded || h.Checkpoint != first.ID {
		t.Fatalf("start: %+v", h)
	}
	a.prompt("do it")
	h := a.run("c1", func() { p.write("f", big("one")) })
	cp := p.get(h)
	if !h.New || cp.Session != "claude/s1" || cp.Cause != (model.Cause{Event: "post-tool-use", Tool: "Bash", Call: "c1", Turn: 1, Prompt: "do it"}) ||
		!slices.Equal(cp.By, []string{"claude/s1"}) || cp.Parents[0] != first.ID || !cp.Base.IsZero() || cp.Counts.Modified != 1 {
		t.Fatalf("after the call: %+v, %+v", h, cp)
	}
	if h := a.stop(); h.New || h.Checkpoint != cp.ID {
		t.Fatalf("stop without a change: %+v", h)
	}
	p.write("g", big("mine")) // by the user, between two turns
	mine := p.get(a.prompt("more"))
	if mine.Cause.Turn != 2 || len(mine.By) != 0 {
		t.Fatalf("the user's change: %+v", mine)
	}
	for name, want := range map[string]*model.Checkpoint{"turn:0": first, "turn:1": cp, "turn:2": mine, "@": mine, "session:s1": mine} {
		if got, err := p.e.History.Resolve(name); err != nil || got.ID != want.ID {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := p.e.History.Resolve("turn:3"); err == nil {
		t.Error("turn:3 exists")
	}
	p.reopen()
	all, err := p.e.Log.Sessions()
	if err != nil || len(all) != 1 || all[0].Turn != 2 || !all[0].Busy || all[0].Event != "prompt" || all[0].Prompt != "more" {
		t.Fatalf("sessions: %+v, %v", all, err)
	}
}

func TestHandleRecordsOnce(t *testing.T) {
	p := newProject(t)
	p.save("first")
	a := p.agent("s1")
	p.write("f", big("one"))
	ev := hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: "c"}}
	one := a.send(ev, capture.HandleOptions{ID: 7})
	ops, err := p.e.History.Operations(bg, 0, true)
	p.must(err)
	p.reopen() // the answer was lost with the process
	two := a.send(ev, capture.HandleOptions{ID: 7})
	again, err := p.e.History.Operations(bg, 0, true)
	p.must(err)
	if !one.New || two.New || two.Checkpoint != one.Checkpoint || len(ops) != len(again) {
		t.Fatalf("%+v, %+v, %d and %d operations", one, two, len(ops), len(again))
	}
}

func TestHandleAttribution(t *testing.T) {
	p := newProject(t)
	p.save("first")
	a, b := p.agent("a"), p.agent("b")
	by := func(h *capture.Handled) string { return strings.Join(p.get(h).By, " ") }

	a.prompt("x")
	b.prompt("y")
	// Calls that overlap share what changes.
	a.before("a1")
	b.before("b1")
	p.write("shared", big("1"))
	if got := by(a.after("a1")); got != "claude/a claude/b" {
		t.Errorf("overlap: %q", got)
	}
	p.write("b", big("1"))
	if got := by(b.after("b1")); got != "claude/b" {
		t.Errorf("after the overlap: %q", got)
	}
	// A call that failed has no after-event: what changes until the session's next event is its own.
	a.before("a2")
	p.write("a", big("2"))
	if got := by(a.before("a3")); got != "claude/a" {
		t.Errorf("failed call: %q", got)
	}
	a.stop()
	p.write("u", big("3"))
	if got := by(b.before("b2")); got != "" {
		t.Errorf("nobody's: %q", got)
	}
	// The end of a call that is not known to run counts as its work.
	p.write("a", big("4"))
	b.stop()
	p.write("a", big("5"))
	if got := by(a.after("unknown")); got != "claude/a" {
		t.Errorf("unknown call: %q", got)
	}
	// A subagent works on after its session's stop.
	lane := hooks.Event{Kind: hooks.BeforeTool, Subagent: "sub", Tool: hooks.Tool{Name: "Bash", Call: "s1"}}
	a.send(lane, capture.HandleOptions{})
	a.stop()
	p.write("sub", big("6"))
	lane.Kind = hooks.AfterTool
	if got := by(a.send(lane, capture.HandleOptions{})); got != "claude/a" {
		t.Errorf("subagent: %q", got)
	}
	// An edit of a named file did not change another one.
	b.send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Edit", Call: "e1", Class: hooks.Editor, Paths: []string{p.path("named")}}}, capture.HandleOptions{})
	if got := by(a.run("a4", func() { p.write("elsewhere", big("7")) })); got != "claude/a" {
		t.Errorf("beside an edit: %q", got)
	}
	if got := by(a.run("a5", func() { p.write("named", big("8")) })); got != "claude/b" {
		t.Errorf("the edited file: %q", got)
	}
	// Neither did one of a file outside of the project.
	b.send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Edit", Call: "e3", Class: hooks.Editor, Paths: []string{"/elsewhere/x"}}}, capture.HandleOptions{})
	if got := by(a.run("a7", func() { p.write("inside", big("9")) })); got != "claude/a" {
		t.Errorf("beside an edit outside: %q", got)
	}
	// What lies outside of the project is named, not captured.
	b.send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Edit", Call: "e2", Class: hooks.Editor, Paths: []string{"/elsewhere/x", "../y", "named"}}}, capture.HandleOptions{})
	all, err := p.e.Log.Sessions()
	p.must(err)
	for _, s := range all {
		want := []string(nil)
		if s.ID == "b" {
			want = []string{"/elsewhere/x", filepath.Join(filepath.Dir(p.root), "y")}
		}
		if !slices.Equal(s.Outside, want) {
			t.Errorf("outside of %s: %q", s.ID, s.Outside)
		}
	}
	// Open calls survive the process.
	b.stop()
	a.before("a6")
	p.reopen()
	p.write("a", big("9"))
	if got := by(b.prompt("z")); got != "claude/a" {
		t.Errorf("after a restart: %q", got)
	}
}

func TestHandleMinimalTierAttributesTurns(t *testing.T) {
	p := newProject(t)
	p.save("first")
	a := p.agentIn("a", "minimal")
	a.prompt("x")
	p.write("f", big("1"))
	if cp := p.get(a.stop()); !slices.Equal(cp.By, []string{"claude/a"}) {
		t.Errorf("turn: %v", cp.By)
	}
	p.write("f", big("2"))
	if cp := p.get(a.prompt("y")); len(cp.By) != 0 {
		t.Errorf("between turns: %v", cp.By)
	}
}

// Anti-spam and significance fold, and never skip a capture.
func TestHandleFolds(t *testing.T) {
	p := newProject(t)
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	p.e.Log.Now = func() time.Time { return now }
	p.write("f", big("0"))
	p.save("first")
	a := p.agent("a")
	a.prompt("x")
	var states []string
	for i := range 5 {
		a.run(fmt.Sprint("c", i), func() { p.write("f", big(fmt.Sprint(i+1))) })
		states = append(states, big(fmt.Sprint(i+1)))
		now = now.Add(time.Second)
	}
	shown := func(all bool) (names []string) {
		r, err := p.e.History.List(bg, history.ListOptions{All: all})
		p.must(err)
		for _, l := range r.Checkpoints {
			names = append(names, p.cat(l.Checkpoint, "f")[:1])
		}
		return names
	}
	if got := shown(true); strings.Join(got, "") != "543210" {
		t.Fatalf("all: %v", got)
	}
	if got := shown(false); strings.Join(got, "") != "510" {
		t.Fatalf("folded: %v", got)
	}
	// Undo goes along what is shown.
	_, err := p.e.Restorer.Undo(bg, 1, restore.Options{})
	p.must(err)
	if got := p.read("f"); got != states[0] {
		t.Fatalf("after undo: %.8q", got)
	}
	_, err = p.e.Restorer.Redo(bg, 1, restore.Options{})
	p.must(err)
	if got := p.read("f"); got != states[4] {
		t.Fatalf("after redo: %.8q", got)
	}
}

// TestT7Promise04ParallelEvents: every event is recorded once, and each one's edit is in the first checkpoint at or after it.
func TestT7Promise04ParallelEvents(t *testing.T) {
	p := newProject(t)
	p.save("first")
	const n, rounds = 64, 3
	for round := range rounds {
		var wg sync.WaitGroup
		got := make([]*capture.Handled, n)
		for i := range n {
			wg.Go(func() {
				a := p.agent(fmt.Sprint("s", i))
				p.write(fmt.Sprint("f", i), big(fmt.Sprint(round, i)))
				for range 1 + i%2 { // some come twice
					h := a.send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: fmt.Sprint(round)}}, capture.HandleOptions{ID: uint64(round*n + i + 1)})
					if got[i] == nil {
						got[i] = h
					}
				}
			})
		}
		wg.Wait()
		for i, h := range got {
			if c := p.cat(p.get(h), fmt.Sprint("f", i)); c != big(fmt.Sprint(round, i)) {
				t.Fatalf("round %d: the checkpoint of event %d has %.20q", round, i, c)
			}
		}
	}
	seen := map[uint64]int{}
	p.must(p.e.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.EventID != 0 {
			seen[op.EventID]++
		}
		return nil
	}))
	if len(seen) != n*rounds {
		t.Fatalf("%d events recorded", len(seen))
	}
	for id, k := range seen {
		if k != 1 {
			t.Fatalf("event %d recorded %d times", id, k)
		}
	}
}

func TestHandleLate(t *testing.T) {
	p := newProject(t)
	p.write("f", big("1"))
	a := p.agent("a")
	h := a.send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Bash", Call: "c"}}, capture.HandleOptions{Late: func() bool { return true }})
	if cp := p.get(h); !h.Late || !cp.Late {
		t.Errorf("%+v %+v", h, cp)
	}
}

// What the log has is the truth: an event that could not be committed leaves nothing behind in memory.
func TestHandleFailure(t *testing.T) {
	p := newProject(t)
	p.save("first")
	a := p.agent("a")
	a.start()
	p.write("f", big("1"))
	done, cancel := context.WithCancel(bg)
	cancel()
	p.e.Log.Mu.Lock()
	p.must(p.e.Worktree.LoadSeen())
	err := p.e.Worktree.HandleBatch(done, []*capture.Pending{{Worktree: p.e.Worktree, Event: hooks.Event{Agent: hooks.Claude, Session: "a", Kind: hooks.Prompt}, Act: hooks.Action{Capture: true, Record: true, Begins: true}, Name: a.name()}})
	p.e.Log.Mu.Unlock()
	if err == nil {
		t.Fatal("committed although the context was done")
	}
	if s := p.e.Log.Records[a.name()]; s.Turn != 0 {
		t.Errorf("turn %d", s.Turn)
	}
	if cp := p.get(a.prompt("x")); cp.Cause.Turn != 1 || p.cat(cp, "f") != big("1") {
		t.Errorf("%+v", cp)
	}
}

// A look at the whole tree is left off for an event and begun anew, but not for ever.
func TestLookGivesWay(t *testing.T) {
	p := newProject(t)
	p.save("first")
	a := p.agent("a")
	a.prompt("x")
	a.stop()
	p.write("f", "overlooked until now\n")
	p.e.Log.Taking.Store(true) // as if an event were on its way for ever
	for i := range capture.MaxPreemptions {
		if again, err := p.e.Worktree.ScanWhole(bg); again != capture.RetryAfter || err != nil {
			t.Fatalf("look %d: %v, %v", i, again, err)
		}
		if p.e.Worktree.TurnEnded == "" {
			t.Fatal("it counts as done")
		}
	}
	if again, err := p.e.Worktree.ScanWhole(bg); again != 0 || err != nil {
		t.Fatalf("%v, %v", again, err)
	}
	if cur, err := p.e.History.Resolve("@"); err != nil || cur.Cause.Event != model.EventScan || p.cat(cur, "f") != "overlooked until now\n" {
		t.Fatalf("%+v, %v", cur, err)
	}
	p.e.Log.Taking.Store(false)

	// One that has begun is left off by the event itself, which finds what the look would have found.
	a.prompt("y")
	a.stop()
	p.write("f", "again\n")
	began, left := make(chan struct{}), make(chan error)
	go func() {
		p.e.Log.Mu.Lock()
		defer p.e.Log.Mu.Unlock()
		left <- p.e.Worktree.Waiting.Preemptible(bg, func(ctx context.Context) error {
			close(began)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-began
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.prompt("z")
	}()
	if err := <-left; !errors.Is(err, capture.ErrPreempted) {
		t.Fatal(err)
	}
	<-done
	if cur, err := p.e.History.Resolve("@"); err != nil || p.cat(cur, "f") != "again\n" {
		t.Fatalf("%+v, %v", cur, err)
	}
}

// A turn that ends without a word ends when its session file has been silent, and what no event told of is found then.
func TestSettle(t *testing.T) {
	p := newProject(t)
	now := time.Now()
	p.e.Log.Now = func() time.Time { return now }
	p.save("first")
	a := p.agent("a")
	transcript := filepath.Join(t.TempDir(), "projects", "x", claudeID(1)+".jsonl")
	p.must(os.MkdirAll(filepath.Dir(transcript), 0o700))
	a.send(hooks.Event{Kind: hooks.Prompt, Prompt: "x", Transcript: transcript}, capture.HandleOptions{})
	settle := func(want time.Duration) {
		t.Helper()
		again, err := p.e.Worktree.FollowUp(bg)
		if err != nil || again != want && (want > 0 || again > capture.LateReply[0]) { // a reply may come late
			t.Fatalf("again in %v (want %v), %v", again, want, err)
		}
	}
	busy := func() bool {
		all, err := p.e.Log.Sessions()
		p.must(err)
		return all[0].Busy
	}
	settle(30 * time.Second)
	a.before("c")
	now = now.Add(time.Hour)
	settle(0) // a call is running
	if a.after("c"); !busy() {
		t.Fatal("ended while a call was running")
	}
	p.must(os.WriteFile(transcript, nil, 0o600))
	p.must(os.Chtimes(transcript, now, now))
	now = now.Add(20 * time.Second)
	p.must(os.Chtimes(transcript, now, now))
	now = now.Add(20 * time.Second)
	settle(10 * time.Second)
	p.write("f", big("1")) // after the agent was interrupted
	now = now.Add(10 * time.Second)
	settle(0)
	if busy() {
		t.Fatal("the turn goes on")
	}
	if cur, err := p.e.History.Resolve("@"); err != nil || p.cat(cur, "f") != big("1") || len(cur.By) != 0 {
		t.Fatalf("%+v, %v", cur, err)
	}
	// After the end of a turn the tree is scanned once.
	a.prompt("y")
	a.stop()
	p.write("f", big("2"))
	settle(0)
	cur, err := p.e.History.Resolve("@")
	if err != nil || cur.Cause.Event != model.EventScan || cur.Cause.Turn != 2 || p.cat(cur, "f") != big("2") {
		t.Fatalf("%+v, %v", cur, err)
	}
	p.write("f", big("3"))
	settle(0)
	if again, err := p.e.History.Resolve("@"); err != nil || again.ID != cur.ID {
		t.Fatalf("scanned again: %+v, %v", again, err)
	}
}

func FuzzSession(f *testing.F) {
	at := time.UnixMilli(1_800_000_000_000)
	f.Add((&model.Session{
		Agent: "claude", ID: "a", Transcript: "/t", Cwd: "/c", Previous: "p", Began: 5, Outside: []string{"/etc/x"}, First: at, Last: at, Event: "stop", Turn: 3, Busy: true, Prompt: "x", Ended: true,
		Shown: at, Folded: 9, Calls: []model.Call{{ID: "c", Tool: "Bash", Lane: "l", Class: hooks.Editor, Paths: []string{"a", ""}}, {}},
		Cursor: model.Cursor{TranscriptEnd: model.TranscriptEnd{Transcript: testID("x"), Length: 9, Last: "u", Path: "/t", Generation: 1}, Base: 2, Checked: 3},
		Fork:   &model.Lineage{Lineage: value.Lineage{Session: "claude/b", Turn: 1, Time: at, Kind: "fork"}, Both: 1}, Title: "t", Imported: true, Problem: "p",
	}).Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := model.DecodeSession("claude/a", raw)
		if err != nil {
			return
		}
		if got := s.Encode(); string(got) != string(raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
	})
}
