package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

type gcOptions struct {
	req api.GCRequest
	yes bool
}

func newGC(a *app) *cobra.Command {
	o := gcOptions{}
	cmd := &cobra.Command{
		Use:   "gc [--dry-run] [--keep N] [--older <age>] [--max-size <size>]",
		Short: "Remove old checkpoints and free their space",
		Long: `Thins the history, deletes unused data and frees its space on the file system.

gc keeps every checkpoint of the last day, then the last one of each turn for 30 days, then the last one of each day. It keeps saved
checkpoints, safety checkpoints and fork points for 180 days. It keeps tagged checkpoints, and each session's current one, for ever.
The settings gc.* change this ('rewind config'). The changes of a removed checkpoint are shown with the next kept one.

--keep, --older and --max-size remove more, but nothing that is tagged, needed now, or younger than gc.grace. What gc has removed
cannot be brought back. It never touches an agent's session files. The daemon runs it by itself, at most once a day, while the
project is idle; gc.auto false switches that off.`,
		Example: "  rewind gc --dry-run\n  rewind gc\n  rewind gc --keep 100\n  rewind gc --older 30d --yes\n  rewind gc --max-size 2GiB",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f := cmd.Flags(); f.Changed("keep") && o.req.Keep < 1 {
				return usage("--keep wants a number of at least 1")
			}
			o.req.Project = a.project()
			return runGC(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.req.DryRun, "dry-run", "n", false, "show what would be removed, and its size")
	f.IntVar(&o.req.Keep, "keep", 0, "keep only the newest `N` checkpoints of each session")
	f.StringVar(&o.req.Older, "older", "", "remove what is older than this `age`: 36h, 30d")
	f.StringVar(&o.req.MaxSize, "max-size", "", "remove more and more until the store has this `size`")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return cmd
}

func runGC(ctx context.Context, a *app, o gcOptions) error {
	more := o.req.Keep > 0 || o.req.Older != "" || o.req.MaxSize != ""
	if more && !o.req.DryRun && !o.yes {
		if err := a.confirmGC(ctx, o.req); err != nil {
			return err
		}
	}
	r, said, err := ask(ctx, a, api.GC, o.req, "collecting")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	fmt.Fprintln(a.Out, gcText(r)+youngText(r))
	if !r.Fits && !r.DryRun {
		fmt.Fprintln(a.Out,
			"the store is still larger than it may be: what is left is needed, tagged, or younger than gc.grace")
	}
	return nil
}

// gcText says what went, or would.
func gcText(r api.GCResponse) string {
	what := render.Count(r.Checkpoints, "checkpoint")
	if r.Safety > 0 {
		what += ", " + render.Count(r.Safety, "safety checkpoint")
	}
	if r.DryRun {
		return fmt.Sprintf("would remove %s and %s (%s); %s would stay", what, render.Count(r.Objects, "object"),
			term.Size(r.Bytes), render.Count(r.Kept, "checkpoint"))
	}
	if r.Checkpoints+r.Safety+r.Objects == 0 {
		return fmt.Sprintf("nothing to remove: %s, %s on disk", render.Count(r.Kept, "checkpoint"),
			term.Size(r.DiskAfter))
	}
	return fmt.Sprintf("removed %s and %s (%s): %s on disk before, %s now; %s kept",
		what, render.Count(r.Objects, "object"), term.Size(r.Bytes), term.Size(r.DiskBefore), term.Size(r.DiskAfter),
		render.Count(r.Kept, "checkpoint"))
}

// youngText says how much of what was asked to go is too young to.
func youngText(r api.GCResponse) string {
	switch r.Young {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; 1 is younger than gc.grace (%s): it stays", r.Grace)
	}
	return fmt.Sprintf("; %d are younger than gc.grace (%s): they stay", r.Young, r.Grace)
}

// confirmGC asks a person where more would go than the policy removes; who is none has to have said it.
func (a *app) confirmGC(ctx context.Context, req api.GCRequest) error {
	req.DryRun = true
	r, err := call(ctx, a, api.GC, req, "looking")
	if err != nil {
		return err
	}
	if r.Checkpoints+r.Safety == 0 {
		return nil
	}
	text := strings.TrimPrefix(gcText(r), "would remove ") + youngText(r)
	refused := &api.Error{
		Word: api.WordUsage, Message: "gc would remove " + text + "; it cannot be undone",
		Hint: "--yes does it without asking",
	}
	return a.confirm("This removes "+text+". It cannot be undone.", refused, "nothing was removed")
}
