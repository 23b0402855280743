package picker

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rewind/api"
	"rewind/internal/render"
)

// How much of the log is asked for behind the first rows, as it is needed.
const (
	growth  = 5
	allRows = 0
)

// log is the left side: rows, and the steps of those that are open.
type log struct {
	rows    []api.Row
	words   []string      // of each row, in small letters: what a filter looks in
	names   []api.RowName // of each row
	more    bool          // older ones are not here
	limit   int
	wanted  int // the limit that is being asked for
	loading bool
	opened  map[string][]api.Checkpoint
	query   string
	last    string // the newest filter that was no empty one
	toEnd   bool   // the end is wanted, and rows are still to come

	entries []entry
	lines   []logLine
	drawn   drawn
	cursor  int // the entry that is chosen
	top     int // the first line that is shown
	moved   bool
	known   bool // an answer has come
	version int  // of rows and steps
}

// An entry is what the cursor can stand on: a row, or a step of it.
type entry struct{ row, step int } // step -1: the row itself

// A logLine is a line of the screen; entry -1: of the graph alone.
type logLine struct {
	text  string
	entry int
}

// drawn is what the lines were drawn for.
type drawn struct {
	width   int
	query   string
	version int
}

// load asks for rows; what was asked for already is not asked for again.
func (m *model) load() tea.Cmd {
	if m.log.loading {
		return nil
	}
	m.log.loading, m.log.wanted = true, m.log.limit
	limit := m.log.limit
	return ask(m, func(ctx context.Context) (api.ListResponse, error) {
		return m.src.List(ctx, api.LogRows(m.project(), limit))
	}, (*model).loaded)
}

// glance asks whether the newest rows are as they are here, and for all of them only if not.
func (m *model) glance() tea.Cmd {
	if m.log.loading || m.mode == stopped {
		return m.load()
	}
	return ask(m, func(ctx context.Context) (api.ListResponse, error) {
		return m.src.List(ctx, api.LogRows(m.project(), 2))
	}, func(m *model, r api.ListResponse, err error) tea.Cmd {
		if err != nil || sameRows(r.Turns, m.log.rows[:min(len(r.Turns), len(m.log.rows))]) {
			return nil
		}
		return m.refresh()
	})
}

// loaded takes rows in. Who has moved stays where they are; who has not stays on what is newest: here.
func (m *model) loaded(r api.ListResponse, err error) tea.Cmd {
	l := &m.log
	l.loading = false
	if err != nil {
		if !l.known || m.mode == stopped {
			m.stop(told(err))
		}
		return nil
	}
	if m.mode == stopped && m.why.Word != api.WordHalfDone {
		m.home()
		m.why = nil
	}
	at, _ := m.target()
	same := l.known && sameRows(l.rows, r.Turns)
	l.known, l.rows, l.more = true, r.Turns, r.More
	if len(l.rows) == 0 {
		m.stop(&api.Error{
			Word: api.WordNotFound, Message: "no checkpoints yet",
			Hint: "'rewind save' takes the first; an agent's first turn does, too",
		})
		return nil
	}
	if !same {
		l.words, l.names = make([]string, len(l.rows)), api.NameRows(l.rows)
		for i := range l.rows {
			l.words[i] = rowWords(&l.rows[i])
		}
		l.version++
		m.side.forget()
	}
	m.draw()
	here := m.standsOn(at.name)
	switch {
	case here >= 0:
		l.cursor = here
	case !l.moved && l.more: // the project stands on an old row
		return m.grow()
	}
	if l.limit != l.wanted { // more was wanted meanwhile
		return tea.Batch(m.load(), m.show())
	}
	return m.show()
}

// standsOn is the entry that is to be chosen among new rows; -1: none of them. was is the name of the one before.
func (m *model) standsOn(was string) int {
	l := &m.log
	if l.toEnd && !l.more {
		l.toEnd = false
		return len(l.entries) - 1
	}
	return slices.IndexFunc(l.entries, func(e entry) bool {
		t := m.targetOf(e)
		if l.moved {
			return t.name == was
		}
		return t.current && e.step < 0
	})
}

// sameRows reports whether a list says what another one did.
func sameRows(a, b []api.Row) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Checkpoint.ID != y.Checkpoint.ID || x.Turn != y.Turn || x.Session != y.Session || x.Steps != y.Steps ||
			x.Current != y.Current ||
			x.Aside != y.Aside || !x.Time.Equal(y.Time) || x.Prompt != y.Prompt || len(x.Checkpoint.Tags) != len(y.Checkpoint.Tags) {
			return false
		}
	}
	return true
}

// grow asks for older rows.
func (m *model) grow() tea.Cmd {
	if m.log.more && m.log.limit != allRows {
		m.log.limit *= growth
		return m.load()
	}
	return nil
}

// rowWords is what a filter looks in: the prompt, files, tools, the session, the turn.
func rowWords(r *api.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s turn:%d %s %s", r.Prompt, r.Session, r.Turn, r.Checkpoint.Message, strings.Join(r.Checkpoint.Tags, " "))
	for _, c := range r.Changes {
		fmt.Fprintf(&b, " %s %s", c.Path, c.RenamedFrom)
	}
	for _, t := range r.Tools {
		b.WriteString(" " + t)
	}
	if r.Outside {
		b.WriteString(" outside")
	}
	return strings.ToLower(b.String())
}

// matches reports whether all words of a filter are in a text.
func matches(text, query string) bool {
	for _, w := range strings.Fields(query) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// draw makes the lines anew, if anything has changed that they show.
func (m *model) draw() {
	l := &m.log
	width := m.leftWidth()
	now := drawn{width, l.query, l.version}
	if now == l.drawn && l.lines != nil {
		return
	}
	l.drawn = now
	shown, rows := make([]int, 0, len(l.rows)), make([]api.Row, 0, len(l.rows))
	query := strings.ToLower(l.query)
	for i := range l.rows {
		if query == "" || matches(l.words[i], query) {
			shown, rows = append(shown, i), append(rows, l.rows[i])
		}
	}
	pr, _ := m.pane(width - gutter)
	lines := pr.RowLines(pr.RowsOfTurns(rows, render.RowOptions{
		Graph: query == "" && len(rows) <= graphedRows, Short: true, Files: true,
		Below: func(i int, w io.Writer) error { return m.stepsBelow(shown[i], width, w) },
	}))
	l.entries, l.lines = l.entries[:0], make([]logLine, 0, len(lines))
	for _, line := range lines {
		row := shown[line.Row]
		steps := len(l.opened[l.names[row].Name])
		at := -1
		if line.Below <= steps {
			at = len(l.entries)
			l.entries = append(l.entries, entry{row, line.Below - 1})
		}
		l.lines = append(l.lines, logLine{line.Text, at})
	}
	l.cursor = max(min(l.cursor, len(l.entries)-1), 0)
}

// graphedRows is how many rows the graph is drawn for: a column for each line of thousands is no picture.
const graphedRows = 5000

// stepsBelow prints the steps of a row that is open.
func (m *model) stepsBelow(row, width int, w io.Writer) error {
	r, steps := &m.log.rows[row], m.log.opened[m.log.names[row].Name]
	if len(steps) == 0 {
		return nil
	}
	const indent = "  "
	list := make([]api.Checkpoint, len(steps))
	for i, c := range steps {
		c.Session, c.Turn = r.Session, 0
		list[i] = c
	}
	pr, _ := m.pane(max(width-gutter-2*len(indent)-len(indent), 12))
	for _, line := range pr.RowLines(pr.RowsOfSteps(list, render.RowOptions{Short: true})) {
		if _, err := fmt.Fprintln(w, indent+strings.TrimPrefix(line.Text, indent)); err != nil {
			return err
		}
	}
	return nil
}

// move chooses another entry.
func (m *model) move(by int) tea.Cmd {
	m.draw()
	l := &m.log
	to := max(min(l.cursor+by, len(l.entries)-1), 0)
	l.moved = l.moved || to != l.cursor
	l.cursor = to
	if l.toEnd = by == toEnd && l.more; l.toEnd {
		l.limit = allRows
		return tea.Batch(m.load(), m.show())
	}
	m.side.restart()
	if to > len(l.entries)-m.height {
		return tea.Batch(m.grow(), m.show())
	}
	return m.show()
}

// open shows the steps of a turn, or closes them.
func (m *model) open(want bool) tea.Cmd {
	l := &m.log
	if l.cursor >= len(l.entries) {
		return nil
	}
	e := l.entries[l.cursor]
	r := &l.rows[e.row]
	is := l.names[e.row]
	name := is.Name
	if !want {
		if _, open := l.opened[name]; open {
			delete(l.opened, name)
			l.cursor -= e.step + 1
			l.version++
			m.draw()
			return m.show()
		}
		return nil
	}
	if r.Turn == 0 || r.Steps == 0 || e.step >= 0 || l.opened[name] != nil {
		return nil
	}
	return ask(m, func(ctx context.Context) (api.ListResponse, error) {
		return m.src.List(ctx, api.ListRequest{
			Project: m.project(), Turn: api.Text(is.Turn), End: is.End, Steps: true, Choose: true,
		})
	}, func(m *model, resp api.ListResponse, err error) tea.Cmd {
		if m.why = told(err); err != nil {
			return nil
		}
		if m.log.opened == nil {
			m.log.opened = map[string][]api.Checkpoint{}
		}
		m.log.opened[name] = resp.Checkpoints
		m.log.version++
		m.draw()
		return nil
	})
}

// filter takes another filter. What is not here yet is asked for: a filter is of all the log.
func (m *model) filter(query string) tea.Cmd {
	l := &m.log
	at, ok := m.target()
	l.query, l.top = query, 0
	if query != "" {
		l.last = strings.ToLower(query)
	}
	m.draw()
	l.cursor = 0
	for i, e := range l.entries {
		if ok && m.targetOf(e).name == at.name {
			l.cursor = i
		}
	}
	m.side.restart()
	if query != "" && l.more && l.limit != allRows {
		l.limit = allRows
		return tea.Batch(m.load(), m.show())
	}
	return m.show()
}

// A target is a moment that can be gone back to.
type target struct {
	name    string      // the end of a turn, or a checkpoint
	of      api.RowName // of a row, not of a step
	before  string      // what was before it; "": nothing
	title   string
	turn    uint64
	whole   bool // a turn
	current bool
	row     *api.Row
}

// target is the entry that is chosen.
func (m *model) target() (t target, ok bool) {
	if m.log.cursor >= len(m.log.entries) {
		return t, false
	}
	return m.targetOf(m.log.entries[m.log.cursor]), true
}

func (m *model) targetOf(e entry) target {
	r := &m.log.rows[e.row]
	if e.step >= 0 {
		if list := m.log.opened[m.log.names[e.row].Name]; e.step < len(list) {
			c := list[e.step]
			return target{
				name: c.ID, before: parentName(c.ID, len(c.Parents)), title: "checkpoint " + c.Short, turn: c.Turn,
				current: c.Current,
			}
		}
	}
	t := target{name: m.log.names[e.row].Name, of: m.log.names[e.row], turn: r.Turn, current: r.Current, row: r}
	if r.Turn > 0 {
		_, id, _ := strings.Cut(r.Session, "/")
		t.whole, t.before = true, fmt.Sprintf("before:%d@%s", r.Turn, id)
		t.title = render.SessionTurn(r.Turn, r.Session)
		if r.NoCode && r.Turn == 1 {
			t.before = "" // nothing was said
		}
		if t.of.End != "" && r.First != "" { // the turn's name means another row of it
			t.before = parentName(r.First, len(r.Checkpoint.Parents))
		}
		return t
	}
	t.title = "checkpoint " + r.Checkpoint.Short
	first := r.First
	if first == "" {
		first = r.Checkpoint.ID
	}
	t.before = parentName(first, len(r.Checkpoint.Parents))
	return t
}

// parentName names what is before a checkpoint.
func parentName(id string, parents int) string {
	if parents == 0 {
		return ""
	}
	return id + "~1"
}
