package view

import (
	"rewind/api"
)

// found is what a search found: prompts, lines of files, lines of conversations.
type found struct {
	Query  string
	Turns  []Row
	Lines  []foundLine
	Said   []foundSaid
	More   bool
	Failed string // why the search of files and conversations could not be
}

// foundLine is a line of a file, in the checkpoints that have it.
type foundLine struct {
	Path  string
	Line  int
	Text  string
	Last  string // the newest moment that has it
	Href  string
	Now   bool
	Since moment
}

// foundSaid is a line of a conversation.
type foundSaid struct {
	Title, Who, Text, Href string
	Turn                   uint64
	When                   moment
}

// Find turns what was found into a document.
func Find(f Frame, query string, turns []api.Row, r *api.GrepResponse, failed string) Page {
	out := &found{Query: query, Turns: f.Rows(turns, ""), Failed: failed}
	if r != nil {
		out.More = r.More
		for i := range r.Matches {
			m := &r.Matches[i]
			line := foundLine{Path: string(m.Path), Line: m.Line, Text: string(m.Text), Now: m.Now}
			if n := len(m.Spans); n > 0 {
				line.Last, line.Href = f.moments(&m.Spans[n-1].Last)
				line.Since = f.moment(m.Spans[0].First.Time)
			}
			out.Lines = append(out.Lines, line)
		}
		for i := range r.Said {
			s := &r.Said[i]
			out.Said = append(out.Said, foundSaid{
				Title: string(s.Title), Who: s.Who, Text: string(s.Text), Turn: s.Turn, When: f.moment(s.Time),
				Href: f.Path("c", "turn:"+itoa(s.Turn)+"@"+s.Session),
			})
		}
	}
	f.At = "find"
	title := "Search"
	if query != "" {
		title = query
	}
	return Page{Frame: f, Title: title + " · " + f.Name, Data: out, name: "find"}
}
