package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

// What a list has if nobody says how much: turns for a person, checkpoints otherwise.
const (
	listedTurns       = 30
	listedCheckpoints = 100
)

// listOptions are what list was asked for.
type listOptions struct {
	all, turns, steps, relative  bool
	graph                        bool
	format                       string
	patch, stat, names           bool
	session, agent, tool, by     string
	since, until, prompt, opened string
	limit                        int
	limited                      bool // a limit was given
	changed                      api.PathsRequest
}

func newList(a *app) *cobra.Command {
	o := listOptions{}
	cmd := &cobra.Command{
		Use:   "list [turn:<n>] [--steps] [--graph] [--all] [--since <time>] [--grep <words>] [-S <text>] [-G <regexp>] [-- <path>...]",
		Short: "List turns and what was saved, newest first",
		Long: "Lists turns, newest first, one a row: the turn's checkpoint, the time, the prompt, how many files the turn added (+),\n" +
			"changed (~) and deleted (-), and which ones. Saved checkpoints, and changes from outside, are rows between them.\n" +
			"'@' marks where the project is. '~' marks a row that is not on this branch: left behind by a later step, or another " +
			"fork's.\n" +
			"With turn:<n> or --steps: one row a step, with its tool and the subject of its call. --graph draws the rows as a tree:\n" +
			"a column for each line, '┊' for checkpoints that are not listed. --all lists the safety checkpoints of restores, too.\n" +
			"The filters combine. --json lists checkpoints, small ones folded unless --steps or --all; with --turns, turns.\n" +
			"--format prints a line a row by a template. " + fmt.Sprintf(formatHelp, "checkpoint.short") + pathsHelp,
		Example: "  rewind list\n  rewind list turn:4\n  rewind list --since yesterday --tool Bash\n  rewind list --grep parser --stat" +
			"\n  rewind list --graph" + pathsExample,
		Args: onlyTurn,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, paths := afterDash(cmd, args)
			o.changed.Paths, o.limited = paths, cmd.Flags().Changed("limit")
			if len(names) > 0 {
				o.opened = names[0]
			}
			return a.runList(cmd.Context(), o)
		},
		ValidArgsFunction: completeTurns(a, &o.session),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.all, "all", "a", false, "safety checkpoints too; with --json, folded ones as well")
	sessionFlag(a, cmd, &o.session, "only of this `session`: its id, or how it begins")
	f.IntVarP(&o.limit, "limit", "n", 0,
		fmt.Sprintf("at most `n` rows, 0: all (default %d turns, %d checkpoints)", listedTurns,
			listedCheckpoints))
	f.BoolVar(&o.steps, "steps", false, "one row a step, none folded")
	f.BoolVar(&o.graph, "graph", false, "draw which goes on from which")
	f.BoolVar(&o.turns, "turns", false, "one row a turn, with --json too")
	f.StringVar(&o.since, "since", "", "only since this `time`: 14:10, \"2 hours ago\", yesterday, 2026-11-20")
	f.StringVar(&o.until, "until", "", "only until this `time`")
	f.StringVar(&o.agent, "agent", "", "only of this `agent`")
	f.StringVar(&o.tool, "tool", "", "only where this `tool` changed something")
	f.StringVar(&o.by, "by", "", "only changes by this `one`: agent, or outside")
	f.StringVar(&o.prompt, "grep", "", "only where the prompt, or a message, has these `words`")
	f.BoolVar(&o.relative, "relative", false, "how long ago, instead of the clock")
	f.BoolVarP(&o.patch, "patch", "p", false, "what changed, as a patch")
	f.BoolVar(&o.stat, "stat", false, "how many lines of which files")
	f.BoolVar(&o.names, "name-only", false, "which files")
	f.StringVar(&o.format, "format", "", "a line a row by this `template`, such as '{{.turn}} {{short 40 .prompt}}'")
	pathsFlags(cmd, &o.changed)
	return cmd
}

// onlyTurn takes a turn to open, and paths.
func onlyTurn(cmd *cobra.Command, args []string) error {
	names, _ := afterDash(cmd, args)
	if len(names) != 1 || !render.IsTurn(names[0]) {
		return onlyPaths(cmd, args)
	}
	n, _ := naming.Parse(names[0]) // a turn's name
	why := "before the first prompt, no turn"
	switch {
	case n.Before:
		why = "a state, not a turn"
	case n.Turn > 0:
		return nil
	}
	return &api.Error{
		Word: api.WordUsage, Message: fmt.Sprintf("list: %s is %s", term.Sanitize(names[0]), why),
		Hint: fmt.Sprintf("rewind show %s", render.ShellLine(names)),
	}
}

func (o *listOptions) detail() api.Detail {
	return api.Detail{Names: o.names, Lines: o.stat || o.patch, Patch: o.patch, Context: patchContext}
}

// rows are the options for the rows, with what stands below each where that was asked for.
func (o *listOptions) rows(below func(i int, w io.Writer) error) render.RowOptions {
	if !o.patch && !o.stat && !o.names {
		below = nil
	}
	return render.RowOptions{Relative: o.relative, Graph: o.graph, Below: below}
}

// patchContext is how many unchanged lines stand around a change, as with git.
const patchContext = 3

func (a *app) runList(ctx context.Context, o listOptions) error {
	if o.limit < 0 {
		return usage("--limit %d: must not be negative", o.limit)
	}
	filter, err := a.listFilter(&o)
	if err != nil {
		return err
	}
	format, err := a.newFormat(o.format)
	if err != nil {
		return err
	}
	below := o.patch || o.stat || o.names
	if format != nil && (o.graph || below) {
		return usage("--format goes with neither --graph nor -p, --stat and --name-only")
	}
	o.complete(a.json)
	if byChange(o.changed) {
		o.changed.Project, o.changed.All, o.changed.Limit, o.changed.Filter = a.project(), o.all, o.limit, filter
		o.changed.Graph = o.graph
		return a.runPaths(ctx, o, format)
	}
	req := api.ListRequest{
		Project: a.project(), Filter: filter, All: o.all, Limit: o.limit, Turns: o.turns, Steps: o.steps,
		Past:   o.session != "",
		Choose: a.OutTTY, Graph: o.graph, Detail: o.detail(),
	}
	if req.Turn, err = a.checkpointName(o.opened); o.opened != "" && err != nil {
		return err
	}
	r, said, err := ask(ctx, a, api.List, req, "listing")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if len(r.Turns)+len(r.Checkpoints) == 0 {
		return a.nothingListed(filter)
	}
	err = a.paged(func(w io.Writer) error { return a.writeList(ctx, w, r, format, o) })
	if r.More && format == nil {
		a.sayMore(o.limited)
	}
	return err
}

// complete sets what was not asked for: turns for people, and about a screen of them.
func (o *listOptions) complete(json bool) {
	byDefault := !o.steps && !json && o.opened == ""
	o.turns = o.turns || byDefault
	if o.limited {
		return
	}
	if o.limit = listedTurns; !o.turns {
		o.limit = listedCheckpoints
	}
	if o.opened != "" {
		o.limit = 0
	}
}

func (a *app) writeList(ctx context.Context, w io.Writer, r api.ListResponse, format *format, o listOptions) error {
	if format != nil && o.turns {
		return formatRows(w, format, r.Turns)
	}
	if format != nil {
		return formatRows(w, format, r.Checkpoints)
	}
	if o.turns {
		return a.ListRows(w, a.RowsOfTurns(r.Turns, o.rows(func(i int, w io.Writer) error {
			return a.FileDiffs(w, r.Turns[i].Files, o.patch, o.stat)
		})))
	}
	if len(r.Turns) == 1 {
		a.turnHead(w, r.Turns[0])
	}
	return a.ListRows(w, a.RowsOfSteps(r.Checkpoints, o.rows(func(i int, w io.Writer) error {
		return a.shownBelow(ctx, w, r.Checkpoints[i].ID, nil, o)
	})))
}

// sayMore says how what is not listed is shown.
func (a *app) sayMore(limited bool) {
	what := "older ones are not shown; "
	if limited {
		a.Say(what + "-n 0 shows all")
	} else {
		a.Say(what + "'rewind list -n 0' shows all")
	}
}

func formatRows[T any](w io.Writer, f *format, rows []T) error {
	for i := range rows {
		if err := f.write(w, &rows[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// listFilter reads the filters: times by this clock and in this zone.
func (a *app) listFilter(o *listOptions) (f api.Filter, err error) {
	f = api.Filter{Session: o.session, Agent: o.agent, Tool: o.tool, By: o.by, Prompt: api.Text(o.prompt)}
	for _, t := range []struct {
		flag, text string
		to         *time.Time
	}{{"--since", o.since, &f.Since}, {"--until", o.until, &f.Until}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = naming.ParseTime(t.text, a.Now().Local()); err != nil {
			return f, usage("%s: %v", t.flag, err)
		}
	}
	return f, nil
}

// nothingListed says that nothing is there, or that nothing is as it was asked for.
func (a *app) nothingListed(f api.Filter) error {
	if f == (api.Filter{}) {
		a.Say("no checkpoints yet; 'rewind save' takes one")
		return nil
	}
	if f == (api.Filter{Session: f.Session}) {
		return &api.Error{
			Word: api.WordNotFound, Message: fmt.Sprintf("no checkpoints of session %q", f.Session),
			Hint: "'rewind turns' lists its turns, 'rewind list' shows all",
		}
	}
	a.Say("no match; 'rewind list' shows all")
	return nil
}

// turnHead says which turn the steps below are of.
func (a *app) turnHead(w io.Writer, r api.Row) {
	line := fmt.Sprintf("%s  %s  %s", naming.TurnName(r.Turn, ""), render.SessionWords(r.Session),
		term.Sanitize(render.Words(string(r.Prompt))))
	if a.OutTTY && a.Width > 0 {
		line = term.Truncate(line, a.Width)
	}
	fmt.Fprintln(w, a.Styled(term.Bold, line))
}

// shownBelow prints what a checkpoint changed, of these paths or, with none, of all, below its row.
func (a *app) shownBelow(ctx context.Context, w io.Writer, id string, only []api.Change, o listOptions) error {
	r, err := api.Call(ctx, a.client, api.Show,
		api.ShowRequest{Project: a.project(), Checkpoint: api.Text(id), Detail: o.detail()}, nil)
	if err != nil {
		return err
	}
	if only != nil {
		r.Files = slices.DeleteFunc(r.Files, func(f api.FileDiff) bool {
			return !slices.ContainsFunc(only, func(c api.Change) bool { return c.Path == f.Path })
		})
	}
	return a.FileDiffs(w, r.Files, o.patch, o.stat)
}
