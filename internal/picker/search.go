package picker

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// foundMost is how many matches of a search are shown.
const foundMost = 500

// search is searching files and conversations.
type search struct {
	pattern string
	pending bool
	round   int
	err     *api.Error
	hits    []hit
	more    bool
	cursor  int
	top     int
}

// A hit is a line that matches: of a file, or of a conversation.
type hit struct {
	head   string // where it is
	text   string
	detail []string // since when, and until
	to     target
}

// find searches.
func (m *model) find() tea.Cmd {
	s := &m.search
	if s.pattern == "" {
		m.home()
		return nil
	}
	s.round++
	round := s.round
	s.pending, s.err, s.hits, s.cursor, s.top, m.mode = true, nil, nil, 0, 0, finding
	req := api.GrepRequest{Project: m.project(), Pattern: api.Text(s.pattern), Limit: foundMost, Code: true}
	req.Conversation, req.Once = true, true
	req.IgnoreCase = s.pattern == strings.ToLower(s.pattern)
	return ask(m, func(ctx context.Context) (api.GrepResponse, error) { return m.src.Grep(ctx, req) },
		func(m *model, r api.GrepResponse, err error) tea.Cmd {
			s := &m.search
			if s.round != round {
				return nil
			}
			s.pending, s.err, s.more = false, told(err), r.More
			s.hits = m.hits(r)
			return nil
		})
}

// hits are what a search found, said then code.
func (m *model) hits(r api.GrepResponse) (list []hit) {
	pr, _ := m.pane(m.width)
	for _, x := range r.Matches {
		h := hit{head: term.Quote(string(x.Path)), text: term.Sanitize(strings.TrimSpace(string(x.Text)))}
		if x.Line > 0 {
			h.head += fmt.Sprintf(":%d", x.Line)
		}
		for i := len(x.Spans) - 1; i >= 0; i-- {
			s := x.Spans[i]
			line := "since " + momentWords(s.First)
			if s.Gone != nil {
				line += ", until " + momentWords(*s.Gone)
			} else {
				line += ", still there"
			}
			h.detail = append(h.detail, line)
		}
		if n := len(x.Spans); n > 0 {
			last := x.Spans[n-1].Last
			h.to = momentTarget(last)
			if !x.Now {
				h.head += " (gone)"
			}
			h.detail = append(h.detail, "newest state that has it: "+pr.Clock(last.Time)+", "+last.Short)
		}
		list = append(list, h)
	}
	for _, x := range r.Said {
		h := hit{
			head: fmt.Sprintf("%s, turn:%d, %s", render.SessionWords(x.Session), x.Turn, x.Who),
			text: term.Sanitize(strings.TrimSpace(string(x.Text))),
		}
		if x.Turn > 0 {
			_, id, _ := strings.Cut(x.Session, "/")
			h.to = target{
				name: fmt.Sprintf("turn:%d@%s", x.Turn, id), before: fmt.Sprintf("before:%d@%s", x.Turn, id), turn: x.Turn, whole: true,
				title: render.SessionTurn(x.Turn, x.Session),
			}
		}
		if !x.Time.IsZero() {
			h.detail = []string{pr.Clock(x.Time) + ", " + term.Ago(pr.Now(), x.Time)}
		}
		if x.Copies > 0 {
			h.head += fmt.Sprintf(" (+%d)", x.Copies)
			h.detail = append(h.detail, "and in "+render.Count(x.Copies, "fork")+" of it")
		}
		list = append(list, h)
	}
	return list
}

// momentWords are a moment in a line.
func momentWords(c api.Moment) string {
	if c.Turn > 0 {
		return render.SessionTurn(c.Turn, c.Session) + " (" + c.Short + ")"
	}
	return term.Sanitize(c.Short + " " + c.Event)
}

func momentTarget(c api.Moment) target {
	return target{name: c.ID, before: c.ID + "~1", title: "checkpoint " + c.Short, turn: c.Turn}
}

// goFound previews going to where a hit is.
func (m *model) goFound() tea.Cmd {
	s := &m.search
	if s.cursor >= len(s.hits) || s.hits[s.cursor].to.name == "" {
		return nil
	}
	return m.setOut(s.hits[s.cursor].to)
}

// foundLines are the hits on the left.
func (m *model) foundLines(width int) (lines []string) {
	s := &m.search
	pr, _ := m.pane(width)
	switch {
	case s.pending:
		return []string{"searching ..."}
	case s.err != nil:
		return fold("error: "+term.SanitizeText(s.err.Message), width, true)
	case len(s.hits) == 0:
		return fold("no match, neither in files nor in conversations", width, true)
	}
	for _, h := range s.hits {
		lines = append(lines, cut(even(h.head+"  "+pr.Styled(term.Dim, h.text)), width))
	}
	return lines
}

// hitLines tell of the hit that is chosen.
func (m *model) hitLines(width int) []string {
	s := &m.search
	if s.cursor >= len(s.hits) {
		return nil
	}
	h := s.hits[s.cursor]
	pr, text := m.pane(width)
	fmt.Fprintln(text, pr.Styled(term.Bold, h.head))
	fmt.Fprintf(text, "\n  %s\n\n", h.text)
	for _, l := range h.detail {
		fmt.Fprintln(text, l)
	}
	if h.to.name != "" {
		fmt.Fprintln(text, "\nEnter previews "+h.to.verb()+" "+h.to.title)
	}
	return fold(text.String(), width, true)
}
