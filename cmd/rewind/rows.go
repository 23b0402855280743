package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// A listRow is one row of a list: a turn, or a step.
type listRow struct {
	mark    string
	style   term.Style
	id      string
	when    string
	session string // by name
	turn    uint64
	text    string
	tally   [3]int // files added, modified, deleted
	files   []string
	left    int    // files that are not named
	changes string // what it changed of what was asked for, instead of tally and files
	below   func(w io.Writer) error
}

// Widths of a list, in columns.
const (
	listGap     = 2  // between two columns
	narrowList  = 60 // below it a turn is only its number
	leastText   = 20 // below it columns go, from the right
	enoughText  = 36 // files leave a prompt so much
	leastFiles  = 24
	sessionFull = 100 // from there on a session is told with its agent
)

func (a *app) listTurns(w io.Writer, list []api.Row, o listOptions) error {
	rows := make([]listRow, len(list))
	for i := range list {
		r := &list[i]
		row := listRow{
			id: r.Checkpoint.Short, when: a.listTime(r.Time, o.relative), session: r.Session, turn: r.Turn, text: rowText(r),
			tally: [3]int{r.Added, r.Modified, r.Deleted}, left: r.Left,
		}
		row.mark, row.style = markOf(api.Checkpoint{Current: r.Current, Aside: r.Aside, Safety: r.Checkpoint.Safety})
		if row.style == term.Plain && r.Outside && r.Turn == 0 && r.Checkpoint.Message == "" {
			row.style = term.Dim
		}
		for _, c := range r.Changes {
			row.files = append(row.files, changeWord(c))
		}
		if o.patch || o.stat || o.names {
			row.below = func(w io.Writer) error { return a.fileDiffs(w, r.Files, o.patch, o.stat) }
		}
		rows[i] = row
	}
	if o.graph {
		rows = a.graphed(rows, func(i int) *api.Link { return list[i].Follows })
	}
	return a.listRows(w, rows)
}

func (a *app) listSteps(ctx context.Context, w io.Writer, list []api.Checkpoint, o listOptions) error {
	rows := make([]listRow, len(list))
	for i := range list {
		c := &list[i]
		row := listRow{
			id: c.Short, when: a.listTime(c.Time, o.relative), session: c.Session, turn: c.Turn, text: stepText(c),
			tally: [3]int{c.Added, c.Modified, c.Deleted},
		}
		row.mark, row.style = markOf(*c)
		for _, p := range c.Paths {
			row.files = append(row.files, term.Quote(string(p)))
		}
		row.left = max(c.Added+c.Modified+c.Deleted-len(c.Paths), 0)
		if len(c.Paths) == 1 && strings.HasSuffix(row.text, row.files[0]) {
			row.files = nil // it stands there already
		}
		if o.patch || o.stat || o.names {
			row.below = func(w io.Writer) error { return a.shownBelow(ctx, w, c.ID, nil, o) }
		}
		rows[i] = row
	}
	if o.graph {
		rows = a.graphed(rows, func(i int) *api.Link { return list[i].Follows })
	}
	return a.listRows(w, rows)
}

// shownBelow prints what a checkpoint changed, of these paths or, with none, of all, below its row.
func (a *app) shownBelow(ctx context.Context, w io.Writer, id string, only []api.Change, o listOptions) error {
	r, err := api.Call(ctx, a.client, api.Show, api.ShowRequest{Project: a.project(), Checkpoint: api.Text(id), Detail: o.detail()}, nil)
	if err != nil {
		return err
	}
	if only != nil {
		r.Files = slices.DeleteFunc(r.Files, func(f api.FileDiff) bool {
			return !slices.ContainsFunc(only, func(c api.Change) bool { return c.Path == f.Path })
		})
	}
	return a.fileDiffs(w, r.Files, o.patch, o.stat)
}

// fileDiffs prints files as a patch, with their lines counted, or by name.
func (a *app) fileDiffs(w io.Writer, files []api.FileDiff, patch, stat bool) error {
	if stat && !patch {
		return a.diffStat(w, files)
	}
	for _, f := range files {
		if patch {
			if err := a.filePatch(w, f); err != nil {
				return err
			}
		} else if _, err := fmt.Fprintln(w, term.Quote(string(f.Path))); err != nil {
			return err
		}
	}
	return nil
}

// rowText is what a row is known by: the prompt, a message, or what else made it.
func rowText(r *api.Row) string {
	c := r.Checkpoint
	text := string(r.Prompt)
	switch {
	case r.Turn > 0 && strings.TrimSpace(text) == "":
		text = "(the prompt is not known)"
	case r.Turn > 0:
	case c.Message == "" && c.Agent != "" && !c.Safety && c.Event == "prompt" && c.Turn > 0:
		text = fmt.Sprintf("outside, before turn %d", c.Turn)
	case c.Message == "" && c.Agent != "" && !c.Safety && r.Outside:
		text = "outside"
	default:
		text = cause(c)
	}
	for _, n := range c.Notes {
		text += "; noted: " + string(n)
	}
	return tagged(c.Tags, words(text))
}

// stepText is what made a checkpoint, in the row that says its turn: the tool and what its call was about.
func stepText(c *api.Checkpoint) string {
	text := ""
	target := string(c.Target)
	if len(c.Paths) == 1 && strings.HasSuffix(target, "/"+string(c.Paths[0])) {
		target = term.Quote(string(c.Paths[0]))
	}
	tool, outside := "", len(c.By) == 0 && !c.Safety
	if c.Tool != nil {
		tool = strings.TrimSpace(string(c.Tool.Name) + "  " + target)
	}
	switch {
	case c.Message != "" || c.Agent == "" || c.Event == "init":
		text, outside = cause(*c), false
	case c.Event == "post-tool-use" && tool != "":
		text = tool
	case c.Event == "pre-tool-use" && tool != "":
		text = "before " + tool
	case c.Event == "scan" && outside:
		text, outside = "outside", false
	case c.Event == "prompt":
		text = "before the prompt"
	case c.Event == "stop":
		text = "end of turn"
	default:
		text = c.Event
	}
	if outside {
		text += " (outside)"
	}
	if c.Late {
		text += " (late)"
	}
	text += mergedWords(c.Merged)
	for _, n := range c.Notes {
		text += "; noted: " + string(n)
	}
	return tagged(c.Tags, term.Sanitize(text))
}

// words is untrusted text on one line, unsanitised: its white space is as wide as a blank.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

func tagged(tags []string, text string) string {
	if len(tags) == 0 {
		return text
	}
	return "[" + strings.Join(tags, ", ") + "] " + text
}

// changeWord is a changed path in a row: what was deleted or added has its sign.
func changeWord(c api.Change) string {
	path := term.Quote(string(c.Path))
	switch c.Status {
	case "added":
		return "+" + path
	case "deleted":
		return "-" + path
	case "renamed":
		return term.Quote(string(c.RenamedFrom)) + " -> " + path
	}
	return path
}

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

// listRows prints rows: every column where there is no terminal, else as many from the left as there is room for.
func (a *app) listRows(w io.Writer, rows []listRow) error {
	sessions := sessionNames(rows, a.Width == 0 || a.Width >= sessionFull)
	cells := make([][]term.Cell, len(rows))
	for i := range rows {
		cells[i] = a.rowCells(&rows[i], sessions)
	}
	width := func(column int) (most int) {
		for _, c := range cells {
			most = max(most, term.Width(term.Sanitize(c[column].Text)))
		}
		return most
	}
	columns := []int{markColumn}
	for c := idColumn; c <= filesColumn; c++ {
		if width(c) > 0 {
			columns = append(columns, c)
		}
	}
	if a.Width > 0 {
		columns = a.fitColumns(columns, width)
		room := a.Width
		for _, c := range columns {
			if c != filesColumn && c != textColumn {
				room -= width(c) + listGap
			}
		}
		most := min(width(textColumn), max(room*3/5, room-width(filesColumn)-listGap))
		for i := range rows {
			if !slices.Contains(columns, filesColumn) {
				break
			}
			cells[i][textColumn].Text = term.Truncate(term.Sanitize(cells[i][textColumn].Text), most)
			if rows[i].changes == "" {
				cells[i][filesColumn].Text = fitFiles(rows[i].files, rows[i].left, room-most-listGap)
			}
		}
	}
	shape := make([]term.Column, len(columns))
	for i, c := range columns {
		shape[i] = term.Column{Flex: c == textColumn || c == filesColumn}
	}
	t := a.Table(shape...)
	for i := range rows {
		row := make([]term.Cell, len(columns))
		for k, c := range columns {
			row[k] = cells[i][c]
		}
		t.Row(row...)
	}
	if !slices.ContainsFunc(rows, func(r listRow) bool { return r.below != nil }) {
		return t.Flush(w)
	}
	return a.interleaved(w, t, rows)
}

// fitColumns leaves out columns for which the terminal has no room, from the right, until there is enough for the text.
func (a *app) fitColumns(columns []int, width func(int) int) []int {
	without := func(c int) { columns = slices.DeleteFunc(columns, func(k int) bool { return k == c }) }
	room := func() int {
		n := a.Width
		for _, c := range columns {
			if c != textColumn && c != filesColumn {
				n -= width(c) + listGap
			}
		}
		return n
	}
	least := leastFiles + listGap + enoughText
	if !slices.Contains(columns, tallyColumn) { // what is in it is what was asked for
		least = leastFiles + listGap + leastText
	}
	if room() < least && room()-width(textColumn)-listGap < leastFiles {
		without(filesColumn)
	}
	for _, c := range []int{tallyColumn, sessionColumn, timeColumn} {
		if room() < leastText {
			without(c)
		}
	}
	return columns
}

// interleaved prints the lines of a table, each with what stands below it.
func (a *app) interleaved(w io.Writer, t *term.Table, rows []listRow) error {
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
func (a *app) rowCells(r *listRow, sessions map[string]string) []term.Cell {
	turn := ""
	switch {
	case r.turn > 0 && a.Width > 0 && a.Width < narrowList:
		turn = fmt.Sprint(r.turn)
	case r.turn > 0:
		turn = fmt.Sprintf("turn:%d", r.turn)
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

// listTime is the clock, or how long ago.
func (a *app) listTime(t time.Time, relative bool) string {
	if relative {
		return term.Ago(a.Now(), t)
	}
	return a.Clock(t)
}

// tallyWord counts files that were added, modified and deleted: "+2 ~1 -20".
func tallyWord(n [3]int) string {
	var parts []string
	for i, sign := range []string{"+", "~", "-"} {
		if n[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", sign, n[i]))
		}
	}
	if parts == nil {
		return "no change"
	}
	return strings.Join(parts, " ")
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

// sessionNames says what each session is called in a list; nil: there is one at most, which need not be told. Where no agent has two, its
// word is enough.
func sessionNames(rows []listRow, full bool) map[string]string {
	names, agents := map[string]string{}, map[string]int{}
	for i := range rows {
		name := rows[i].session
		agent, id, ok := strings.Cut(name, "/")
		if _, known := names[name]; ok && !known {
			names[name] = shortID(id)
			agents[agent]++
		}
	}
	if len(names) < 2 {
		return nil
	}
	for name := range names {
		agent, _, _ := strings.Cut(name, "/")
		switch {
		case full:
			names[name] = sessionWords(name)
		case len(agents) == len(names):
			names[name] = agent
		}
	}
	return names
}
