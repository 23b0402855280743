package view_test

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/server/page/view"
)

// What docs/page.md says of the limits is what they are.
func TestLimitsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("src", "ask.ts"))
	if err != nil {
		t.Fatal(err)
	}
	wait := strconv.Itoa(int(view.SkeletonAfter / time.Millisecond))
	for _, row := range []string{
		"| an answer | " + term.Count(view.MaxBytes) + " bytes |",
		"| a document | " + term.Count(view.MaxNodes) + " elements |",
		"| a file, at first | " + term.Count(view.FileLines) + " lines |",
		"| all files of an answer | " + term.Count(view.ViewLines) + " lines |",
		"| until the outline of what is to come is drawn | " + wait + " ms |",
	} {
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/page.md has no row %q", row)
		}
	}
	if !strings.Contains(string(script), "skeletonAfter = "+wait+";") {
		t.Error("the script waits for another time")
	}
}

// weigh renders a document, or a part of one, and holds it against the limits.
func weigh(t *testing.T, name string, p view.Page, part string) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	if part == "" {
		err = p.Begin(&b)
	}
	if err == nil {
		err = p.Write(&b, part)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	nodes := 0
	for _, tag := range markup.FindAllString(b.String(), -1) {
		if tag[1] != '/' && tag[1] != '!' {
			nodes++
		}
	}
	if b.Len() > view.MaxBytes || nodes > view.MaxNodes {
		t.Errorf("%s has %d bytes and %d elements", name, b.Len(), nodes)
	}
	return b.String()
}

// several is a list of so many.
func several[T any](n int, one func(i int) T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = one(i)
	}
	return out
}

// lines is a text of so many lines.
func lines(n int, text string) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", text, i)
	}
	return b.Bytes()
}

func fileOf(path string, old, now []byte) api.FileDiff {
	d := api.FileDiff{Change: api.Change{Path: api.Text(path), Status: "modified"}, Hunks: textdiff.Diff(old, now,
		3).Hunks}
	d.Added, d.Removed = textdiff.Stat(d.Hunks)
	return d
}

// TestBounded: whatever is in a project, no answer is larger than the limits: texts of any length and of characters
// that
// are escaped, and lists of any length, all at once.
func TestBounded(t *testing.T) {
	for name, text := range map[string]string{
		"plain": strings.Repeat("word ", 2_000), "escaped": strings.Repeat("<&+\"\u202e\x01\xff", 1_000), "short": "x",
	} {
		for _, n := range []int{1, 400} {
			for view, page := range largePages(text, n) {
				name := fmt.Sprintf("%s of %d, %s", view, n, name)
				_, part, _ := strings.Cut(view, " ")
				weigh(t, name, page, part)
			}
		}
	}
}

// apart gives each row a session of its own, and has half of them follow a pause.
func apart(rows []api.Row) []api.Row {
	when := at
	for i := range rows {
		rows[i].Session, rows[i].Time = fmt.Sprintf("claude/0199aaaa-1111-4222-8333-%012d", i), when
		when = when.Add(-time.Duration(i%2*59+1) * time.Minute)
	}
	return rows
}

func largePages(text string, n int) map[string]view.Page {
	f, x := frame("notes"), api.Text(text)
	f.Query = "it"
	now := at
	cp := api.Checkpoint{
		ID: "aa", Short: "aa", Session: "claude/1a2b3c4d", Agent: "claude", Turn: 3, Prompt: x, Event: "stop",
		Message: x, Time: now,
		Tags: several(n, func(int) string { return text }),
	}
	path := func(i int) api.Text { return api.Text(fmt.Sprint(i, "-", text[:min(len(text), 4000)])) }
	change := func(i int) api.Change { return api.Change{Path: path(i), RenamedFrom: path(i), Status: "modified"} }
	hunks := textdiff.Diff([]byte("a\n"), []byte("a\n"+text+"\n"), 3).Hunks
	files := several(n, func(i int) api.FileDiff { return api.FileDiff{Change: change(i), Hunks: hunks, Added: 1} })
	row := api.Row{
		Checkpoint: cp, Session: cp.Session, Agent: "claude", Turn: 3, Prompt: x, Time: now, Title: x, Steps: 5,
		Changes: several(min(n, 20), change), Left: 1, Modified: n, Forks: n,
	}
	rows := func(n int) []api.Row { return several(n, func(int) api.Row { return row }) }
	branch := func(i int) api.Branch {
		return api.Branch{
			Branch: fmt.Sprint("claude/", i), Session: fmt.Sprint("claude/", i), Title: x, Parent: "claude/0",
			Agent: "claude",
			Fork:  &api.Lineage{Session: "claude/0", Turn: 2, Checkpoint: "bb", NoCode: x}, Last: now, Loss: "gone",
			Conflicts: several(n, func(int) api.Clash { return api.Clash{Session: "claude/1", Files: 1} }),
		}
	}
	message := api.Message{Who: "tool", Text: x[:min(len(x), 4096)], Time: now, Calls: several(n,
		func(int) api.ToolCall {
			return api.ToolCall{Name: x, Target: x}
		})}
	show := &api.ShowResponse{
		Checkpoint: cp, Whole: &row, Files: files, Asked: &message, Answered: &message,
		NotCaptured: several(n, func(i int) api.Uncaptured { return api.Uncaptured{Path: path(i)} }),
	}
	detail := f.Detail(show, "")
	f.Said(detail, &api.MessagesResponse{Session: cp.Session, Messages: several(30,
		func(int) api.Message { return message })})
	r, r2 := view.RoomOfList(), view.RoomOfList()
	moment := api.Moment{ID: "aa", Short: "aa", Turn: 1, Prompt: x, Time: now}
	grep := &api.GrepResponse{
		Matches: several(min(n, 80), func(i int) api.Match {
			return api.Match{Path: path(i), Text: x, Spans: []api.FoundSpan{{First: moment, Last: moment}}}
		}),
		Names: several(min(n, 80), func(i int) api.Match {
			return api.Match{Path: path(i), Spans: []api.FoundSpan{{First: moment, Last: moment, Gone: &moment}}}
		}),
		Said: several(min(n, 80), func(int) api.Said {
			return api.Said{
				Session: cp.Session, Title: x, Who: "user",
				Text: x, Turn: 2, Copies: 3,
			}
		}),
	}
	ops := several(n, func(int) api.Operation {
		return api.Operation{
			Kind: "checkout", From: &moment, To: &api.Moment{ID: "bb", Prompt: x, Turn: 2},
			Time: now, CanUndo: true,
		}
	})
	side := api.CompareSide{Session: cp.Session, Title: x, Files: files, Turns: several(n, func(i int) api.CompareTurn {
		return api.CompareTurn{Session: cp.Session, Turn: uint64(i + 1), Prompt: x, Checkpoints: 1}
	})}
	compare := &api.CompareResponse{
		A: side, B: side, Ancestor: &api.Ancestor{Session: cp.Session, Checkpoint: "aa", Prompt: x, Turn: 1},
		Conflicts: several(n, func(i int) api.Overlap { return api.Overlap{Path: path(i), Verdict: "collide"} }),
	}
	restore := &api.RestoreResponse{
		Target: cp, Plan: "p", Changes: several(n, change), TakenBack: x, Operation: 7, Safety: &cp,
		Kept: several(n, func(i int) api.Kept {
			return api.Kept{Path: path(i), Reason: value.KeptSession, By: fmt.Sprint("claude/", i)}
		}),
		Taken: several(n, func(i int) api.Taken {
			return api.Taken{
				By:    fmt.Sprint("claude/", i),
				Paths: []api.Text{path(i)},
			}
		}),
		Yours:     several(n, path),
		TakenToo:  several(n, func(int) api.Text { return x }),
		TakenMore: n,
		Conflicts: several(n, func(i int) api.Conflict { return api.Conflict{Path: path(i), Reason: text} }),
		Merges:    several(n, func(i int) api.Merge { return api.Merge{Path: path(i), Verdict: value.MergeConflict} }),
		Becomes:   files[:min(len(files), view.Becoming)],
		AtWork: several(n, func(int) api.AtWork {
			return api.AtWork{Session: cp.Session, Known: value.WorkCall, Tools: []api.Tool{{Name: x}}, Type: x}
		}),
		Notices: several(n, func(int) string { return text }),
	}
	ask, done := view.Sheet{Verb: "checkout", Name: "turn:3"}, view.Sheet{Verb: "checkout", Name: "turn:3"}
	f.Restore(&ask, restore)
	f.Restore(&done, restore)
	few := view.Sheet{Verb: "checkout", Name: "turn:3"}
	f.Restore(&few, &api.RestoreResponse{
		Target: cp, Plan: "p", DryRun: true, Changes: several(1, change), Kept: restore.Kept, Yours: restore.Yours,
		Notices: restore.Notices,
	})
	if _, paths := few.Wants(); len(paths) != 1 {
		panic("a preview of one file shows nothing of it")
	}
	few.Show(files)
	content := lines(n, text[:min(len(text), 900)])
	blame := &api.BlameResponse{
		First:   1,
		Lines:   several(n, func(i int) api.BlamedLine { return api.BlamedLine{Text: x, Origin: i} }),
		Origins: several(n, func(int) api.Origin { return api.Origin{Moment: moment} }),
	}
	branches := func(n int) []api.Branch { return several(n, branch) }
	tree := &api.TreeResponse{From: 24, Branches: several(24, func(i int) api.Branch { return branch(24 + i) })}
	for i := range max(n, 48) {
		one := branch(i)
		if i > 0 {
			one.Depth = 1
		}
		tree.Places = append(tree.Places, api.Place{
			Branch: one.Branch,
			Parent: map[bool]string{true: one.Parent}[i > 0], Depth: one.Depth,
		})
	}
	log := view.Timeline{
		Rows: f.Rows(rows(24), ""), Moment: detail, Title: text, Older: "/ab12cd34/p", HalfDone: "checkout",
		Degraded: text,
		Head:     &f.Branches(branches(1), "")[0], Resume: text, Ahead: f.Ahead(several(n, func(int) api.Ahead {
			return api.Ahead{Title: x, Turns: several(n, func(int) api.Turn {
				return api.Turn{
					Turn: 1, Prompt: x,
					Checkpoint: "aa",
				}
			})}
		})),
	}
	pieceOf := func(file string, line, at int) view.Piece {
		words := url.Values{"file": {file}, "line": {strconv.Itoa(line)}, "at": {strconv.Itoa(at)}}
		return view.PieceOf(&url.URL{Path: "/p/x", RawQuery: words.Encode()}, "/ab12cd34")
	}
	piece, one, rest := pieceOf("", 0, 0), pieceOf("big.txt", 0, 0), pieceOf(string(files[0].Path), 1, 10)
	big := []api.FileDiff{fileOf("big.txt", nil, lines(20*n, text[:min(len(text), 900)])), fileOf("other.txt",
		[]byte("a\n"), []byte("b\n"))}
	changed := []api.FileDiff{fileOf("big.txt", lines(6*n, "old a b c"), lines(6*n, "new a x c"))}
	return map[string]view.Page{
		"log": view.Log(f, log), "log moment": view.Checkpoint(f, detail), "log rows": view.Log(f, log),
		"log side":   view.Log(f, view.Timeline{Branches: f.Branches(branches(24), "")}),
		"checkpoint": view.Checkpoint(f, detail), "change": view.Between(f, "/ab12cd34/d", &api.DiffResponse{
			From:  cp,
			Files: files,
		}),
		"added":      view.Between(f, "/ab12cd34/d", &api.DiffResponse{From: cp, Files: big}),
		"changed":    view.Between(f, "/ab12cd34/d", &api.DiffResponse{From: cp, Files: changed}),
		"more files": view.More(f, files, piece, detail), "more lines": view.More(f, big, one, nil),
		"more line": view.More(f, files, rest, nil), "piece lines": view.More(f, changed, one, nil),
		"steps":   view.TurnSteps(f, "/ab12cd34/s", several(n, func(int) api.Checkpoint { return cp }), 0),
		"tree":    view.Branching(f, f.DrawTree(tree)),
		"compare": view.Compare(f, "/ab12cd34/c", compare), "both overlaps": view.Overlaps(f, "/ab12cd34/c", compare,
			10),
		"restores": view.Restores(f, ops, 0),
		"find":     view.Find(f, f.Found("it", rows(min(n, 80)), grep, nil, &r)),
		"everywhere": view.FindAll(f, "it", several(min(n, 5), func(int) view.Found {
			return f.Found("it", rows(20), grep, nil, &r2)
		})),
		"lanes": view.Time(f, f.DrawLanes(apart(rows(min(n, 120))), ops[:min(n, 200)],
			view.Window{Before: 9, Next: 7, Zoom: 8})),
		"files": view.Directory(f, "aa", "", several(n, path), 0),
		"file": view.Content(f, "aa", "a.txt", content, false, nil, several(24,
			func(int) api.PathsCheckpoint { return api.PathsCheckpoint{Checkpoint: cp} }), view.Place{}),
		"hit": view.Content(f, "aa", "a.txt", content, false, nil, nil, view.Place{
			Line: bytes.Count(content, []byte("\n")) / 2, Words: "e",
			Whose: &api.BlameResponse{Lines: blame.Lines[:1], Origins: blame.Origins},
		}),
		"blame":     view.Content(f, "aa", "a.txt", content, false, blame, nil, view.Place{}),
		"rest line": view.RestOfLine(f, "/ab12cd34/f", content, view.Piece{Line: 1, At: 10}),
		"talk": view.Talk(f, "aa", &api.MessagesResponse{Session: cp.Session, Messages: several(200,
			func(int) api.Message { return message })}, view.TalkBefore),
		"ask": view.Ask(f, ask), "done": view.Done(f, done), "few": view.Ask(f, few),
		"projects": view.Projects(f, several(n, func(i int) api.Store {
			return api.Store{
				ID:   fmt.Sprint(i),
				Root: path(i), Wrong: x,
			}
		}), 0),
		"failed": view.Failed(f, 404, &api.Error{Message: text, Hint: text, Candidates: several(n,
			func(int) string { return text })}),
	}
}

// TestRestOnDemand: what an answer leaves out is behind its addresses, each line once and in order, to the last.
func TestRestOnDemand(t *testing.T) {
	f := frame("notes")
	list := []api.FileDiff{fileOf("big.txt", lines(3_000, "old"), lines(3_000, "new"))}
	doc := weigh(t, "big", view.Between(f, "/ab12cd34/d?from=a", &api.DiffResponse{Files: list}), "")
	if got := strings.Count(doc, "<ins") + strings.Count(doc, "<del"); got != view.FileLines {
		t.Errorf("%d lines come at first", got)
	}
	all := doc
	for n := 0; ; n++ {
		address, more := restOf(doc, "lines")
		if !more {
			break
		}
		if n > 20 {
			t.Fatal("it does not end")
		}
		doc = weigh(t, "more", view.More(f, list, view.PieceOf(address, ""), nil), "lines")
		all += doc
	}
	for _, side := range []string{"ins data-n", "del data-o"} {
		for i := range 3_000 {
			if n := strings.Count(all, fmt.Sprintf(`<%s="%d">`, side, i+1)); n != 1 {
				t.Fatalf("line %d of %s comes %d times", i+1, side, n)
			}
		}
	}
	long := strings.Repeat("0123456789", 100_000)
	list = []api.FileDiff{fileOf("long.txt", nil, []byte("first\n"+long+"\nlast\n"))}
	doc = weigh(t, "long", view.Between(f, "/ab12cd34/d", &api.DiffResponse{Files: list}), "")
	if !strings.Contains(doc, ">last</ins>") {
		t.Error("what follows a long line is not there")
	}
	text := strings.Repeat("0123456789", strings.Count(doc, "0123456789"))
	for n := 0; n < 20; n++ {
		address, more := restOf(doc, "line")
		if !more {
			break
		}
		doc = weigh(t, "line", view.More(f, list, view.PieceOf(address, ""), nil), "line")
		rest, _, _ := strings.Cut(doc, "<a")
		text += strings.TrimSpace(rest)
	}
	if text != long {
		t.Errorf("the long line comes with %d characters of %d", len(text), len(long))
	}
}

// restOf is the address of what is left out, of one kind.
func restOf(doc, kind string) (*url.URL, bool) {
	tag := regexp.MustCompile(`<a class="older" href="([^"]*)" data-more="` + kind + `"`).FindStringSubmatch(doc)
	if tag == nil {
		return nil, false
	}
	address, err := url.Parse(html.UnescapeString(tag[1]))
	return address, err == nil
}

// TestFolded: generated and large files have no lines before they are opened, others do.
func TestFolded(t *testing.T) {
	f := frame("notes")
	list := []api.FileDiff{
		fileOf("go.sum", nil, lines(5, "sum")), fileOf("a.min.js", nil, lines(5, "min")), fileOf("gen.go", nil,
			lines(3, "// Code generated by x. DO NOT EDIT.")),
		fileOf("huge.txt", nil, lines(view.ViewLines+1, "huge")), fileOf("plain.go", nil, lines(5, "plain")),
	}
	doc := weigh(t, "folded", view.Between(f, "/ab12cd34/d", &api.DiffResponse{Files: list}), "")
	for words, want := range map[string]bool{
		">sum 0<": false, ">min 0<": false, "DO NOT EDIT": false,
		">huge 0<": false, ">plain 0<": true,
	} {
		if strings.Contains(doc, words) != want {
			t.Errorf("%s: %t", words, !want)
		}
	}
	if n := strings.Count(doc, ">generated<"); n != 3 {
		t.Errorf("%d files are generated", n)
	}
	alone := weigh(t, "alone", view.Between(f, "/ab12cd34/d", &api.DiffResponse{Files: list[3:4]}), "")
	if !strings.Contains(alone, ">huge 0<") {
		t.Error("a large file by itself has no lines")
	}
}

// The tree draws one line for all that go on below a stretch, and those that end in it.
func TestTreeOfMany(t *testing.T) {
	f := frame("notes")
	tree := &api.TreeResponse{Branches: []api.Branch{{Branch: "claude/0"}, {Branch: "claude/1", Parent: "claude/0"}}}
	for i := range 1_000 {
		tree.Places = append(tree.Places, api.Place{
			Branch: fmt.Sprint("claude/", i),
			Parent: map[bool]string{true: "claude/0"}[i > 0], Depth: min(i, 1),
		})
	}
	if n := len(f.DrawTree(tree).Edges); n != 2 {
		t.Errorf("%d edges", n)
	}
}
