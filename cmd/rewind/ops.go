package main

import (
	"cmp"
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
	"rewind/internal/value"
)

func newOps(a *app) *cobra.Command {
	req := api.OpsRequest{}
	cmd := &cobra.Command{
		Use:   "ops [--all] [--limit <n>]",
		Short: "List restores, newest first, or every operation",
		Long: "Lists each restore, where it went from and to, and whether it was taken back since; 'rewind " +
			"undo-restore <number>' takes one back. --all lists everything that rewind did: checkpoints, " +
			"events, tags, ... --json lists operations, safety checkpoints only with --all.",
		Example: "  rewind ops\n  rewind ops --all",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project, req.Env, req.Restores = a.project(), agentEnv(), !req.All && !a.json
			return runOps(cmd.Context(), a, req)
		},
	}
	cmd.Flags().BoolVarP(&req.All, "all", "a", false, "every operation")
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", 100, "at most so many; 0: all")
	return cmd
}

func runOps(ctx context.Context, a *app, req api.OpsRequest) error {
	if req.Limit < 0 {
		return usage("--limit %d: must not be negative", req.Limit)
	}
	r, said, err := ask(ctx, a, api.Ops, req, "listing")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if len(r.Operations) == 0 && req.Restores {
		a.Say("nothing has gone back yet; 'rewind ops --all' shows every operation")
		return nil
	}
	if req.Restores && a.OutTTY &&
		slices.ContainsFunc(r.Operations, func(op api.Operation) bool { return op.CanUndo }) {
		defer a.Say("hint: 'rewind undo-restore <number>' takes one of these back, without a number the newest")
	}
	return a.paged(func(w io.Writer) error {
		if req.Restores {
			return a.restoreTable(w, r.Operations)
		}
		t := a.Table(term.Column{Right: true}, term.Column{}, term.Column{}, term.Column{Flex: true})
		for _, op := range r.Operations {
			t.Row(term.Cell{Text: fmt.Sprint(op.Seq), Style: term.ID},
				term.Cell{Text: a.Clock(op.Time), Style: term.Dim},
				term.Cell{Text: op.Kind, Style: term.Bold}, term.Cell{Text: opText(op)})
		}
		return t.Flush(w)
	})
}

// restoreTable lists restores: from where to where, and whether they were taken back. On a terminal the prompts have
// what the other columns leave, both the same; where that is nothing they go, and of a narrow one the clock and what
// was kept, too.
func (a *app) restoreTable(w io.Writer, list []api.Operation) error {
	narrow := a.Width > 0 && a.Width < render.NarrowList
	marks, from, prompt := restoreMarks, "from ", momentPrompt
	if narrow {
		marks, from = shortMarks, ""
	}
	sides := func(op api.Operation, prompt int) string {
		if change := render.ChangeWords(op); change != "" {
			return change
		}
		// what it is called now is what tells it
		if op.Kind == "rename" && len(op.Managed) == 1 && op.Managed[0].Title != "" {
			m := op.Managed[0]
			return `"` + term.Sanitize(render.Words(string(m.Title))) + `"` + " " + term.Sanitize(render.ShortSession(m.Session))
		}
		if len(op.Managed) > 0 {
			return render.ManagedList(op.Managed)
		}
		if op.Kind == "switch" { // turns of two sessions have the same numbers
			return switchWords(op, from, prompt, narrow)
		}
		return betweenWords(op, from, prompt, narrow)
	}
	if a.Width > 0 {
		var fixed [5]int
		for _, op := range list {
			clock := a.Clock(op.Time)
			if narrow {
				clock = ""
			}
			for i, text := range []string{fmt.Sprint(op.Seq), clock, op.Kind, sides(op, 0), term.Sanitize(marks(op))} {
				fixed[i] = max(fixed[i], term.Width(text))
			}
		}
		room := a.Width
		for _, n := range fixed {
			if n > 0 {
				room -= n + render.ListGap
			}
		}
		if room < 0 && narrow { // dim tells it, too
			marks = func(api.Operation) string { return "" }
		}
		if prompt = min(room/2-len(` ""`), promptMost); prompt < promptLeast {
			prompt = 0
		}
	}
	columns := []term.Column{{Right: true}, {}, {}, {Flex: true}, {Flex: true}}
	if narrow {
		columns = slices.Delete(columns, 1, 2)
	}
	t := a.Table(columns...)
	for _, op := range list {
		kind, style := term.Bold, term.Plain
		if op.Undone > 0 {
			kind, style = term.Dim, term.Dim
		}
		cells := []term.Cell{
			{Text: fmt.Sprint(op.Seq), Style: term.ID},
			{Text: a.Clock(op.Time), Style: term.Dim},
			{Text: op.Kind, Style: kind},
			{Text: sides(op, prompt), Style: style},
			{Text: marks(op), Style: style},
		}
		if narrow {
			cells = slices.Delete(cells, 1, 2)
		}
		t.Row(cells...)
	}
	return t.Flush(w)
}

// betweenWords say from where to where a restore went; turns of one session are told with it once.
func betweenWords(op api.Operation, from string, prompt int, narrow bool) string {
	if !isTurn(op.From) || !isTurn(op.To) || op.From.Whose != op.To.Whose {
		return from + ownWords(op.From, op.Safety, prompt) + " to " + ownWords(op.To, op.Target, prompt)
	}
	text := from + sideWords(op.From, op.Safety, prompt) + " to " + sideWords(op.To, op.Target, prompt)
	if narrow {
		text = fmt.Sprintf("%s to %d", naming.TurnName(op.From.Turn, ""), op.To.Turn)
	}
	return ofSession(text, op.From.Whose)
}

// switchWords say from where to which session a switch went.
func switchWords(op api.Operation, from string, prompt int, narrow bool) string {
	to := "to " + ofSession(sideWords(op.To, op.Target, prompt), naming.Whose(cmp.Or(op.Goes, op.Session)))
	if narrow {
		return to
	}
	return from + ownWords(op.From, op.Safety, prompt) + " " + to
}

// ownWords is sideWords with the session of a turn, where the project has several.
func ownWords(m *api.Moment, id string, prompt int) string {
	text := sideWords(m, id, prompt)
	if isTurn(m) {
		return ofSession(text, m.Whose)
	}
	return text
}

// ofSession is what is told of turns, with their session.
func ofSession(text, whose string) string {
	if whose == "" {
		return text
	}
	return text + " of " + term.Sanitize(whose)
}

// shortMarks is restoreMarks where there is no room for it: only what became of a restore.
func shortMarks(op api.Operation) string {
	switch {
	case op.Undone > 0:
		return "undone"
	case op.Undoes > 0:
		return fmt.Sprintf("of %d", op.Undoes)
	}
	return ""
}

// restoreMarks say how much a restore changed, and what became of it.
func restoreMarks(op api.Operation) string {
	var parts []string
	if len(op.Managed) == 0 {
		parts = append(parts, render.Count(op.Changed, "path"))
	}
	if what := whatWords(op); what != "" {
		parts = append(parts, what)
	}
	if op.Undoes > 0 {
		parts = append(parts, fmt.Sprintf("took back %d", op.Undoes))
	}
	if op.TookBack != nil {
		parts = append(parts, "took back "+tookWords(op))
	}
	if op.Undone > 0 {
		parts = append(parts, fmt.Sprintf("undone by %d", op.Undone))
	}
	if op.Kept > 0 {
		parts = append(parts, fmt.Sprintf("%d kept", op.Kept))
	}
	if len(op.Paths) > 0 {
		parts = append(parts, "only "+strings.Join(value.Strings(op.Paths), ", "))
	}
	return strings.Join(parts, ", ")
}

// tookWords are the turns that a restore took back, with their session where the project has several.
func tookWords(op api.Operation) string {
	text := naming.TurnName(op.TookBack.First, "")
	if last := op.TookBack.Last; last > op.TookBack.First {
		text = fmt.Sprintf("%s to %d", text, last)
	}
	return ofSession(text, op.TookBack.Whose)
}

// whatWords say what a restore went about, where that is not code and conversation, and of an operation on sessions
// that nobody asked for it.
func whatWords(op api.Operation) string {
	switch {
	case len(op.Managed) > 0:
		return term.Sanitize(string(op.Message))
	case op.What == "context":
		return "conversation alone"
	case op.What == "in-place":
		return "in place"
	case op.What == "code" && op.Agent != "":
		return "code alone"
	}
	return ""
}

// How much of a prompt tells a moment from another, in columns: where there is no terminal, and at the most and the
// least on one.
const (
	momentPrompt = 24
	promptMost   = 40
	promptLeast  = 8
)

// sideWords is a checkpoint as a person names it, with so many columns of its prompt or message; 0: without.
func sideWords(m *api.Moment, id string, prompt int) string {
	quote := func(text api.Text) string {
		return `"` + term.Truncate(term.Sanitize(render.Words(string(text))), prompt) + `"`
	}
	switch {
	case m == nil:
		return fmt.Sprintf("%.8s", id)
	case m.Safety && m.Message != "": // parts of another one
		return term.Sanitize(string(m.Message))
	case isEnd(m) && m.Prompt != "" && prompt > 0:
		return naming.TurnName(m.Turn, "") + " " + quote(m.Prompt)
	case isEnd(m):
		return naming.TurnName(m.Turn, "")
	case m.Event == "init" && prompt > 0:
		return "the first checkpoint"
	case m.Event == "init":
		return "start"
	case m.Message != "" && !m.Safety && prompt > 0:
		return quote(m.Message)
	}
	return m.Short
}

// isEnd reports whether a person names a moment by its turn.
func isEnd(m *api.Moment) bool { return m != nil && m.Turn > 0 && m.Event != "save" }

// isTurn reports whether sideWords name a moment by its turn.
func isTurn(m *api.Moment) bool { return isEnd(m) && (!m.Safety || m.Message == "") }

func opText(op api.Operation) string {
	var parts []string
	if op.Target != "" {
		parts = append(parts, fmt.Sprintf("to %.12s, %s changed", op.Target, render.Count(op.Changed, "path")))
	}
	if op.Kept > 0 {
		parts = append(parts, fmt.Sprintf("%d kept", op.Kept))
	}
	if len(op.Paths) > 0 {
		parts = append(parts, "only "+strings.Join(value.Strings(op.Paths), ", "))
	}
	if op.Undoes > 0 {
		parts = append(parts, fmt.Sprintf("reverts %d", op.Undoes))
	}
	if op.Checkpoint != "" {
		parts = append(parts, fmt.Sprintf("%.12s", op.Checkpoint))
	}
	if op.Message != "" {
		parts = append(parts, string(op.Message))
	}
	return strings.Join(parts, ", ")
}
