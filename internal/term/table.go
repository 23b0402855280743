package term

import (
	"io"
	"strings"
)

const (
	columnGap  = 2 // spaces between two columns
	minColumns = 8 // a flexible column is never made narrower
)

// Column describes one column of a table.
type Column struct {
	title string // heading; when every heading is empty there is no heading line
	Right bool   // aligned to the right
	Flex  bool   // gives way first when the terminal is too narrow
}

// Cell is one untrusted text and its look. The text is sanitised by the table.
type Cell struct {
	Text  string
	Style Style
}

// Table collects rows and writes them aligned. On a terminal, lines are cut to
// its width; elsewhere every cell is complete. Not safe for concurrent use.
type Table struct {
	s       *Streams
	columns []Column
	rows    [][]Cell
}

// Table returns an empty table for Out.
func (s *Streams) Table(columns ...Column) *Table {
	return &Table{s: s, columns: columns}
}

// Row adds a row. Missing cells are empty; cells beyond the last column are
// dropped.
func (t *Table) Row(cells ...Cell) {
	row := make([]Cell, len(t.columns))
	for i := range min(len(cells), len(row)) {
		row[i] = Cell{Text: Sanitize(cells[i].Text), Style: cells[i].Style}
	}
	t.rows = append(t.rows, row)
}

// Flush writes the table to w, which is Out or a pager for Out, and empties it.
func (t *Table) Flush(w io.Writer) error {
	rows := t.rows
	t.rows = nil
	if head, ok := t.titles(); ok {
		rows = append([][]Cell{head}, rows...)
	}
	widths := t.widths(rows)
	var b strings.Builder
	for _, row := range rows {
		t.line(&b, row, widths)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) titles() ([]Cell, bool) {
	cells, found := make([]Cell, len(t.columns)), false
	for i, c := range t.columns {
		cells[i] = Cell{Text: c.title, Style: Dim}
		found = found || c.title != ""
	}
	return cells, found
}

// widths returns the columns' widths: as wide as the widest cell, less what has
// to go on a narrow terminal. The widest flexible column shrinks first.
func (t *Table) widths(rows [][]Cell) []int {
	widths := make([]int, len(t.columns))
	total := columnGap * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], Width(row[i].Text))
		}
		total += widths[i]
	}
	if !t.s.OutTTY || t.s.Width <= 0 {
		return widths
	}
	for ; total > t.s.Width; total-- {
		widest := -1
		for i, c := range t.columns {
			mayShrink := c.Flex && widths[i] > minColumns
			if mayShrink && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break // line cuts what is left over
		}
		widths[widest]--
	}
	return widths
}

// line writes one row without trailing spaces.
func (t *Table) line(b *strings.Builder, row []Cell, widths []int) {
	room := -1
	if t.s.OutTTY && t.s.Width > 0 {
		room = t.s.Width
	}
	last := len(row) - 1
	for last >= 0 && row[last].Text == "" {
		last--
	}
	for i := 0; i <= last; i++ {
		width := widths[i]
		if room >= 0 {
			if room == 0 {
				break
			}
			width = min(width, room)
		}
		text := row[i].Text
		if t.s.OutTTY && t.s.Width > 0 {
			text = Truncate(text, width)
		}
		styled := t.s.Styled(row[i].Style, text)
		fill := strings.Repeat(" ", max(0, width-Width(text)))
		switch {
		case t.columns[i].Right:
			b.WriteString(fill + styled)
		case i == last:
			b.WriteString(styled)
		default:
			b.WriteString(styled + fill)
		}
		gap := columnGap
		if room >= 0 {
			room -= width
			gap = min(gap, room)
			room -= gap
		}
		if i < last {
			b.WriteString(strings.Repeat(" ", gap))
		}
	}
	b.WriteByte('\n')
}
