package picker

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rewind/api"
	"rewind/internal/term"
)

// answers is a source that has everything already.
type answers struct {
	rows []api.Row
	sent []api.CheckoutRequest // of what was not only looked at
	back []uint64              // operations that were taken back

	deleted []string // sessions
	shown   []api.ShowRequest
}

func (s *answers) List(_ context.Context, req api.ListRequest) (api.ListResponse, error) {
	if req.Turn != "" {
		return api.ListResponse{Checkpoints: []api.Checkpoint{s.rows[0].Checkpoint}}, nil
	}
	return api.ListResponse{Turns: s.rows}, nil
}

func (s *answers) Show(_ context.Context, req api.ShowRequest) (api.ShowResponse, error) {
	s.shown = append(s.shown, req)
	r := s.rows[0]
	if req.Messages > 0 {
		return api.ShowResponse{Checkpoint: r.Checkpoint, Messages: []api.Message{{Who: "user", Text: "said so\x1b[2J"}}}, nil
	}
	return api.ShowResponse{Checkpoint: r.Checkpoint, Whole: &r, Changes: r.Changes}, nil
}

func (s *answers) Status(context.Context, api.StatusRequest) (api.StatusResponse, error) {
	return api.StatusResponse{Root: "/src/demo", Current: &s.rows[0].Checkpoint}, nil
}

func (s *answers) Grep(context.Context, api.GrepRequest) (api.GrepResponse, error) {
	return api.GrepResponse{Matches: []api.Match{{Path: "src/found.go", Line: 4, Text: "here it is", Now: true}}}, nil
}

func (s *answers) Diff(context.Context, api.DiffRequest) (api.DiffResponse, error) {
	return api.DiffResponse{Files: []api.FileDiff{{Change: api.Change{Path: "gone.go", Status: "added"}, Added: 1}}}, nil
}

func (s *answers) Checkout(_ context.Context, req api.CheckoutRequest) (api.RestoreResponse, error) {
	r := api.RestoreResponse{Kind: "checkout", Target: s.rows[0].Checkpoint, DryRun: req.DryRun, Plan: "seen"}
	r.Changes = []api.Change{{Path: "gone.go", Status: "added"}}
	if !req.DryRun {
		s.sent, r.Operation = append(s.sent, req), 7
	}
	return r, nil
}

func (s *answers) UndoRestore(_ context.Context, req api.UndoRestoreRequest) (api.RestoreResponse, error) {
	s.back = append(s.back, req.Operation)
	return api.RestoreResponse{Kind: "undo-restore", Target: s.rows[0].Checkpoint, Operation: 8}, nil
}

func (s *answers) Fork(_ context.Context, req api.ForkRequest) (api.ForkResponse, error) {
	return api.ForkResponse{Fork: api.Fork{Title: "another way", Session: "claude/f0"}}, nil
}

func (s *answers) Manage(_ context.Context, req api.ManageRequest) (api.ManageResponse, error) {
	s.deleted = append(s.deleted, req.Sessions...)
	return api.ManageResponse{Operation: 9, Losses: []api.Loss{{Session: req.Sessions[0], Title: "another way"}}}, nil
}

// opened is a picker of a terminal of that size, with all its answers taken in.
func opened(width, height int) (*model, *answers) {
	now := time.Date(2026, 11, 20, 14, 10, 0, 0, time.UTC)
	const session = "claude/5f1c0d2e-7a44-4c1b-9d55-0a1b2c3d4e5f"
	row := func(n uint64, prompt string, current bool) api.Row {
		c := api.Checkpoint{
			ID: strings.Repeat("ab12", 16), Short: "ab12ab1", Time: now.Add(-time.Minute), Session: session,
			Agent: "claude", Turn: n,
		}
		c.Event, c.Prompt, c.Parents, c.Current = "stop", api.Text(prompt), []string{"x"}, current
		return api.Row{
			Checkpoint: c, Session: session, Agent: "claude", Turn: n, Prompt: c.Prompt, Time: c.Time, Steps: 1, First: c.ID, Deleted: 1,
			Changes: []api.Change{{Path: "gone.go", Status: "deleted"}}, Current: current, Tools: []string{"Bash"},
		}
	}
	s := &answers{rows: []api.Row{row(3, "clean up 日本語 🎉 \x1b[31mred", true), row(2, "tabs are white space", false), row(1,
		"write a parser", false)}}
	for i := range s.rows[:2] {
		s.rows[i].Follows = &api.Link{Row: i + 1}
	}
	screen, _, _ := term.Test("", true, "NO_COLOR=1")
	screen.Now = func() time.Time { return now }
	m := newModel(context.Background(), s, screen, options{Dir: "/src/demo"})
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	settle(m, m.refresh())
	return m, s
}

func settle(m *model, cmd tea.Cmd) { (&plain{model: m}).settle(cmd) }

// press types keys by the names that bubbletea has for them.
func press(m *model, names ...string) {
	codes := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp},
		"down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "backspace": {Code: tea.KeyBackspace},
		"space": {Code: tea.KeySpace, Text: " "},
	}
	for _, n := range names {
		k, ok := codes[n]
		if !ok {
			k = tea.Key{Code: rune(n[0]), Text: n}
		}
		settle(m, m.press(tea.KeyPressMsg(k)))
	}
}

func text(m *model) string { return strings.Join(m.frame(), "\n") }

// TestFrames: every mode fits every terminal, and nothing that an agent wrote reaches it as it is.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {40, 24}, {160, 50}, {200, 10}, {20, 5}, {1, 1}} {
		for _, keys := range [][]string{
			nil, {"tab"}, {"tab", "tab"}, {"right"}, {"enter"}, {"enter", "h"}, {"enter", "f"}, {"enter", "enter"}, {"?"}, {
				"/", "i",
				"enter",
			}, {"x", "y", "z"},
		} {
			m, _ := opened(size[0], size[1])
			press(m, keys...)
			lines := m.frame()
			if len(lines) > size[1] {
				t.Errorf("%v %v: %d lines", size, keys, len(lines))
			}
			for _, l := range lines {
				if ansi.StringWidth(l) > size[0] || strings.Contains(l, "\x1b") {
					t.Errorf("%v %v: %q", size, keys, l)
				}
			}
		}
	}
}

// TestOpensOnHere: the last turn's damage is there without a key, and two keys take it back, bound by the plan that was
// seen.
func TestOpensOnHere(t *testing.T) {
	t.Parallel()
	m, s := opened(80, 24)
	for _, want := range []string{"> @  14:09  3", "D gone.go", "at turn:3 of claude 5f1c0d2e"} {
		if strings.Contains(want, "14:09") {
			want = "> @"
		}
		if !strings.Contains(text(m), want) {
			t.Errorf("%q is not in\n%s", want, text(m))
		}
	}
	press(m, "enter")
	if got := text(m); !strings.Contains(got, "Take back turn:3") || !strings.Contains(got, "would go to ab12ab1") || len(s.sent) > 0 {
		t.Fatalf("preview, %d sent:\n%s", len(s.sent), got)
	}
	press(m, "enter")
	if len(s.sent) != 1 || s.sent[0].Plan != "seen" || !strings.HasSuffix(string(s.sent[0].Checkpoint), "~1") {
		t.Fatalf("sent %+v", s.sent)
	}
	press(m, "u")
	if len(s.back) != 1 || s.back[0] != 7 {
		t.Errorf("taken back %v", s.back)
	}
	if press(m, "enter"); !m.leave {
		t.Error("Enter after what was done does not leave")
	}
}

// TestKeys: the keys of the help do what it says.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys []string
		want func(m *model) bool
	}{
		{[]string{"enter", "c"}, func(m *model) bool { return m.request().CodeOnly }},
		{[]string{"enter", "v"}, func(m *model) bool { return m.request().ContextOnly }},
		{[]string{"enter", "c", "b"}, func(m *model) bool { return !m.request().CodeOnly && !m.request().ContextOnly }},
		{[]string{"enter", "a"}, func(m *model) bool { return m.trip.place() == "turn:3@claude/5f1c0d2e-7a44-4c1b-9d55-0a1b2c3d4e5f" }},
		{[]string{"down", "enter", "e"}, func(m *model) bool { return m.trip.back }},
		{[]string{"enter", "x"}, func(m *model) bool { return m.request().Exact }},
		{[]string{"enter", "i"}, func(m *model) bool { return m.request().InPlace }},
		{[]string{"enter", "f"}, func(m *model) bool { return m.trip.forked != nil && m.trip.fork }},
		{[]string{"enter", "p", "space", "enter"}, func(m *model) bool { return len(m.request().Parts) == 1 }},
		{[]string{"enter", "h"}, func(m *model) bool { return m.mode == choosing && m.choice.hunks }},
		{[]string{"tab"}, func(m *model) bool { return m.side.tab == filesTab }},
		{[]string{"down"}, func(m *model) bool { return m.log.cursor == 1 }},
		{[]string{"down", "up"}, func(m *model) bool { return m.log.cursor == 0 }},
		{[]string{"right"}, func(m *model) bool { return len(m.log.entries) == 4 }},
		{[]string{"right", "left"}, func(m *model) bool { return len(m.log.entries) == 3 }},
		{[]string{"t", "a", "b", "s"}, func(m *model) bool { return len(m.log.entries) == 1 }},
		{[]string{"b", "A", "s", "h", "space", "r", "e", "d"}, func(m *model) bool { return len(m.log.entries) == 1 }},
		{[]string{"q", "q", "esc"}, func(m *model) bool { return len(m.log.entries) == 3 && !m.leave }},
		{[]string{"/", "i", "t", "enter"}, func(m *model) bool { return m.mode == finding && len(m.search.hits) == 1 }},
		{[]string{"?", "esc"}, func(m *model) bool { return m.mode == looking }},
		{[]string{"esc"}, func(m *model) bool { return m.leave }},
	} {
		m, s := opened(80, 24)
		if press(m, c.keys...); !c.want(m) || len(s.sent) > 0 {
			t.Errorf("%v: mode %d, %d sent\n%s", c.keys, m.mode, len(s.sent), text(m))
		}
	}
}

// TestUndoOfAFork: what is taken back of a fork is the new session, and that can be taken back, too.
func TestUndoOfAFork(t *testing.T) {
	t.Parallel()
	m, s := opened(80, 24)
	press(m, "enter", "f", "enter", "u")
	if !slices.Equal(s.deleted, []string{"claude/f0"}) || !strings.Contains(text(m), "taken back: ") || len(s.back) > 0 {
		t.Errorf("deleted %q, taken back %v\n%s", s.deleted, s.back, text(m))
	}
	if press(m, "u"); !slices.Equal(s.back, []uint64{9}) || len(s.deleted) != 1 {
		t.Errorf("taken back %v", s.back)
	}
}

// TestFirstRows has the rows that came with the picker shown without a question; those that do not come at once, and
// all later ones, are asked for.
func TestFirstRows(t *testing.T) {
	ctx := context.Background()
	shown, s := opened(80, 24)
	given := &api.ListResponse{Turns: s.rows[:1]}
	for _, c := range []struct {
		name        string
		give        func(rows chan *api.ListResponse)
		soon, first int // rows
	}{
		{"at once", func(rows chan *api.ListResponse) { rows <- given; close(rows) }, 1, 3},
		{"later", func(rows chan *api.ListResponse) {
			go func() { time.Sleep(2 * atOnce); rows <- given; close(rows) }()
		}, 0, 1},
		{"none", func(rows chan *api.ListResponse) { rows <- nil; close(rows) }, 0, 3},
		{"who asked has gone", func(rows chan *api.ListResponse) { close(rows) }, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &primed{source: s, rows: make(chan *api.ListResponse, 1)}
			c.give(p.rows)
			m := newModel(ctx, p, shown.screen, options{Dir: "/src/demo"})
			m.first = p.soon(ctx)
			if got := m.first != nil; got != (c.soon > 0) {
				t.Errorf("rows at once: %t", got)
			}
			if m.first == nil {
				r, err := p.List(ctx, api.ListRequest{})
				if err != nil || len(r.Turns) != c.first {
					t.Errorf("the first answer has %d rows (%v), want %d", len(r.Turns), err, c.first)
				}
			}
			m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
			settle(m, m.Init())
			if len(m.log.rows) != cmp.Or(c.soon, 3) || m.status == nil {
				t.Errorf("%d rows, status known: %t", len(m.log.rows), m.status != nil)
			}
		})
	}
}

// A turn that somebody went back into has two rows: each is asked for as what it is, and gone back to where it ends.
func TestTurnInTwoRows(t *testing.T) {
	t.Parallel()
	m, s := opened(80, 24)
	older := s.rows[0]
	older.Checkpoint.ID, older.Current = strings.Repeat("cd34", 16), false
	s.rows = []api.Row{s.rows[0], older, s.rows[1]}
	for i := range s.rows {
		s.rows[i].Follows = nil
	}
	settle(m, m.load())
	s.shown = nil
	press(m, "down")
	first := m.log.names[0].Name
	if to, ok := m.target(); !ok || to.name != older.Checkpoint.ID || first == to.name || !strings.HasPrefix(first, "turn:3@") {
		t.Errorf("%+v, %v", to, first)
	}
	if len(s.shown) != 1 || string(s.shown[0].Checkpoint) != first || s.shown[0].End != older.Checkpoint.ID || !s.shown[0].Whole {
		t.Errorf("asked %+v", s.shown)
	}
	press(m, "up")
	if to, _ := m.target(); to.name != first {
		t.Errorf("%+v", to)
	}
}

// Of a turn without code the conversation is what can be gone on with.
func TestTurnWithoutCode(t *testing.T) {
	t.Parallel()
	m, s := opened(80, 24)
	r := &s.rows[2]
	r.NoCode, r.Checkpoint, r.First, r.Steps = true, api.Checkpoint{Turn: 1, Session: r.Session}, "", 0
	settle(m, m.load())
	press(m, "down", "down")
	press(m, "enter")
	told := text(m)
	if m.trip.forked == nil || !strings.Contains(told, "Fork at turn:1") || strings.Contains(told, "before it") {
		t.Errorf("%s", text(m))
	}
	if press(m, "enter"); len(s.sent) > 0 || m.mode != did {
		t.Errorf("%+v\n%s", s.sent, text(m))
	}
}

// That the daemon does not answer stands over what is above the foot until it does.
func TestSaysThatTheDaemonIsSilent(t *testing.T) {
	m, _ := opened(80, 24)
	const said = "process 7 (rewindd) does not answer"
	_, look := m.Update(silent(said))
	if lines := m.frame(); lines[len(lines)-2] != said || !strings.Contains(lines[len(lines)-1], "Esc leave") {
		t.Errorf("not said:\n%s", text(m))
	}
	if _, again := m.Update(silent(said)); again != nil {
		t.Error("a second request does not answer: asked once more")
	}
	if m.Update(look()); strings.Contains(text(m), said) {
		t.Errorf("it has answered:\n%s", text(m))
	}
}
