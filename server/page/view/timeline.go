package view

import (
	"strconv"
	"strings"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

// Timeline is a project as a log: what happened, the newest first, and one moment of it beside.
type Timeline struct {
	Rows     []Row
	Older    string // the address of the page of older rows; "": there are none
	Session  string // whose turns are listed; "": all
	Title    string // of that session
	Branches []Branch
	Beside   string  // the address of branches that are to come; "": there are none
	Head     *Branch // of that session
	Resume   string  // the command line that opens it
	Ahead    []Ahead // turns behind the point that it has gone back to
	HalfDone string  // a restore that was cut short
	Degraded string  // why hooks do not do what they are for
	Moment   *Detail
	At       bool   // that moment was asked for
	Empty    string // why there are no rows
}

// Ahead are turns behind the point to which somebody has gone back, the nearest first.
type Ahead struct {
	Why   string
	From  string // of turns of the session that this one was forked from: what they are, in one line
	Turns []aheadTurn
	More  int // behind them
}

const (
	shownAhead = 3 // stretches, with so many turns each
	turnsAhead = 12
)

type aheadTurn struct {
	Turn   uint64
	Steps  int // forward, to its end
	Prompt string
	When   moment
	Href   string // of its state; "": none was captured
}

// whyAhead says how turns came to lie ahead.
var whyAhead = map[string]string{
	"code": "the code went back", "cut": "cut off the conversation",
	"agent": "gone back in the agent itself",
}

// Ahead turns what future answers into stretches. Only along the nearest one can be gone by a number of turns.
func (f Frame) Ahead(list []api.Ahead) (out []Ahead) {
	for i, a := range list[:min(len(list), shownAhead)] {
		one := Ahead{Why: whyAhead[a.Why]}
		if a.Why == "fork" {
			one.From = goesOn(&a)
		}
		one.More = max(len(a.Turns)-turnsAhead, 0)
		for n, t := range a.Turns[:len(a.Turns)-one.More] {
			turn := aheadTurn{Turn: t.Turn, Prompt: brief(string(t.Prompt)), When: f.moment(t.Time)}
			if i == 0 {
				turn.Steps = n + 1
			}
			if t.Checkpoint != "" {
				turn.Href = f.Path("c", t.Checkpoint)
			}
			one.Turns = append(one.Turns, turn)
		}
		out = append(out, one)
	}
	return out
}

// goesOn says that another session goes on from where a fork parted.
func goesOn(a *api.Ahead) string {
	verb := " go on from its "
	if len(a.Turns) == 1 {
		verb = " goes on from its "
	}
	from := "beginning"
	if a.After > 0 {
		from = naming.TurnWords(a.After, "")
	}
	return count(len(a.Turns), "turn") + " of " + short(a.Session) + verb + from
}

// Row is a line of the log.
type Row struct {
	Name    string // as the API has it: what tells it from every other row, while its turn goes on, too
	Href    string
	Steps   string // the address of the steps that it is made of; "": it is one
	Count   int    // of them
	Forks   int    // sessions that were forked there
	Tags    []string
	When    moment
	Turn    uint64
	Who     string // the session, as a person tells it from others
	Title   string // of it; "": it is not known
	Agent   string
	Text    string
	Tally   tally
	Files   string
	Kind    string // turn, step, saved, outside, init
	Current bool
	Aside   bool
	Chosen  bool
}

// tally is how many files something added, modified, deleted.
type tally struct{ Added, Modified, Deleted int }

// Any reports whether it changed something.
func (t tally) Any() bool { return t.Added+t.Modified+t.Deleted > 0 }

// Rows turns what a list answers into rows.
func (f Frame) Rows(list []api.Row, chosen string) []Row {
	rows, names := make([]Row, 0, len(list)), api.NameRows(list)
	for i := range list {
		r := &list[i]
		c := &r.Checkpoint
		row := Row{
			Name: names[i].Name, When: f.moment(r.Time), Turn: r.Turn, Who: short(r.Session), Agent: string(r.Agent),
			Text: brief(rowText(r)), Tally: tally{r.Added, r.Modified, r.Deleted}, Kind: "turn", Current: r.Current, Aside: r.Aside,
			Forks: r.Forks, Tags: briefs(c.Tags, rowTags, tagWeight),
		}
		title, own := forkWords(r.Title, r.ForkName)
		row.Title = joined(": ", clip(title, 2*tagWeight), clip(own, 2*tagWeight))
		row.Href = f.row(names[i], "")
		if row.Chosen = chosen != "" && (chosen == row.Name || chosen == c.ID); row.Chosen {
			chosen = "" // the first one; a row without code has no checkpoint
		}
		switch {
		case r.Turn > 0:
			if r.Steps > 1 {
				row.Steps, row.Count = f.row(names[i], "/steps"), r.Steps
			}
		case c.Event == "init":
			row.Kind = "init"
		case r.Outside && c.Message == "":
			row.Kind = "outside"
		default:
			row.Kind = "saved"
		}
		paths := make([]string, 0, len(r.Changes))
		for _, ch := range r.Changes {
			paths = append(paths, term.Quote(string(ch.Path)))
		}
		all := strings.Join(paths, ", ")
		if row.Files = cut(all, briefWeight); r.Left > 0 || len(row.Files) < len(all) {
			row.Files += ", …"
		}
		if r.NoCode {
			row.Files = render.NoCodeWords
		}
		rows = append(rows, row)
	}
	return rows
}

// row is the address of a row, and behind it of something of it.
func (f Frame) row(n api.RowName, of string) string {
	if n.End != "" {
		return f.Point(n.Turn) + of + "?end=" + n.End
	}
	return f.Point(n.Name) + of
}

// Steps are rows of the checkpoints that a turn is made of.
func (f Frame) Steps(list []api.Checkpoint) []Row {
	rows := make([]Row, 0, len(list))
	for i := range list {
		c := &list[i]
		rows = append(rows, Row{
			Name: c.ID, Href: f.Point(c.ID), When: f.moment(c.Time), Text: brief(render.StepText(c)), Kind: "step",
			Current: c.Current, Aside: c.Aside,
			Tally: tally{c.Added, c.Modified, c.Deleted}, Tags: briefs(c.Tags, rowTags, tagWeight),
		})
	}
	return rows
}

// TurnSteps is the document of the steps of a turn, which is at an address, from a step on.
func TurnSteps(f Frame, where string, list []api.Checkpoint, from int) Page {
	r := roomOfList
	list = behind(list, from)
	steps := f.Steps(list[:min(len(list), stepsAtOnce)])
	t := Timeline{Rows: some(&r, steps, rowCosts)}
	if len(t.Rows) < len(list) {
		t.Older = with(where, "from", strconv.Itoa(from+len(t.Rows)))
	}
	f.At = "steps"
	return Page{Frame: f, Title: "Steps · " + f.Name, Data: t, name: "steps"}
}

// stepsAtOnce is how many steps of a turn come at once at most.
const stepsAtOnce = 200

// rowTags is how many tags a row has.
const rowTags = 4

// rowCosts is what a row takes of a document.
func rowCosts(r *Row) (nodes, bytes int) {
	return 18 + len(r.Tags), 900 + 2*len(r.Href) + weight(r.Text+r.Files+r.Title) + weight(strings.Join(r.Tags, ""))
}

// rowText is what a person recognises a row by.
func rowText(r *api.Row) string {
	c := &r.Checkpoint
	switch {
	case c.Message != "" && r.Turn == 0:
		return string(c.Message)
	case r.Prompt != "":
		return string(r.Prompt)
	case r.Turn > 0:
		return naming.TurnWords(r.Turn, c.Whose)
	case c.Event == "init":
		return render.Cause(*c)
	case r.Outside:
		return "changed outside of any agent"
	}
	return c.Event
}

// Log is the timeline of a project.
func Log(f Frame, t Timeline) Page {
	t.Degraded, t.Title, t.Empty = brief(t.Degraded), brief(t.Title), brief(t.Empty)
	f.At = "timeline"
	title := t.Title
	if t.At && t.Moment != nil {
		title = t.Moment.Title()
	}
	return Page{Frame: f, Title: joined(" · ", title, f.Name), Data: t, name: "timeline"}
}
