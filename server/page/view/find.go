package view

import (
	"cmp"

	"rewind/api"
)

// Found is what a search found in a project: prompts, lines of files, lines of conversations.
type Found struct {
	Query  string
	Name   string // of the project
	Href   string // of the search there
	Turns  []Row
	Lines  []foundLine
	Said   []foundSaid
	More   bool
	Rest   string // the address of all of it, where only prompts were looked through yet; "": all was
	Left   bool   // there was no time for all of it
	Failed string // why not all could be looked through
}

// Any reports whether it found something.
func (f Found) Any() bool { return len(f.Turns)+len(f.Lines)+len(f.Said) > 0 }

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
	Whose                  string
	Turn                   uint64
	When                   moment
}

// Found is what a search found, in prompts and elsewhere, and what was wrong.
func (f Frame) Found(words string, turns []api.Row, g *api.GrepResponse, err error, r *Room) Found {
	out := Found{Query: words, Name: f.Name, Href: f.Path("find") + "?q=" + query(words), Turns: some(r, f.Rows(turns,
		""), rowCosts)}
	out.More = len(out.Turns) < len(turns)
	if err != nil {
		out.Failed = err.Error()
	}
	if g != nil {
		out.More = out.More || g.More
		for i := range g.Matches {
			m := &g.Matches[i]
			line := foundLine{Path: brief(string(m.Path)), Line: m.Line, Text: brief(string(m.Text)), Now: m.Now}
			if n := len(m.Spans); n > 0 {
				line.Last, line.Href = f.moments(&m.Spans[n-1].Last)
				line.Since = f.moment(m.Spans[0].First.Time)
			}
			out.Lines = append(out.Lines, line)
		}
		for i := range g.Said {
			s := &g.Said[i]
			out.Said = append(out.Said, foundSaid{
				Title: brief(string(s.Title)), Who: s.Who, Text: brief(string(s.Text)), Turn: s.Turn, Whose: s.Whose,
				When: f.moment(s.Time),
				Href: f.Point(api.TurnName(s.Turn, s.Session)),
			})
		}
	}
	lines, said := len(out.Lines), len(out.Said)
	out.Lines = some(r, out.Lines, func(l *foundLine) (nodes, bytes int) {
		return 7, 400 + weight(l.Path+l.Text+l.Last)
	})
	out.Said = some(r, out.Said, func(s *foundSaid) (nodes, bytes int) {
		return 7, 400 + weight(s.Title+s.Text) + len(s.Href)
	})
	out.More = out.More || len(out.Lines) < lines || len(out.Said) < said
	return out
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
