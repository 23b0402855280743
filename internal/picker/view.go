package picker

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rewind/internal/render"
	"rewind/internal/term"
)

// The screen: a head, the two sides, a foot. Below sideBySide columns the right side stands under the left one.
const (
	sideBySide = 72
	leastLeft  = 30
	mostLeft   = 120
	rightHas   = 80 // columns: what a wider terminal has beyond them is the log's
	gutter     = 2  // before a row: whether it is chosen
	headLines  = 1
	footLines  = 1
	divider    = " │ "
	tabGap     = "  " // between the names of what the right side can show
)

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.frame(), "\n"))
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, "rewind"
	if l := m.line(); l != nil && (m.mode == asking || *l != "") {
		v.Cursor = tea.NewCursor(min(ansi.StringWidth(m.prompt()), m.width-1), m.height-1)
	}
	return v
}

// frame is what is on the screen, line by line, none wider than it.
func (m *model) frame() []string {
	lines := make([]string, 0, m.height)
	if m.height > headLines+footLines+1 {
		lines = append(lines, m.head())
	}
	lines = append(lines, m.body()...)
	for len(lines) < m.height-footLines {
		lines = append(lines, "")
	}
	lines = lines[:max(m.height-footLines, 0)]
	if told := m.silentLines(); len(told) < len(lines) {
		copy(lines[len(lines)-len(told):], told)
	}
	lines = append(lines, m.foot())
	for i, l := range lines {
		lines[i] = cut(l, m.width)
	}
	return lines
}

// silentLines say, over what is above the foot, that the daemon does not answer.
func (m *model) silentLines() []string {
	if m.silent == "" {
		return nil
	}
	lines := fold(string(m.silent), m.width, true)
	for i, l := range lines {
		lines[i] = m.screen.Styled(term.Warn, l)
	}
	return lines
}

// cut shortens a line, with all its styles ended.
func cut(line string, width int) string {
	if columns(line) <= width {
		return line
	}
	return ansi.Truncate(line, max(width, 0), "…")
}

// padded is a line of exactly a width.
func padded(line string, width int) string {
	n := columns(line)
	if n > width {
		line = cut(line, width)
		n = columns(line)
	}
	return line + strings.Repeat(" ", max(width-n, 0))
}

// isLine reports whether a text begins with a line of a box: U+2500 to U+257F, three bytes and one column.
func isLine(text string) bool {
	if len(text) < 3 || text[0] != 0xe2 {
		return false
	}
	return (text[1] == 0x94 || text[1] == 0x95) && text[2]&0xc0 == 0x80
}

// columns is how wide a text is on the screen. Most of it is printable ASCII, styles and lines of boxes. To count these
// takes less time than to look for wide characters, and each key has every line counted.
func columns(text string) (n int) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case ' ' <= c && c <= '~':
			n++
		case isLine(text[i:]):
			n, i = n+1, i+2
		case strings.HasPrefix(text[i:], "\x1b["):
			style, _, ended := strings.Cut(text[i+2:], "m")
			if !ended || strings.Trim(style, "0123456789;") != "" {
				return ansi.StringWidth(text)
			}
			i += len("\x1b[") + len(style)
		default:
			return ansi.StringWidth(text)
		}
	}
	return n
}

func (m *model) bodyHeight() int {
	if m.height > headLines+footLines+1 {
		return m.height - headLines - footLines
	}
	return max(m.height-footLines, 1)
}

func (m *model) beside() bool { return m.width >= sideBySide }

// leftWidth is how wide the log is.
func (m *model) leftWidth() int {
	if m.zoomed || !m.beside() {
		return m.width
	}
	return min(max(m.width*2/5, m.width-rightHas-len([]rune(divider)), leastLeft), mostLeft)
}

func (m *model) rightWidth() int {
	if m.zoomed || !m.beside() {
		return m.width
	}
	return m.width - m.leftWidth() - len([]rune(divider))
}

// topHeight is how many lines the log has where the right side stands under it.
func (m *model) topHeight() int {
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
func (m *model) body() []string {
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
func (m *model) window(lines []string, top *int, height int) []string {
	*top = max(min(*top, len(lines)-height), 0)
	return lines[*top:min(*top+height, len(lines))]
}

// left is the log, or what was found.
func (m *model) left(height int) []string {
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
func (m *model) pointed(lines []string, cursor, width int, any bool) []string {
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
func (m *model) right(width, height int) []string {
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
	all := m.sideLines(width)
	if m.side.atEnd {
		m.side.top = len(all)
	}
	lines := m.window(all, &m.side.top, height-1)
	more := ""
	if rest := len(all) - m.side.top - len(lines); rest > 0 {
		more = render.Count(rest, "more line")
	}
	return append([]string{m.tabLine(width, more)}, lines...)
}

// tabLine names what the right side can show.
func (m *model) tabLine(width int, more string) string {
	var parts []string
	for i, name := range tabNames {
		if tab(i) == m.side.tab {
			name = m.screen.Styled(term.Bold, "["+name+"]")
		} else {
			name = m.screen.Styled(term.Dim, name)
		}
		parts = append(parts, name)
	}
	line := strings.Join(parts, tabGap)
	if room := width - ansi.StringWidth(line) - ansi.StringWidth(more); more != "" && room > 1 {
		line += strings.Repeat(" ", room) + m.screen.Styled(term.Dim, more)
	}
	return line
}
