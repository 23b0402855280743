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

// choice is choosing files and hunks of what a trip would set.
type choice struct {
	list    []api.Choice
	from    string // the id of the checkpoint
	hunks   bool   // of a file its pieces can be chosen
	cursor  int
	top     int
	pending bool
	err     *api.Error
}

// A spot is what the cursor of a choice can stand on: a path, or with hunks a piece of it.
type spot struct{ path, piece int } // piece -1: the path

// choose asks what differs between the project and where the trip goes.
func (m *model) choose(hunks bool) tea.Cmd {
	if m.trip.place() == "" || m.trip.fork {
		return nil
	}
	m.mode = choosing
	m.choice = choice{hunks: hunks, pending: true}
	req := api.DiffRequest{Project: m.project(), From: api.Text(m.trip.place()), Context: 3, Back: true}
	req.Choose = true
	return ask(m, func(ctx context.Context) (api.DiffResponse, error) { return m.src.Diff(ctx, req) },
		func(m *model, r api.DiffResponse, err error) tea.Cmd {
			m.choice.pending, m.choice.err = false, told(err)
			m.choice.list, m.choice.from = api.Choices(r.Files), r.From.ID
			return nil
		})
}

// spots are what can be stood on, from the top.
func (c *choice) spots() (list []spot) {
	for i := range c.list {
		list = append(list, spot{i, -1})
		if c.hunks && !c.list[i].Whole() {
			for k := range c.list[i].Pieces {
				list = append(list, spot{i, k})
			}
		}
	}
	return list
}

// toggle chooses what the cursor stands on, or lets it go again: of a path all of it.
func (c *choice) toggle() {
	spots := c.spots()
	if c.cursor >= len(spots) {
		return
	}
	s := spots[c.cursor]
	pieces := c.list[s.path].Pieces
	if s.piece >= 0 {
		pieces[s.piece].Chosen = !pieces[s.piece].Chosen
		return
	}
	_, all := chosenOf(pieces)
	for i := range pieces {
		pieces[i].Chosen = !all
	}
}

// chosenOf reports whether any and whether all pieces are chosen.
func chosenOf(pieces []api.Piece) (any, all bool) {
	all = len(pieces) > 0
	for _, p := range pieces {
		any, all = any || p.Chosen, all && p.Chosen
	}
	return any, all
}

// chosen previews what was chosen; without a mark that is the path under the cursor.
func (m *model) chosen() tea.Cmd {
	c := &m.choice
	if c.pending || c.err != nil {
		return nil
	}
	var parts []api.Part
	files := 0
	collect := func() {
		for i := range c.list {
			if p := c.list[i].Part(); p != nil {
				parts, files = append(parts, *p), files+1
			}
		}
	}
	if collect(); files == 0 {
		c.toggle()
		collect()
	}
	if files == 0 {
		return nil
	}
	m.trip.parts, m.trip.picked = parts, render.Count(files, "path")
	if files == 1 {
		m.trip.picked = term.Quote(string(parts[0].Path))
		if !parts[0].Whole {
			m.trip.picked = "parts of " + m.trip.picked
		}
	}
	return m.preview()
}

// fileMark says how much of a file is chosen.
func fileMark(p *api.Choice) string {
	some, all := chosenOf(p.Pieces)
	switch {
	case p.Why != "":
		return "   "
	case all:
		return "[x]"
	case some:
		return "[-]"
	}
	return "[ ]"
}

// choiceLines are the files and hunks; at is the line on which the cursor stands.
func (m *model) choiceLines(width int) (lines []string, at int) {
	pr, text := m.pane(width)
	c := &m.choice
	fmt.Fprintln(text, pr.Styled(term.Bold, "What is to be as "+m.trip.where()+"?"))
	switch {
	case c.err != nil:
		fmt.Fprintf(text, "\n%s %s\n", pr.Styled(term.Error, "error:"), term.SanitizeText(c.err.Message))
	case c.pending:
		fmt.Fprintln(text, "\ncomparing ...")
	case len(c.list) == 0:
		fmt.Fprintln(text, "\nnothing differs")
	}
	fmt.Fprintln(text)
	spots := c.spots()
	for i, s := range spots {
		p := &c.list[s.path]
		if i == c.cursor {
			at = strings.Count(text.String(), "\n")
		}
		line := func(mark, body string) string {
			pointer := "  "
			if i == c.cursor {
				pointer = "> "
				body = pr.Styled(term.Bold, body)
			}
			return pointer + mark + " " + body
		}
		if s.piece < 0 {
			mark := fileMark(p)
			f := p.Files[0]
			body := pr.ChangeLine(f.Change)
			if f.Added+f.Removed > 0 {
				body += fmt.Sprintf("  +%d -%d", f.Added, f.Removed)
			}
			if p.Why != "" {
				body += "  (" + p.Why + ")"
			}
			fmt.Fprintln(text, line(mark, body))
			continue
		}
		piece := p.Pieces[s.piece]
		mark := "[ ]"
		if piece.Chosen {
			mark = "[x]"
		}
		if piece.Hunk == nil {
			fmt.Fprintln(text, "  "+line(mark, fmt.Sprintf("permissions %s -> %s", p.Files[0].OldMode, p.Files[0].NewMode)))
			continue
		}
		inner, hunk := m.pane(width - 6)
		_ = inner.Hunk(hunk, *piece.Hunk) // to memory
		head, rest, _ := strings.Cut(hunk.String(), "\n")
		fmt.Fprintln(text, "  "+line(mark, head))
		for l := range strings.Lines(rest) {
			fmt.Fprint(text, "        "+l)
		}
	}
	all := strings.Split(strings.TrimRight(even(text.String()), "\n"), "\n")
	for i, l := range all { // a line that is broken would move the cursor's
		all[i] = cut(l, width)
	}
	return all, at
}
