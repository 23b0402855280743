package picker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// answers is a source that has everything already.
type answers struct {
	rows []api.Row
	sent []api.CheckoutRequest // of what was not only looked at
	back []uint64              // operations that were taken back

	deleted []string // sessions
	more    int      // the rows of each list that is limited; 0: all
	keys    string   // picker.keys; "": vi
	shown   []api.ShowRequest
}

func (s *answers) List(_ context.Context, req api.ListRequest) (api.ListResponse, error) {
	if req.Turn != "" {
		return api.ListResponse{Checkpoints: []api.Checkpoint{s.rows[0].Checkpoint}}, nil
	}
	if s.more > 0 && req.Limit > 0 {
		return api.ListResponse{Turns: s.rows[:s.more], More: true}, nil
	}
	return api.ListResponse{Turns: s.rows}, nil
}

func (s *answers) Show(_ context.Context, req api.ShowRequest) (api.ShowResponse, error) {
	s.shown = append(s.shown, req)
	r := s.rows[0]
	if req.Messages > 0 {
		said := []api.Message{{Who: "user", Text: api.Text("said so\x1b[2J" + strings.Repeat("\nand on", 99))}}
		return api.ShowResponse{Checkpoint: r.Checkpoint, Messages: said}, nil
	}
	return api.ShowResponse{Checkpoint: r.Checkpoint, Whole: &r, Changes: r.Changes}, nil
}

func (s *answers) Status(context.Context, api.StatusRequest) (api.StatusResponse, error) {
	return api.StatusResponse{Root: "/src/demo", Current: &s.rows[0].Checkpoint}, nil
}

func (s *answers) Config(context.Context, api.ConfigRequest) (api.ConfigResponse, error) {
	return api.ConfigResponse{Settings: []api.Setting{{Key: "picker.keys", Value: cmp.Or(s.keys, "vi")}}}, nil
}

func (s *answers) Grep(_ context.Context, req api.GrepRequest) (api.GrepResponse, error) {
	if r := (api.GrepResponse{}); req.Pattern == "copied" {
		said := api.Said{Session: "claude/a1", Turn: 2, Who: "user", Text: "it was copied", Copies: 2}
		for range 3 {
			if r.Said = append(r.Said, said); req.Once {
				break
			}
		}
		return r, nil
	}
	return api.GrepResponse{Matches: []api.Match{{Path: "src/found.go", Line: 4, Text: "here it is", Now: true}}}, nil
}

func (s *answers) Diff(context.Context, api.DiffRequest) (api.DiffResponse, error) {
	return api.DiffResponse{Files: []api.FileDiff{{Change: api.Change{Path: "gone.go", Status: "added"}, Added: 1}}}, nil
}

func (s *answers) Checkout(_ context.Context, req api.CheckoutRequest) (api.RestoreResponse, error) {
	r := api.RestoreResponse{Kind: "checkout", Target: s.rows[0].Checkpoint, DryRun: req.DryRun, Plan: "seen"}
	r.Changes = []api.Change{{Path: "gone.go", Status: "added"}}
	r.Kept = []api.Kept{{Path: "new", Reason: value.KeptUnsaved}, {Path: "b", Reason: value.KeptSession, By: "claude/b"}}
	r.TakenBack = api.Text(strings.Repeat("a line\n", 9))
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
func opened(width, height int) (*model, *answers) { return openedWith(width, height, "") }

// openedWith is one whose letters do what a setting says.
func openedWith(width, height int, keys string) (*model, *answers) {
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
	s := &answers{keys: keys, rows: []api.Row{row(3, "clean up 日本語 🎉 \x1b[31mred", true), row(2, "tabs are white space", false), row(1,
		"write a parser", false)}}
	for i := range s.rows[:2] {
		s.rows[i].Follows = &api.Link{Row: i + 1}
	}
	screen, _, _ := term.Test("", true, "NO_COLOR=1")
	screen.Now = func() time.Time { return now }
	m := newModel(context.Background(), s, screen, options{Dir: "/src/demo"})
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	settle(m, tea.Batch(m.refresh(), m.settings()))
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
				"f", "i",
				"enter",
			}, {"/", "x", "y", "z"}, {"/", "a", "enter"},
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
	if len(s.sent) != 1 || s.sent[0].Plan != "seen" || !strings.HasPrefix(string(s.sent[0].Checkpoint), "before:3@") {
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
		{[]string{"down", "enter"}, func(m *model) bool {
			return m.trip.back && strings.HasPrefix(m.trip.title(), "Take back turn:2")
		}},
		{[]string{"enter", "a"}, func(m *model) bool {
			return m.trip.place() == "turn:3@claude/5f1c0d2e-7a44-4c1b-9d55-0a1b2c3d4e5f"
		}},
		{[]string{"down", "enter", "a", "e"}, func(m *model) bool { return m.trip.back }},
		{[]string{"enter", "x"}, func(m *model) bool { return m.request().Exact }},
		{[]string{"enter", "i"}, func(m *model) bool { return m.request().InPlace }},
		{[]string{"enter", "f"}, func(m *model) bool { return m.trip.forked != nil && m.trip.fork }},
		{[]string{"enter", "p", "space", "enter", "esc"}, func(m *model) bool { return m.mode == choosing }},
		{[]string{"enter", "p", "space", "enter", "esc", "esc"}, func(m *model) bool { return m.trip.restore != nil }},
		{[]string{"enter", "p", "space", "enter"}, func(m *model) bool { return len(m.request().Parts) == 1 }},
		{[]string{"enter", "h"}, func(m *model) bool { return m.mode == choosing && m.choice.hunks }},
		{[]string{"tab"}, func(m *model) bool { return m.side.tab == filesTab }},
		{[]string{"down"}, func(m *model) bool { return m.log.cursor == 1 }},
		{[]string{"down", "up"}, func(m *model) bool { return m.log.cursor == 0 }},
		{[]string{"right"}, func(m *model) bool { return len(m.log.entries) == 4 }},
		{[]string{"right", "left"}, func(m *model) bool { return len(m.log.entries) == 3 }},
		{[]string{"/", "t", "a", "b", "s"}, func(m *model) bool { return len(m.log.entries) == 1 && m.mode == typing }},
		{[]string{"/", "b", "A", "s", "h", "space", "r", "e", "d"}, func(m *model) bool {
			return len(m.log.entries) == 1
		}},
		{[]string{"/", "q", "q", "esc"}, func(m *model) bool {
			return len(m.log.entries) == 3 && !m.leave && m.mode == looking
		}},
		{[]string{"/", "t", "a", "b", "s", "enter"}, func(m *model) bool {
			return len(m.log.entries) == 1 && m.mode == looking
		}},
		{[]string{"/", "t", "a", "b", "s", "enter", "esc"}, func(m *model) bool {
			return len(m.log.entries) == 3 && !m.leave
		}},
		{[]string{"/", "e", "enter", "n"}, func(m *model) bool { return m.log.cursor == 1 }},
		{[]string{"/", "p", "a", "r", "enter", "esc", "g", "n"}, func(m *model) bool { return m.log.cursor == 2 }},
		{[]string{"/", "r", "e", "d", "enter", "esc", "G", "N"}, func(m *model) bool { return m.log.cursor == 0 }},
		{[]string{"n"}, func(m *model) bool { return m.log.cursor == 0 }},
		{[]string{"j", "j"}, func(m *model) bool { return m.log.cursor == 2 }},
		{[]string{"j", "j", "k"}, func(m *model) bool { return m.log.cursor == 1 }},
		{[]string{"G"}, func(m *model) bool { return m.log.cursor == 2 }},
		{[]string{"G", "g"}, func(m *model) bool { return m.log.cursor == 0 }},
		{[]string{"space"}, func(m *model) bool { return len(m.log.entries) == 4 }},
		{[]string{"space", "j", "space"}, func(m *model) bool { return len(m.log.entries) == 3 && m.log.cursor == 0 }},
		{[]string{"f", "i", "t", "enter"}, func(m *model) bool { return m.mode == finding && len(m.search.hits) == 1 }},
		{[]string{"f", "i", "t", "enter", "q"}, func(m *model) bool { return m.mode == looking && !m.leave }},
		{[]string{"q"}, func(m *model) bool { return m.leave }},
		{[]string{"enter", "q"}, func(m *model) bool { return m.mode == looking && !m.leave }},
		{[]string{"?", "esc"}, func(m *model) bool { return m.mode == looking }},
		{[]string{"esc"}, func(m *model) bool { return m.leave }},
	} {
		m, s := opened(80, 24)
		if press(m, c.keys...); !c.want(m) || len(s.sent) > 0 {
			t.Errorf("%v: mode %d, %d sent\n%s", c.keys, m.mode, len(s.sent), text(m))
		}
	}
}

// TestKeysOfFzf: with that setting letters filter at once, and the other keys do what they do.
func TestKeysOfFzf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys []string
		want func(m *model) bool
	}{
		{[]string{"t", "a", "b", "s"}, func(m *model) bool { return len(m.log.entries) == 1 }},
		{[]string{"q", "q", "esc"}, func(m *model) bool { return len(m.log.entries) == 3 && !m.leave }},
		{[]string{"t", "/", "?"}, func(m *model) bool { return m.log.query == "t/?" }},
		{[]string{"t", "enter"}, func(m *model) bool { return m.mode == going }},
		{[]string{"enter", "c", "esc", "t"}, func(m *model) bool { return m.log.query == "t" }},
		{[]string{"/", "i", "t", "enter", "esc", "t"}, func(m *model) bool { return m.log.query == "t" }},
		{[]string{"?", "esc", "t"}, func(m *model) bool { return m.log.query == "t" }},
		{[]string{"down"}, func(m *model) bool { return m.log.cursor == 1 }},
		{[]string{"esc"}, func(m *model) bool { return m.leave }},
	} {
		m, _ := openedWith(80, 24, "fzf")
		if !strings.Contains(text(m), "type to filter") || strings.Contains(strings.Join(m.helpLines(), "\n"), "j, ") {
			t.Fatalf("%s", text(m))
		}
		if press(m, c.keys...); !c.want(m) {
			t.Errorf("%v: mode %d\n%s", c.keys, m.mode, text(m))
		}
	}
}

// TestConversationOpensAtItsEnd: also when the answer comes later than the frame, and of each row that is chosen.
func TestConversationOpensAtItsEnd(t *testing.T) {
	t.Parallel()
	m, _ := opened(80, 24)
	for _, key := range []string{"tab", "down", "up"} {
		press := func(name string) tea.Cmd {
			return m.press(tea.KeyPressMsg(map[string]tea.Key{
				"tab": {Code: tea.KeyTab}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp},
			}[name]))
		}
		cmd := press(key)
		if key == "tab" {
			cmd = tea.Batch(cmd, press(key))
		}
		m.frame() // before there is an answer
		settle(m, cmd)
		if got := text(m); !strings.Contains(got, "-- here --") {
			t.Errorf("after %s:\n%s", key, got)
		}
	}
	press(m, "K")
	if got := text(m); strings.Contains(got, "-- here --") {
		t.Errorf("it does not scroll:\n%s", got)
	}
}

// TestEndIsTheEnd: with rows that are not here yet it asks for them, and stands on the oldest of all.
func TestEndIsTheEnd(t *testing.T) {
	t.Parallel()
	m, s := opened(80, 24)
	s.more = 2
	settle(m, m.load())
	if len(m.log.rows) != 2 || !m.log.more {
		t.Fatalf("%d rows", len(m.log.rows))
	}
	if press(m, "G"); len(m.log.rows) != 3 || m.log.cursor != 2 {
		t.Errorf("%d rows, at %d", len(m.log.rows), m.log.cursor)
	}
}

// TestWidths: what was deleted is seen on a narrow terminal, beside the names of two sessions, too; a wide one has
// tally and files in the log.
func TestWidths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width int
		want  []string
	}{
		{72, []string{" -40"}},
		{80, []string{" -40"}},
		{100, []string{" -40"}},
		{160, []string{"+1 ~2 -40", "14:09", "codex", "│ [Diff]"}},
		{200, []string{"+1 ~2 -40", "14:09", "codex", "-gone.go", "│ [Diff]"}},
	} {
		m, s := opened(c.width, 24)
		s.rows[0].Added, s.rows[0].Modified, s.rows[0].Deleted, s.rows[0].Left = 1, 2, 40, 42
		s.rows[1].Session, s.rows[1].Turn = "codex/01a1f866-12ce-7000-8000-0a1b2c3d4e5f", 120
		m.log.known = false
		settle(m, m.load())
		line, _, _ := strings.Cut(text(m)[strings.Index(text(m), "\n")+1:], "\n")
		all := line + text(m)
		for i, want := range c.want {
			if in := map[bool]string{true: line, false: all}[i == 0]; !strings.Contains(in, want) {
				t.Errorf("at %d columns %q is not in\n%s", c.width, want, text(m))
			}
		}
	}
}

// TestWords: keys of the picker are named, not flags of commands. A key of the preview is told as past once it is done.
func TestWords(t *testing.T) {
	t.Parallel()
	m, _ := opened(160, 50)
	press(m, "enter")
	takes := []string{"x takes them too", "x takes what"}
	did := []string{"x would have taken them too", "x would have taken what"}
	for _, words := range [][2][]string{{takes, did}, {did, takes}} {
		got := text(m)
		for i := range words[0] {
			if !strings.Contains(got, words[0][i]) || strings.Contains(got, words[1][i]) {
				t.Errorf("want %q, and not %q:\n%s", words[0][i], words[1][i], got)
			}
		}
		if strings.Contains(got, "--") || strings.Contains(got, "undo-restore") {
			t.Errorf("%s", got)
		}
		press(m, "enter")
	}
	for hint, want := range map[string]string{
		"--dry-run shows what would be done now, and its plan": "Enter shows what would be done now",
		"without --in-place a new session is made":             "without i (in place) a new session is made",
		"with --code-only the code goes":                       "with c the code goes",
	} {
		if got := keyed(hint); got != want {
			t.Errorf("%q", got)
		}
	}
}

// TestFindsCopiesOnce: what forks have as a copy is one line of a search, with a count.
func TestFindsCopiesOnce(t *testing.T) {
	t.Parallel()
	m, _ := opened(160, 24)
	press(m, "f", "c", "o", "p", "i", "e", "d", "enter")
	got := text(m)
	if strings.Count(got, "turn:2, user (+2)  it was copied") != 1 || !strings.Contains(got, "and in 2 forks of it") {
		t.Errorf("%s", got)
	}
}

// TestFarewellOfWhatWasUndone: what was taken back here is not told as done.
func TestFarewellOfWhatWasUndone(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"f", "b"} {
		m, _ := opened(80, 24)
		out := &strings.Builder{}
		press(m, "enter", key, "enter", "u")
		m.screen.Out, m.screen.Err = out, out
		m.farewell()
		if got := out.String(); strings.Contains(got, "forked") || strings.Contains(got, "gone.go") || got == "" {
			t.Errorf("%s:\n%s", key, got)
		}
		press(m, "u")
		out.Reset()
		m.farewell()
		if got := out.String(); !strings.Contains(got, "forked") && !strings.Contains(got, "gone.go") {
			t.Errorf("%s: it holds again, and is not told\n%s", key, got)
		}
	}
}

// TestNoMatch: a filter that leaves no row says where else to look, and counts no lines of another row.
func TestNoMatch(t *testing.T) {
	t.Parallel()
	m, _ := opened(80, 7)
	if got := text(m); !strings.Contains(got, "more line") {
		t.Fatalf("the text is not longer than the screen\n%s", got)
	}
	press(m, "/", "z", "z")
	if got := text(m); strings.Contains(got, "more line") || !strings.Contains(got, "Ctrl-F finds") {
		t.Errorf("%s", got)
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

// TestColumns: texts are as wide as a terminal shows them, whatever is in them.
func TestColumns(t *testing.T) {
	parts := []string{
		"plain", " │ ", "─╮", "\xe2\x94", "\x1b[1m", "\x1b[38;5;7m", "\x1b[m", "\x1b[2J", "\x1b[", "\x1b]8;;x\x07",
		"日", "é", "\u0301", "\u200d", "\ufe0f", "\t", "\x7f", "🎉",
	}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				if got, want := columns(a+b+c), ansi.StringWidth(a+b+c); got != want {
					t.Errorf("%q: %d columns, not %d", a+b+c, got, want)
				}
			}
		}
	}
}

// BenchmarkKey is a row down or up and the frame behind it, of a log of 2,000 turns: what a key takes beside the wait
// for the next frame.
func BenchmarkKey(b *testing.B) {
	m, src := opened(120, 40)
	rows := make([]api.Row, 2000)
	for i := range rows {
		rows[i] = src.rows[1]
		rows[i].Checkpoint.ID, rows[i].Current = fmt.Sprintf("%064x", i), i == 0
		if rows[i].Follows = nil; i+1 < len(rows) {
			rows[i].Follows = &api.Link{Row: i + 1}
		}
	}
	m.loaded(api.ListResponse{Turns: rows}, nil)
	keys := [2]tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyUp}}
	for n := 0; b.Loop(); n++ {
		m.Update(keys[n/20%2])
		m.View()
	}
}
