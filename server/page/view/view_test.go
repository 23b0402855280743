package view_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rewind/api"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/server/page/view"
)

// hostile is text as an agent, a repository or a person may have written it: markup, script, addresses that run,
// attributes that end, templates, control characters, marks that turn the direction of text, bytes that are none.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`,
	`javascript:alert(1)`,
	`</title><script>alert(1)</script>`, `</textarea><script>`, `<!--<script>`, `]]><script>`, `{{.Base}}{{template "layout"}}`,
	`${alert(1)}`,
	"<\x00script>alert(1)</script>", "\u202e<script>\u202c", "a\x1b[31mb\x1b]8;;http://evil\x07", "\xff\xfe<b>\xc3", "<scr\nipt>",
	"＜script＞",
	`<a href="//evil.example">x</a>`, `<base href=//evil.example>`, `<style>@import'//evil'</style>`, `<iframe srcdoc='<script>'>`,
	`&lt;script&gt;`,
	`%3Cscript%3E`, `../../../etc/passwd`, `--exact`, strings.Repeat("<b>", 300), `<meta http-equiv=refresh content=0>`,
	`<form action=//evil>`,
}

// frame is that of a project with a hostile name.
func frame(name string) view.Frame {
	return view.Frame{Base: "/ab12cd34", Zone: time.UTC, Now: at.Add(time.Hour), Project: "p1", Name: name, Root: "/" + name}
}

var at = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// pages are all views, with a text wherever text can stand.
func pages(text string) map[string]view.Page {
	f, x := frame(text), api.Text(text)
	cp := api.Checkpoint{
		ID: "aa", Short: "aa", Session: "claude/" + text, Agent: api.Agent(text), Turn: 3, Prompt: x, Event: text, Message: x, Time: at,
		Git: &api.Head{Commit: text, Branch: text}, Tags: []string{text},
	}
	change := api.Change{Path: x, RenamedFrom: x, Status: "modified", OldMode: text, NewMode: "b"}
	lines := textdiff.Diff([]byte("a\nb\n"), []byte("a\n"+text+"\n"), 3).Hunks
	files := []api.FileDiff{{Change: change, Note: text, Hunks: lines, Added: 1}}
	row := api.Row{
		Checkpoint: cp, Session: cp.Session, Agent: cp.Agent, Turn: 3, Prompt: x, Time: at, Changes: []api.Change{change}, Left: 1,
		Modified: 1, Steps: 2, Title: x, Forks: 2,
	}
	fork := &api.Lineage{Session: text, Turn: 2, Checkpoint: "bb", NoCode: x}
	branch := api.Branch{
		ID: text, Session: "claude/" + text, Agent: api.Agent(text), Title: x, Parent: text, Depth: 1, Fork: fork, Git: cp.Git, Last: at,
		Conflicts: []api.Clash{{Session: text, Files: 1}}, Clashes: 1,
	}
	moment := &api.Moment{ID: text, Short: text, Turn: 1, Prompt: x, Message: x, Time: at}
	show := &api.ShowResponse{
		Checkpoint: cp, Files: files, Asked: &api.Message{Text: x}, Answered: &api.Message{Text: x}, Conversation: x,
		Messages: []api.Message{{Who: text, Text: x, Calls: []api.ToolCall{{Name: x, Target: x}}}},
	}
	turn, step := *show, *show
	turn.Whole, step.Checkpoint.Message, step.Checkpoint.Tool = &row, "", &api.Tool{Name: x}
	step.Checkpoint.Target, step.Checkpoint.Event = x, "post-tool-use"
	restore := &api.RestoreResponse{
		Safety: &cp, Behind: &api.Behind{Session: text, Turns: 1, Checkpoints: 2}, KeptFor: x,
		Target: cp, Plan: text, Changes: []api.Change{change}, Kept: []api.Kept{{Path: x, Reason: value.KeptSession, By: text}},
		Taken: []api.Taken{{By: text, Paths: []api.Text{x}}}, Conflicts: []api.Conflict{{Path: x, Reason: text}},
		Merges: []api.Merge{{Path: x}}, Notices: []string{text}, Operation: 7,
		TakenBack: x, TakenToo: []api.Text{x},
		AtWork:       []api.AtWork{{Session: text, Known: value.WorkCall, Tools: []api.Tool{{Name: x}}, Type: x, Files: 2}},
		Conversation: &api.Conversation{Mode: "fork", Fork: &api.Fork{Title: x, Why: x}, Resume: []string{"claude", text}, Why: x},
	}
	sheet := view.Sheet{Verb: "checkout", Name: text, Title: text, Tag: text, Dir: text, Path: text, What: text}
	f.Restore(&sheet, restore)
	timeline := view.Timeline{
		Rows: f.Rows([]api.Row{row}, "aa"), Branches: f.Branches([]api.Branch{branch}, ""), Moment: f.Detail(show, ""), Title: text,
		Older: f.Path("x"), Empty: text,
	}
	compare := &api.CompareResponse{
		Ancestor: &api.Ancestor{Session: text, Checkpoint: text, Prompt: x, Turn: 1}, NoFork: x,
		A: api.CompareSide{Session: text, Title: x, Files: files, Turns: []api.CompareTurn{{
			Session: text, Turn: 1, Prompt: x,
			Checkpoints: 1,
		}}},
		B: api.CompareSide{Session: text}, Conflicts: []api.Overlap{{
			Path: x, Verdict: value.OverlapVerdict(text),
			Reason: value.MergeReason(text),
		}},
	}
	grep := &api.GrepResponse{
		Matches: []api.Match{{Path: x, Text: x, Spans: []api.FoundSpan{{First: *moment, Last: *moment}}}},
		Names:   []api.Match{{Path: x, Spans: []api.FoundSpan{{First: *moment, Last: *moment, Gone: moment}}}},
		Said:    []api.Said{{Session: text, Title: x, Who: text, Text: x, Turn: 2}},
	}
	ops := []api.Operation{{
		Kind: text, What: text, From: moment, To: moment, Time: at, CanUndo: true,
		Managed: []api.Managed{{Session: text}},
	}}
	blame := &api.BlameResponse{First: 1, Lines: []api.BlamedLine{{Text: x}}, Origins: []api.Origin{{Moment: *moment}}}
	history := []api.PathsCheckpoint{{Checkpoint: cp}}
	r := view.RoomOfList()
	return map[string]view.Page{
		"projects":   view.Projects(f, []api.Store{{ID: "p1", Root: x, Wrong: x}}, 0),
		"timeline":   view.Log(f, timeline),
		"checkpoint": view.Checkpoint(f, f.Detail(show, "")),
		"turn":       view.Checkpoint(f, f.Detail(&turn, "")),
		"step":       view.Checkpoint(f, f.Detail(&step, text)),
		"steps":      view.TurnSteps(f, "/ab12cd34/x", []api.Checkpoint{step.Checkpoint}, 0),
		"tree": view.Branching(f, f.DrawTree(&api.TreeResponse{
			Branches: []api.Branch{{Branch: text, Session: text, Title: x}, branch},
			Places:   []api.Place{{Branch: text}, {Branch: branch.Branch, Parent: branch.Parent, Depth: branch.Depth}},
		})),
		"compare":  view.Compare(f, "/ab12cd34/compare", compare),
		"between":  view.Between(f, "/ab12cd34/diff", &api.DiffResponse{From: cp, To: &cp, Files: files}),
		"restores": view.Restores(f, ops, 0),
		"find":     view.Find(f, f.Found(text, []api.Row{row}, grep, errors.New(text), &r)),
		"lanes":    view.Time(f, f.DrawLanes([]api.Row{row}, ops, view.Window{Before: 9, Next: 7, Zoom: 2})),
		"files":    view.Directory(f, text, text, []api.Text{x, x + "/"}, 0),
		"file":     view.Content(f, text, text, []byte(text), false, nil, history, view.Place{}),
		"hit": view.Content(f, text, text, []byte(text), false, nil, history,
			view.Place{Line: 1, Words: text, Whose: blame}),
		"blame":   view.Content(f, text, text, nil, false, blame, history, view.Place{}),
		"ask":     view.Ask(f, sheet),
		"done":    view.Done(f, sheet),
		"failed":  view.Failed(f, 404, &api.Error{Message: text, Hint: text, Candidates: []string{text}}),
		"refused": view.Refused(f.Base, 401, text),
	}
}

var (
	markup  = regexp.MustCompile(`<[a-zA-Z/!][^>]*>`) // every tag of a document, with its attributes
	quoted  = regexp.MustCompile(`"[^"]*"`)           // their values
	handler = regexp.MustCompile(`(?i)[\s"']on\w+\s*=`)
	address = regexp.MustCompile(`(?i)(?:href|src|action|formaction|data)="([^"]*)"`)
)

// TestTextIsNeverMarkup (T16): whatever a text is, a view has the same elements in the same order as with a plain word,
// none with a handler or an address that runs or leads elsewhere, and no control characters.
func TestTextIsNeverMarkup(t *testing.T) {
	elements := func(name, text string) []string {
		var b bytes.Buffer
		p := pages(text)[name]
		if err := errors.Join(p.Begin(&b), p.Write(&b, "")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		doc := b.String()
		var tags []string
		for _, tag := range markup.FindAllString(doc, -1) {
			tags = append(tags, strings.Fields(strings.Trim(tag, "<>/ "))[0])
			if bare := quoted.ReplaceAllString(tag, `""`); handler.MatchString(bare) || strings.ContainsAny(bare, "'<>`"[:1]) {
				t.Errorf("%s with %q: %s", name, text, tag)
			}
			for _, a := range address.FindAllStringSubmatch(tag, -1) {
				if !strings.HasPrefix(a[1], "/ab12cd34/") && a[1] != "#main" {
					t.Errorf("%s with %q: %s", name, text, tag)
				}
			}
		}
		for _, r := range markup.ReplaceAllString(doc, "") {
			if r < ' ' && r != '\n' && r != '\t' || r == '\u202e' || r == '\x7f' {
				t.Errorf("%s with %q: a character %#x", name, text, r)
				break
			}
		}
		return tags
	}
	for name := range pages("word") {
		plain := strings.Join(elements(name, "word"), " ")
		if !strings.HasPrefix(plain, "!doctype") {
			t.Errorf("%s is no document: %.40s", name, plain)
		}
		for _, text := range hostile {
			if strings.ContainsAny(text, "\n\x00\x1b") || !utf8.ValidString(text) { // a diff or file has more lines of it, or is none
				continue
			}
			if got := strings.Join(elements(name, text), " "); got != plain {
				t.Errorf("%s with %q has other elements:\n%s\n%s", name, text, got, plain)
			}
		}
	}
}

// What a dot of the lanes says is said in words: when, who, what was asked for, and which files.
func TestLaneWords(t *testing.T) {
	f := view.Frame{Now: at, Zone: time.UTC}
	row := func(agent api.Agent, turn uint64, when time.Time) api.Row {
		return api.Row{
			Time: when, Session: string(agent) + "/0199aaaa-1111", Agent: agent, Turn: turn, Prompt: "mend it",
			Modified: 5, Left: 1,
			Changes: []api.Change{{Path: "a.go"}, {Path: "b c.go"}, {Path: "d.go"}, {Path: "e.go"}},
		}
	}
	rows := []api.Row{row("codex", 2, at), row("claude", 1, at.AddDate(0, 0, -1)), row("", 0, at.AddDate(0, -1, 0))}
	restores := []api.Operation{{
		Kind: "checkout", Time: at.Add(-time.Hour),
		To: &api.Moment{ID: "abcdef0", Short: "abcdef0", Turn: 1, Prompt: "mend it"},
	}}
	l := f.DrawLanes(rows, restores, view.Window{Zoom: 1})
	for i, want := range []string{ // the session that began last is on top
		"10:00, codex turn 2: mend it (5 files: a.go, b c.go, d.go, …)",
		"Thu 10:00, claude turn 1: mend it (5 files: a.go, b c.go, d.go, …)",
		"20 Oct 10:00: mend it (5 files: a.go, b c.go, d.go, …)",
	} {
		if got := l.Lanes[i].Dots[0].Words; got != want {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
	if got := l.Restores[0].Words; got != "09:00, checkout to turn 1: mend it" {
		t.Errorf("%s", got)
	}
	if n := len(l.Agents); n != 3 || l.Agents[n-1].Name != "no agent" {
		t.Errorf("the legend: %+v", l.Agents)
	}
}

// Up to twelve sessions of one agent differ in the shade of the agent's colour or in the shape of their turns, and two
// that follow each other in both. The legend names each where they are few.
func TestLanesOfOneAgent(t *testing.T) {
	f := view.Frame{Now: at, Zone: time.UTC}
	drawn := func(sessions int) *view.Lanes {
		var rows []api.Row
		for i := range sessions {
			name := fmt.Sprint("attempt ", sessions-1-i)
			rows = append(rows, api.Row{
				Time: at.Add(-time.Duration(i) * time.Minute), Session: "claude/" + name, Agent: "claude", Turn: 1,
				Title: api.Text(name), Modified: 1,
			})
		}
		rows = append(rows, api.Row{Time: at.Add(-time.Hour), Session: "codex/1", Agent: "codex", Turn: 1})
		return f.DrawLanes(rows, nil, view.Window{Zoom: 1})
	}
	seen := map[string]string{}
	lanes := drawn(12).Lanes
	for i, l := range lanes {
		look := fmt.Sprint(l.Class, l.Shape)
		if other, ok := seen[look]; ok {
			t.Errorf("%s looks like %s", l.Name, other)
		}
		seen[look] = l.Name
		if i > 0 && (l.Class == lanes[i-1].Class || l.Shape == lanes[i-1].Shape && l.Agent != "codex") {
			t.Errorf("%s and %s, which follow each other, have one shade or one shape", l.Name, lanes[i-1].Name)
		}
	}
	names := func(sessions int) (all []string) {
		for _, a := range drawn(sessions).Agents {
			all = append(all, a.Name)
		}
		return all
	}
	for sessions, want := range map[int]string{
		1:  "codex|claude",
		2:  "codex|claude: attempt 0|claude: attempt 1",
		12: "codex|claude, 12 sessions: each has its sign beside its name",
	} {
		if got := strings.Join(names(sessions), "|"); got != want {
			t.Errorf("the legend of %d sessions: %s", sessions, got)
		}
	}
}

// One row is chosen, also before rows that have no checkpoint.
func TestOneIsChosen(t *testing.T) {
	row := api.Row{NoCode: true, Session: "claude/1a2b", Agent: "claude", Turn: 2, Time: at}
	next := row
	next.Turn = 1
	rows := frame("p").Rows([]api.Row{row, next}, "turn:2@claude/1a2b")
	if !rows[0].Chosen || rows[1].Chosen {
		t.Errorf("chosen: %t, %t", rows[0].Chosen, rows[1].Chosen)
	}
}

// A turn without code is forked, and nothing else; its row says so.
func TestTurnWithoutCode(t *testing.T) {
	f := frame("p")
	row := api.Row{NoCode: true, Session: "claude/1a2b", Agent: "claude", Turn: 2, Prompt: "hello", Time: at}
	got := f.Rows([]api.Row{row}, "")[0]
	if got.Name != "turn:2@claude/1a2b" || got.Files != "no code was captured then" {
		t.Errorf("%+v", got)
	}
	d := f.Detail(&api.ShowResponse{Checkpoint: api.Checkpoint{Session: row.Session, Turn: 2}, Whole: &row}, "")
	var b bytes.Buffer
	if err := view.Checkpoint(f, d).Write(&b, ""); err != nil {
		t.Fatal(err)
	}
	doc := b.String()
	for text, want := range map[string]bool{
		`data-act="fork" data-name="turn:2@claude/1a2b"`: true, "no code was captured then": true,
		`data-act="checkout"`: false, `data-act="worktree"`: false, "Files then": false, "No file changed": false,
	} {
		if strings.Contains(doc, text) != want {
			t.Errorf("%s: %t in %s", text, !want, doc)
		}
	}
}

// A session that its agent has lost is marked, with the command that brings it back.
func TestLost(t *testing.T) {
	f := frame("p")
	b := api.Branch{Branch: "claude/1a2b3c4d-x", Session: "claude/1a2b3c4d-x", Loss: "gone", Title: "t"}
	branches := f.Branches([]api.Branch{b}, b.Branch)
	var doc bytes.Buffer
	page := view.Log(f, view.Timeline{Branches: branches, Head: &branches[0]})
	if err := page.Write(&doc, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"its file is gone", "<code>rewind sessions restore 1a2b3c4d</code>"} {
		if !strings.Contains(doc.String(), want) {
			t.Errorf("%q is not in %s", want, doc.String())
		}
	}
}

// Times are told as a person would, in the zone of the browser.
func TestMoments(t *testing.T) {
	zone := time.FixedZone("", 3600)
	f := view.Frame{Now: time.Date(2026, 11, 25, 9, 0, 0, 0, zone), Zone: zone}
	for when, want := range map[time.Time]string{
		time.Date(2026, 11, 25, 0, 5, 0, 0, zone):     "00:05",
		time.Date(2026, 11, 24, 23, 5, 0, 0, zone):    "Tue 23:05",
		time.Date(2026, 11, 19, 23, 5, 0, 0, zone):    "Thu 23:05",
		time.Date(2026, 11, 18, 23, 5, 0, 0, zone):    "18 Nov",
		time.Date(2025, 11, 18, 23, 5, 0, 0, zone):    "2025-11-18",
		time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC): "04:00",
	} {
		rows := f.Rows([]api.Row{{Time: when}}, "")
		if rows[0].When.Text != want {
			t.Errorf("%v is %q, not %q", when, rows[0].When.Text, want)
		}
	}
}

// Lanes: whatever the times, a later turn stands to the right of an earlier one, none outside of the drawing, and a pause takes no more
// room than any other.
func TestLanes(t *testing.T) {
	f := view.Frame{Now: at, Zone: time.UTC}
	for name, every := range map[string]func(i int) time.Duration{
		"a burst": func(int) time.Duration { return time.Millisecond }, "an hour each": func(int) time.Duration { return time.Hour },
		"minutes": func(i int) time.Duration { return time.Duration(i%9+1) * time.Minute },
		"days between bursts": func(i int) time.Duration {
			if i%20 == 0 {
				return 40 * time.Hour
			}
			return 10 * time.Millisecond
		},
		"as before": func(i int) time.Duration { return time.Duration(i%2) * time.Second },
	} {
		rows, now := make([]api.Row, 120), at
		for i := range rows { // the newest first
			rows[i] = api.Row{Time: now, Session: fmt.Sprint("claude/", i%3), Agent: "claude", Turn: 1, Title: "it"}
			now = now.Add(-every(i))
		}
		l := f.DrawLanes(rows, nil, view.Window{Zoom: 1})
		last, dots := map[int]int{}, 0
		for n, lane := range l.Lanes {
			for _, d := range lane.Dots {
				if dots++; d.X < last[n] || d.X > l.Width {
					t.Errorf("%s: a turn at %d of %d, behind one at %d", name, d.X, l.Width, last[n])
				}
				last[n] = d.X
			}
			if lane.Name != "it" {
				t.Errorf("%s: a lane is called %q", name, lane.Name)
			}
		}
		if dots != len(rows) {
			t.Errorf("%s: %d turns of %d", name, dots, len(rows))
		}
		if first := l.Lanes[0].Dots; name == "a burst" && first[len(first)-1].X-first[0].X < 400 {
			t.Errorf("a burst is a heap: %d to %d", first[0].X, first[len(first)-1].X)
		}
		for i := 1; i < len(l.Ticks); i++ {
			if l.Ticks[i].X-l.Ticks[i-1].X < 80 {
				t.Errorf("%s: times lie on each other at %d", name, l.Ticks[i].X)
			}
		}
		if n := len(l.Ticks); n < 4 && name != "a burst" || n == 0 || l.Ticks[n-1].X+80 > l.Width {
			t.Errorf("%s: %d times on %d pixels: %+v", name, n, l.Width, l.Ticks)
		}
		if wide := f.DrawLanes(rows, nil, view.Window{Zoom: 4}); wide.Width < 2*l.Width {
			t.Errorf("%s: %d pixels, zoomed %d", name, l.Width, wide.Width)
		}
	}
}

// A sheet has the prompt that is taken back, the next ones as they begin, and how many more go.
func TestPromptsThatGo(t *testing.T) {
	r := &api.RestoreResponse{TakenBack: "the first\nof all", TakenMore: 3}
	for n := range 10 {
		r.TakenToo = append(r.TakenToo, api.Text(fmt.Sprintf("prompt %d\n%s", n, strings.Repeat("x", 200))))
	}
	s := view.Sheet{Verb: "checkout", Name: "turn:1"}
	frame("p").Restore(&s, r)
	if s.Prompt != "the first\nof all" || len(s.With) != 9 || s.With[8] != "and 5 more" {
		t.Fatalf("%q, and with it %q", s.Prompt, s.With)
	}
	if first := s.With[0]; !strings.HasPrefix(first, "prompt 0 xxx") || len(first) > 110 {
		t.Errorf("a prompt is told as %q", first)
	}
}
