package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newBlame(a *app) *cobra.Command {
	req := api.BlameRequest{}
	var lines string
	var porcelain bool
	cmd := &cobra.Command{
		Use:   "blame <path> [-L <first>,<last>] [<checkpoint>]",
		Short: "Show which turn and tool call wrote each line of a file",
		Long: "Shows which checkpoint added each line of a file: the turn of which agent, by which tool or from " +
			"outside, when, and for which prompt. The file is that of the current checkpoint, or of the named " +
			"one. Lines are followed through renames. For lines of the first checkpoint it names the commit " +
			"of your git repository that added them, else 'before rewind'. --porcelain prints the format of " +
			"'git blame --porcelain', with checkpoints for commits.",
		Example: "  rewind blame src/main.go\n  rewind blame src/main.go -L 10,20 turn:3\n  rewind blame --porcelain src/main.go",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return usage("blame takes a path, and a checkpoint behind it")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.completePaths(cmd, word)
			}
			return completePlaces(a, 2, &req.Session)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Path, req.Choose = a.project(), api.Text(args[0]), a.OutTTY
			var err error
			if len(args) == 2 {
				if req.Checkpoint, err = a.checkpointName(args[1]); err != nil {
					return err
				}
			}
			if req.First, req.Last, err = lineRange(lines); err != nil {
				return err
			}
			return runBlame(cmd.Context(), a, req, porcelain)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&lines, "lines", "L", "", "only these lines: `first,last`, or first,+count")
	f.BoolVarP(&req.AnySpace, "ignore-space", "w", false, "white space in a line counts for nothing")
	f.BoolVarP(&porcelain, "porcelain", "p", false, "print what editors read")
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	return cmd
}

// lineRange reads -L: first,last or first,+count or first.
func lineRange(text string) (first, last int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	bad := usage("-L %s: want <first>,<last>, lines from 1", text)
	from, to, both := strings.Cut(text, ",")
	if from != "" { // else the first line
		if first, err = strconv.Atoi(from); err != nil || first <= 0 {
			return 0, 0, bad
		}
	}
	if !both || to == "" {
		return first, 0, nil
	}
	more, relative := strings.CutPrefix(to, "+")
	if last, err = strconv.Atoi(more); err != nil || last <= 0 {
		return 0, 0, bad
	}
	if relative {
		last += max(first, 1) - 1
	}
	if last < first {
		return 0, 0, bad
	}
	return first, last, nil
}

func runBlame(ctx context.Context, a *app, req api.BlameRequest, porcelain bool) error {
	r, err := call(ctx, a, api.Blame, req, "reading")
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.Notices(r.Notices)
	if porcelain {
		return a.blamePorcelain(r)
	}
	return a.paged(func(w io.Writer) error { return a.blamed(w, r) })
}

// How wide the words about an origin may be, in columns.
const (
	shownOrigin = 40 // where there is no terminal, or not more room than that beside the lines
	leastOrigin = 16 // agent and turn; the lines are cut before them
)

// blamed prints lines, each with who brought it. On a terminal the words about that have what the longest line leaves,
// and two fifths at least; a narrow one has no time, and shorter tabs.
func (a *app) blamed(w io.Writer, r api.BlameResponse) error {
	rows, times := make([][]term.Cell, len(r.Lines)), a.Width == 0 || a.Width >= render.NarrowList
	room, longest, stop := a.Width, 0, 8
	if !times {
		stop = 2
	}
	for i, l := range r.Lines {
		o := r.Origins[l.Origin]
		style := term.Plain
		if i > 0 && r.Lines[i-1].Origin == l.Origin {
			style = term.Dim
		}
		text := expandTabs(string(l.Text), stop)
		if l.Cut {
			text += " ..."
		}
		id, number := term.Cell{Text: o.Short, Style: term.ID},
			term.Cell{Text: fmt.Sprint(r.First + i), Style: term.Dim}
		rows[i] = []term.Cell{id, {Text: term.Sanitize(originWords(o)), Style: style}, number, {Text: text}}
		left := a.Width - len(id.Text) - len(number.Text) - 3*render.ListGap
		if times {
			when := term.Cell{Text: a.Time(originTime(o)), Style: term.Dim}
			rows[i], left = slices.Insert(rows[i], 2, when), left-len(when.Text)-render.ListGap
		}
		room, longest = min(room, left), max(longest, term.Width(term.Sanitize(text)))
	}
	columns := []term.Column{{}, {}, {Right: true}, {}} // the terminal's end cuts the last
	if times {
		columns = slices.Insert(columns, 2, term.Column{})
	}
	most := shownOrigin
	if a.Width > 0 {
		most = max(room-longest, room*2/5, leastOrigin)
	}
	t := a.Table(columns...)
	for _, row := range rows {
		row[1].Text = term.Truncate(row[1].Text, most)
		t.Row(row...)
	}
	return t.Flush(w)
}

// expandTabs puts spaces for tabs, up to the next multiple of stop runes: a cell of a table begins anywhere.
func expandTabs(s string, stop int) string {
	parts := strings.Split(s, "\t")
	at := 0
	for i, part := range parts[:len(parts)-1] {
		at += utf8.RuneCountInString(part)
		parts[i] += strings.Repeat(" ", stop-at%stop)
		at += stop - at%stop
	}
	return strings.Join(parts, "")
}

// originTime is when lines came.
func originTime(o api.Origin) time.Time {
	if o.Commit != nil {
		return o.Commit.Time
	}
	return o.Time
}

// originWords say who brought a line: turn and tool, or outside, and for which prompt.
func originWords(o api.Origin) string {
	switch {
	case o.Commit != nil:
		return fmt.Sprintf("git %.7s %s", o.Commit.ID, o.Commit.Summary)
	case o.Before && o.Merged == 0:
		return "before rewind"
	case o.Older:
		return "merged away by gc"
	case o.Message != "":
		return string(o.Message) + render.MergedWords(o.Merged)
	case o.Agent == "":
		return o.Event
	case betweenTurns(o):
		return render.Outside(o.Event, o.Turn, o.Whose) + render.MergedWords(o.Merged)
	}
	text := string(o.Agent)
	if o.Turn > 0 {
		text += " " + naming.TurnWords(o.Turn, o.Whose)
	}
	switch {
	case len(o.By) == 0:
		text += ", outside"
	case o.Tool != nil && o.Event == "scan":
		text += ", " + render.During(o.Tool, o.Target)
	case o.Tool != nil:
		text += ", " + string(o.Tool.Name)
	}
	text += render.MergedWords(o.Merged)
	if o.Prompt != "" {
		text = render.WithPrompt(text, o.Event, o.Prompt)
	}
	return text
}

// betweenTurns reports whether nobody's call changed something, in no turn.
func betweenTurns(o api.Origin) bool {
	return len(o.By) == 0 && o.Turn > 0 && render.BetweenTurns(o.Event)
}

// porcelainID is how much of an id git's commits have: editors look for it.
const porcelainID = 40

// blamePorcelain prints what git blame --porcelain does, for editors.
func (a *app) blamePorcelain(r api.BlameResponse) error {
	var b strings.Builder
	told := map[int]bool{}
	for i := 0; i < len(r.Lines); i++ {
		l := r.Lines[i]
		o := r.Origins[l.Origin]
		id := o.ID
		if o.Commit != nil {
			id = o.Commit.ID
		}
		fmt.Fprintf(&b, "%s %d %d", id[:porcelainID], l.Line, r.First+i)
		if i == 0 || r.Lines[i-1].Origin != l.Origin || r.Lines[i-1].Line+1 != l.Line {
			n := 1
			for i+n < len(r.Lines) && r.Lines[i+n].Origin == l.Origin && r.Lines[i+n].Line == l.Line+n {
				n++
			}
			fmt.Fprintf(&b, " %d", n)
		}
		b.WriteByte('\n')
		if !told[l.Origin] {
			told[l.Origin] = true
			porcelainHead(&b, o)
		}
		fmt.Fprintf(&b, "\t%s\n", l.Text)
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

func porcelainHead(b *strings.Builder, o api.Origin) {
	who, mail, summary := string(o.Agent), o.Session, originWords(o)
	switch {
	case o.Commit != nil:
		who, mail, summary = string(o.Commit.Author), "", string(o.Commit.Summary)
	case o.Before && o.Merged == 0:
		who = "before rewind"
	case len(o.By) == 0 && who != "" || who == "":
		who = "outside"
	}
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(b, "%s %s\n%s-mail <%s>\n%s-time %d\n%s-tz +0000\n", role, oneLine(who), role, oneLine(mail), role,
			originTime(o).Unix(), role)
	}
	fmt.Fprintf(b, "summary %s\n", oneLine(summary))
	if o.Prior != "" {
		fmt.Fprintf(b, "previous %s %s\n", o.Prior[:porcelainID], term.Quote(string(o.Was)))
	} else if o.Before && o.Commit == nil {
		b.WriteString("boundary\n")
	}
	fmt.Fprintf(b, "filename %s\n", term.Quote(string(o.Path)))
}

// oneLine keeps a field of a line-based format on its line.
func oneLine(text string) string { return strings.Join(strings.Fields(term.Sanitize(text)), " ") }
