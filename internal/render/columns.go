package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rewind/internal/naming"
	"rewind/internal/term"
)

// Widths of a list, in columns.
const (
	ListGap     = 2  // between two columns
	NarrowList  = 60 // below it a turn is only its number
	leastText   = 20 // below it columns go
	tallyLends  = 8  // of that, to a tally
	enoughText  = 36 // files leave a prompt so much
	leastFiles  = 24
	sessionFull = 100 // from there on a session is told with its agent
)

// The columns of a list.
const (
	markColumn = iota
	idColumn
	timeColumn
	sessionColumn
	turnColumn
	textColumn
	tallyColumn
	filesColumn
)

// ListRows prints rows: every column where there is no terminal, else as many from the left as there is room for.
func (pr *Printer) ListRows(w io.Writer, rows []Row) error {
	t := pr.table(rows)
	if !slices.ContainsFunc(rows, func(r Row) bool { return r.below != nil }) {
		return t.Flush(w)
	}
	return pr.interleaved(w, t, rows)
}

// A Line is a line of a list on a screen.
type Line struct {
	Text  string
	Row   int // the row that it is of: its place in what was listed
	Below int // from 1: it stands below that
}

// RowLines are the lines that ListRows prints, each with the row that it is of.
func (pr *Printer) RowLines(rows []Row) []Line {
	var b, below strings.Builder
	_ = pr.table(rows).Flush(&b) // to memory
	lines, i := make([]Line, 0, len(rows)), 0
	for text := range strings.Lines(b.String()) {
		r := &rows[i]
		lines = append(lines, Line{Text: strings.TrimSuffix(text, "\n"), Row: r.at})
		if r.below != nil {
			below.Reset()
			_ = r.below(&below)
			n := 0
			for text := range strings.Lines(below.String()) {
				n++
				lines = append(lines, Line{Text: strings.TrimSuffix(text, "\n"), Row: r.at, Below: n})
			}
		}
		i++
	}
	return lines
}

// widest is the width of the widest cell of a column.
func widest(rows [][]term.Cell, column int) (most int) {
	for _, cells := range rows {
		most = max(most, term.Width(term.Sanitize(cells[column].Text)))
	}
	return most
}

// table lays rows out.
func (pr *Printer) table(rows []Row) *term.Table {
	sessions := sessionNames(rows, pr.Width == 0 || pr.Width >= sessionFull)
	cells := make([][]term.Cell, len(rows))
	for i := range rows {
		cells[i] = pr.rowCells(&rows[i], sessions)
	}
	width := func(column int) int { return widest(cells, column) }
	columns := []int{markColumn}
	for c := idColumn; c <= filesColumn; c++ {
		if width(c) > 0 {
			columns = append(columns, c)
		}
	}
	if pr.Width > 0 {
		columns = pr.fitColumns(columns, width, func() { onlyDeleted(rows, cells) })
		room := pr.Width
		for _, c := range columns {
			if c != filesColumn && c != textColumn {
				room -= width(c) + ListGap
			}
		}
		most := min(width(textColumn), max(room*3/5, room-width(filesColumn)-ListGap))
		for i := range rows {
			if !slices.Contains(columns, filesColumn) {
				break
			}
			cells[i][textColumn].Text = term.Truncate(term.Sanitize(cells[i][textColumn].Text), most)
			if rows[i].changes == "" {
				cells[i][filesColumn].Text = fitFiles(rows[i].files, rows[i].left, room-most-ListGap)
			}
		}
	}
	shape := make([]term.Column, len(columns))
	for i, c := range columns {
		shape[i] = term.Column{Flex: c == textColumn || c == filesColumn}
	}
	t := pr.Table(shape...)
	for i := range rows {
		t.Row(chosen(cells[i], columns)...)
	}
	return t
}

// chosen are the cells of a row in some columns.
func chosen(cells []term.Cell, columns []int) []term.Cell {
	row := make([]term.Cell, len(columns))
	for k, c := range columns {
		row[k] = cells[c]
	}
	return row
}

// fitColumns leaves out columns for which the terminal has no room until there is enough for the text: files first, and
// last the tally, which says what was deleted. shorten leaves nothing but that of it.
func (pr *Printer) fitColumns(columns []int, width func(int) int, shorten func()) []int {
	without := func(c int) { columns = slices.DeleteFunc(columns, func(k int) bool { return k == c }) }
	room := func() int {
		n := pr.Width
		for _, c := range columns {
			if c != textColumn && c != filesColumn {
				n -= width(c) + ListGap
			}
		}
		return n
	}
	least := leastFiles + ListGap + enoughText
	if !slices.Contains(columns, tallyColumn) { // what is in it is what was asked for
		least = leastFiles + ListGap + leastText
	}
	if room() < least && room()-width(textColumn)-ListGap < leastFiles {
		without(filesColumn)
	}
	for _, c := range []int{timeColumn, tallyColumn, sessionColumn} {
		switch {
		case room() >= leastText:
		case c == tallyColumn:
			shorten()
		default:
			without(c)
		}
	}
	if room() < leastText-tallyLends {
		without(tallyColumn)
	}
	return columns
}

// interleaved prints the lines of a table, each with what stands below it.
func (pr *Printer) interleaved(w io.Writer, t *term.Table, rows []Row) error {
	var b strings.Builder
	if err := t.Flush(&b); err != nil {
		return err
	}
	i := 0
	for line := range strings.Lines(b.String()) {
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
		if err := rows[i].below(w); err != nil {
			return err
		}
		i++
	}
	return nil
}

// rowCells are the cells of a row, each column's.
func (pr *Printer) rowCells(r *Row, sessions map[string]string) []term.Cell {
	turn := ""
	switch {
	case r.turn > 0 && pr.Width > 0 && pr.Width < NarrowList:
		turn = fmt.Sprint(r.turn)
	case r.turn > 0:
		turn = naming.TurnName(r.turn, "") // the session has its column
	}
	tally, files, tallied := tallyWord(r.tally), fitFiles(r.files, r.left, 0), term.Dim
	if r.changes != "" {
		tally, files = "", r.changes
	}
	if r.tally[2] > 0 {
		tallied = term.Removed
	}
	return []term.Cell{
		{Text: r.mark, Style: term.Bold},
		{Text: r.id, Style: term.ID},
		{Text: r.when, Style: term.Dim},
		{Text: sessions[r.session], Style: term.Hue(r.session)},
		{Text: turn, Style: r.style},
		{Text: r.text, Style: r.style},
		{Text: tally, Style: tallied},
		{Text: files, Style: term.Dim},
	}
}

// onlyDeleted leaves of each tally how many files were deleted.
func onlyDeleted(rows []Row, cells [][]term.Cell) {
	for i := range rows {
		tally := &cells[i][tallyColumn].Text
		if n := rows[i].tally[2]; n > 0 && *tally != "" {
			*tally = tallyWord([3]int{2: n})
		} else {
			*tally = ""
		}
	}
}

// fitFiles names as many files as fit into a width, 0: all of them, and how many more there are.
func fitFiles(files []string, left, width int) string {
	text := ""
	for i, f := range files {
		rest := ""
		if n := len(files) - i - 1 + left; n > 0 {
			rest = fmt.Sprintf(", and %d more", n)
		}
		next := text + ", " + f
		if i == 0 {
			next = f
		}
		if width > 0 && term.Width(next+rest) > width {
			if i == 0 {
				return term.Truncate(f, max(width-term.Width(rest), 1)) + rest
			}
			return fmt.Sprintf("%s, and %d more", text, len(files)-i+left)
		}
		text = next
	}
	if left > 0 && text != "" {
		text += fmt.Sprintf(", and %d more", left)
	}
	return text
}

// sessionNames says what each session is called in a list; nil: the project has one at most, which need not be told.
// Where no agent has two of those that are listed, its word is enough.
func sessionNames(rows []Row, full bool) map[string]string {
	names, agents, others := map[string]string{}, map[string]int{}, false
	for i := range rows {
		name := rows[i].session
		others = others || rows[i].whose != ""
		agent, id, ok := strings.Cut(name, "/")
		if _, known := names[name]; ok && !known {
			names[name] = ShortID(id)
			agents[agent]++
		}
	}
	if len(names) < 2 && !others {
		return nil
	}
	for name := range names {
		agent, _, _ := strings.Cut(name, "/")
		switch {
		case full:
			names[name] = SessionWords(name)
		case len(names) > 1 && len(agents) == len(names):
			names[name] = agent
		}
	}
	return names
}
