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

// head says where the project stands, and who is at work in it.
func (m *model) head() string {
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
				text = "at " + render.SessionTurn(c.Turn, c.Session)
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
func (m *model) prompt() string {
	if m.mode == asking {
		return "find: " + even(m.search.pattern)
	}
	return "filter: " + even(m.log.query)
}

// foot says which keys there are, or has what is being typed.
func (m *model) foot() string {
	dim := func(s string) string { return m.screen.Styled(term.Dim, s) }
	switch {
	case m.mode == asking:
		return m.prompt() + dim("   an expression; Enter finds, Esc back")
	case m.mode == typing && !m.typesAtOnce && m.log.query == "":
		return m.prompt() + dim("   words of a prompt, a file, a tool, a session; Esc back")
	case m.atLog() && m.log.query != "":
		return m.prompt() + dim(m.filteredWords())
	case m.why != nil && m.mode != stopped:
		return m.screen.Styled(term.Error, "error:") + " " + term.Sanitize(m.why.Message)
	}
	parts := m.footKeys()
	text := strings.Join(parts, "  ")
	for len(parts) > 3 && ansi.StringWidth(text) > m.width { // the first, and how to see all, stay
		parts = slices.Delete(parts, len(parts)-3, len(parts)-2)
		text = strings.Join(parts, "  ")
	}
	return dim(text)
}

// filteredWords say how many rows a filter leaves, and what goes on from there.
func (m *model) filteredWords() string {
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
	if m.mode == typing && !m.typesAtOnce {
		return text + "   Enter to the rows  Esc all"
	}
	return text + "   Enter preview  Esc all"
}

// footKeys are the keys of the foot, each with its word.
func (m *model) footKeys() (parts []string) {
	for _, b := range bindings() {
		if b.foot == "" || !slices.Contains(b.in, m.mode) || m.hidden(b) {
			continue
		}
		parts = append(parts, m.footName(b)+" "+m.footWord(b))
	}
	if m.atLog() {
		tab := "Tab " + strings.ToLower(tabNames[(m.side.tab+1)%tabs])
		parts = slices.Insert(parts, max(len(parts)-2, 0), tab)
	}
	if m.mode == typing { // and letters are the filter's
		parts = slices.Insert(parts, len(parts)-1, "type to filter", "/ find", "? keys")
	}
	if m.mode == helping {
		if rest := len(m.helpLines()) - m.side.top - m.bodyHeight(); rest > 0 {
			parts = slices.Insert(parts, 0, "Down "+render.Count(rest, "more line"))
		}
	}
	return parts
}

// footName is what a key is called in the foot: the longest of its names.
func (m *model) footName(b binding) string {
	name := m.shown(b)
	if _, long, more := strings.Cut(name, ", "); more {
		name = long
	}
	if name == "" || strings.HasPrefix(name, "Enter") {
		return keyName(b.keys[0])
	}
	return name
}

// footWord is what a key does, as the foot has it.
func (m *model) footWord(b binding) string {
	switch {
	case m.atLog() && b.keys[0] == "esc":
		return "leave"
	case m.mode == going && m.trip.err != nil && b.foot == "do it":
		return "look again"
	}
	return b.foot
}

// hidden reports whether a key would do nothing now.
func (m *model) hidden(b binding) bool {
	t := &m.trip
	switch b.foot {
	case "undo":
		return !m.undoable()
	case "files", "hunks", "exact", "in place":
		return t.fork
	case "steps":
		got, ok := m.target()
		return !ok || got.row == nil || got.row.Turn == 0 || got.row.Steps == 0
	}
	return false
}

// shown are a key's names. Where letters are the filter's, those of the log have none but longer ones.
func (m *model) shown(b binding) string {
	if !m.typesAtOnce || !slices.Contains(b.in, looking) || b.keys[0] == "?" {
		return b.show
	}
	if !slices.Contains(b.in, typing) {
		return ""
	}
	_, long, found := strings.Cut(b.show, ", ")
	if found {
		return long
	}
	return b.show
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
func (m *model) helpLines() []string {
	pr, text := m.pane(m.width)
	fmt.Fprintln(text, pr.Styled(term.Bold, "Keys"))
	wide := 0
	for _, b := range bindings() {
		wide = max(wide, len(b.show))
	}
	if m.typesAtOnce {
		fmt.Fprintf(text, "  %-*s  %s\n", wide, "letters", "filter the log: prompt, file, tool, session; all words count")
		fmt.Fprintf(text, "  %-*s  %s\n", wide, "/", "find an expression in files and conversations")
	}
	for _, b := range bindings() {
		if show := m.shown(b); show != "" {
			fmt.Fprintf(text, "  %-*s  %s\n", wide, show, b.help)
		}
	}
	fmt.Fprintf(text, "  %-*s  %s\n", wide, "mouse",
		"click chooses a row, again previews it, or what the right side shows; the wheel scrolls")
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
func (m *model) stoppedLines() []string {
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

// clickFound chooses one of what was found; the one that is chosen is gone to.
func (m *model) clickFound(i int) tea.Cmd {
	switch {
	case i >= len(m.search.hits):
		return nil
	case i == m.search.cursor:
		return m.goFound()
	}
	m.search.cursor = i
	return nil
}

// click chooses the row under the mouse; the one that is chosen is previewed.
func (m *model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || !m.atLog() && m.mode != finding {
		return nil
	}
	y := msg.Y - headLines
	if t, ok := m.tabAt(msg.X, y); ok {
		return m.turnTab(int(t) - int(m.side.tab))
	}
	if m.zoomed {
		return nil
	}
	if y < 0 || y >= m.topHeight() || m.beside() && msg.X >= m.leftWidth() {
		return nil
	}
	if m.mode == finding {
		return m.clickFound(m.search.top + y)
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

// tabAt is the name of what the right side shows that stands at a place of the body.
func (m *model) tabAt(x, y int) (tab, bool) {
	left, top := 0, 0
	switch {
	case !m.atLog():
		return 0, false
	case m.zoomed:
	case m.beside():
		left = m.leftWidth() + len([]rune(divider))
	default:
		top = m.topHeight() + 1
	}
	if y != top {
		return 0, false
	}
	for i, name := range tabNames {
		width := len(name)
		if tab(i) == m.side.tab {
			width += len("[]")
		}
		if x >= left && x < left+width {
			return tab(i), true
		}
		left += width + len(tabGap)
	}
	return 0, false
}

// wheel scrolls the side under the mouse.
func (m *model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	const lines = 3
	var by int
	switch msg.Button {
	case tea.MouseWheelUp:
		by = -lines
	case tea.MouseWheelDown:
		by = lines
	default: // to a side
		return nil
	}
	left := !m.zoomed && (m.beside() && msg.X < m.leftWidth() || !m.beside() && msg.Y-headLines < m.topHeight())
	if left && (m.atLog() || m.mode == finding) {
		return m.step(by)
	}
	return m.scroll(by)
}
