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

func newPick(a *app) *cobra.Command {
	req := api.MergeRequest{}
	var sides mergeSides
	cmd := &cobra.Command{
		Use: "pick {<checkpoint> | <from>..<to> | <dir>[:<change>]} [--ours | --theirs] [--session <session>]\n" +
			"  [--dry-run | --plan <plan>] [-- <path>...]",
		Short: "Bring one change into the project, and keep what is there",
		Long: "Brings one change into the project's current files, by a three-way merge as in git: the change " +
			"of a turn, of a checkpoint, or between two checkpoints. If both changed the same lines, both are " +
			"written between the markers <<<<<<< and >>>>>>>, and the exit code is 15. --ours keeps the " +
			"current lines, --theirs takes the change's. A conflict in a file that is no text leaves the file " +
			"alone and names it. The conversation does not change. 'rewind undo-restore' takes it back in one " +
			"step.\n\n" +
			"For a change of another worktree (see 'rewind worktrees') put its directory and a colon in " +
			"front. The directory alone means all that was done there since the two parted.",
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
		Use: "revert {<checkpoint> | <from>..<to>} [--merge | --ours | --theirs] [--session <session>]\n" +
			"  [--dry-run | --plan <plan>] [-- <path>...]\n" +
			"  rewind revert --session <session> [--merge | --ours | --theirs]\n" +
			"  [--dry-run | --plan <plan>] [-- <path>...]",
		Short: "Take one change out of the project, and keep what came after",
		Long: "Takes one change out of the project's current files: the reverse of 'rewind pick'. Later changes " +
			"stay, whoever made them. If you changed the same lines, the file becomes what it was before the " +
			"change, and your version is named. If a session changed them, the file stays. With --merge both " +
			"are written between conflict markers, and the exit code is 15. With --session alone it takes out " +
			"all that a session wrote.\n\n" +
			"The conversation does not change. 'rewind undo-restore' takes it back in one step.",
		Example: "  rewind revert turn:4\n  rewind revert --session 3f2a91c4\n  rewind revert 3f2a91c4 -- src/main.go",
		Args: func(cmd *cobra.Command, args []string) error {
			if names, _ := afterDash(cmd, args); len(names) > 1 {
				return oneName(cmd, names)
			} else if len(names) == 0 && req.Session == "" {
				return usage("revert takes one turn, checkpoint or range, or --session; put paths after '--'")
			}
			if req.Merge && sides.prefer() != "" {
				return usage("--merge and --%s exclude each other", sides.prefer())
			}
			return sides.check()
		},
		ValidArgsFunction: completePlaces(a, 1, &req.Session),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.merge(cmd, args, api.Revert, req, sides) }
	mergeFlags(a, cmd, &req, &sides)
	cmd.Flags().BoolVar(&req.Merge, "merge", false, "where both changed the same lines, write both, with markers")
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

// prefer is the side for a request; "": neither.
func (s mergeSides) prefer() string {
	switch {
	case s.ours:
		return "ours"
	case s.theirs:
		return "theirs"
	}
	return ""
}

func (s *mergeSides) flags(cmd *cobra.Command, theirs string) {
	cmd.Flags().BoolVar(&s.ours, "ours", false, "where both changed the same lines, keep the current ones")
	cmd.Flags().BoolVar(&s.theirs, "theirs", false, "where both changed the same, take what "+theirs+" has")
}

// merging are the flags of what goes to another state, for paths that other sessions changed since, too.
type merging struct {
	mergeSides
	merge, keepMine bool
}

func (m *merging) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&m.keepMine, "keep-mine", false, "what you changed since, in your editor or by hand, stays")
	cmd.Flags().BoolVar(&m.merge, "merge", false,
		"also in files that others changed since; with markers where both changed the same lines")
	m.mergeSides.flags(cmd, "the target")
}

// set fills a request.
func (m *merging) set(cmd *cobra.Command, req *api.Merging) error {
	req.Merge, req.Prefer, req.KeepMine = m.merge, m.prefer(), m.keepMine
	if !m.merge && req.Prefer != "" {
		return usage("--%s settles conflicts of --merge", req.Prefer)
	}
	for _, name := range []string{"exact", "context-only", "into", "patch", "continue", "abort"} {
		f := cmd.Flag(name)
		switch given := f != nil && f.Changed; {
		case given && m.merge:
			return usage("--merge and --%s exclude each other", name)
		case given && m.keepMine:
			return usage("--keep-mine and --%s exclude each other", name)
		}
	}
	return m.check()
}

func mergeFlags(_ *app, cmd *cobra.Command, req *api.MergeRequest, sides *mergeSides) {
	sides.flags(cmd, "the change")
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
}

// merge sends a pick or a revert and tells what it did.
func (a *app) merge(cmd *cobra.Command, args []string, route api.Route[api.MergeRequest, api.RestoreResponse], req api.MergeRequest,
	sides mergeSides,
) error {
	names, paths := afterDash(cmd, args)
	req.Project, req.Env, req.Choose = a.project(), agentEnv(), a.OutTTY
	req.Paths = paths
	req.Prefer = sides.prefer()
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
	return a.doMerge(cmd.Context(), route, req, what, again{cmd: cmd, args: names, paths: paths})
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
	typed again,
) error {
	r, said, err := ask(ctx, a, route, req, "comparing")
	if err != nil {
		return err
	}
	if !said {
		a.Notices(r.Notices)
		if r.Turn != "" && r.Worktree == "" { // else it is told as it was typed
			what = term.Sanitize(string(r.Turn))
		}
		a.tellMerge(r, what, typed.merging(r))
	}
	return render.Partial(r)
}

// tellMerge tells what a merge did; again is the command that does the same with markers.
func (a *app) tellMerge(r api.RestoreResponse, what, again string) {
	changed := render.Count(max(len(r.Changes)-len(r.Conflicts), 0), "path")
	verb := map[string][2]string{"pick": {"picked", "would pick"}, "revert": {"reverted", "would revert"}}[r.Kind]
	switch {
	case r.DryRun:
		fmt.Fprintf(a.Out, "%s %s: %s to change\n", verb[1], what, changed)
	case r.Operation > 0:
		fmt.Fprintf(a.Out, "%s %s: %s changed\n", verb[0], what, changed)
	case len(r.Merges)+len(r.Kept) == 0:
		fmt.Fprintf(a.Out, "nothing to do: %s changed nothing here\n", what)
	default:
		fmt.Fprintf(a.Out, "nothing changed by %s\n", r.Kind)
	}
	if r.DryRun || len(r.Changes) <= render.ShownNames {
		a.ChangeLines(a.Out, r.Changes, render.ShownPaths)
	}
	a.TellReplaced(r)
	a.TellMerges(r)
	a.TellKept(r.Kept, render.StayingOf(r))
	a.HintOthers(r, again)
	a.TellConflicts(r.Conflicts)
	a.TellWithout(r.Without)
	a.TellAtWork(r)
	if r.Operation > 0 {
		a.Say("undo this: rewind undo-restore")
	}
}
