package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

type diffOptions struct {
	api.DiffRequest
	stat, nameOnly, nameStatus bool
}

func newDiff(a *app) *cobra.Command {
	o := diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff [<checkpoint> [checkpoint] | --since-fork] [--session <session>] [-- <path>...]",
		Short: "Show what differs between two states",
		Long: "Without a checkpoint: from the current checkpoint to the project as it is now. With one: from " +
			"that to now. With two: from the first to the second. The output is a patch for 'git apply'. With " +
			"--since-fork: from the place where the session was forked to the project as it is now; for " +
			"another session (--session), to its newest state.",
		Example: "  rewind diff\n  rewind diff @~3 --stat\n  rewind diff 3f2a91c4 works -- src\n  rewind diff --since-fork --stat",
		Args: func(cmd *cobra.Command, args []string) error {
			if names, _ := afterDash(cmd, args); len(names) > 2 {
				return usage("diff takes at most two checkpoints; put paths after '--'")
			} else if o.Since && len(names) > 0 {
				return usage("--since-fork says from where: no checkpoint is named beside it")
			}
			return nil
		},
		ValidArgsFunction: completePlaces(a, 2, &o.Session),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, paths := afterDash(cmd, args)
			o.Project, o.Paths, o.Choose = a.project(), paths, a.OutTTY
			for i, to := range []*api.Text{&o.From, &o.To} {
				if i >= len(names) {
					break
				}
				var err error
				if *to, err = a.checkpointName(names[i]); err != nil {
					return err
				}
			}
			if o.Context < 0 {
				return usage("--unified %d: must not be negative", o.Context)
			}
			o.NoText, o.NoHunks = o.nameOnly || o.nameStatus, o.stat
			err := runDiff(cmd.Context(), a, o)
			if len(names) == 1 {
				err = a.meantPath(cmd.Context(), err, names[0], "rewind diff -- %s")
			}
			if len(names) == 2 {
				err = a.meantPath(cmd.Context(), err, names[1], "rewind diff "+
					strings.ReplaceAll(render.ShellLine(names[:1]), "%", "%%")+" -- %s")
			}
			return err
		},
	}
	f := cmd.Flags()
	sessionFlag(a, cmd, &o.Session, "turns and @ are those of this `session`")
	f.BoolVar(&o.stat, "stat", false, "only how many lines of which files")
	f.BoolVar(&o.nameOnly, "name-only", false, "only the paths")
	f.BoolVar(&o.nameStatus, "name-status", false, "only the paths, and what happened to them")
	f.BoolVar(&o.Since, "since-fork", false, "from where the session was forked")
	f.IntVarP(&o.Context, "unified", "U", 3, "lines of context")
	return cmd
}

func runDiff(ctx context.Context, a *app, o diffOptions) error {
	r, said, err := ask(ctx, a, api.Diff, o.DiffRequest, "comparing")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if s := r.Since; s != nil {
		a.Say("%s: %s since, %s", render.Relation(&s.Fork), render.Count(s.Checkpoints, "checkpoint"),
			fmt.Sprintf("%s, +%d -%d", render.Count(len(r.Files), "file"), s.Added, s.Removed))
	}
	same := len(r.Files) == 0 && r.Since == nil
	asked := o.From != "" || o.To != "" || len(o.Paths) > 0
	if same && !asked {
		a.Say("nothing is unsaved: each step is captured as it is made; 'rewind show -p' shows what the last one changed")
	}
	return a.paged(func(w io.Writer) error {
		for _, f := range r.Files {
			switch {
			case o.nameOnly:
				fmt.Fprintln(w, term.Quote(string(f.Path)))
			case o.nameStatus:
				fmt.Fprintln(w, a.ChangeLine(f.Change))
			case !o.stat:
				if err := a.FilePatch(w, f); err != nil {
					return err
				}
			}
		}
		if o.stat {
			return a.DiffStat(w, r.Files)
		}
		return nil
	})
}
