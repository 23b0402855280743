package find_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/find"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/gitinfo"
	"rewind/internal/value"
)

// numbered are lines, each with its number and a word.
func numbered(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, word, i+1)
	}
	return b.String()
}

// A past is three saves, and what a session did behind them.
type past struct {
	*enginetest.Project
	names map[string]string // of checkpoints, by their ids
}

func newPast(t *testing.T) past {
	t.Helper()
	p := past{enginetest.NewProject(t), map[string]string{}}
	save := func(name string) { p.names[p.Save(name).ID.String()] = name }
	link := func(to string) {
		p.Remove("link.txt")
		p.Must(os.Symlink(to, p.Path("link.txt")))
	}
	p.Write("a.txt", numbered("line", 20))
	p.Write("d/b.txt", "needle\nhay\n")
	link("needle")
	save("one")
	p.Must(os.Rename(p.Path("a.txt"), p.Path("c.txt")))
	p.Write("c.txt", numbered("line", 20)+"more\n")
	p.Write("d/b.txt", "needle\nstraw\n")
	p.Write("n.txt", "new\n")
	save("two")
	p.Write("d/b.txt", "straw\n")
	link("hay")
	save("three")
	p.Agent("one").Run("c", func() { p.Write("n.txt", "needle needle\n") })
	p.names[p.Listed()[0].ID.String()] = "agent"
	return p
}

// paths are the checkpoints that are found, each with its changes, the newest first.
func (p past) paths(o find.PathsOptions) (list []string) {
	p.T.Helper()
	r, err := p.E.Finder.Paths(enginetest.Bg, o)
	p.Must(err)
	for _, c := range r.Checkpoints {
		line := p.names[c.ID.String()]
		for _, ch := range c.Changes {
			line += " " + ch.Path
			if ch.From != "" {
				line += "<" + ch.From
			}
		}
		list = append(list, line)
	}
	if r.More {
		list = append(list, "more")
	}
	return list
}

// TestPaths: which checkpoints changed a path, a text or a line.
func TestPaths(t *testing.T) {
	p := newPast(t)
	ofB := []string{"three d/b.txt", "two d/b.txt", "one d/b.txt"}
	needles := []string{"agent n.txt", "three d/b.txt", "one d/b.txt"}
	of := history.Filter{Filter: value.Filter{Session: "claude/one"}}
	for what, tt := range map[string]struct {
		o    find.PathsOptions
		want []string
	}{
		"all": {find.PathsOptions{}, []string{
			"agent n.txt", "three d/b.txt link.txt", "two c.txt<a.txt d/b.txt n.txt",
			"one .agent a.txt d d/b.txt link.txt",
		}},
		"a name": {find.PathsOptions{Paths: []string{"c.txt"}}, []string{"two c.txt<a.txt", "one a.txt"}},
		"not followed": {
			find.PathsOptions{Paths: []string{"c.txt", "n.txt"}, NoFollow: true},
			[]string{"agent n.txt", "two c.txt n.txt"},
		},
		"a file":    {find.PathsOptions{Paths: []string{"d/b.txt"}}, ofB},
		"a pattern": {find.PathsOptions{Paths: []string{"*b.txt"}}, ofB},
		"in a directory": {
			find.PathsOptions{Paths: []string{"d/?.t*"}},
			[]string{"three d/b.txt", "two d/b.txt", "one d/b.txt"},
		},
		"at most one":   {find.PathsOptions{Limit: 1}, []string{"agent n.txt", "more"}},
		"at most three": {find.PathsOptions{Paths: []string{"d/b.txt"}, Limit: 3}, ofB},
		"a session's":   {find.PathsOptions{Filter: of}, []string{"agent n.txt"}},
		"a text":        {find.PathsOptions{Text: "needle"}, []string{"agent n.txt", "three d/b.txt", "one d/b.txt"}},
		"a text twice":  {find.PathsOptions{Text: "needle needle"}, []string{"agent n.txt"}},
		"one text":      {find.PathsOptions{Text: "needle", Limit: 1}, []string{"agent n.txt", "more"}},
		"three texts":   {find.PathsOptions{Text: "needle", Limit: 3}, needles},
		"a line": {
			find.PathsOptions{Changed: find.Pattern{Text: "^n.*le$"}},
			[]string{"agent n.txt", "three d/b.txt", "one d/b.txt"},
		},
		"a line of a path": {
			find.PathsOptions{Changed: find.Pattern{Text: "str[a]w"}, Paths: []string{"d"}},
			[]string{"two d/b.txt"},
		},
	} {
		enginetest.Equal(t, what, p.paths(tt.o), tt.want)
	}
	p.Write("n.txt", "unsaved\n")
	p.Checkout("@~1", restore.Options{})
	for all, want := range map[bool]string{false: "agent n.txt", true: " n.txt"} { // what it saved has no name here
		if got := p.paths(find.PathsOptions{Paths: []string{"n.txt"}, All: all, Limit: 1}); got[0] != want {
			t.Errorf("all %v: %q", all, got)
		}
	}
	if _, err := p.E.Finder.Paths(
		enginetest.Bg,
		find.PathsOptions{Paths: []string{"none"}},
	); !errors.Is(
		err,
		model.ErrNotFound,
	) {
		t.Errorf("a path that never was: %v", err)
	}
}

// TestGrep: the lines in the order of a walk, with the spans in which they were there.
func TestGrep(t *testing.T) {
	p, needle := newPast(t), find.Pattern{Text: "needle"}
	for what, tt := range map[string]struct {
		o    find.GrepOptions
		want []string
	}{
		"needles": {find.GrepOptions{Pattern: find.Pattern{Text: "needle"}}, []string{"d/b.txt 1", "n.txt 1"}},
		"as many as there are": {
			find.GrepOptions{Pattern: find.Pattern{Text: "needle"}, Limit: 2}, []string{"d/b.txt 1", "n.txt 1"},
		},
		"one of them":    {find.GrepOptions{Pattern: needle, Limit: 1}, []string{"d/b.txt 1", "more"}},
		"in a directory": {find.GrepOptions{Pattern: needle, Paths: []string{"d"}}, []string{"d/b.txt 1"}},
		"in any case": {
			find.GrepOptions{Pattern: find.Pattern{Text: "NEEDLE n", IgnoreCase: true}}, []string{"n.txt 1"},
		},
		"a word":       {find.GrepOptions{Pattern: find.Pattern{Text: "need", Word: true}}, nil},
		"a text":       {find.GrepOptions{Pattern: find.Pattern{Text: "needle.", Fixed: true}}, nil},
		"of a session": {find.GrepOptions{Pattern: needle, Session: "claude/one"}, []string{"n.txt 1"}},
	} {
		r, err := p.E.Finder.Grep(enginetest.Bg, tt.o)
		p.Must(err)
		var got []string
		for _, m := range r.Matches {
			got = append(got, fmt.Sprint(m.Path, " ", m.Line))
		}
		if r.More {
			got = append(got, "more")
		}
		enginetest.Equal(t, what, got, tt.want)
	}
	r, err := p.E.Finder.Grep(
		enginetest.Bg,
		find.GrepOptions{Pattern: find.Pattern{Text: "line 7"}, Before: 2, After: 3},
	)
	p.Must(err)
	for i, path := range []string{"a.txt", "c.txt"} {
		m := r.Matches[i]
		if m.Path != path || strings.Join(m.Before, ", ") != "line 5, line 6" ||
			strings.Join(m.After, ", ") != "line 8, line 9, line 10" {
			t.Errorf("around: %+v", m)
		}
		if gone := m.Spans[0].Gone != nil; len(m.Spans) != 1 || gone != (i == 0) || m.Now == gone {
			t.Errorf("spans: %+v", m)
		}
	}
}

// TestFiles: files by their names, also those that are gone, with what took them away.
func TestFiles(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a/Retry.go", "1\n")
	p.Write("retry.txt", "1\n")
	p.Save("")
	p.Write("a/Retry.go", "2\n")
	p.Write("retry.txt", "2\n")
	p.Save("")
	p.Remove("retry.txt")
	p.Save("without")
	o := find.GrepOptions{Pattern: find.Pattern{Text: "retry", Fixed: true, IgnoreCase: true}}
	r, err := p.E.Finder.Files(enginetest.Bg, o)
	p.Must(err)
	if len(r.Matches) != 2 || r.More {
		t.Fatalf("%+v", r)
	}
	there, gone := r.Matches[0], r.Matches[1]
	if there.Path != "a/Retry.go" || !there.Now || len(there.Spans) != 1 || there.Spans[0].Gone != nil {
		t.Errorf("what is there: %+v", there)
	}
	if gone.Path != "retry.txt" || gone.Now || len(gone.Spans) != 1 || gone.Spans[0].Gone.Cause.Message != "without" {
		t.Errorf("what is gone: %+v", gone)
	}
	o.Limit = 1
	if r, err = p.E.Finder.Files(enginetest.Bg, o); err != nil || len(r.Matches) != 1 || !r.More {
		t.Errorf("one of them: %+v, %v", r, err)
	}
}

// TestGrepSpans: of a line that came and went often the newest sixteen spans are told, and how many are older.
func TestGrepSpans(t *testing.T) {
	p := enginetest.NewProject(t)
	for i := range 18 {
		p.Write("f", "needle\n")
		p.Save("")
		p.Write("f", fmt.Sprintln(i))
		p.Save("")
	}
	r, err := p.E.Finder.Grep(enginetest.Bg, find.GrepOptions{Pattern: find.Pattern{Text: "needle"}})
	p.Must(err)
	if len(r.Matches) != 1 || len(r.Matches[0].Spans) != 16 || r.Matches[0].Older != 2 {
		t.Errorf("%+v", r.Matches)
	}
}

// TestGrepOrder: paths are in the order of a walk.
func TestGrepOrder(t *testing.T) {
	p := enginetest.NewProject(t)
	want := []string{"a", "b", "c/a", "c/b", "c.txt", "d", "e", "f"}
	for _, name := range want {
		p.Write(name, "needle\n")
	}
	p.Save("")
	r, err := p.E.Finder.Grep(enginetest.Bg, find.GrepOptions{Pattern: find.Pattern{Text: "needle"}})
	p.Must(err)
	var got []string
	for _, m := range r.Matches {
		got = append(got, m.Path)
	}
	enginetest.Equal(t, "paths", got, want)
}

// TestBlame: which lines are meant, and which checkpoint they are from.
func TestBlame(t *testing.T) {
	p := newPast(t)
	for _, tt := range []struct {
		first, last int
		want        string // the first line, how many, and the origin of the last; "": a usage error
	}{
		{0, 0, "1 21 two"},
		{1, 20, "1 20 one"},
		{20, 21, "20 2 two"},
		{21, 0, "21 1 two"},
		{21, 99, "21 1 two"},
		{3, 3, "3 1 one"},
		{22, 0, ""},
		{5, 4, ""},
	} {
		r, err := p.E.Finder.Blame(enginetest.Bg, find.BlameOptions{Path: "c.txt", First: tt.first, Last: tt.last})
		if tt.want == "" {
			if !errors.Is(err, model.ErrUsage) {
				t.Errorf("%d to %d: %v", tt.first, tt.last, err)
			}
			continue
		}
		p.Must(err)
		last := r.Lines[len(r.Lines)-1]
		got := fmt.Sprint(r.First, " ", len(r.Lines), " ", p.names[r.Origins[last.Origin].ID.String()])
		if got != tt.want {
			t.Errorf("%d to %d: %s, want %s", tt.first, tt.last, got, tt.want)
		}
		if l := r.Lines[0]; l.Line != r.First || r.Origins[l.Origin].Root != (l.Text != "more") {
			t.Errorf("%d to %d: %+v of %+v", tt.first, tt.last, l, r.Origins[l.Origin])
		}
	}
	for path, want := range map[string]error{
		"d": model.ErrUsage, "link.txt": model.ErrUsage, "a.txt": model.ErrNotFound,
	} {
		if _, err := p.E.Finder.Blame(enginetest.Bg, find.BlameOptions{Path: path}); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	p.Write("c.txt", "  line 1\n"+strings.TrimPrefix(numbered("line", 20), "line 1\n")+"more\n")
	p.names[p.Save("spaced").ID.String()] = "spaced"
	for anySpace, want := range map[bool]string{true: "one", false: "spaced"} {
		r, err := p.E.Finder.Blame(
			enginetest.Bg,
			find.BlameOptions{Path: "c.txt", First: 1, Last: 1, AnySpace: anySpace},
		)
		p.Must(err)
		if got := p.names[r.Origins[0].ID.String()]; got != want {
			t.Errorf("any space %v: %s", anySpace, got)
		}
	}
}

type lines = map[int]gitinfo.CommitLine

// repository has a file of twenty lines in a commit, and says of each line that it knows which commit brought it.
type repository struct {
	lines  lines
	err    error
	ranges [][2]int
}

func (r *repository) FileAt(string, string, int64) ([]byte, error) {
	return []byte(numbered("line", 20)), r.err
}

func (r *repository) BlameAt(_, _ string, ranges [][2]int, _ bool) (lines, error) {
	r.ranges = ranges
	return r.lines, nil
}

// TestBlameCommitted: lines that the first checkpoint found are told with the commit that brought them, where the
// user's repository knows; those that were changed since are not asked about.
func TestBlameCommitted(t *testing.T) {
	p := enginetest.NewProject(t)
	const head = "0123456789abcdef0123456789abcdef01234567"
	for name, content := range map[string]string{"HEAD": head + "\n", "objects/x": "", "refs/x": "", "config": ""} {
		p.Write(".git/"+name, content)
	}
	p.Write("f", "first\n"+strings.ReplaceAll(numbered("line", 20), "line 4\n", "other 4\n"))
	if cp := p.Save("one"); cp.Git.Commit != head {
		t.Fatalf("%+v", cp.Git)
	}
	a, b := &gitinfo.Commit{ID: "a"}, &gitinfo.Commit{ID: "b"}
	for what, tt := range map[string]struct {
		git         *repository
		first, last int
		want        string // lines, each with the commit and the place there; "-": none
		ranges      string
	}{
		"two commits": {
			&repository{lines: lines{1: {Commit: a, Path: "f", Line: 7}, 2: {Commit: b, Path: "g", Line: 9}}},
			1, 4, "-1 a7 b9 -4", "[[1 3]]",
		},
		"behind a change": {
			&repository{lines: lines{5: {Commit: a, Path: "f", Line: 5}}}, 4, 6, "-4 -5 a5", "[[3 3] [5 5]]",
		},
		"none is known":   {&repository{}, 2, 3, "-2 -3", "[[1 2]]"},
		"it cannot tell":  {&repository{err: errors.New("no")}, 2, 2, "-2", "[]"},
		"nobody is asked": {nil, 2, 2, "-2", ""},
	} {
		o := find.BlameOptions{Path: "f", First: tt.first, Last: tt.last}
		if tt.git != nil {
			o.Git = tt.git
		}
		r, err := p.E.Finder.Blame(enginetest.Bg, o)
		p.Must(err)
		var got []string
		for _, l := range r.Lines {
			commit := "-"
			if c := r.Origins[l.Origin].Commit; c != nil {
				commit = c.ID
			}
			got = append(got, fmt.Sprint(commit, l.Line))
		}
		if line := strings.Join(got, " "); line != tt.want || tt.git != nil && fmt.Sprint(tt.git.ranges) != tt.ranges {
			t.Errorf("%s: %s, want %s; asked %+v", what, line, tt.want, tt.git)
		}
	}
	p.Write("late", numbered("line", 3))
	p.Save("two")
	git := &repository{}
	r, err := p.E.Finder.Blame(enginetest.Bg, find.BlameOptions{Path: "late", Git: git})
	if p.Must(err); len(git.ranges) > 0 || r.Origins[0].Root {
		t.Errorf("a file that came later: asked %v, %+v", git.ranges, r.Origins[0])
	}
}

// TestSaid: what was said in each conversation, by name, from its beginning.
func TestSaid(t *testing.T) {
	p := enginetest.NewProject(t)
	for n, asked := range [][]string{{"a needle\nand more\nneedles"}, {"hay", "the needle"}} {
		k := p.Talker(n + 1)
		for _, text := range asked {
			k.Ask(text)
			k.Say("yes")
			k.Stop()
		}
	}
	one, two := "claude/"+enginetest.ClaudeID(1), "claude/"+enginetest.ClaudeID(2)
	all := []string{one + " 1 user a needle", one + " 1 user needles", two + " 2 user the needle"}
	p.Agent("silent").Run("c", func() { p.Write("f", "needle") })
	for what, tt := range map[string]struct {
		o    find.GrepOptions
		want []string
	}{
		"all":       {find.GrepOptions{}, all},
		"one":       {find.GrepOptions{Session: enginetest.ClaudeID(2)}, []string{two + " 2 user the needle"}},
		"at most 1": {find.GrepOptions{Limit: 1}, []string{one + " 1 user a needle", "more"}},
		"at most 3": {find.GrepOptions{Limit: 3}, all},
	} {
		tt.o.Pattern = find.Pattern{Text: "needle"}
		r, err := p.E.Finder.Said(enginetest.Bg, tt.o)
		p.Must(err)
		var got []string
		for _, s := range r.Said {
			got = append(got, fmt.Sprint(s.Session, " ", s.Turn, " ", s.Who, " ", s.Text))
		}
		if r.More {
			got = append(got, "more")
		}
		enginetest.Equal(t, what, got, tt.want)
		if len(r.Unread) > 0 || r.Said[0].Title == "" {
			t.Errorf("%s: unread %v, %+v", what, r.Unread, r.Said[0])
		}
	}
}

// A search that has copies once says in how many younger sessions a line is, too.
func TestSaidOnce(t *testing.T) {
	p := enginetest.NewProject(t)
	for n := range 3 {
		k := p.Talker(n + 1)
		k.Ask("a needle")
		k.Stop()
		k.Ask(fmt.Sprint("needle ", n))
		k.Stop()
	}
	o := find.GrepOptions{Pattern: find.Pattern{Text: "needle"}, Once: true}
	r, err := p.E.Finder.Said(enginetest.Bg, o)
	p.Must(err)
	var got []string
	for _, s := range r.Said {
		got = append(got, fmt.Sprint(s.Text, " ", s.Copies))
	}
	enginetest.Equal(t, "what was said", got, []string{"a needle 2", "needle 0 0", "needle 1 0", "needle 2 0"})
}

// TestGrepLines: every line that matches is told with its number, whatever the expression.
func TestGrepLines(t *testing.T) {
	p := newPast(t)
	for text, want := range map[string]string{
		"line [12]$": "1 2", "[1].$": "10 11 12 13 14 15 16 17 18 19", "^more$": "21",
	} {
		o := find.GrepOptions{Pattern: find.Pattern{Text: text}, Paths: []string{"c.txt"}}
		r, err := p.E.Finder.Grep(enginetest.Bg, o)
		p.Must(err)
		var got []string
		for _, m := range r.Matches {
			got = append(got, fmt.Sprint(m.Line))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestRenameOfLineEnds: a file that got other line ends when it was moved is the same file.
func TestRenameOfLineEnds(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a.txt", numbered("line", 20))
	p.Save("")
	p.Remove("a.txt")
	p.Write("b.txt", strings.ReplaceAll(numbered("line", 20), "\n", "\r\n"))
	p.Save("")
	r, err := p.E.Finder.Paths(enginetest.Bg, find.PathsOptions{Paths: []string{"b.txt"}})
	p.Must(err)
	if len(r.Checkpoints) != 2 || r.Checkpoints[0].Changes[0].From != "a.txt" {
		t.Errorf("%+v", r.Checkpoints)
	}
}
