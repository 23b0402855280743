package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

func newPick(a *app) *cobra.Command {
	req := api.MergeRequest{}
	var sides mergeSides
	cmd := &cobra.Command{
		Use: "pick {<checkpoint> | turn:<n> | <from>..<to> | <dir>[:<change>]} [--ours | --theirs] [--session <session>]\n" +
			"  [--dry-run | --plan <plan>] [-- <path>...]",
		Short: "Bring one change into the project, and keep what is there",
		Long: "Brings what a turn or a checkpoint changed, or what differs between two checkpoints, into the project's files as they\n" +
			"are now: a three-way merge, as git does it. Where both changed the same lines, both are written between the markers\n" +
			"<<<<<<< and >>>>>>>, and the exit code is 15; --ours keeps what is here, --theirs takes the change's. What is no\n" +
			"text stays as it is and is named. The conversation is left alone. 'rewind undo-restore' takes it back in one step.\n" +
			"A change of another worktree (see 'rewind worktrees') has its directory and a colon before it; the directory alone is\n" +
			"all that was done there since it and this one were one.",
		Example: "  rewind pick turn:4@3f2a91c4\n  rewind pick fork:1..@ -- src\n  rewind pick 3f2a91c4 --dry-run\n" +
			"  rewind pick ../try:turn:4",
		Args: func(cmd *cobra.Command, args []string) error {
			if names, _ := afterDash(cmd, args); len(names) > 1 {
				return oneName(cmd, names)
			} else if len(names) == 0 {
				return usage("pick takes one turn, checkpoint or range; put paths after '--'")
			}
			return sides.check()
		},
		ValidArgsFunction: completePlaces(a, 1, &req.Session),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.merge(cmd, args, api.Pick, req, sides) }
	mergeFlags(a, cmd, &req, &sides)
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	return cmd
}

func newRevert(a *app) *cobra.Command {
	req := api.MergeRequest{}
	var sides mergeSides
	cmd := &cobra.Command{
		Use: "revert {<checkpoint> | turn:<n> | <from>..<to>} [--ours | --theirs] [--session <session>] [--dry-run | --plan <plan>] " +
			"[-- <path>...]\n" +
			"  rewind revert --session <session> [--ours | --theirs] [--dry-run | --plan <plan>] [-- <path>...]",
		Short: "Take one change out of the project, and keep what came after",
		Long: "Takes what a turn or a checkpoint changed out of the project's files as they are now: the reverse of 'rewind pick'.\n" +
			"What was changed since, by whomever, stays; where that is the same lines, both are written between the markers of a\n" +
			"conflict, and the exit code is 15. With --session alone it takes out all that a session wrote.\n" +
			"The conversation is left alone. 'rewind undo-restore' takes it back in one step.",
		Example: "  rewind revert turn:4\n  rewind revert --session 3f2a91c4\n  rewind revert 3f2a91c4 -- src/main.go",
		Args: func(cmd *cobra.Command, args []string) error {
			if names, _ := afterDash(cmd, args); len(names) > 1 {
				return oneName(cmd, names)
			} else if len(names) == 0 && req.Session == "" {
				return usage("revert takes one turn, checkpoint or range, or --session; put paths after '--'")
			}
			return sides.check()
		},
		ValidArgsFunction: completePlaces(a, 1, &req.Session),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.merge(cmd, args, api.Revert, req, sides) }
	mergeFlags(a, cmd, &req, &sides)
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`; with neither, all that it wrote")
	return cmd
}

// mergeSides are the flags that settle conflicts.
type mergeSides struct{ ours, theirs bool }

func (s mergeSides) check() error {
	if s.ours && s.theirs {
		return usage("--ours and --theirs exclude each other")
	}
	return nil
}

func mergeFlags(_ *app, cmd *cobra.Command, req *api.MergeRequest, sides *mergeSides) {
	f := cmd.Flags()
	f.BoolVar(&sides.ours, "ours", false, "where both changed the same, keep what is here")
	f.BoolVar(&sides.theirs, "theirs", false, "where both changed the same, take what the change has")
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
}

// merge sends a pick or a revert and tells what it did.
func (a *app) merge(cmd *cobra.Command, args []string, route api.Route[api.MergeRequest, api.RestoreResponse], req api.MergeRequest,
	sides mergeSides,
) error {
	names, paths := afterDash(cmd, args)
	req.Project, req.Env, req.Choose = a.project(), agentEnv(), a.OutTTY
	req.Paths = paths
	switch {
	case sides.ours:
		req.Prefer = "ours"
	case sides.theirs:
		req.Prefer = "theirs"
	}
	what := "all that " + term.Sanitize(req.Session) + " wrote"
	if len(names) > 0 {
		var err error
		if req.Change, err = a.changeName(names[0]); err != nil {
			return err
		}
		what = term.Sanitize(names[0])
	} else {
		req.Of, req.Session = req.Session, ""
	}
	return a.doMerge(cmd.Context(), route, req, what)
}

// changeName is the name of a change for a request: of a checkpoint, or of a range, whose two names are joined by "..".
func (a *app) changeName(name string) (api.Text, error) {
	if dir, rest, ok := a.splitPlace(name); ok {
		if rest == "" {
			return api.Text(dir), nil
		}
		sent, err := a.changeName(rest)
		return api.Text(dir+":") + sent, err
	}
	from, to, isRange := strings.Cut(name, "..")
	if !isRange {
		return a.checkpointName(name)
	}
	if from == "" || to == "" {
		return "", usage("%q: a range names two checkpoints, <from>..<to>", name)
	}
	first, err := a.checkpointName(from)
	if err != nil {
		return "", err
	}
	second, err := a.checkpointName(to)
	return first + ".." + second, err
}

func (a *app) doMerge(ctx context.Context, route api.Route[api.MergeRequest, api.RestoreResponse], req api.MergeRequest, what string,
) error {
	r, said, err := ask(ctx, a, route, req, "comparing")
	if err != nil {
		return err
	}
	if !said {
		a.Notices(r.Notices)
		a.tellMerge(r, what)
	}
	return mergeError(r)
}

// mergeError is the error of a merge that left a conflict.
func mergeError(r api.RestoreResponse) error {
	n := 0
	for _, m := range r.Merges {
		if m.Verdict == value.MergeConflict {
			n++
		}
	}
	if n == 0 {
		return render.Partial(r)
	}
	hint := "edit the marked places, or begin again with --ours or --theirs after 'rewind undo-restore'"
	if r.DryRun || r.Operation == 0 {
		hint = "--theirs takes what the change has, --ours keeps what is here"
	}
	return &api.Error{Word: api.WordPartial, Message: render.Count(n, "path") + " in conflict", Hint: hint}
}

func (a *app) tellMerge(r api.RestoreResponse, what string) {
	changed := render.Count(max(len(r.Changes)-len(r.Conflicts), 0), "path")
	verb := map[string][2]string{"pick": {"picked", "would pick"}, "revert": {"reverted", "would revert"}}[r.Kind]
	switch {
	case r.DryRun:
		fmt.Fprintf(a.Out, "%s %s: %s to change\n", verb[1], what, changed)
	case r.Operation > 0:
		fmt.Fprintf(a.Out, "%s %s: %s changed\n", verb[0], what, changed)
	case len(r.Merges) == 0:
		fmt.Fprintf(a.Out, "nothing to do: %s changed nothing here\n", what)
	default:
		fmt.Fprintf(a.Out, "nothing changed by %s\n", r.Kind)
	}
	if r.DryRun || len(r.Changes) <= render.ShownNames {
		a.ChangeLines(a.Out, r.Changes, render.ShownPaths)
	}
	a.tellMerges(r.Merges)
	a.TellKept(r.Kept, false)
	a.TellConflicts(r.Conflicts)
	a.TellWithout(r.Without)
	a.TellAtWork(r)
	if r.Operation > 0 {
		a.Say("undo: rewind undo-restore")
	}
}

// mergeWords say why a path is in conflict.
var mergeWords = map[value.MergeReason]string{
	value.ReasonText:       "both changed the same lines",
	value.ReasonBinary:     "both changed it, and it is no text",
	value.ReasonTooLarge:   "both changed it, and it is too large to compare",
	value.ReasonLink:       "both changed where the link leads",
	value.ReasonType:       "a file, a link or a directory: the two do not agree",
	value.ReasonMode:       "both changed the permissions",
	value.ReasonDeleted:    "the change alters it, and it is not here",
	value.ReasonModified:   "the change removes it, and it was changed since",
	value.ReasonAdded:      "the change adds it, and another one is here",
	value.ReasonBlocked:    "a directory above it is not there, or is none",
	value.ReasonUncaptured: "what is here is not captured",
	value.ReasonGone:       "its content is not in the store any more",
}

// tellMerges names what is in conflict, what was settled, what was followed to another path, and counts what was there already.
func (a *app) tellMerges(list []api.Merge) {
	already, settled := 0, []api.Text{}
	for _, head := range []string{"in conflict:", "followed to where the file is now:"} {
		first := true
		for _, m := range list {
			conflict := m.Verdict == value.MergeConflict
			if conflict != (head == "in conflict:") || !conflict && m.Was == "" {
				continue
			}
			if first {
				fmt.Fprintln(a.Out, a.Styled(term.Warn, head))
				first = false
			}
			fmt.Fprintln(a.Out, "  "+mergeLine(m))
		}
	}
	for _, m := range list {
		switch m.Verdict {
		case value.MergeAlready:
			already++
		case value.MergeSettled:
			settled = append(settled, m.Path)
		}
	}
	a.Names("both had changed, settled as asked", settled)
	if already > 0 {
		fmt.Fprintf(a.Out, "%s so already\n", countIs(already, "path"))
	}
}

func mergeLine(m api.Merge) string {
	line := term.Quote(string(m.Path))
	if m.Was != "" {
		line += " (was " + term.Quote(string(m.Was)) + ")"
	}
	if m.Verdict != value.MergeConflict {
		return line
	}
	line += ": " + mergeWords[m.Reason]
	if m.Places > 0 {
		return line + ", " + render.Count(m.Places, "place") + " marked"
	}
	return line + "; it stays as it is"
}

func countIs(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}
