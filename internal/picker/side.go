package picker

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// A tab is what the right side shows of the row that is chosen.
type tab uint8

const (
	diffTab tab = iota
	filesTab
	talkTab
	tabs
)

var tabNames = [tabs]string{"Diff", "Files", "Conversation"}

// shownPaths is how many files are told line by line; shownMessages how much of a conversation.
const (
	shownPaths    = 200
	shownMessages = 30
)

// side is the right side.
type side struct {
	tab     tab
	top     int  // the first line that is shown
	atEnd   bool // the end is shown, also of an answer that is still to come
	answers map[wish]shown
	asked   *wish // what is being asked for
	text    sideText
}

// A wish is what of which target is wanted.
type wish struct {
	name string
	talk bool
}

// shown is an answer, or why there is none.
type shown struct {
	r   api.ShowResponse
	err error
}

// sideText are the lines that were made last, and what for.
type sideText struct {
	wish  wish
	tab   tab
	width int
	whole bool // from an answer
	lines []string
}

// restart shows the text from where it begins: of a conversation that is its end, where the row is.
func (s *side) restart() { s.top, s.atEnd = 0, s.tab == talkTab }

// forget drops what was answered: what was the end of a turn need not be it any more.
func (s *side) forget() { s.answers, s.text = nil, sideText{} }

// show asks for what the right side is to show, one request at a time: who runs down the log does not wait for each
// row.
func (m *model) show() tea.Cmd {
	t, ok := m.target()
	if !ok {
		return nil
	}
	w := wish{t.name, m.side.tab == talkTab}
	if _, known := m.side.answers[w]; known || m.side.asked != nil {
		return nil
	}
	m.side.asked = &w
	req := api.ShowRequest{
		Project: m.project(), Checkpoint: api.Text(t.name), Said: true,
		Detail: api.Detail{Lines: true, Patch: true, Context: 3, Most: shownPaths},
	}
	req.Choose = true
	if t.whole {
		req.Checkpoint, req.Whole, req.End = api.Text(t.of.Turn), true, t.of.End
	}
	if w.talk {
		req.Detail, req.Messages = api.Detail{}, shownMessages
	}
	return ask(m, func(ctx context.Context) (api.ShowResponse, error) { return m.src.Show(ctx, req) },
		func(m *model, r api.ShowResponse, err error) tea.Cmd {
			m.side.asked = nil
			if m.side.answers == nil {
				m.side.answers = map[wish]shown{}
			}
			m.side.answers[w] = shown{r, err}
			return m.show() // of what is chosen now
		})
}

// sideLines are the lines of the right side.
func (m *model) sideLines(width int) []string {
	t, ok := m.target()
	if !ok {
		if m.log.query != "" {
			return []string{"", "nothing in the log has all of these words", "", "Ctrl-F finds in files and conversations"}
		}
		return nil
	}
	w := wish{t.name, m.side.tab == talkTab}
	a, known := m.side.answers[w]
	now := sideText{wish: w, tab: m.side.tab, width: width, whole: known}
	if old := m.side.text; old.lines != nil && old.wish == now.wish && old.tab == now.tab && old.width == now.width &&
		old.whole == now.whole {
		return old.lines
	}
	pr, text := m.pane(width)
	wrapWords := m.side.tab == talkTab
	switch {
	case !known:
		m.rowAtOnce(pr, t)
	case a.err != nil:
		e := told(a.err)
		fmt.Fprintf(text, "%s %s\n", pr.Styled(term.Error, "error:"), term.SanitizeText(e.Message))
		if e.Hint != "" {
			fmt.Fprintf(text, "%s %s\n", pr.Styled(term.Bold, "hint:"), term.SanitizeText(e.Hint))
		}
		wrapWords = true
	case m.side.tab == talkTab:
		m.talk(pr, a.r)
	default:
		m.changes(pr, a.r)
	}
	now.lines = fold(text.String(), width, wrapWords)
	m.side.text = now
	return now.lines
}

// rowAtOnce tells what the row itself knows, until there is an answer.
func (m *model) rowAtOnce(pr *render.Printer, t target) {
	fmt.Fprintln(pr.Out, pr.Styled(term.Bold, t.title))
	if t.row == nil || m.side.tab == talkTab {
		return
	}
	fmt.Fprintln(pr.Out, pr.Styled(term.Dim, pr.Clock(t.row.Time)+", "+term.Ago(pr.Now(), t.row.Time)))
	pr.ChangeLines(pr.Out, t.row.Changes, shownPaths)
}

// changes tells what a turn or checkpoint changed: its head, the files, and on the first tab the lines.
func (m *model) changes(pr *render.Printer, r api.ShowResponse) {
	w := pr.Out
	c := r.Checkpoint
	prompt, when := c.Prompt, c.Time
	if r.Whole != nil {
		prompt, when = r.Whole.Prompt, r.Whole.Time
	}
	fmt.Fprintln(w, pr.Styled(term.Bold, term.Sanitize(render.ShownWords(r))))
	head := pr.Clock(when) + ", " + term.Ago(pr.Now(), when)
	if c.Short != "" {
		head += ", " + c.Short
	}
	if len(c.Tags) > 0 {
		head += "  [" + strings.Join(c.Tags, ", ") + "]"
	}
	fmt.Fprintln(w, pr.Styled(term.Dim, term.Sanitize(head)))
	said := render.Words(string(prompt))
	if r.Whole == nil && c.Message != "" {
		said = render.Words(string(c.Message))
	}
	if said != "" {
		const saidLines = 2
		fmt.Fprintln(w, term.Truncate(term.Sanitize(said), saidLines*pr.Width))
	}
	if len(r.Changes) == 0 {
		if r.Whole == nil || !r.Whole.NoCode { // else the title says it
			fmt.Fprintln(w, "\nno file changed")
		}
		if r.Answered != nil {
			fmt.Fprintf(w, "\n%s\n%s\n", pr.Styled(term.Bold, "answered:"), term.SanitizeText(strings.TrimSpace(string(r.Answered.Text))))
		}
		return
	}
	if m.side.tab == filesTab && len(r.Files) > 0 {
		fmt.Fprintln(w)
		_ = pr.DiffStat(w, r.Files) // to memory
		return
	}
	_ = pr.ShowFiles(w, r, false, false)
	pr.ShowUncaptured(w, r.NotCaptured)
	if m.side.tab == diffTab {
		for _, f := range r.Files {
			fmt.Fprintln(w)
			_ = pr.FileHunks(w, f) // to memory
		}
	}
}

// talk tells the conversation up to there.
func (m *model) talk(pr *render.Printer, r api.ShowResponse) {
	fmt.Fprintln(pr.Out, pr.Styled(term.Bold, term.Sanitize(render.ShownWords(r))))
	if len(r.Messages) == 0 {
		why := string(r.Conversation)
		if why == "" {
			why = "nothing was said before it"
		}
		fmt.Fprintf(pr.Out, "\nno conversation: %s\n", term.Sanitize(why))
		return
	}
	pr.ShowMessages(pr.Out, r.Messages)
	fmt.Fprintf(pr.Out, "\n%s\n", pr.Styled(term.Dim, "-- here --"))
}

// tabWidth is how wide a tab is on the screen.
const tabWidth = 4

// fold breaks text into lines of a width. Words stay whole where they may; a line that was broken goes on as it began.
func fold(text string, width int, words bool) (lines []string) {
	width = max(width, 1)
	text = strings.TrimRight(even(text), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if ansi.StringWidth(line) <= width {
			lines = append(lines, line)
			continue
		}
		if words {
			body := strings.TrimLeft(line, " ")
			indent := line[:len(line)-len(body)]
			if len(indent)*2 > width {
				indent = ""
			}
			for part := range strings.SplitSeq(ansi.Wrap(body, width-len(indent), ""), "\n") {
				if strings.Contains(part, "\x1b") {
					part += "\x1b[0m" // no style goes on into the other side
				}
				lines = append(lines, indent+part)
			}
			continue
		}
		for at, n := 0, ansi.StringWidth(line); at < n; {
			part := ansi.Cut(line, at, at+width)
			step := ansi.StringWidth(part)
			if step == 0 { // one that is wider than the pane
				break
			}
			lines = append(lines, part)
			at += step
		}
	}
	return lines
}

// even makes the width of text the same for everybody who counts it: tabs are blanks, and what joins emoji goes, so
// that each stands alone.
func even(text string) string { return evenly.Replace(text) }

var evenly = strings.NewReplacer("\t", strings.Repeat(" ", tabWidth), "\u200d", "", "\ufe0f", "", "\ufe0e", "", "\r", "")
