package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

// A Row is one row of a list: a turn, or a step.
type Row struct {
	mark    string
	style   term.Style
	id      string
	when    string
	session string // by name
	whose   string // what it is called beside a turn; "": there is no other one
	turn    uint64
	text    string
	tally   [3]int // files added, modified, deleted
	files   []string
	left    int    // files that are not named
	changes string // what it changed of what was asked for, instead of tally and files
	below   func(w io.Writer) error
	at      int // its place in what was listed
}

// RowOptions are how rows are shown.
type RowOptions struct {
	Relative bool                           // how long ago, instead of the clock
	Graph    bool                           // with what is drawn before each
	Below    func(i int, w io.Writer) error // what stands below a row; nil: nothing
	Short    bool                           // no ids: who shows the rows tells of one of them apart
	Files    bool                           // with Short: files, where there is room for them
}

// NoCodeWords say that of a turn only the conversation is known.
const NoCodeWords = "no code was captured then"

// RowsOfTurns are the rows of a list of turns.
func (pr *Printer) RowsOfTurns(list []api.Row, o RowOptions) []Row {
	rows := make([]Row, len(list))
	for i := range list {
		r := &list[i]
		row := Row{
			id: r.Checkpoint.Short, when: pr.listTime(r.Time, o.Relative), session: r.Session, whose: r.Checkpoint.Whose,
			turn: r.Turn, text: rowText(r),
			tally: [3]int{r.Added, r.Modified, r.Deleted}, left: r.Left,
		}
		if r.NoCode {
			row.changes = NoCodeWords
		}
		if its := r.Checkpoint.Agent != "" && r.Checkpoint.Session != r.Session; its && r.Turn > 0 {
			row.id = "" // another session's: what goes by it goes back as that one
		}
		row.mark, row.style = markOf(api.Checkpoint{Current: r.Current, Aside: r.Aside, Safety: r.Checkpoint.Safety})
		outside := r.Outside && r.Turn == 0 && r.Checkpoint.Message == ""
		if row.style == term.Plain && (outside || r.NoCode) {
			row.style = term.Dim
		}
		for _, c := range r.Changes {
			row.files = append(row.files, changeWord(c))
		}
		rows[i] = row
	}
	return pr.arranged(rows, o, func(i int) *api.Link { return list[i].Follows })
}

// RowsOfSteps are the rows of a list of checkpoints.
func (pr *Printer) RowsOfSteps(list []api.Checkpoint, o RowOptions) []Row {
	rows := make([]Row, len(list))
	for i := range list {
		c := &list[i]
		row := Row{
			id: c.Short, when: pr.listTime(c.Time, o.Relative), session: c.Session, whose: c.Whose, turn: c.Turn,
			text:  StepText(c),
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
		rows[i] = row
	}
	return pr.arranged(rows, o, func(i int) *api.Link { return list[i].Follows })
}

// RowsOfPaths are the rows of the checkpoints that changed what was asked for.
func (pr *Printer) RowsOfPaths(list []api.PathsCheckpoint, o RowOptions) []Row {
	rows := make([]Row, len(list))
	for i := range list {
		c := &list[i].Checkpoint
		row := Row{
			id: c.Short, when: pr.listTime(c.Time, o.Relative), session: c.Session, whose: c.Whose, turn: c.Turn,
			text:    StepText(c),
			changes: changesLine(list[i].Changes),
		}
		switch found := c.Turn > 0 && c.Message == ""; {
		case found && BetweenTurns(c.Event) && len(c.By) == 0: // it is no part of the turn
			row.turn, row.text = 0, tagged(c.Tags, Outside(c.Event, c.Turn, c.Whose)+MergedWords(c.Merged))
		case found && c.Prompt != "":
			row.text = WithPrompt(row.text, c.Event, c.Prompt)
		}
		row.mark, row.style = markOf(*c)
		rows[i] = row
	}
	return pr.arranged(rows, o, func(i int) *api.Link { return list[i].Checkpoint.Follows })
}

// arranged has what stands below each row, and with a graph brings rows into its order.
func (pr *Printer) arranged(rows []Row, o RowOptions, follows func(i int) *api.Link) []Row {
	for i := range rows {
		rows[i].at = i
		if o.Short {
			rows[i].id = ""
		}
		if o.Short && !o.Files {
			rows[i].files, rows[i].left = nil, 0
		}
	}
	if o.Below != nil {
		for i := range rows {
			rows[i].below = func(w io.Writer) error { return o.Below(i, w) }
		}
	}
	if o.Graph {
		return pr.graphed(rows, follows)
	}
	return rows
}

// FileDiffs prints files as a patch, with their lines counted, or by name.
func (pr *Printer) FileDiffs(w io.Writer, files []api.FileDiff, patch, stat bool) error {
	if stat && !patch {
		return pr.DiffStat(w, files)
	}
	for _, f := range files {
		if patch {
			if err := pr.FilePatch(w, f); err != nil {
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
	ofAgent := c.Message == "" && c.Agent != "" && !c.Safety
	switch between := BetweenTurns(c.Event) && c.Turn > 0; {
	case r.Turn > 0 && strings.TrimSpace(text) == "":
		text = "(the prompt is not known)"
	case r.Turn > 0:
	case ofAgent && between:
		text = Outside(c.Event, c.Turn, c.Whose)
	case ofAgent && r.Outside:
		text = "outside"
	default:
		text = Cause(c)
	}
	for _, n := range c.Notes {
		text += "; noted: " + string(n)
	}
	return tagged(c.Tags, Words(text))
}

// atNotice is when something was found that an agent's own notification did.
const atNotice = "at a notice"

// BetweenTurns reports whether what an event found that nobody's call changed lies between two turns.
func BetweenTurns(event string) bool { return event == "prompt" || event == "notice" }

// Outside says of what nobody's call changed, and an event between two turns found, which turn it lies beside: before
// the one that a prompt begins, after the one that a notice is of.
func Outside(event string, turn uint64, whose string) string {
	words := naming.TurnWords(turn, whose)
	if event == "notice" {
		return "outside, " + atNotice + " after " + words
	}
	return "outside, before " + words
}

// eventWords are how a step is told that an event without a tool has found.
var eventWords = map[string]string{
	"prompt": "before the prompt", "notice": atNotice, "stop": "end of turn", "quiet": "end of turn",
}

// StepText is what made a checkpoint, in the row that says its turn: the tool and what its call was about.
func StepText(c *api.Checkpoint) string {
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
		text, outside = Cause(*c), false
	case c.Event == "post-tool-use" && tool != "":
		text = tool
	case c.Event == "pre-tool-use" && tool != "":
		text = "before " + tool
	case c.Event == "scan":
		text, outside = scanText(c, target), false
	default:
		text = cmp.Or(eventWords[c.Event], c.Event)
	}
	if outside {
		text += " (outside)"
	}
	if c.Late {
		text += " (late)"
	}
	text += MergedWords(c.Merged)
	for _, n := range c.Notes {
		text += "; noted: " + string(n)
	}
	return tagged(c.Tags, term.Sanitize(text))
}

// scanText is what made a step that another session's event, or a look at the tree, has found.
func scanText(c *api.Checkpoint, target string) string {
	switch {
	case len(c.By) == 0 && !c.Safety:
		return "outside"
	case c.Tool != nil:
		return During(c.Tool, api.Text(target))
	case slices.Contains(c.By, c.Session):
		return "during a call"
	}
	return c.Event
}

// Words is untrusted text on one line, unsanitised: its white space is as wide as a blank.
func Words(text string) string { return strings.Join(strings.Fields(text), " ") }

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

// listTime is the clock, or how long ago.
func (pr *Printer) listTime(t time.Time, relative bool) string {
	if relative {
		return term.Ago(pr.Now(), t)
	}
	return pr.Clock(t)
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

// markOf is how a checkpoint stands in a list.
func markOf(c api.Checkpoint) (mark string, style term.Style) {
	switch {
	case c.Current:
		return "@", term.Bold
	case c.Aside:
		return "~", term.Dim
	case c.Safety:
		return " ", term.Dim
	}
	return " ", term.Plain
}

// changesLine is what a checkpoint changed, on one line: at most shownChanges paths, and how many more.
func changesLine(list []api.Change) string {
	const shownChanges = 3
	var parts []string
	for i, c := range list {
		if i == shownChanges {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		path := term.Quote(string(c.Path))
		if c.RenamedFrom != "" {
			path = term.Quote(string(c.RenamedFrom)) + " -> " + path
		}
		parts = append(parts, letters[c.Status]+" "+path)
	}
	return strings.Join(parts, ", ")
}
