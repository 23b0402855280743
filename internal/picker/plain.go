package picker

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// plain is the picker for who reads line by line: numbered rows and a prompt. Nothing that was printed is drawn over,
// and each answer ends with the prompt.
type plain struct {
	*model
	in      io.Reader
	printed int // rows that have been listed
}

const plainHelp = `a number    show that row
go 3        preview going to row 3, then ask; before 3: to before it
code 3      only the code; talk 3: only the conversation
fork 3      only a new session
talked 3    the conversation up to row 3
filter ...  only rows that have these words; filter alone: all
find ...    search files and conversations
more        older rows
undo        take back what was just done
quit        leave
`

// plainRows is how many rows are listed at once.
const plainRows = 10

// run asks until the end of the input.
func (p *plain) run() int {
	p.settle(p.load())
	if p.mode == stopped {
		p.err(p.why)
		return p.why.Code
	}
	p.list()
	lines := bufio.NewScanner(p.in)
	for {
		fmt.Fprint(p.screen.Out, "rewind (a number, or help)> ")
		if !lines.Scan() || p.ctx.Err() != nil {
			fmt.Fprintln(p.screen.Out)
			return p.code()
		}
		if !p.obey(strings.TrimSpace(lines.Text()), lines) {
			return p.code()
		}
	}
}

// code is the exit code: that of what was done last.
func (p *plain) code() int {
	if n := len(p.outcomes); n > 0 && p.outcomes[n-1].restore != nil && p.outcomes[n-1].restore.Partial {
		return api.CodeOf(api.WordPartial)
	}
	return 0
}

// settle runs requests until none is left.
func (p *plain) settle(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case then:
		p.settle(msg(p.model))
	case tea.BatchMsg:
		for _, c := range msg {
			p.settle(c)
		}
	}
}

// rows are the entries that are rows.
func (p *plain) rows() (list []int) {
	p.draw()
	for i, e := range p.log.entries {
		if e.step < 0 {
			list = append(list, i)
		}
	}
	return list
}

// list prints the next rows, each with its number.
func (p *plain) list() {
	rows := p.rows()
	if p.printed >= len(rows) && p.log.more {
		p.settle(p.grow())
		rows = p.rows()
	}
	end := min(p.printed+plainRows, len(rows))
	for n := p.printed; n < end; n++ {
		r := p.log.rows[p.log.entries[rows[n]].row]
		number, width := fmt.Sprintf("%d: ", n+1), 0
		if r.Current {
			number = fmt.Sprintf("%d (here): ", n+1)
		}
		const marks = 3 // columns before a row, that are not printed
		if p.screen.Width > 0 {
			width = max(p.screen.Width-len(number)+marks, 1)
		}
		pr, text := p.pane(width)
		_ = pr.ListRows(text, pr.RowsOfTurns([]api.Row{r}, render.RowOptions{Short: true, Relative: true})) // to memory
		fmt.Fprintln(p.screen.Out, number+strings.TrimLeft(strings.TrimSpace(ansi.Strip(text.String())), "@~ "))
	}
	if p.printed = end; end < len(rows) || p.log.more {
		fmt.Fprintln(p.screen.Out, "'more' lists older ones")
	}
	if end == 0 {
		fmt.Fprintln(p.screen.Out, "no match")
	}
}

// obey does one line; false: it was the last.
func (p *plain) obey(line string, lines *bufio.Scanner) bool {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	pr := &render.Printer{Streams: p.screen}
	switch word {
	case "":
	case "q", "quit", "exit":
		return false
	case "help", "?", "h":
		fmt.Fprint(p.screen.Out, plainHelp)
	case "more", "m":
		p.list()
	case "filter":
		p.settle(p.filter(rest))
		p.printed = 0
		p.list()
	case "find":
		p.search.pattern = rest
		p.settle(p.find())
		p.mode = looking
		p.err(p.search.err)
		for _, h := range p.search.hits {
			fmt.Fprintf(p.screen.Out, "%s: %s\n  %s\n", h.head, h.text, strings.Join(h.detail, "; "))
		}
		if p.search.err == nil && len(p.search.hits) == 0 {
			fmt.Fprintln(p.screen.Out, "no match")
		}
	case "undo", "u":
		if !p.undoable() {
			fmt.Fprintln(p.screen.Out, "nothing was done here that could be taken back; 'rewind ops' lists what was done before")
			break
		}
		p.settle(p.undo())
		p.done(pr)
	case "go", "before", "code", "talk", "fork", "talked":
		if p.choose1(rest) {
			p.travel(word, pr, lines)
		}
	default:
		if p.choose1(word) {
			p.show1(pr, false)
		}
	}
	return true
}

// choose1 takes a row by its number.
func (p *plain) choose1(number string) bool {
	rows := p.rows()
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(rows) {
		if number == "" {
			fmt.Fprintln(p.screen.Out, "which row? for example: go 3")
			return false
		}
		fmt.Fprintf(p.screen.Out, "%s: no number of a row; 'help' lists what can be typed\n", term.Sanitize(number))
		return false
	}
	p.log.cursor, p.log.moved = rows[n-1], true
	return true
}

// show1 tells of the chosen row.
func (p *plain) show1(pr *render.Printer, talked bool) {
	p.side.tab = diffTab
	if talked {
		p.side.tab = talkTab
	}
	p.settle(p.show())
	t, _ := p.target()
	a := p.side.answers[wish{t.name, talked}]
	switch {
	case a.err != nil:
		p.err(told(a.err))
	case talked:
		p.talk(pr, a.r)
	default:
		p.changes(pr, a.r)
	}
}

// travel previews, asks, and does it.
func (p *plain) travel(word string, pr *render.Printer, lines *bufio.Scanner) {
	if word == "talked" {
		p.show1(pr, true)
		return
	}
	t, _ := p.target()
	p.trip = trip{to: t, back: word == "before", fork: word == "fork", round: p.trip.round}
	switch word {
	case "code":
		p.trip.what = code
	case "talk":
		p.trip.what = talk
	}
	p.settle(p.preview())
	p.mode = looking
	fmt.Fprintln(p.screen.Out, p.trip.title())
	switch {
	case p.trip.err != nil:
		p.err(p.trip.err)
		return
	case p.trip.forked != nil:
		req := p.forkRequest()
		req.DryRun = true
		pr.TellForked(*p.trip.forked, req)
	default:
		pr.TellRestore(*p.trip.restore, "")
	}
	fmt.Fprint(p.screen.Out, "do it? yes or no> ")
	if !lines.Scan() || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(lines.Text())), "y") {
		fmt.Fprintln(p.screen.Out, "nothing was done")
		return
	}
	p.settle(p.depart())
	p.done(pr)
}

// done tells what was done.
func (p *plain) done(pr *render.Printer) {
	if p.mode == did {
		p.outcomes[len(p.outcomes)-1].tell(pr)
	} else {
		p.err(p.trip.err)
	}
	p.mode, p.printed = looking, 0
}

func (p *plain) err(e *api.Error) {
	if e == nil {
		return
	}
	fmt.Fprintf(p.screen.Out, "error: %s\n", term.SanitizeText(e.Message))
	if e.Hint != "" {
		fmt.Fprintf(p.screen.Out, "hint: %s\n", term.SanitizeText(e.Hint))
	}
}
