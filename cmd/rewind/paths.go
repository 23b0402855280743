package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

const (
	pathsHelp = "\n\nWith paths after '--' (files, directories, patterns such as '*.go'; deleted ones, too) it lists the checkpoints " +
		"that\n" +
		"changed them, none folded, each with its changes. A file is followed to its former names, except with --no-follow.\n" +
		"-S lists checkpoints that changed how often a text occurs in a file, -G those that added or removed a line with a match\n" +
		"of an expression (RE2)."
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
		Hint: fmt.Sprintf("rewind %s -- %s", cmd.Name(), render.ShellLine(names)),
	}
}

func pathsFlags(cmd *cobra.Command, req *api.PathsRequest) {
	f := cmd.Flags()
	f.StringVarP((*string)(&req.Text), "text", "S", "", "only what changed how often this `text` occurs in a file")
	f.StringVarP((*string)(&req.Changed), "changed", "G", "",
		"only what added or removed a line in which this `regexp` matches")
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
	a.Notices(r.Notices)
	if len(r.Checkpoints) == 0 {
		a.Say("no checkpoint changed that")
	}
	rows := a.RowsOfPaths(r.Checkpoints, o.rows(func(i int, w io.Writer) error {
		return a.shownBelow(ctx, w, r.Checkpoints[i].Checkpoint.ID, r.Checkpoints[i].Changes, o)
	}))
	err = a.paged(func(w io.Writer) error {
		if f != nil {
			return formatRows(w, f, r.Checkpoints)
		}
		return a.ListRows(w, rows)
	})
	if r.More {
		a.Say("older ones are not shown; -n 0 shows all")
	}
	a.unsearched(r.Unsearched)
	return err
}

// unsearched tells of what a search left out.
func (a *app) unsearched(u api.Unsearched) {
	for _, l := range []struct {
		paths []api.Text
		why   string
	}{{u.TooLarge, "too large"}, {u.Gone, "not in the store any more"}} {
		if len(l.paths) > 0 {
			a.Say("note: not searched, some version is %s: %s%s", l.why, term.Quote(string(l.paths[0])),
				others(len(l.paths)))
		}
	}
}

func others(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" and %s", render.Count(n-1, "other"))
}
