package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

func newForks(a *app) *cobra.Command {
	all := false
	run := func(cmd *cobra.Command, _ []string) error { return runForks(cmd.Context(), a, all) }
	cmd := &cobra.Command{
		Use:   "forks {list | show <fork> | rename | delete | prune | promote | archive | restore}",
		Short: "List forks, show their origin, tidy them up",
		Long: "Lists the sessions that are forks or clones of others, newest first, made by rewind or by the " +
			"agent itself. Each act on sessions here is one operation; 'rewind undo-restore' takes it back.",
		Example: "  rewind forks list\n  rewind forks show 1a2b3c4d\n  rewind forks prune --unused --older 7d",
		Args:    unknownCommand,
		RunE:    run,
	}
	list := &cobra.Command{
		Use: "list [--all]", Short: "List forks and clones, newest first",
		Example: "  rewind forks list\n  rewind forks list --all",
		Args:    takesNone, RunE: run,
	}
	list.Flags().BoolVarP(&all, "all", "a", false, "archived and deleted ones, too")
	cmd.AddCommand(newManaging(a)...)
	cmd.AddCommand(
		list,
		&cobra.Command{
			Use: "show <fork>", Short: "Show a fork and its origin",
			Example: "  rewind forks show 1a2b3c4d",
			Args:    takes(1, 1, "one session"), ValidArgsFunction: completeSessions(a),
			RunE: func(cmd *cobra.Command, args []string) error { return runForksShow(cmd.Context(), a, args[0]) },
		},
	)
	return cmd
}

func runForks(ctx context.Context, a *app, all bool) error {
	r, said, err := ask(ctx, a, api.Forks, api.ForksRequest{Project: a.project(), Env: agentEnv(), All: all}, "reading")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	defer a.tellHidden(r.Hidden)
	if len(r.Forks) == 0 && r.Hidden == 0 {
		a.Say("no forks yet; 'rewind fork turn:<n>' makes one")
		return nil
	}
	return a.paged(func(w io.Writer) error {
		wide, wider := a.Width == 0 || a.Width >= render.NarrowList, a.Width == 0 || a.Width >= wideForks
		columns := []term.Column{{}, {}, {Flex: true}}
		if wide { // a title is what a person knows one by: it goes last
			columns = append(columns, term.Column{})
		}
		if wider {
			columns = append([]term.Column{{}}, append(columns, term.Column{}, term.Column{})...)
		}
		t := a.Table(columns...)
		for _, f := range r.Forks {
			t.Row(a.forkCells(f, wide, wider)...)
		}
		return t.Flush(w)
	})
}

// forkCells are the cells of a fork, for a terminal that has room for its turns, and for all.
func (a *app) forkCells(f api.ForkInfo, wide, wider bool) []term.Cell {
	mark, at := "", f.First
	if f.Current {
		mark = "@"
	}
	if f.Fork != nil {
		at = f.Fork.Time
	}
	cells := []term.Cell{{Text: mark, Style: term.Bold}}
	if wider {
		cells = append(cells, term.Cell{Text: string(f.Agent)})
	}
	cells = append(cells, term.Cell{Text: forkName(&f), Style: term.ID}, term.Cell{Text: string(f.Title)})
	if wider {
		cells = append(cells, term.Cell{Text: render.Relation(f.Fork)})
	}
	if wide {
		cells = append(cells, term.Cell{Text: ownTurns(f)})
	}
	if wider {
		cells = append(cells, term.Cell{Text: a.Time(at), Style: term.Dim})
	}
	return cells
}

// wideForks is how many columns a list of forks wants that says where each comes from, and when it was made.
const wideForks = 100

// forkName is what a fork is called in a list: by its id, or what was left within a session by its turn.
func forkName(f *api.ForkInfo) string {
	if f.Branch != f.Session {
		return render.ShortBranch(f.Branch)
	}
	return render.ShortID(f.ID)
}

// ownTurns says how far a fork has gone on.
func ownTurns(f api.ForkInfo) string {
	switch {
	case f.Standing == "archived" || f.Standing == "deleted":
		return f.Standing
	case render.Unplaced(f.Fork):
		return render.Count(f.Turns, "turn")
	case f.Branch != f.Session:
		return "left, " + render.Count(f.Own, "turn")
	case f.Own == 0:
		return "not used yet"
	}
	return render.Count(f.Own, "turn") + " of its own"
}

func runForksShow(ctx context.Context, a *app, name string) error {
	r, said, err := ask(ctx, a, api.Forks, api.ForksRequest{Project: a.project(), Env: agentEnv(), Fork: name},
		"reading")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		for i, f := range r.Forks {
			if i > 0 {
				fmt.Fprintln(w)
			}
			a.showFork(w, f)
		}
		return nil
	})
}

func (a *app) showFork(w io.Writer, f api.ForkInfo) {
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-11s %s\n", name, text)
		}
	}
	row("fork", a.Styled(term.ID, term.Sanitize(f.Branch)))
	row("title", term.Sanitize(string(f.Title)))
	row("file", term.Quote(string(f.Path)))
	row("holds", fmt.Sprintf("%s, %s, %s, %s", render.Count(f.Turns, "turn"), render.Count(f.Messages, "message"),
		term.Size(f.Bytes), ownTurns(f)))
	rest := f.SessionInfo
	rest.Fork = nil
	row("note", term.Sanitize(a.sessionMarks(&rest)))
	for i := range f.Lineage {
		l := &f.Lineage[i]
		text := render.Relation(l)
		if l.Checkpoint != "" {
			text += fmt.Sprintf(", checkpoint %.8s", l.Checkpoint)
		}
		text += fmt.Sprintf(", %s, by %s", a.Time(l.Time), l.Kind)
		name := ""
		if i == 0 {
			name = "from"
		}
		row(name, term.Sanitize(text))
		if i == 0 {
			a.forkPoint(row, l)
		}
	}
	if len(f.Resume) > 0 {
		row("resume", term.Sanitize(render.ShellLine(f.Resume)))
	}
}

// forkPoint tells through row what else is known of where a fork begins.
func (a *app) forkPoint(row func(name, text string), l *api.Lineage) {
	if l.Message != "" {
		row("message", term.Sanitize(l.Message))
	}
	row("depth", fmt.Sprintf("%d", l.Depth))
	if l.Checkpoint == "" {
		row("code", a.Styled(term.Warn, term.Sanitize("not captured: "+string(l.NoCode))))
	}
	row("git", term.Sanitize(gitWords(l)))
	for _, p := range l.NoGit {
		row("git", a.Styled(term.Warn, term.Quote(string(p))+" could not be read then"))
	}
	row("found", foundWords(l.How))
}

// gitWords say where the user's repository stood at a fork point.
func gitWords(l *api.Lineage) string {
	how := map[value.GitBy]string{
		value.GitByHeadLog: ", by HEAD's log of that time", value.GitByBranch: ", the newest of that branch then",
	}[l.GitBy]
	switch {
	case l.GitBy == value.GitUnknown:
		return "unknown: neither HEAD's log nor a branch tells of that time"
	case l.Commit != "" && l.Branch != "":
		return fmt.Sprintf("%.12s on %s%s", l.Commit, l.Branch, how)
	case l.Commit != "":
		return fmt.Sprintf("%.12s%s", l.Commit, how)
	case l.Branch != "":
		return "no commit yet on " + l.Branch
	}
	return ""
}

// foundWords say how it became known that a session is a fork.
func foundWords(how value.Found) string {
	switch how {
	case value.FoundMade:
		return "rewind made it"
	case value.FoundHeader:
		return "its file names what it was made of"
	case value.FoundIDs:
		return "it begins with records of the other session, by their ids"
	case value.FoundParent:
		return "within the session's file: two prompts go on from one place"
	case value.FoundRecord:
		return "within the session's file: the agent noted that the person went back"
	case value.FoundContent:
		return "it begins as the other session does: what was said when, and calls"
	}
	return string(how)
}
