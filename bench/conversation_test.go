package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/bench/workload"
	"rewind/engine/capture"
	"rewind/hooks"
)

// talk is a session of Claude's in a project, fed to the engine as its hooks do.
type talk struct {
	p    *project
	s    *workload.Session
	id   string
	path string // of its session file; "": it has none
	f    *os.File
	turn int // that it has
	nth  uint64
	n    uint64 // events
}

// sessionID is the id of the nth session.
func sessionID(n int) string { return fmt.Sprintf("5f1c0d2e-7a44-4c1b-9d55-%012d", n) }

// sessionPath is where Claude keeps a session of a project, for a user whose home is beside the engine's.
func (p *project) sessionPath(id string) string {
	slug := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, p.root)
	return filepath.Join(p.user(), ".claude", "projects", slug, id+".jsonl")
}

// user is the home directory of the user whose agents they are.
func (p *project) user() string { return filepath.Dir(p.home.Dir) }

// talk writes the nth session, of at least size bytes; 0: it has no file.
func (p *project) talk(n int, size int64) *talk {
	p.tb.Helper()
	t := &talk{p: p, id: sessionID(n), nth: uint64(n)}
	if size == 0 {
		return t
	}
	t.path = p.sessionPath(t.id)
	var err error
	if t.s, t.turn, err = workload.WriteSession(t.path, t.id, p.root, size, uint64(n)); err != nil {
		p.tb.Fatal(err)
	}
	if t.f, err = os.OpenFile(t.path, os.O_APPEND|os.O_WRONLY, 0); err != nil {
		p.tb.Fatal(err)
	}
	p.tb.Cleanup(func() { _ = t.f.Close() })
	return t
}

// append adds a record of size bytes to the session file.
func (t *talk) append(size int) {
	t.p.tb.Helper()
	if _, err := t.f.Write(t.s.Reply(size)); err != nil {
		t.p.tb.Fatal(err)
	}
}

// next names the session's next event.
func (t *talk) next() capture.HandleOptions {
	t.n++
	return capture.HandleOptions{ID: t.nth<<32 | t.n}
}

// hook takes in an event after a call of a tool that changed nothing, and says how long that took.
func (t *talk) hook() time.Duration {
	t.p.tb.Helper()
	ev := hooks.Event{
		Agent: hooks.Claude, Kind: hooks.AfterTool, Name: "PostToolUse", Session: t.id, Transcript: t.path, Cwd: t.p.root,
		Tool: hooks.Tool{Name: "Bash", Call: fmt.Sprintf("call-%d", t.n)},
	}
	began := time.Now()
	h, err := t.p.e.Worktree.Handle(t.p.tb.Context(), ev, t.next())
	took := time.Since(began)
	if err != nil {
		t.p.tb.Fatal(err)
	}
	if !h.Recorded {
		t.p.tb.Fatal("the event was not recorded")
	}
	return took
}

// stop is the end of the session's turn.
func (t *talk) stop() {
	t.p.tb.Helper()
	ev := hooks.Event{Agent: hooks.Claude, Kind: hooks.Stop, Name: "Stop", Session: t.id, Transcript: t.path, Cwd: t.p.root}
	if _, err := t.p.e.Worktree.Handle(t.p.tb.Context(), ev, t.next()); err != nil {
		t.p.tb.Fatal(err)
	}
}

// captured fails unless all of the session file has been captured.
func (t *talk) captured() {
	t.p.tb.Helper()
	fi, err := t.f.Stat()
	if err != nil {
		t.p.tb.Fatal(err)
	}
	list, err := t.p.e.Log.Sessions()
	if err != nil {
		t.p.tb.Fatal(err)
	}
	for _, s := range list {
		if s.ID == t.id && s.Cursor.Length == fi.Size() {
			return
		}
	}
	t.p.tb.Fatalf("of %d bytes of %s not all were captured", fi.Size(), t.path)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func micro(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// conversing is a project on a small generated tree, for benchmarks of conversations.
func conversing(b *testing.B) *project {
	b.Helper()
	root := filepath.Join(b.TempDir(), "tree")
	if err := workload.Generate(b.Context(), root, workload.Spec{Files: 1000, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	return newProject(b, root)
}

// watch has the tree watched, as the daemon does.
func (p *project) watch() {
	p.tb.Helper()
	if err := p.e.Worktree.Watch(); err != nil {
		p.tb.Fatal(err)
	}
}

// settle does what the daemon does when the agent does not wait any more: it captures what was too much for a hook.
func (p *project) settle() {
	p.tb.Helper()
	if _, err := p.e.Worktree.FollowUp(p.tb.Context()); err != nil {
		p.tb.Fatal(err)
	}
}

// What a conversation costs the hook that captures it: the same event, with 1 KB appended to a session file of 100 MB,
// to one of 100 KB, and of a session without one, in turns. The tree is unchanged and watched. ratio is that of the
// medians of the first two.
func BenchmarkCaptureSession(b *testing.B) {
	p := conversing(b)
	p.watch()
	all := []*talk{p.talk(1, 0), p.talk(2, 100<<10), p.talk(3, 100<<20)}
	for _, t := range all {
		t.hook()
	}
	p.settle()
	p.settle()
	times := make([][]time.Duration, len(all))
	n := 0
	round := func(count bool) {
		for i := range all {
			j := (i + n) % len(all)
			if all[j].f != nil {
				all[j].append(1 << 10)
			}
			if took := all[j].hook(); count {
				times[j] = append(times[j], took)
			}
		}
		n++
	}
	for range 20 {
		round(false)
	}
	for b.Loop() {
		for range 200 {
			round(true)
		}
	}
	for _, t := range all[1:] {
		t.captured()
	}
	b.ReportMetric(0, "ns/op")
	floor, small, large := median(times[0]), median(times[1]), median(times[2])
	b.ReportMetric(micro(floor), "floor-us")
	b.ReportMetric(micro(small), "100KB-us")
	b.ReportMetric(micro(large), "100MB-us")
	b.ReportMetric(float64(large)/float64(small), "ratio")
}

// What 10,000 captures of one conversation take in the store: a record of 10 KB each, 100 MB in all. Also the
// checkpoints' operations are in it.
func BenchmarkSessionDisk(b *testing.B) {
	const captures, size = 10_000, 10 << 10
	for b.Loop() {
		p := conversing(b)
		t := p.talk(1, 1)
		none := p.talk(2, 0)
		t.hook()
		none.hook()
		p.compacted(nil)
		p.watch()
		before := p.disk(nil)
		for range captures {
			none.hook()
		}
		p.compacted(nil)
		events := p.disk(nil).Sub(before)
		p.watch()
		before = p.disk(nil)
		for range captures {
			t.append(size)
			t.hook()
		}
		t.captured()
		asItLies := p.disk(nil).Sub(before)
		p.compacted(nil)
		after := p.disk(nil).Sub(before)
		const appended = captures * size
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(100*float64(asItLies.Apparent)/appended, "grown-%")
		b.ReportMetric(100*float64(after.Apparent)/appended, "compacted-%")
		b.ReportMetric(float64(after.Apparent-events.Apparent)/captures, "B/capture")
		b.ReportMetric(float64(events.Apparent)/captures, "B/event")
	}
}
