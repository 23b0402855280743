package picker

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// The screen: a head, the two sides, a foot. Below sideBySide columns the right side stands under the left one.
const (
	sideBySide = 72
	leastLeft  = 30
	mostLeft   = 72
	gutter     = 2 // before a row: whether it is chosen
	headLines  = 1
	footLines  = 1
	divider    = " │ "
)

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.Frame(), "\n"))
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, "rewind"
	if l := m.line(); l != nil && (m.mode == asking || *l != "") {
		v.Cursor = tea.NewCursor(min(ansi.StringWidth(m.prompt()), m.width-1), m.height-1)
	}
	return v
}

// Frame is what is on the screen, line by line, none wider than it.
func (m *Model) Frame() []string {
	lines := make([]string, 0, m.height)
	if m.height > headLines+footLines+1 {
		lines = append(lines, m.head())
	}
	lines = append(lines, m.body()...)
	for len(lines) < m.height-footLines {
		lines = append(lines, "")
	}
	lines = append(lines[:max(m.height-footLines, 0)], m.foot())
	for i, l := range lines {
		lines[i] = cut(l, m.width)
	}
	return lines
}

// cut shortens a line, with all its styles ended.
func cut(line string, width int) string {
	if ansi.StringWidth(line) <= width {
		return line
	}
	return ansi.Truncate(line, max(width, 0), "…")
}

// padded is a line of exactly a width.
func padded(line string, width int) string {
	line = cut(line, width)
	return line + strings.Repeat(" ", max(width-ansi.StringWidth(line), 0))
}

func (m *Model) bodyHeight() int {
	if m.height > headLines+footLines+1 {
		return m.height - headLines - footLines
	}
	return max(m.height-footLines, 1)
}

func (m *Model) beside() bool { return m.width >= sideBySide }

// leftWidth is how wide the log is.
func (m *Model) leftWidth() int {
	if m.zoomed || !m.beside() {
		return m.width
	}
	return min(max(m.width*2/5, leastLeft), mostLeft)
}

func (m *Model) rightWidth() int {
	if m.zoomed || !m.beside() {
		return m.width
	}
	return m.width - m.leftWidth() - len([]rune(divider))
}

// topHeight is how many lines the log has where the right side stands under it.
func (m *Model) topHeight() int {
	if m.beside() {
		return m.bodyHeight()
	}
	share := 2
	if m.mode == going || m.mode == did || m.mode == choosing {
		share = 4
	}
	return max((m.bodyHeight()-1)/share, 1)
}

// body are the two sides.
func (m *Model) body() []string {
	h := m.bodyHeight()
	switch {
	case m.mode == helping:
		return m.window(m.helpLines(), &m.side.top, h)
	case m.mode == stopped:
		return m.stoppedLines()
	case m.zoomed:
		return m.right(m.width, h)
	case m.beside():
		left, right := m.left(h), m.right(m.rightWidth(), h)
		lines := make([]string, h)
		bar := m.screen.Styled(term.Dim, divider)
		for i := range lines {
			lines[i] = padded(at(left, i), m.leftWidth()) + bar + cut(at(right, i), m.rightWidth())
		}
		return lines
	}
	top := m.topHeight()
	lines := m.left(top)
	for len(lines) < top {
		lines = append(lines, "")
	}
	lines = append(lines, m.screen.Styled(term.Dim, strings.Repeat("─", m.width)))
	return append(lines, m.right(m.width, max(h-top-1, 0))...)
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// window is a part of lines; top is kept where there is something to be seen.
func (m *Model) window(lines []string, top *int, height int) []string {
	*top = max(min(*top, len(lines)-height), 0)
	return lines[*top:min(*top+height, len(lines))]
}

// left is the log, or what was found.
func (m *Model) left(height int) []string {
	width := m.leftWidth()
	var lines []string
	cursor := 0
	if m.mode == finding || m.mode == going && len(m.search.hits) > 0 && m.trip.to.row == nil && !m.inLog(m.trip.to.name) {
		s := &m.search
		lines, cursor = m.foundLines(width-gutter), s.cursor
		s.top = follow(s.top, cursor, len(lines), height)
		return m.pointed(lines[s.top:min(s.top+height, len(lines))], cursor-s.top, width, len(s.hits) > 0)
	}
	m.draw()
	l := &m.log
	cursor = slices.IndexFunc(l.lines, func(x logLine) bool { return x.entry == l.cursor })
	l.top = follow(l.top, cursor, len(l.lines), height)
	for _, x := range l.lines[l.top:min(l.top+height, len(l.lines))] {
		lines = append(lines, x.text)
	}
	if !l.known {
		lines = []string{"reading ..."}
	}
	return m.pointed(lines, cursor-l.top, width, l.known)
}

// follow is the first line of a window in which the cursor is seen, with a line around it where there is one.
func follow(top, cursor, lines, height int) int {
	if cursor < 0 {
		return max(min(top, lines-height), 0)
	}
	margin := min(1, (height-1)/2)
	top = max(min(top, cursor-margin), cursor+margin-height+1)
	return max(min(top, lines-height), 0)
}

// pointed marks the line that is chosen.
func (m *Model) pointed(lines []string, cursor, width int, any bool) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Repeat(" ", gutter) + l
		if i == cursor && any {
			out[i] = "> " + l
			if m.screen.ColorOut() {
				out[i] = m.screen.Styled(term.Selected, padded("> "+ansi.Strip(l), width))
			}
		}
	}
	return out
}

// right is what is told of the chosen row, the preview, or what was done.
func (m *Model) right(width, height int) []string {
	switch m.mode {
	case going, did:
		return m.window(m.tripLines(width), &m.trip.top, height)
	case choosing:
		lines, cursor := m.choiceLines(width)
		m.choice.top = follow(m.choice.top, cursor, len(lines), height)
		return lines[m.choice.top:min(m.choice.top+height, len(lines))]
	case finding:
		return m.window(m.hitLines(width), &m.side.top, height)
	}
	if height < 2 {
		return nil
	}
	lines := m.window(m.sideLines(width), &m.side.top, height-1)
	more := ""
	if rest := len(m.side.text.lines) - m.side.top - len(lines); rest > 0 {
		more = fmt.Sprintf("%d more", rest)
	}
	return append([]string{m.tabLine(width, more)}, lines...)
}

// tabLine names what the right side can show.
func (m *Model) tabLine(width int, more string) string {
	var parts []string
	for i, name := range tabNames {
		if tab(i) == m.side.tab {
			name = m.screen.Styled(term.Bold, "["+name+"]")
		} else {
			name = m.screen.Styled(term.Dim, name)
		}
		parts = append(parts, name)
	}
	line := strings.Join(parts, "  ")
	if room := width - ansi.StringWidth(line) - ansi.StringWidth(more); more != "" && room > 1 {
		line += strings.Repeat(" ", room) + m.screen.Styled(term.Dim, more)
	}
	return line
}

// head says where the project stands, and who is at work in it.
func (m *Model) head() string {
	parts := []string{m.screen.Styled(term.Bold, "rewind "+term.Sanitize(filepath.Base(m.o.Dir)))}
	if s := m.status; s != nil {
		parts[0] = m.screen.Styled(term.Bold, "rewind "+term.Sanitize(filepath.Base(string(s.Root))))
		if n := len(s.AtWork); n > 0 {
			pr, _ := m.pane(m.width)
			text := "at work: " + pr.WorkText(s.AtWork[0])
			if n > 1 {
				text += fmt.Sprintf(" and %s", render.Count(n-1, "other"))
			}
			parts = append(parts, m.screen.Styled(term.Warn, text))
		}
		if c := s.Current; c != nil {
			text := "at " + c.Short
			if c.Turn > 0 {
				text = fmt.Sprintf("at turn:%d of %s", c.Turn, render.SessionWords(c.Session))
			}
			parts = append(parts, text)
		}
		switch n := len(s.Changes); {
		case s.Activity != nil:
			parts = append(parts, "a capture or restore is under way")
		case n > 0:
			parts = append(parts, m.screen.Styled(term.Bold, render.Count(n, "path")+" unsaved"))
		}
		if s.Degraded != nil {
			parts = append(parts, m.screen.Styled(term.Warn, "hooks cannot do their work: rewind status"))
		}
	}
	return strings.Join(parts, "  ")
}

// prompt is the line that is being typed, with what it is for.
func (m *Model) prompt() string {
	if m.mode == asking {
		return "search: " + even(m.search.pattern)
	}
	return "filter: " + even(m.log.query)
}

// foot says which keys there are, or has what is being typed.
func (m *Model) foot() string {
	dim := func(s string) string { return m.screen.Styled(term.Dim, s) }
	if m.mode == asking {
		return m.prompt() + dim("   an expression; Enter searches, Esc back")
	}
	if m.mode == looking && m.log.query != "" {
		rows := 0
		for _, e := range m.log.entries {
			if e.step < 0 {
				rows++
			}
		}
		text := fmt.Sprintf("   %d of %s", rows, render.Count(len(m.log.rows), "row"))
		if m.log.loading && m.log.more {
			text += ", reading on"
		}
		return m.prompt() + dim(text+"   Enter preview  Esc all")
	}
	if m.why != nil && m.mode != stopped {
		return m.screen.Styled(term.Error, "error:") + " " + term.Sanitize(m.why.Message)
	}
	var parts []string
	for _, b := range bindings() {
		if b.foot == "" || !slices.Contains(b.in, m.mode) || m.hidden(b) {
			continue
		}
		name := b.show
		if name == "" || strings.HasPrefix(name, "Enter") {
			name = keyName(b.keys[0])
		}
		word := b.foot
		if m.mode == looking && b.keys[0] == "esc" {
			word = "leave"
		}
		if m.mode == going && m.trip.err != nil && word == "do it" {
			word = "look again"
		}
		parts = append(parts, name+" "+word)
	}
	if m.mode == looking {
		parts = slices.Insert(parts, len(parts)-2, "Tab "+strings.ToLower(tabNames[(m.side.tab+1)%tabs]), "type to filter")
	}
	text := strings.Join(parts, "  ")
	for len(parts) > 2 && ansi.StringWidth(text) > m.width { // the first, and how to see all, stay
		i := len(parts) - 3
		if i < 1 {
			break
		}
		parts = slices.Delete(parts, i, i+1)
		text = strings.Join(parts, "  ")
	}
	return dim(text)
}

// hidden reports whether a key would do nothing now.
func (m *Model) hidden(b binding) bool {
	t := &m.trip
	switch b.foot {
	case "undo":
		_, ok := m.undoable()
		return !ok
	case "files", "hunks", "exact", "in place":
		return t.fork
	case "steps":
		got, ok := m.target()
		return !ok || got.row == nil || got.row.Turn == 0 || got.row.Steps == 0
	}
	return false
}

// keyName is a key as a person knows it.
func keyName(name string) string {
	switch name {
	case "enter":
		return "Enter"
	case "space":
		return "Space"
	}
	return name
}

// helpLines are all keys.
func (m *Model) helpLines() []string {
	pr, text := m.pane(m.width)
	fmt.Fprintln(text, pr.Styled(term.Bold, "Keys"))
	wide := 0
	for _, b := range bindings() {
		wide = max(wide, len(b.show))
	}
	fmt.Fprintf(text, "  %-*s  %s\n", wide, "letters", "filter the log: prompt, file, tool, session; words are all wanted")
	for _, b := range bindings() {
		if b.show != "" {
			fmt.Fprintf(text, "  %-*s  %s\n", wide, b.show, b.help)
		}
	}
	fmt.Fprintf(text, "  %-*s  %s\n", wide, "mouse", "click chooses a row, again previews it; the wheel scrolls")
	fmt.Fprintf(text, "\n@ is where the project stands, ~ what is not on this branch. Esc leaves the help.\n")
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, hanging(strings.TrimSuffix(line, "\n"), m.width, wide+4)...)
	}
	return lines
}

// hanging breaks a line; what goes on begins below its text.
func hanging(line string, width, indent int) []string {
	if ansi.StringWidth(line) <= width || !strings.HasPrefix(line, "  ") || width < 2*indent {
		return fold(line, width, true)
	}
	parts := fold(strings.TrimSpace(line[indent:]), width-indent, true)
	for i := range parts {
		if i == 0 {
			parts[i] = line[:indent] + parts[i]
		} else {
			parts[i] = strings.Repeat(" ", indent) + parts[i]
		}
	}
	return parts
}

// stoppedLines say why there is nothing to look at, and what to do.
func (m *Model) stoppedLines() []string {
	pr, text := m.pane(m.width)
	fmt.Fprintln(text)
	e := m.why
	hint := e.Hint
	switch e.Word {
	case api.WordNoProject:
		fmt.Fprintln(text, pr.Styled(term.Bold, "This directory is no project of rewind."))
		fmt.Fprintf(text, "\n%s\n\n", term.Quote(m.o.Dir))
		hint = "i runs 'rewind init': it takes the first checkpoint and registers the agents' hooks. Esc leaves."
	case api.WordHalfDone:
		fmt.Fprintln(text, pr.Styled(term.Bold, "A checkout was cut short: "+term.SanitizeText(e.Message)))
		fmt.Fprintln(text, "\nNothing is lost. c finishes it ('rewind checkout --continue'), a takes it back ('--abort').")
		hint = ""
	case api.WordNotFound:
		fmt.Fprintf(text, "%s\n\n", pr.Styled(term.Bold, term.SanitizeText(strings.ToUpper(e.Message[:1])+e.Message[1:]+".")))
	default:
		fmt.Fprintf(text, "%s %s\n\n", pr.Styled(term.Error, "error:"), term.SanitizeText(e.Message))
		if hint == "" {
			hint = "r looks again, Esc leaves"
		}
	}
	if hint != "" {
		fmt.Fprintln(text, term.SanitizeText(hint))
	}
	return fold(text.String(), m.width, true)
}

// click chooses the row under the mouse; the one that is chosen is previewed.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.mode != looking && m.mode != finding || m.zoomed {
		return nil
	}
	y := msg.Y - headLines
	if y < 0 || y >= m.topHeight() || m.beside() && msg.X >= m.leftWidth() {
		return nil
	}
	if m.mode == finding {
		if i := m.search.top + y; i < len(m.search.hits) {
			if i == m.search.cursor {
				return m.goFound()
			}
			m.search.cursor = i
		}
		return nil
	}
	i := m.log.top + y
	if i >= len(m.log.lines) || m.log.lines[i].entry < 0 {
		return nil
	}
	if m.log.lines[i].entry == m.log.cursor {
		return m.goTo()
	}
	return m.move(m.log.lines[i].entry - m.log.cursor)
}

// wheel scrolls the side under the mouse.
func (m *Model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	const lines = 3
	by := lines
	if msg.Button == tea.MouseWheelUp {
		by = -lines
	}
	left := !m.zoomed && (m.beside() && msg.X < m.leftWidth() || !m.beside() && msg.Y-headLines < m.topHeight())
	if left && (m.mode == looking || m.mode == finding) {
		return m.step(by)
	}
	return m.scroll(by)
}
