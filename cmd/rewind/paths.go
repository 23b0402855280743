package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

const (
	pathsHelp = "\n\nWith paths after '--' (files, directories, patterns such as '*.go'; also what is gone): the checkpoints that " +
		"changed them, none\n" +
		"folded, each with what it changed. A file is followed to the names that it had before: --no-follow does not. -S lists what\n" +
		"changed how often a text occurs in a file, -G what added or removed a line in which an expression (RE2) matches."
	pathsExample = "\n  rewind list -- src/main.go\n  rewind list -S parseConfig\n  rewind list -G 'func .*Config' -- '*.go'"
)

// onlyPaths takes no arguments but paths.
func onlyPaths(cmd *cobra.Command, args []string) error {
	names, _ := afterDash(cmd, args)
	if len(names) == 0 {
		return nil
	}
	return &api.Error{
		Word: api.WordUsage, Message: fmt.Sprintf("%s takes no checkpoint; put paths after '--'", cmd.Name()),
		Hint: fmt.Sprintf("rewind %s -- %s", cmd.Name(), shellLine(names)),
	}
}

func pathsFlags(cmd *cobra.Command, req *api.PathsRequest) {
	f := cmd.Flags()
	f.StringVarP((*string)(&req.Text), "text", "S", "", "only what changed how often this `text` occurs in a file")
	f.StringVarP((*string)(&req.Changed), "changed", "G", "", "only what added or removed a line in which this `regexp` matches")
	f.BoolVar(&req.NoFollow, "no-follow", false, "do not follow a file through renames")
}

// byChange reports whether checkpoints are asked for by what they changed.
func byChange(req api.PathsRequest) bool {
	return len(req.Paths) > 0 || req.Text != "" || req.Changed != ""
}

func (a *app) runPaths(ctx context.Context, o listOptions, f *format) error {
	r, err := call(ctx, a, api.Paths, o.changed, "searching")
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.notices(r.Notices)
	if len(r.Checkpoints) == 0 {
		a.say("no checkpoint changed that")
	}
	rows := make([]listRow, len(r.Checkpoints))
	for i := range rows {
		c := &r.Checkpoints[i]
		row := listRow{
			id: c.Checkpoint.Short, when: a.listTime(c.Checkpoint.Time, o.relative), session: c.Checkpoint.Session, turn: c.Checkpoint.Turn,
			text:    stepText(&c.Checkpoint),
			changes: changesLine(c.Changes),
		}
		if c.Checkpoint.Turn > 0 && c.Checkpoint.Message == "" && c.Checkpoint.Prompt != "" {
			row.text += ": " + words(string(c.Checkpoint.Prompt))
		}
		row.mark, row.style = markOf(c.Checkpoint)
		if o.patch || o.stat || o.names {
			row.below = func(w io.Writer) error { return a.shownBelow(ctx, w, c.Checkpoint.ID, c.Changes, o) }
		}
		rows[i] = row
	}
	if o.graph {
		rows = a.graphed(rows, func(i int) *api.Link { return r.Checkpoints[i].Checkpoint.Follows })
	}
	err = a.paged(func(w io.Writer) error {
		if f != nil {
			return formatRows(w, f, r.Checkpoints)
		}
		return a.listRows(w, rows)
	})
	if r.More {
		a.say("older ones are not shown; -n 0 shows all")
	}
	a.unsearched(r.Unsearched)
	return err
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

// unsearched tells of what a search left out.
func (a *app) unsearched(u api.Unsearched) {
	for _, l := range []struct {
		paths []api.Text
		why   string
	}{{u.TooLarge, "too large"}, {u.Gone, "not in the store any more"}} {
		if len(l.paths) > 0 {
			a.say("note: not searched, some version is %s: %s%s", l.why, term.Quote(string(l.paths[0])), others(len(l.paths)))
		}
	}
}

func others(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" and %s", count(n-1, "other"))
}
