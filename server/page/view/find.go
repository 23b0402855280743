package view

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

// Found is what a search found in a project: prompts, lines of files, lines of conversations.
type Found struct {
	Query  string
	Name   string // of the project
	Href   string // of the search there
	Turns  []Row
	Names  []foundLine // files whose paths have the words
	Lines  []foundLine
	Said   []foundSaid
	More   bool
	Rest   string // the address of all of it, where only prompts were looked through yet; "": all was
	Left   bool   // there was no time for all of it
	Failed string // why not all could be looked through
}

// Any reports whether it found something.
func (f Found) Any() bool { return len(f.Turns)+len(f.Names)+len(f.Lines)+len(f.Said) > 0 }

// foundLine is a line of a file, or a file whose path has the words, in the checkpoints that have it.
type foundLine struct {
	Path  []part
	Line  int
	Text  []part
	Href  string // of the line in the newest state that has it
	Now   bool
	Since foundMoment
	Gone  foundMoment // what took it away; no words: it is there now
	cost  int
}

// foundMoment is what brought something, or took it away.
type foundMoment struct {
	Words, Href string
	When        moment
}

// foundSaid is a line of a conversation.
type foundSaid struct {
	Title, Who, Href string
	Text             []part
	Whose            string
	Turn             uint64
	Copies           int // forks that have it, too
	When             moment
	cost             int
}

// Found is what a search found, in prompts and elsewhere, and what was wrong.
func (f Frame) Found(words string, turns []api.Row, g *api.GrepResponse, err error, r *Room) Found {
	out := Found{Query: words, Name: f.Name, Href: f.Path("find") + "?q=" + query(words), Turns: some(r, f.Rows(turns,
		""), rowCosts)}
	out.More = len(out.Turns) < len(turns)
	if err != nil {
		out.Failed = err.Error()
	}
	if g == nil {
		return out
	}
	find := finder(words)
	names, lines := f.foundLines(g.Names, words, find), f.foundLines(g.Matches, words, find)
	slices.SortStableFunc(names, func(a, b foundLine) int { // those that are there come first
		return cmp.Compare(map[bool]int{true: 0, false: 1}[a.Now], map[bool]int{true: 0, false: 1}[b.Now])
	})
	said := f.foundSaid(g.Said, words, find)
	lineCosts := func(l *foundLine) (nodes, bytes int) { return 14, l.cost }
	names = names[:min(len(names), namesAtOnce)]
	out.Names, out.Lines = fitting(r, names, lineCosts), fitting(r, lines, lineCosts)
	out.Said = fitting(r, said, func(s *foundSaid) (nodes, bytes int) { return 11, s.cost })
	shown, all := len(out.Names)+len(out.Lines)+len(out.Said), len(g.Names)+len(lines)+len(said)
	out.More = out.More || g.More || shown < all
	out.Left = out.More && !out.Any()
	return out
}

// namesAtOnce is how many files are listed whose paths have the words: what is in files comes behind them.
const namesAtOnce = 20

func (f Frame) foundLines(list []api.Match, words string, find *regexp.Regexp) []foundLine {
	out, quoted := make([]foundLine, 0, len(list)), words
	if q := term.Quote(words); q != words { // as it stands in a path
		quoted = q[1 : len(q)-1]
	}
	inPath := finder(quoted)
	for i := range list {
		m := &list[i]
		line := foundLine{
			Path: excerpt(term.Quote(string(m.Path)), inPath), Line: m.Line, Text: excerpt(string(m.Text), find),
			Now: m.Now,
		}
		if n := len(m.Spans); n > 0 {
			line.Since = f.foundMoment(&m.Spans[0].First)
			last := &m.Spans[n-1]
			if gone := last.Gone; gone != nil && !m.Now {
				line.Gone = f.foundMoment(gone)
			}
			line.Href = with(f.Path("c", last.Last.ID, "file"), "path", string(m.Path))
			if m.Line > 0 {
				line.Href = with(line.Href, "to", strconv.Itoa(m.Line), "q", words) + "#hit"
			}
		}
		line.cost = 900 + partsWeight(line.Path) + partsWeight(line.Text)
		line.cost += weight(line.Since.Words + line.Gone.Words + line.Href)
		out = append(out, line)
	}
	return out
}

func (f Frame) foundMoment(m *api.Moment) foundMoment {
	out := foundMoment{When: f.moment(m.Time)}
	out.Words, out.Href = f.moments(m)
	if m.Outside && m.Event != "init" && m.Message == "" { // the turn in which it was found did not make it
		out.Words = "outside of any agent"
		if m.Turn > 0 {
			out.Words += ", " + naming.TurnWords(m.Turn, m.Whose)
		}
	}
	return out
}

func (f Frame) foundSaid(list []api.Said, words string, find *regexp.Regexp) []foundSaid {
	out := make([]foundSaid, 0, len(list))
	// the browser looks for it
	seek := "#:~:text=" + strings.NewReplacer("-", "%2D", "&", "%26").Replace(url.PathEscape(words))
	for i := range list {
		s := &list[i]
		one := foundSaid{
			Title: brief(string(s.Title)), Who: s.Who, Text: excerpt(string(s.Text), find), Turn: s.Turn,
			Whose: s.Whose, When: f.moment(s.Time), Copies: s.Copies,
			Href: f.Point(api.TurnName(s.Turn, s.Session)) + seek,
		}
		one.cost = 600 + partsWeight(one.Text) + weight(one.Title+one.Href)
		out = append(out, one)
	}
	return out
}

// finder finds what a person has searched for, in any case.
func finder(words string) *regexp.Regexp {
	return regexp.MustCompile("(?i)" + regexp.QuoteMeta(strings.ToValidUTF8(words, "\ufffd")))
}

// excerpt is as much of a text as a list has, with the first place marked where something is.
func excerpt(text string, find *regexp.Regexp) []part {
	const before = 80 // bytes of a long text in front of that
	at := find.FindStringIndex(text)
	if at == nil || at[0] == at[1] {
		return []part{{Text: brief(text)}}
	}
	head, tail := text[:at[0]], text[at[1]:]
	if len(text) > briefWeight && len(head) > before {
		cut := len(head) - before
		for cut < len(head) && !utf8.RuneStart(head[cut]) {
			cut++
		}
		head = "…" + head[cut:]
	}
	list := []part{{Text: head}, {brief(text[at[0]:at[1]]), true}, {Text: brief(tail)}}
	return slices.DeleteFunc(list, func(p part) bool { return p.Text == "" })
}

// excerpts is a text with every place marked where something is.
func excerpts(text string, find *regexp.Regexp) (list []part) {
	at := 0
	for _, m := range find.FindAllStringIndex(text, marksOfLine) {
		if m[0] == m[1] {
			break
		}
		list, at = append(list, part{Text: text[at:m[0]]}, part{text[m[0]:m[1]], true}), m[1]
	}
	return append(list, part{Text: text[at:]})
}

// marksOfLine is how many places are marked in a line.
const marksOfLine = 20

func partsWeight(list []part) (n int) {
	for _, p := range list {
		n += weight(p.Text) + 13
	}
	return n
}

// Find is the document of what was found in a project.
func Find(f Frame, found Found) Page {
	f.At = "find"
	f.Query = found.Query
	return Page{Frame: f, Title: cmp.Or(found.Query, "Search") + " · " + f.Name, Data: found, name: "find"}
}

// everywhere is what was found in all projects.
type everywhere struct {
	Query string
	In    []Found // those that have something
	Left  []Found // those that were not looked through
}

// FindAll is the document of what was found in all projects.
func FindAll(f Frame, query string, all []Found) Page {
	out := everywhere{Query: query}
	for _, one := range all {
		if one.Any() {
			out.In = append(out.In, one)
		}
		if one.Left || one.Failed != "" {
			out.Left = append(out.Left, one)
		}
	}
	f.At = "find"
	f.Query = query
	return Page{Frame: f, Title: cmp.Or(query, "Search") + " · all projects", Data: out, name: "everywhere"}
}
