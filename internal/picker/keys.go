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
	atLog := []mode{looking, typing}
	lists := []mode{looking, typing, going, finding, choosing, did, helping}
	beside := []mode{looking, typing, going, did}
	tabbed := []mode{looking, typing, going, finding, did}
	move := func(by int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.step(by) } }
	page := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.step(by * max(m.bodyHeight()-1, 1)) }
	}
	half := func(by int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.half(by) } }
	line := func(by int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.scroll(by) } }
	hit := func(by int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.hit(by) } }
	open := func(want bool) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.open(want) } }
	wish := func(w wanted) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.wish(w) } }
	before := func(is bool) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.side2(is) } }
	choose := func(hunks bool) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.choose(hunks) } }
	turn := func(by int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.turnTab(by) } }
	end := func(abort bool) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.halfDone(abort) } }
	return []binding{
		{
			atLog,
			[]string{"enter"},
			"Enter", "preview taking the turn back; a checkpoint that is no turn, going to it",
			"preview", (*model).entered,
		},
		{[]mode{finding}, []string{"enter"}, "", "", "preview", (*model).goFound},
		{[]mode{going}, []string{"enter"}, "Enter again", "do what is previewed", "do it", (*model).depart},
		{[]mode{going}, []string{"b"}, "b", "in the preview: code and conversation", "", wish(both)},
		{[]mode{going}, []string{"c"}, "c", "in the preview: only the code", "", wish(code)},
		{[]mode{going}, []string{"v"}, "v", "in the preview: only the conversation", "", wish(talk)},
		{[]mode{going}, []string{"e"}, "e", "in the preview: to before the turn", "", before(true)},
		{[]mode{going}, []string{"a"}, "a", "in the preview: to after the turn", "", before(false)},
		{[]mode{going}, []string{"p"}, "p", "in the preview: choose files", "files", choose(false)},
		{[]mode{going}, []string{"h"}, "h", "in the preview: choose hunks", "hunks", choose(true)},
		{[]mode{choosing}, []string{"space"}, "Space", "select or deselect a file or a hunk", "choose", (*model).toggle},
		{[]mode{choosing}, []string{"enter"}, "", "", "preview", (*model).chosen},
		{[]mode{going}, []string{"f"}, "f", "in the preview: only a new session; the files stay", "fork", (*model).forkOnly},
		{
			[]mode{going},
			[]string{"x"},
			"x", "in the preview: what others changed, and files that no checkpoint has, too", "exact", (*model).exactly,
		},
		{
			[]mode{going},
			[]string{"i"},
			"i", "in the preview: cut the session itself instead of making a new one", "in place", (*model).cutting,
		},
		{[]mode{did}, []string{"u"}, "u", "take back what was just done", "undo", (*model).undo},
		{[]mode{did}, []string{"enter"}, "", "", "leave", (*model).quit},
		{tabbed, []string{"tab"}, "Tab", "the right side: diff, files, conversation", "", turn(1)},
		{tabbed, []string{"shift+tab"}, "", "", "", turn(-1)},
		{lists, []string{"k", "up", "ctrl+p"}, "k, Up", "a row up", "", move(-1)},
		{lists, []string{"j", "down", "ctrl+n"}, "j, Down", "a row down", "", move(1)},
		{lists, []string{"pgup"}, "PgUp", "a page up", "", page(-1)},
		{lists, []string{"pgdown"}, "PgDn", "a page down", "", page(1)},
		{lists, []string{"g", "home"}, "g, Home", "the newest", "", move(-toEnd)},
		{lists, []string{"G", "end"}, "G, End", "the oldest of all", "", move(toEnd)},
		{atLog, []string{"l", "right"}, "l, Right", "open a turn: its steps", "steps", open(true)},
		{atLog, []string{"h", "left"}, "h, Left", "close it", "", open(false)},
		{[]mode{looking}, []string{"space"}, "Space", "open a turn, or close it", "", (*model).openOrClose},
		{beside, []string{"J", "shift+down"}, "J, Shift-Down", "the right side: a line down", "", line(1)},
		{beside, []string{"K", "shift+up"}, "K, Shift-Up", "the right side: a line up", "", line(-1)},
		{lists, []string{"ctrl+d"}, "Ctrl-D", "the right side: half a page down", "", half(1)},
		{lists, []string{"ctrl+u"}, "Ctrl-U", "the right side: half a page up", "", half(-1)},
		{
			[]mode{looking, typing, finding, going, did, choosing},
			[]string{"ctrl+o"},
			"Ctrl-O", "the right side alone, and back", "", (*model).zoom,
		},
		{[]mode{looking}, []string{"/"}, "/", "filter the log: prompt, file, tool, session; all words count", "filter", (*model).filtering},
		{[]mode{looking, finding}, []string{"n"}, "n", "the next match of the filter or the search", "", hit(1)},
		{[]mode{looking, finding}, []string{"N"}, "N", "the previous match", "", hit(-1)},
		{[]mode{looking, finding}, []string{"f", "ctrl+f"}, "f", "find an expression in files and conversations", "find", (*model).asking},
		{[]mode{typing}, []string{"ctrl+f"}, "", "", "", (*model).asking},
		{[]mode{finding}, []string{"/"}, "", "", "", (*model).asking},
		{[]mode{asking}, []string{"enter"}, "", "", "find", (*model).find},
		{[]mode{stopped}, []string{"c"}, "c", "half done: finish it", "", end(false)},
		{[]mode{stopped}, []string{"a"}, "a", "half done: take it back", "", end(true)},
		{[]mode{stopped}, []string{"i"}, "i", "no project: leave, and set it up", "", (*model).setUp},
		{[]mode{stopped}, []string{"r"}, "r", "nothing to see: look again", "", (*model).refresh},
		{[]mode{looking, going, finding, did, choosing, stopped}, []string{"?", "f1"}, "?", "these keys", "keys", (*model).help},
		{[]mode{typing}, []string{"f1"}, "", "", "", (*model).help},
		{every, []string{"esc"}, "Esc", "back; from the log: leave", "back", (*model).escape},
		{[]mode{looking}, []string{"q"}, "q", "leave; elsewhere: back", "", (*model).quit},
		{[]mode{going, did, stopped, helping, choosing, finding}, []string{"q"}, "", "", "", (*model).escape},
		{every, []string{"ctrl+c"}, "Ctrl-C", "leave", "", (*model).quit},
		{every, []string{"ctrl+z"}, "Ctrl-Z", "to the shell; 'fg' comes back", "", func(*model) tea.Cmd { return tea.Suspend }},
	}
}

var every = []mode{looking, typing, asking, finding, going, choosing, did, helping, stopped}

// toEnd is further than any list is long.
const toEnd = 1 << 30

// atOnceKeys are keys of the log that have one letter or sign, where letters are typed at once: as long as nothing is.
var atOnceKeys = map[string]func(*model) tea.Cmd{"/": (*model).asking, "?": (*model).help}

// press does what a key is for. Where a line is typed, each character is part of it.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if l := m.line(); l != nil && k.Text != "" {
		filters := m.mode == typing && m.typesAtOnce
		if do := atOnceKeys[name]; filters && do != nil && *l == "" {
			return do(m)
		}
		m.typed(k.Text)
		return m.filtered()
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
		return nil
	}
	return m.filtered()
}

// line is what is being typed; nil: nothing is.
func (m *model) line() *string {
	switch m.mode {
	case typing:
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
	if m.mode == typing && *l == "" {
		text = strings.TrimLeft(text, " ")
	}
	if len(*l)+len(text) <= typedMost {
		*l += text
	}
}

// rub takes the last character away, or the last word.
func (m *model) rub(word bool) {
	l := m.line()
	if l == nil || *l == "" {
		return
	}
	if word {
		text := strings.TrimRight(*l, " ")
		*l = text[:strings.LastIndexByte(text, ' ')+1]
		return
	}
	last, g := 0, uniseg.NewGraphemes(*l)
	for g.Next() {
		last, _ = g.Positions()
	}
	*l = (*l)[:last]
}

// filtered shows the log as what is typed has it.
func (m *model) filtered() tea.Cmd {
	if m.mode != typing {
		return nil
	}
	return m.filter(m.log.query)
}

// atLog reports whether the log is what keys move in.
func (m *model) atLog() bool { return m.mode == looking || m.mode == typing }

// home is back at the log.
func (m *model) home() {
	if m.mode = looking; m.typesAtOnce {
		m.mode = typing
	}
}

// entered previews the chosen row. Where a filter was typed behind '/', it is taken first.
func (m *model) entered() tea.Cmd {
	if m.mode == typing && !m.typesAtOnce {
		m.mode = looking
		return nil
	}
	return m.goTo()
}

// filtering begins a filter, or goes on with the one that there is.
func (m *model) filtering() tea.Cmd {
	m.mode = typing
	return nil
}

func (m *model) asking() tea.Cmd {
	m.mode, m.search.pattern = asking, ""
	return nil
}

// hit goes to the next match, or the previous one: of the search, or of the filter that was typed last, also where all
// rows are shown.
func (m *model) hit(by int) tea.Cmd {
	if m.mode == finding {
		return m.step(by)
	}
	m.draw()
	l := &m.log
	for i := l.cursor + by; i >= 0 && i < len(l.entries); i += by {
		e := l.entries[i]
		if e.step < 0 && l.last != "" && matches(l.words[e.row], l.last) {
			return m.move(i - l.cursor)
		}
	}
	return nil
}

func (m *model) toggle() tea.Cmd {
	m.choice.toggle()
	return nil
}

func (m *model) exactly() tea.Cmd {
	m.trip.exact = !m.trip.exact
	return m.preview()
}

func (m *model) cutting() tea.Cmd {
	m.trip.inPlace = !m.trip.inPlace
	return m.preview()
}

func (m *model) zoom() tea.Cmd {
	m.zoomed = !m.zoomed
	return nil
}

func (m *model) setUp() tea.Cmd {
	if m.why.Word != api.WordNoProject {
		return nil
	}
	m.run = []string{"init"}
	return m.quit()
}

func (m *model) help() tea.Cmd {
	m.before, m.mode = m.mode, helping
	m.side.top = 0
	return nil
}

// openOrClose shows the steps of the chosen turn, or closes them.
func (m *model) openOrClose() tea.Cmd {
	if l := &m.log; l.cursor < len(l.entries) && l.opened[l.names[l.entries[l.cursor].row].Name] != nil {
		return m.open(false)
	}
	return m.open(true)
}

// half moves by half a page: the right side, or where that is short, or is the list itself, the list.
func (m *model) half(by int) tea.Cmd {
	by *= max(m.bodyHeight()/2, 1)
	if m.mode == finding || m.mode == choosing {
		return m.step(by)
	}
	return m.scroll(by)
}

// step moves in the mode's own list; where there is none, the text.
func (m *model) step(by int) tea.Cmd {
	switch m.mode {
	case looking, typing:
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
	m.side.atEnd = false
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
	m.side.restart()
	return m.show()
}

// escape goes back one thing, and from the log leaves.
func (m *model) escape() tea.Cmd {
	switch m.mode {
	case looking, typing:
		m.home()
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
		return m.preview()
	case going:
		return m.turnBack()
	case stopped:
		return m.quit()
	}
	m.search = search{}
	m.home()
	return m.show()
}

// turnBack leaves a preview: to the files that were chosen, to what was found, or to the log.
func (m *model) turnBack() tea.Cmd {
	previewed := m.trip.restore != nil || m.trip.forked != nil || m.trip.parts != nil
	if m.trip.pending && previewed {
		return nil // it is being done
	}
	if m.trip.parts != nil {
		m.trip.parts, m.mode = nil, choosing
		return nil
	}
	m.home()
	if len(m.search.hits) > 0 && m.trip.to.row == nil && !m.inLog(m.trip.to.name) {
		m.mode = finding
	}
	return m.show()
}

// inLog reports whether the chosen entry is what a name stands for.
func (m *model) inLog(name string) bool {
	t, ok := m.target()
	return ok && t.name == name
}
