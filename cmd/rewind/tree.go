package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newTree(a *app) *cobra.Command {
	req := api.TreeRequest{}
	cmd := &cobra.Command{
		Use:   "tree [session] [--session <session>] [--all]",
		Short: "Draw a session and all that was forked from it",
		Long: "Draws the family of a session, by default of the current one. Each branch is a line below its " +
			"original. A line has the turn of the fork, the checkpoints since, how many files they changed " +
			"and how many lines (+ added, - removed), and the time of its last work. Then come remarks, and " +
			"the checkpoint and git commit of the fork; a narrow terminal leaves the last ones out.\n\n" +
			"'@' marks where you are, '*' a branch whose agent is at work, '~' a branch that somebody went " +
			"back in. '!' marks a branch with a file that another branch has changed, too, since they parted. " +
			"The first line is the way from the root to where you are. Branches that go on in other worktrees " +
			"(see 'rewind worktrees') are there, too, with the directory.\n\n" +
			"'turn:5@1a2b' is a branch within one session, left by going back in the agent: it ends with turn " +
			"5. 'rewind switch turn:5@1a2b' goes there.",
		Example:           "  rewind tree\n  rewind tree 1a2b3c4d\n  rewind tree --all\n  rewind tree --json",
		Args:              takes(0, 1, "one session"),
		ValidArgsFunction: completeSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project = a.project()
			if err := sessionArgument(cmd, args, &req.Session); err != nil {
				return err
			}
			return runTree(cmd.Context(), a, req)
		},
	}
	sessionFlag(a, cmd, &req.Session, "of this `session`, as the argument")
	cmd.Flags().BoolVarP(&req.All, "all", "a", false, "the families of all sessions")
	return cmd
}

func runTree(ctx context.Context, a *app, req api.TreeRequest) error {
	r, said, err := ask(ctx, a, api.Tree, req, "reading")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if len(r.Branches) == 0 {
		a.Say("no sessions yet; 'rewind sessions --import' imports the agents' sessions of this project")
		return nil
	}
	if err := a.paged(func(w io.Writer) error { return a.drawTree(w, r) }); err != nil {
		return err
	}
	if a.Width > 0 && a.Width < treeMarks {
		if a.OutTTY {
			tellSigns(a, r.Branches)
		}
		tellElsewhere(a, r.Branches, func(b api.Branch) (api.Text, string) { return b.Worktree, b.ID })
	}
	if r.Others > 0 {
		a.Say("%s of other families; 'rewind tree --all' draws all", render.Count(r.Others, "session"))
	}
	return nil
}

// From how many columns on a tree has what, in the order of its columns.
const (
	treeForked = 56  // the turn of the fork
	treeWork   = 72  // checkpoints, files and lines
	treeLast   = 90  // when it was last at work
	treeMarks  = 110 // what else there is, in words; from here on titles stand in a column of their own
	treePoints = 150 // checkpoint and commit of the fork point
)

func (a *app) drawTree(w io.Writer, r api.TreeResponse) error {
	if len(r.Path) > 1 || r.Session != r.Current {
		fmt.Fprintln(w, a.breadcrumb(r))
	}
	has := func(from int) bool { return a.Width == 0 || a.Width >= from }
	stems := branchStems(r.Branches, !has(treeMarks))
	if a.Width > 0 {
		for i := range stems {
			stems[i] = term.Truncate(stems[i], a.Width/2)
		}
	}
	columns := []term.Column{{}, {Flex: true}}
	if has(treeMarks) {
		columns = []term.Column{{}, {}, {Flex: true}}
	}
	// the words of treeMarks give way
	for _, from := range []int{treeForked, treeWork, treeLast, treeMarks, treePoints} {
		if has(from) {
			columns = append(columns, term.Column{Flex: from == treeMarks})
		}
	}
	t := a.Table(columns...)
	for i := range r.Branches {
		b := &r.Branches[i]
		style, title, name := term.Plain, render.Words(string(b.Title)), render.ShortID(b.ID)
		if b.Current {
			style = term.Bold
		}
		if has(treeForked) {
			name = render.ShortSession(b.Session)
		}
		if b.Branch != b.Session {
			name = render.ShortBranch(b.Branch)
		}
		row := []term.Cell{{Text: branchSign(b), Style: term.Bold}}
		if has(treeMarks) {
			row = append(row, term.Cell{Text: stems[i] + name, Style: term.ID}, term.Cell{Text: title, Style: style})
		} else {
			row = append(row, term.Cell{Text: stems[i] + name + "  " + title, Style: style})
		}
		// What a narrow terminal has no column for is dropped.
		t.Row(append(row, term.Cell{Text: forkedAt(b)}, term.Cell{Text: branchWork(b)},
			term.Cell{Text: a.Time(b.Last), Style: term.Dim},
			term.Cell{Text: a.branchMarks(b), Style: term.Dim}, term.Cell{Text: branchPoint(b), Style: term.Dim})...)
	}
	return t.Flush(w)
}

// breadcrumb leads from the root to the session that was asked for.
func (a *app) breadcrumb(r api.TreeResponse) string {
	at := map[string]*api.Branch{}
	for i := range r.Branches {
		at[r.Branches[i].Branch] = &r.Branches[i]
	}
	names := make([]string, len(r.Path))
	for i, s := range r.Path {
		if names[i] = render.ShortBranch(s); strings.HasPrefix(s, "turn:") {
			continue
		}
		names[i] = render.ShortID(s[strings.Index(s, "/")+1:])
		if b := at[s]; b != nil {
			names[i] = render.ShortID(b.ID)
		}
	}
	if n := len(names); r.Session == r.Current && n > 0 {
		names[n-1] += " (here)"
	}
	const between = " > "
	line := strings.Join(names, between)
	for a.Width > 0 && len(names) > 2 && term.Width(line) > a.Width { // who is far from both ends is left out
		cut := max(len(names)/2, 1)
		names = append(names[:cut:cut], names[cut+1:]...)
		line = strings.Join(names[:cut], between) + between + "…" + between + strings.Join(names[cut:], between)
	}
	if a.Width > 0 {
		line = term.Truncate(line, a.Width)
	}
	return a.Styled(term.Dim, term.Sanitize(line))
}

// branchSign is what stands before a branch: the first of where you are, at work, gone back in; and whether it clashes
// with another.
func branchSign(b *api.Branch) string {
	sign := ""
	switch {
	case b.Current:
		sign = "@"
	case b.Running:
		sign = "*"
	case b.Rewound:
		sign = "~"
	}
	if b.Clashes > 0 {
		sign += "!"
	}
	return sign
}

// tellSigns says what the signs before branches mean, where they have no words of their own.
func tellSigns(a *app, list []api.Branch) {
	var says []string
	for _, sign := range []struct {
		is   string
		says string
	}{
		{"@", "you are here"},
		{"*", "at work"},
		{"~", "gone back in"},
		{"!", "conflicts with another: 'rewind compare <a> <b>'"},
	} {
		if slices.ContainsFunc(list, func(b api.Branch) bool { return strings.Contains(branchSign(&b), sign.is) }) {
			says = append(says, sign.is+" "+sign.says)
		}
	}
	if len(says) > 1 || len(says) > 0 && says[0][0] != '@' {
		a.Say("%s", strings.Join(says, ", "))
	}
}

// forkedAt says at which turn a branch was forked.
func forkedAt(b *api.Branch) string {
	switch {
	case b.Fork == nil:
		return ""
	case render.Unplaced(b.Fork):
		return "at ?"
	}
	return "at " + naming.TurnWords(uint64(b.Fork.Turn), "") // it is drawn below the session of the turn
}

// branchWork says what a branch did since it was forked.
func branchWork(b *api.Branch) string {
	switch {
	case b.Imported:
		return "imported"
	case b.Checkpoints == 0:
		return "nothing yet"
	}
	text := fmt.Sprintf("%d cp, %s +%d -%d", b.Checkpoints, render.Count(b.Files, "file"), b.Added, b.Removed)
	if b.Uncounted > 0 {
		text += fmt.Sprintf(" (%d uncounted)", b.Uncounted)
	}
	return text
}

// branchMarks say in words what else there is to know of a branch.
func (a *app) branchMarks(b *api.Branch) string {
	var marks []string
	add := func(on bool, text string) {
		if on {
			marks = append(marks, text)
		}
	}
	add(b.Current, "you are here")
	add(b.Branch != b.Session, "left in the agent")
	add(b.Branch == b.Session && b.Standing == "main", "main line")
	add(b.Branch == b.Session && b.Standing == "archived", "archived")
	add(b.Branch == b.Session && b.Loss != "", render.LossWords(b.Loss))
	add(b.Running, "running")
	add(b.Worktree != "", "in "+a.near(string(b.Worktree)))
	add(b.Rewound, "rewound")
	add(b.Fork != nil && b.Parent == "", render.Relation(b.Fork))
	for i, c := range b.Conflicts {
		text := "conflicts with " + render.ShortSession(c.Session)
		if len(c.Paths) > 0 {
			text += " in " + term.Quote(string(c.Paths[0]))
		}
		if c.Files > 1 {
			text += fmt.Sprintf(" and %d more", c.Files-1)
		}
		if more := b.Clashes - 1; more > 0 {
			text += fmt.Sprintf(", and with %d more", more)
		}
		if i == 0 {
			marks = append(marks, text)
		}
	}
	return strings.Join(marks, ", ")
}

// branchPoint is where a branch was forked, the checkpoint and the commit that git stood on then, and the commit that
// it stands on now if that is another one.
func branchPoint(b *api.Branch) string {
	var parts []string
	then, now := "", ""
	if b.Git != nil {
		now = b.Git.Commit
	}
	if f := b.Fork; f != nil {
		then = f.Commit
		if f.Checkpoint == "" {
			parts = append(parts, "no code")
		} else {
			parts = append(parts, fmt.Sprintf("%.8s", f.Checkpoint))
		}
	}
	if then != "" {
		parts = append(parts, fmt.Sprintf("git %.8s", then))
	}
	if now != "" && now != then {
		parts = append(parts, fmt.Sprintf("now git %.8s", now))
	}
	return strings.Join(parts, ", ")
}

// branchStems are what is drawn before each branch of a tree that grows downwards, its list in the order of the tree;
// dense in two columns a fork, not three.
//
//	root
//	├─ fork
//	│  ╰─ fork of it
//	╰─ another fork of the root
func branchStems(list []api.Branch, dense bool) []string {
	on, end, bar, none := "├─ ", "╰─ ", "│  ", "   "
	if dense {
		on, end, bar, none = "├ ", "╰ ", "│ ", "  "
	}
	last, seen := make([]bool, len(list)), map[string]bool{} // no other hangs on the same behind it
	for i := len(list) - 1; i >= 0; i-- {
		last[i], seen[list[i].Parent] = !seen[list[i].Parent], true
	}
	stems := make([]string, len(list))
	var bars []string // by depth, from that of the root's forks on: whether the one above has another behind it
	for i := range list {
		depth := list[i].Depth
		if bars = bars[:min(max(depth-1, 0), len(bars))]; depth == 0 {
			continue
		}
		sign, below := on, bar
		if last[i] {
			sign, below = end, none
		}
		stems[i] = strings.Join(bars, "") + sign
		bars = append(bars, below)
	}
	return stems
}
