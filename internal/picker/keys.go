package picker

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"

	"rewind/api"
)

// A binding is what keys do in some modes. The help, the foot of the screen and the keys themselves are one table.
type binding struct {
	in   []mode
	keys []string // as bubbletea calls them
	show string   // as a person does; "": it is not told
	help string
	foot string // a word for the foot of the screen; "": it is not there
	do   func(m *model) tea.Cmd
}

func bindings() []binding {
	move := func(by int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.step(by) } }
	page := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.step(by * max(m.bodyHeight()-1, 1)) }
	}
	scroll := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.scroll(by * max(m.bodyHeight()/2, 1)) }
	}
	line := func(by int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.scroll(by) } }
	return []binding{
		{[]mode{looking}, []string{"enter"}, "Enter", "preview going there; nothing is touched", "preview", (*model).goTo},
		{[]mode{finding}, []string{"enter"}, "", "", "preview", (*model).goFound},
		{[]mode{going}, []string{"enter"}, "Enter again", "do what is previewed", "do it", (*model).depart},
		{[]mode{going}, []string{"b"}, "b", "in the preview: code and conversation", "", func(m *model) tea.Cmd { return m.wish(both) }},
		{[]mode{going}, []string{"c"}, "c", "in the preview: only the code", "", func(m *model) tea.Cmd { return m.wish(code) }},
		{[]mode{going}, []string{"v"}, "v", "in the preview: only the conversation", "", func(m *model) tea.Cmd { return m.wish(talk) }},
		{[]mode{going}, []string{"e"}, "e", "in the preview: to before the turn", "", func(m *model) tea.Cmd { return m.side2(true) }},
		{[]mode{going}, []string{"a"}, "a", "in the preview: to after the turn", "", func(m *model) tea.Cmd { return m.side2(false) }},
		{[]mode{going}, []string{"p"}, "p", "in the preview: choose files", "files", func(m *model) tea.Cmd { return m.choose(false) }},
		{[]mode{going}, []string{"h"}, "h", "in the preview: choose hunks", "hunks", func(m *model) tea.Cmd { return m.choose(true) }},
		{
			[]mode{choosing},
			[]string{"space"},
			"Space", "choose a file or a hunk, or let it go", "choose",
			func(m *model) tea.Cmd { m.choice.toggle(); return nil },
		},
		{[]mode{choosing}, []string{"enter"}, "", "", "preview", (*model).chosen},
		{[]mode{going}, []string{"f"}, "f", "in the preview: only a new session; the files stay", "fork", (*model).forkOnly},
		{
			[]mode{going},
			[]string{"x"},
			"x", "in the preview: what others changed, and files that no checkpoint has, too", "exact",
			func(m *model) tea.Cmd {
				m.trip.exact = !m.trip.exact
				return m.preview()
			},
		},
		{
			[]mode{going},
			[]string{"i"},
			"i", "in the preview: cut the session itself instead of making a new one", "in place",
			func(m *model) tea.Cmd {
				m.trip.inPlace = !m.trip.inPlace
				return m.preview()
			},
		},
		{[]mode{did}, []string{"u"}, "u", "take back what was just done", "undo", (*model).undo},
		{[]mode{did}, []string{"enter"}, "", "", "leave", (*model).quit},
		{
			[]mode{looking, going, finding, did},
			[]string{"tab"},
			"Tab", "the right side: diff, files, conversation", "",
			func(m *model) tea.Cmd { return m.turnTab(1) },
		},
		{[]mode{looking, going, finding, did}, []string{"shift+tab"}, "", "", "", func(m *model) tea.Cmd { return m.turnTab(-1) }},
		{[]mode{looking, going, finding, choosing, did, helping}, []string{"up", "ctrl+p"}, "Up", "a row up", "", move(-1)},
		{[]mode{looking, going, finding, choosing, did, helping}, []string{"down", "ctrl+n"}, "Down", "a row down", "", move(1)},
		{[]mode{looking, going, finding, choosing, did, helping}, []string{"pgup"}, "PgUp", "a page up", "", page(-1)},
		{[]mode{looking, going, finding, choosing, did, helping}, []string{"pgdown"}, "PgDn", "a page down", "", page(1)},
		{[]mode{looking, finding}, []string{"home"}, "Home", "the newest", "", move(-1 << 30)},
		{[]mode{looking, finding}, []string{"end"}, "End", "the oldest that is loaded", "", move(1 << 30)},
		{[]mode{looking}, []string{"right"}, "Right", "open a turn: its steps", "steps", func(m *model) tea.Cmd { return m.open(true) }},
		{[]mode{looking}, []string{"left"}, "Left", "close it", "", func(m *model) tea.Cmd { return m.open(false) }},
		{[]mode{looking, going, did}, []string{"shift+down"}, "Shift-Down", "the right side: a line down", "", line(1)},
		{[]mode{looking, going, did}, []string{"shift+up"}, "Shift-Up", "the right side: a line up", "", line(-1)},
		{[]mode{looking, going, did}, []string{"ctrl+d"}, "Ctrl-D", "the right side: half a page down", "", scroll(1)},
		{[]mode{looking, going, did}, []string{"ctrl+u"}, "Ctrl-U", "the right side: half a page up", "", scroll(-1)},
		{
			[]mode{looking, finding, going, did, choosing},
			[]string{"ctrl+o"},
			"Ctrl-O", "the right side alone, and back", "",
			func(m *model) tea.Cmd {
				m.zoomed = !m.zoomed
				return nil
			},
		},
		{
			[]mode{looking, finding},
			[]string{"/"},
			"/", "search files and conversations for an expression", "search",
			func(m *model) tea.Cmd {
				m.mode, m.search.pattern = asking, ""
				return nil
			},
		},
		{[]mode{asking}, []string{"enter"}, "", "", "search", (*model).find},
		{[]mode{stopped}, []string{"c"}, "c", "half done: finish it", "", func(m *model) tea.Cmd { return m.halfDone(false) }},
		{[]mode{stopped}, []string{"a"}, "a", "half done: take it back", "", func(m *model) tea.Cmd { return m.halfDone(true) }},
		{[]mode{stopped}, []string{"i"}, "i", "no project: leave, and set it up", "", func(m *model) tea.Cmd {
			if m.why.Word != api.WordNoProject {
				return nil
			}
			m.run = []string{"init"}
			return m.quit()
		}},
		{[]mode{stopped}, []string{"r"}, "r", "nothing to see: look again", "", func(m *model) tea.Cmd {
			return m.refresh()
		}},
		{[]mode{looking, going, finding, did, choosing, stopped}, []string{"?", "f1"}, "?", "these keys", "keys", func(m *model) tea.Cmd {
			m.before, m.mode = m.mode, helping
			m.side.top = 0
			return nil
		}},
		{every, []string{"esc"}, "Esc", "back; from the log: leave", "back", (*model).escape},
		{[]mode{going, did, stopped, helping, choosing, finding}, []string{"q"}, "", "", "", (*model).escape},
		{every, []string{"ctrl+c"}, "Ctrl-C", "leave", "", (*model).quit},
		{every, []string{"ctrl+z"}, "Ctrl-Z", "to the shell; 'fg' comes back", "", func(*model) tea.Cmd { return tea.Suspend }},
	}
}

var every = []mode{looking, asking, finding, going, choosing, did, helping, stopped}

// press does what a key is for. In the log, what is no key of its own is typed into the filter; '/' and '?' are keys
// only while that is empty.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if m.mode == asking || m.mode == looking && m.log.query != "" {
		if name == "/" || name == "?" || m.mode == asking && name == "q" {
			m.typed(name)
			return m.filtered()
		}
	}
	for _, b := range bindings() {
		if slices.Contains(b.in, m.mode) && slices.Contains(b.keys, name) {
			return b.do(m)
		}
	}
	switch name {
	case "backspace", "ctrl+h":
		m.rub(false)
	case "ctrl+w", "alt+backspace":
		m.rub(true)
	default:
		if k.Text == "" {
			return nil
		}
		m.typed(k.Text)
	}
	return m.filtered()
}

// line is what is being typed; nil: nothing is.
func (m *model) line() *string {
	switch m.mode {
	case looking:
		return &m.log.query
	case asking:
		return &m.search.pattern
	}
	return nil
}

// typedMost bounds what is typed, or pasted by mistake.
const typedMost = 200

// typed adds to the line: what cannot be shown, and what ends a line, becomes a blank.
func (m *model) typed(text string) {
	l := m.line()
	if l == nil {
		return
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if m.mode == looking && *l == "" {
		text = strings.TrimLeft(text, " ")
	}
	if len(*l)+len(text) <= typedMost {
		m.setLine(*l + text)
	}
}

func (m *model) setLine(text string) {
	if m.mode == asking {
		m.search.pattern = text
		return
	}
	m.log.query = text
}

// rub takes the last character away, or the last word.
func (m *model) rub(word bool) {
	l := m.line()
	if l == nil || *l == "" {
		return
	}
	if word {
		text := strings.TrimRight(*l, " ")
		m.setLine(text[:strings.LastIndexByte(text, ' ')+1])
		return
	}
	last, g := 0, uniseg.NewGraphemes(*l)
	for g.Next() {
		last, _ = g.Positions()
	}
	m.setLine((*l)[:last])
}

// filtered shows the log as what is typed has it.
func (m *model) filtered() tea.Cmd {
	if m.mode != looking {
		return nil
	}
	return m.filter(m.log.query)
}

// step moves in the mode's own list; where there is none, the text.
func (m *model) step(by int) tea.Cmd {
	switch m.mode {
	case looking:
		return m.move(by)
	case finding:
		s := &m.search
		s.cursor = max(min(s.cursor+by, len(s.hits)-1), 0)
		return nil
	case choosing:
		c := &m.choice
		c.cursor = max(min(c.cursor+by, len(c.spots())-1), 0)
		return nil
	}
	return m.scroll(by)
}

// scroll moves the text of the right side.
func (m *model) scroll(by int) tea.Cmd {
	top := &m.side.top
	if m.mode == going || m.mode == did {
		top = &m.trip.top
	}
	*top = max(*top+by, 0) // what is beyond the end is taken back when it is drawn
	return nil
}

func (m *model) wish(w wanted) tea.Cmd {
	if m.trip.parts != nil || m.trip.fork {
		m.trip.parts, m.trip.fork = nil, false
	}
	m.trip.what = w
	return m.preview()
}

func (m *model) side2(before bool) tea.Cmd {
	m.trip.back, m.trip.parts = before, nil
	return m.preview()
}

func (m *model) forkOnly() tea.Cmd {
	m.trip.fork, m.trip.parts = !m.trip.fork, nil
	return m.preview()
}

func (m *model) halfDone(abort bool) tea.Cmd {
	if m.why.Word != api.WordHalfDone {
		return nil
	}
	return m.end(abort)
}

func (m *model) turnTab(by int) tea.Cmd {
	m.side.tab = (m.side.tab + tab(by) + tabs) % tabs
	m.side.top = 0
	if m.side.tab == talkTab {
		m.side.top = 1 << 20 // its end is where the row is
	}
	return m.show()
}

// escape goes back one thing, and from the log leaves.
func (m *model) escape() tea.Cmd {
	switch m.mode {
	case looking:
		switch {
		case m.log.query != "":
			return m.filter("")
		case m.zoomed:
			m.zoomed = false
			return nil
		}
		return m.quit()
	case helping:
		m.mode = m.before
		return nil
	case choosing:
		m.mode = going
		return nil
	case going:
		if m.trip.pending && (m.trip.restore != nil || m.trip.forked != nil || m.trip.parts != nil) {
			return nil // it is being done
		}
		m.mode = looking
		if len(m.search.hits) > 0 && m.trip.to.row == nil && !m.inLog(m.trip.to.name) {
			m.mode = finding
		}
		return m.show()
	case stopped:
		return m.quit()
	}
	m.search = search{}
	m.mode = looking
	return m.show()
}

// inLog reports whether the chosen entry is what a name stands for.
func (m *model) inLog(name string) bool {
	t, ok := m.target()
	return ok && t.name == name
}
