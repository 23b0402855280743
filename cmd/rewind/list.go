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

func newList(a *app) *cobra.Command {
	req := api.ListRequest{}
	changed := api.PathsRequest{}
	cmd := &cobra.Command{
		Use:     "list [--all] [--session <session>] [--limit <n>] [-S <text>] [-G <regexp>] [-- <path>...]",
		Short:   "List checkpoints, newest first",
		Long:    "Lists checkpoints, newest first; '@' marks the one that the project stands on, '~' what a later step\nleft behind (undo does not go there). Small checkpoints, and those that came soon after another in the same turn, are\nfolded; --all lists them, and the safety checkpoints that restores take." + pathsHelp,
		Example: "  rewind list\n  rewind list --all --limit 0" + pathsExample,
		Args:    onlyPaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project = a.project()
			if _, changed.Paths = afterDash(cmd, args); byChange(changed) {
				changed.Project, changed.All, changed.Session, changed.Limit = req.Project, req.All, req.Session, req.Limit
				return runPaths(cmd.Context(), a, changed)
			}
			return runList(cmd.Context(), a, req)
		},
	}
	cmd.Flags().BoolVarP(&req.All, "all", "a", false, "folded and safety checkpoints too")
	sessionFlag(a, cmd, &req.Session, "only checkpoints of this `session`: its id, or how it begins")
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", 100, "at most so many; 0: all")
	pathsFlags(cmd, &changed)
	return cmd
}

func runList(ctx context.Context, a *app, req api.ListRequest) error {
	if req.Limit < 0 {
		return usage("--limit %d: must not be negative", req.Limit)
	}
	r, said, err := ask(ctx, a, api.List, req, "listing")
	if err != nil || said {
		return err
	}
	a.notices(r.Notices)
	if len(r.Checkpoints) == 0 {
		if req.Session != "" {
			return &api.Error{Word: api.WordNotFound, Message: fmt.Sprintf("no checkpoints of session %q", req.Session), Hint: "'rewind list' shows all"}
		}
		a.say("no checkpoints yet; 'rewind save' takes one")
		return nil
	}
	err = a.paged(func(w io.Writer) error {
		t := a.Table(term.Column{}, term.Column{}, term.Column{}, term.Column{Flex: true}, term.Column{Flex: true})
		several := severalOf(r.Checkpoints)
		for _, c := range r.Checkpoints {
			mark, style := " ", term.Plain
			if c.Current {
				mark, style = "@", term.Bold
			}
			if c.Aside {
				mark = "~"
			}
			if c.Safety || c.Aside {
				style = term.Dim
			}
			if several[c.Agent] {
				c.Agent = api.Agent(sessionWords(c.Session))
			}
			text := what(c)
			if len(c.Tags) > 0 {
				text = "[" + strings.Join(c.Tags, ", ") + "] " + text
			}
			t.Row(term.Cell{Text: mark, Style: term.Bold}, term.Cell{Text: c.Short, Style: term.ID}, term.Cell{Text: a.Time(c.Time), Style: term.Dim},
				term.Cell{Text: text, Style: style}, term.Cell{Text: tally(c), Style: term.Dim})
		}
		return t.Flush(w)
	})
	if r.Folded > 0 {
		a.say("%s folded; 'rewind list --all' shows them", count(r.Folded, "checkpoint"))
	}
	if r.More {
		a.say("older checkpoints are not shown; 'rewind list --limit 0' shows all")
	}
	return err
}

// severalOf are the agents of which checkpoints of more than one session are listed: a turn's number alone does not tell those apart.
func severalOf(list []api.Checkpoint) map[api.Agent]bool {
	first, several := map[api.Agent]string{}, map[api.Agent]bool{}
	for _, c := range list {
		if c.Agent == "" {
			continue
		}
		if session, known := first[c.Agent]; known && session != c.Session {
			several[c.Agent] = true
		} else {
			first[c.Agent] = c.Session
		}
	}
	return several
}
