package capture_test

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
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
)

func TestHandleTurn(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("zero"))
	first := p.Save("first")
	a := p.Agent("s1")
	if h := a.Start(); h.New || !h.Recorded || h.Checkpoint != first.ID {
		t.Fatalf("start: %+v", h)
	}
	a.Prompt("do it")
	h := a.Run("c1", func() { p.Write("f", enginetest.Big("one")) })
	cp := p.Get(h)
	if !h.New || cp.Session != "claude/s1" || cp.Cause != (model.Cause{
		Event: "post-tool-use", Tool: "Bash", Call: "c1", Turn: 1,
		Prompt: "do it",
	}) ||
		!slices.Equal(cp.By, []string{"claude/s1"}) || cp.Parents[0] != first.ID || !cp.Base.IsZero() ||
		cp.Counts.Modified != 1 {
		t.Fatalf("after the call: %+v, %+v", h, cp)
	}
	if h := a.Stop(); h.New || h.Checkpoint != cp.ID {
		t.Fatalf("stop without a change: %+v", h)
	}
	p.Write("g", enginetest.Big("mine")) // by the user, between two turns
	mine := p.Get(a.Prompt("more"))
	if mine.Cause.Turn != 2 || len(mine.By) != 0 {
		t.Fatalf("the user's change: %+v", mine)
	}
	for name, want := range map[string]*model.Checkpoint{
		"turn:0": first, "turn:1": cp, "turn:2": mine, "@": mine,
		"session:s1": mine,
	} {
		if got, err := p.E.History.Resolve(name); err != nil || got.ID != want.ID {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := p.E.History.Resolve("turn:3"); err == nil {
		t.Error("turn:3 exists")
	}
	p.Reopen()
	all, err := p.E.Log.Sessions()
	if err != nil || len(all) != 1 || all[0].Turn != 2 || !all[0].Busy || all[0].Event != "prompt" ||
		all[0].Prompt != "more" {
		t.Fatalf("sessions: %+v, %v", all, err)
	}
}

func TestHandleRecordsOnce(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	a := p.Agent("s1")
	p.Write("f", enginetest.Big("one"))
	ev := hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{Name: "Bash", Call: "c"}}
	one := a.Send(ev, capture.HandleOptions{ID: 7})
	ops, err := p.E.History.Operations(enginetest.Bg, 0, history.Every)
	p.Must(err)
	p.Reopen() // the answer was lost with the process
	two := a.Send(ev, capture.HandleOptions{ID: 7})
	again, err := p.E.History.Operations(enginetest.Bg, 0, history.Every)
	p.Must(err)
	if !one.New || two.New || two.Checkpoint != one.Checkpoint || len(ops) != len(again) {
		t.Fatalf("%+v, %+v, %d and %d operations", one, two, len(ops), len(again))
	}
}

func TestHandleAttribution(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	a, b := p.Agent("a"), p.Agent("b")
	by := func(h *capture.Handled) string { return strings.Join(p.Get(h).By, " ") }

	a.Prompt("x")
	b.Prompt("y")
	// Calls that overlap share what changes.
	a.Before("a1")
	b.Before("b1")
	p.Write("shared", enginetest.Big("1"))
	if got := by(a.After("a1")); got != "claude/a claude/b" {
		t.Errorf("overlap: %q", got)
	}
	p.Write("b", enginetest.Big("1"))
	if got := by(b.After("b1")); got != "claude/b" {
		t.Errorf("after the overlap: %q", got)
	}
	// A call that failed has no after-event: what changes until the session's next event is its own.
	a.Before("a2")
	p.Write("a", enginetest.Big("2"))
	if got := by(a.Before("a3")); got != "claude/a" {
		t.Errorf("failed call: %q", got)
	}
	a.Stop()
	p.Write("u", enginetest.Big("3"))
	if got := by(b.Before("b2")); got != "" {
		t.Errorf("nobody's: %q", got)
	}
	// The end of a call that is not known to run counts as its work.
	p.Write("a", enginetest.Big("4"))
	b.Stop()
	p.Write("a", enginetest.Big("5"))
	if got := by(a.After("unknown")); got != "claude/a" {
		t.Errorf("unknown call: %q", got)
	}
	// A subagent works on after its session's stop.
	lane := hooks.Event{Kind: hooks.BeforeTool, Subagent: "sub", Tool: hooks.Tool{Name: "Bash", Call: "s1"}}
	a.Send(lane, capture.HandleOptions{})
	a.Stop()
	p.Write("sub", enginetest.Big("6"))
	lane.Kind = hooks.AfterTool
	if got := by(a.Send(lane, capture.HandleOptions{})); got != "claude/a" {
		t.Errorf("subagent: %q", got)
	}
	// An edit of a named file did not change another one.
	b.Send(hooks.Event{
		Kind: hooks.BeforeTool,
		Tool: hooks.Tool{Name: "Edit", Call: "e1", Class: hooks.Editor, Paths: []string{p.Path("named")}},
	}, capture.HandleOptions{})
	if got := by(a.Run("a4", func() { p.Write("elsewhere", enginetest.Big("7")) })); got != "claude/a" {
		t.Errorf("beside an edit: %q", got)
	}
	if got := by(a.Run("a5", func() { p.Write("named", enginetest.Big("8")) })); got != "claude/b" {
		t.Errorf("the edited file: %q", got)
	}
	// Neither did one of a file outside of the project.
	b.Send(hooks.Event{
		Kind: hooks.BeforeTool,
		Tool: hooks.Tool{Name: "Edit", Call: "e3", Class: hooks.Editor, Paths: []string{"/elsewhere/x"}},
	}, capture.HandleOptions{})
	if got := by(a.Run("a7", func() { p.Write("inside", enginetest.Big("9")) })); got != "claude/a" {
		t.Errorf("beside an edit outside: %q", got)
	}
	// What lies outside of the project is named, not captured.
	b.Send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{
		Name: "Edit", Call: "e2", Class: hooks.Editor,
		Paths: []string{"/elsewhere/x", "../y", "named"},
	}}, capture.HandleOptions{})
	all, err := p.E.Log.Sessions()
	p.Must(err)
	for _, s := range all {
		want := []string(nil)
		if s.ID == "b" {
			want = []string{"/elsewhere/x", filepath.Join(filepath.Dir(p.Root), "y")}
		}
		if !slices.Equal(s.Uncaptured, want) {
			t.Errorf("outside of %s: %q", s.ID, s.Uncaptured)
		}
	}
	// Open calls survive the process.
	b.Stop()
	a.Before("a6")
	p.Reopen()
	p.Write("a", enginetest.Big("9"))
	if got := by(b.Prompt("z")); got != "claude/a" {
		t.Errorf("after a restart: %q", got)
	}
}

func TestHandleMinimalTierAttributesTurns(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	a := p.AgentIn("a", "minimal")
	a.Prompt("x")
	p.Write("f", enginetest.Big("1"))
	if cp := p.Get(a.Stop()); !slices.Equal(cp.By, []string{"claude/a"}) {
		t.Errorf("turn: %v", cp.By)
	}
	p.Write("f", enginetest.Big("2"))
	if cp := p.Get(a.Prompt("y")); len(cp.By) != 0 {
		t.Errorf("between turns: %v", cp.By)
	}
}

// Anti-spam and significance fold, and never skip a capture.
func TestHandleFolds(t *testing.T) {
	p := enginetest.NewProject(t)
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	p.E.Log.Now = func() time.Time { return now }
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	a := p.Agent("a")
	a.Prompt("x")
	var states []string
	for i := range 5 {
		a.Run(fmt.Sprint("c", i), func() { p.Write("f", enginetest.Big(fmt.Sprint(i+1))) })
		states = append(states, enginetest.Big(fmt.Sprint(i+1)))
		now = now.Add(time.Second)
	}
	shown := func(all bool) (names []string) {
		r, err := p.E.History.List(enginetest.Bg, history.ListOptions{All: all})
		p.Must(err)
		for _, l := range r.Checkpoints {
			names = append(names, p.Cat(l.Checkpoint, "f")[:1])
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
	_, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{})
	p.Must(err)
	if got := p.Read("f"); got != states[0] {
		t.Fatalf("after undo: %.8q", got)
	}
	_, err = p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{})
	p.Must(err)
	if got := p.Read("f"); got != states[4] {
		t.Fatalf("after redo: %.8q", got)
	}
}

// TestT7Promise04ParallelEvents: every event is recorded once, and each one's edit is in the first checkpoint at or
// after it.
func TestT7Promise04ParallelEvents(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	const n, rounds = 64, 3
	for round := range rounds {
		var wg sync.WaitGroup
		got := make([]*capture.Handled, n)
		for i := range n {
			wg.Go(func() {
				a := p.Agent(fmt.Sprint("s", i))
				p.Write(fmt.Sprint("f", i), enginetest.Big(fmt.Sprint(round, i)))
				for range 1 + i%2 { // some come twice
					h := a.Send(hooks.Event{
						Kind: hooks.AfterTool,
						Tool: hooks.Tool{Name: "Bash", Call: fmt.Sprint(round)},
					},
						capture.HandleOptions{ID: uint64(round*n + i + 1)})
					if got[i] == nil {
						got[i] = h
					}
				}
			})
		}
		wg.Wait()
		for i, h := range got {
			if c := p.Cat(p.Get(h), fmt.Sprint("f", i)); c != enginetest.Big(fmt.Sprint(round, i)) {
				t.Fatalf("round %d: the checkpoint of event %d has %.20q", round, i, c)
			}
		}
	}
	seen := map[uint64]int{}
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
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
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("1"))
	a := p.Agent("a")
	h := a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Bash", Call: "c"}},
		capture.HandleOptions{Late: func() bool { return true }})
	if cp := p.Get(h); !h.Late || !cp.Late {
		t.Errorf("%+v %+v", h, cp)
	}
}

// What the log has is the truth: an event that could not be committed leaves nothing behind in memory.
func TestHandleFailure(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	a := p.Agent("a")
	a.Start()
	p.Write("f", enginetest.Big("1"))
	done, cancel := context.WithCancel(enginetest.Bg)
	cancel()
	p.E.Log.Lock()
	p.Must(p.E.Worktree.LoadSeen())
	err := p.E.Worktree.HandleBatch(done, []*capture.Pending{{Worktree: p.E.Worktree, Event: hooks.Event{
		Agent: hooks.Claude, Session: "a",
		Kind: hooks.Prompt,
	}, Act: hooks.Action{Capture: true, Record: true, Begins: true}, Name: a.Name()}})
	p.E.Log.Unlock()
	if err == nil {
		t.Fatal("committed although the context was done")
	}
	if s := p.E.Log.Session(a.Name()); s.Turn != 0 {
		t.Errorf("turn %d", s.Turn)
	}
	if cp := p.Get(a.Prompt("x")); cp.Cause.Turn != 1 || p.Cat(cp, "f") != enginetest.Big("1") {
		t.Errorf("%+v", cp)
	}
}

// A look at the whole tree is left off for an event and begun anew, but not for ever.
func TestLookGivesWay(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	a := p.Agent("a")
	a.Prompt("x")
	a.Stop()
	p.Write("f", "overlooked until now\n")
	p.E.Log.TakeIn(true) // as if an event were on its way for ever
	for i := range capture.MaxPreemptions {
		if again, err := p.E.Worktree.ScanWhole(enginetest.Bg); again != capture.RetryAfter || err != nil {
			t.Fatalf("look %d: %v, %v", i, again, err)
		}
		if p.E.Worktree.TurnEnded == "" {
			t.Fatal("it counts as done")
		}
	}
	if again, err := p.E.Worktree.ScanWhole(enginetest.Bg); again != 0 || err != nil {
		t.Fatalf("%v, %v", again, err)
	}
	if cur, err := p.E.History.Resolve("@"); err != nil || cur.Cause.Event != model.EventScan ||
		p.Cat(cur, "f") != "overlooked until now\n" {
		t.Fatalf("%+v, %v", cur, err)
	}
	p.E.Log.TakeIn(false)

	// One that has begun is left off by the event itself, which finds what the look would have found.
	a.Prompt("y")
	a.Stop()
	p.Write("f", "again\n")
	began, left := make(chan struct{}), make(chan error)
	go func() {
		p.E.Log.Lock()
		defer p.E.Log.Unlock()
		left <- p.E.Worktree.Waiting.Preemptible(enginetest.Bg, func(ctx context.Context) error {
			close(began)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-began
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Prompt("z")
	}()
	if err := <-left; !errors.Is(err, capture.ErrPreempted) {
		t.Fatal(err)
	}
	<-done
	if cur, err := p.E.History.Resolve("@"); err != nil || p.Cat(cur, "f") != "again\n" {
		t.Fatalf("%+v, %v", cur, err)
	}
}

// A turn that ends without a word ends when its session file has been silent, and what no event told of is found then.
func TestSettle(t *testing.T) {
	p := enginetest.NewProject(t)
	now := time.Now()
	p.E.Log.Now = func() time.Time { return now }
	p.Save("first")
	a := p.Agent("a")
	transcript := filepath.Join(t.TempDir(), "projects", "x", enginetest.ClaudeID(1)+".jsonl")
	p.Must(os.MkdirAll(filepath.Dir(transcript), 0o700))
	a.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "x", Transcript: transcript}, capture.HandleOptions{})
	settle := func(want time.Duration) {
		t.Helper()
		again, err := p.E.Worktree.FollowUp(enginetest.Bg)
		if err != nil || again != want && (want > 0 || again > capture.LateReply[0]) { // a reply may come late
			t.Fatalf("again in %v (want %v), %v", again, want, err)
		}
	}
	busy := func() bool {
		all, err := p.E.Log.Sessions()
		p.Must(err)
		return all[0].Busy
	}
	settle(30 * time.Second)
	a.Before("c")
	now = now.Add(time.Hour)
	settle(0) // a call is running
	if a.After("c"); !busy() {
		t.Fatal("ended while a call was running")
	}
	p.Must(os.WriteFile(transcript, nil, 0o600))
	p.Must(os.Chtimes(transcript, now, now))
	now = now.Add(20 * time.Second)
	p.Must(os.Chtimes(transcript, now, now))
	now = now.Add(20 * time.Second)
	settle(10 * time.Second)
	p.Write("f", enginetest.Big("1")) // after the agent was interrupted
	now = now.Add(10 * time.Second)
	settle(0)
	if busy() {
		t.Fatal("the turn goes on")
	}
	if cur, err := p.E.History.Resolve("@"); err != nil || p.Cat(cur, "f") != enginetest.Big("1") || len(cur.By) != 0 {
		t.Fatalf("%+v, %v", cur, err)
	}
	// After the end of a turn the tree is scanned once.
	a.Prompt("y")
	a.Stop()
	p.Write("f", enginetest.Big("2"))
	settle(0)
	cur, err := p.E.History.Resolve("@")
	if err != nil || cur.Cause.Event != model.EventScan || cur.Cause.Turn != 2 ||
		p.Cat(cur, "f") != enginetest.Big("2") {
		t.Fatalf("%+v, %v", cur, err)
	}
	p.Write("f", enginetest.Big("3"))
	settle(0)
	if again, err := p.E.History.Resolve("@"); err != nil || again.ID != cur.ID {
		t.Fatalf("scanned again: %+v, %v", again, err)
	}
}

// TestFoundInCall: a step that is found while a call runs names it, as far as that can be told.
func TestFoundInCall(t *testing.T) {
	for _, c := range []struct {
		what       string
		calls      func(a *enginetest.Agent)
		tool, call string
	}{
		{"a shell", func(a *enginetest.Agent) { a.Before("1") }, "Bash", "1"},
		{"a shell beside a subagent's editor", func(a *enginetest.Agent) {
			a.Before("1")
			a.Send(hooks.Event{
				Kind: hooks.BeforeTool, Subagent: "s",
				Tool: hooks.Tool{Name: "Write", Call: "2", Class: hooks.Editor, Paths: []string{"/elsewhere"}},
			}, capture.HandleOptions{})
		}, "Bash", "1"},
		{"two shells", func(a *enginetest.Agent) {
			a.Before("1")
			tool := hooks.Tool{Name: "Bash", Call: "2"}
			a.Send(hooks.Event{Kind: hooks.BeforeTool, Subagent: "s", Tool: tool}, capture.HandleOptions{})
		}, "", ""},
	} {
		p := enginetest.NewProject(t)
		p.Save("first")
		a, b := p.Agent("a"), p.Agent("b")
		a.Start()
		b.Start()
		a.Prompt("x")
		c.calls(a)
		p.Write("f", enginetest.Big("1"))
		b.Prompt("y")
		cp, err := p.E.History.Resolve("session:" + a.Name())
		if err != nil || cp.Cause.Event != model.EventScan || !cp.ChangedBy(a.Name()) {
			t.Fatalf("%s: %+v, %v", c.what, cp, err)
		}
		if cp.Cause.Tool != c.tool || cp.Cause.Call != c.call {
			t.Errorf("%s: %q, %q; want %q, %q", c.what, cp.Cause.Tool, cp.Cause.Call, c.tool, c.call)
		}
	}
}
