package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
)

func newUndo(a *app) *cobra.Command {
	turn, to := false, ""
	cmd, req := newAlong(a, api.Undo, &cobra.Command{
		Use: "undo [n] [--turn | --to turn:<n>|before:<n>] [--code-only] [--session <session>] [--keep-mine] " +
			"[--exact | --merge [--ours | --theirs]] [--dry-run | --plan <plan>]",
		Short: "Go back one step, or n; with --turn, turns",
		Long: "Goes back along the checkpoints that 'rewind list' shows; checkpoints with equal files count " +
			"once. Unsaved changes are the first step: they are saved before they are undone, so that 'rewind " +
			"redo' brings them back. The agent's conversation goes back as a new session, as with 'rewind " +
			"checkout'; --code-only leaves it alone.\n\n" +
			"With --session it takes back what that session did last, and leaves what you did. --turn takes " +
			"back the project's current turn, or n turns, to the state at its prompt. --to takes back " +
			"everything after the end of a turn, or from its prompt on. Both take back what the session did, " +
			"and leave what you and other sessions did meanwhile.",
		Example: "  rewind undo\n  rewind undo 3\n  rewind undo --turn\n  rewind undo --to before:4",
	})
	steps := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to != "" {
			return undoTo(a, cmd, req, args, to, turn)
		}
		if !turn {
			return steps(cmd, args)
		}
		if err := req.fill(a, cmd, args); err != nil {
			return err
		}
		return undoTurns(cmd, a, req.UndoRequest)
	}
	cmd.Flags().BoolVar(&turn, "turn", false, "take back the turn that the project stands in, or n turns")
	cmd.Flags().StringVar(&to, "to", "", "take back all behind this `turn`: turn:<n>, or before:<n>")
	return cmd
}

// undoTo takes back what a session did behind the end of a turn, or from its prompt on.
func undoTo(a *app, cmd *cobra.Command, req *along, args []string, to string, turn bool) error {
	n, err := naming.Parse(to)
	switch {
	case len(args) > 0 || turn:
		return usage("--to and a number of steps or turns exclude each other")
	case err != nil || !n.IsTurn():
		return usage("--to %q: want turn:<n> or before:<n>", to)
	}
	if err := req.fill(a, cmd, nil); err != nil {
		return err
	}
	req.TakeBack = true
	return doRestore(cmd.Context(), a, api.Checkout, api.CheckoutRequest{
		Project: req.Project, Walk: req.Walk, Wish: req.Wish, Checkpoint: api.Text(to), Merging: req.Merging,
	}, again{cmd: cmd})
}

// undoTurns goes to before the prompt of the turn that the session stands in, or of one before it.
func undoTurns(cmd *cobra.Command, a *app, req api.UndoRequest) error {
	ctx := cmd.Context()
	r, err := api.Call(ctx, a.client, api.Turns, api.TurnsRequest{Project: req.Project, Walk: req.Walk, Limit: 1}, nil)
	if err != nil {
		return err
	}
	if r.OwnAt < uint64(req.Steps) {
		short := render.ShortSession(r.Session)
		where := "no turn of " + short
		if r.OwnAt > 0 {
			where = naming.TurnWords(r.OwnAt, short)
		}
		return &api.Error{
			Code: api.CodeOf(api.WordNotFound), Word: api.WordNotFound,
			Message: fmt.Sprintf("undo --turn: the project is in %s", where),
			Hint:    fmt.Sprintf("'rewind turns %s' lists the turns; turn:0 is before the first prompt", short),
		}
	}
	req.Session, req.TakeBack = r.Session, true
	before := fmt.Sprintf("before:%d", r.OwnAt-uint64(req.Steps)+1)
	return doRestore(ctx, a, api.Checkout, api.CheckoutRequest{
		Project: req.Project, Walk: req.Walk, Wish: req.Wish,
		Checkpoint: api.Text(before), Merging: req.Merging,
	}, again{cmd: cmd, before: before})
}

func newRedo(a *app) *cobra.Command {
	cmd, _ := newAlong(a, api.Redo, &cobra.Command{
		Use:   "redo [n] [--code-only] [--session <session>] [--exact | --merge [--ours | --theirs]] [--dry-run | --plan <plan>]",
		Short: "Go forward again after undo or checkout",
		Long: "Goes forward along the checkpoints that undo or checkout left behind, until a new one is taken. " +
			"The conversation goes with it. After 'undo --turn' it goes back to where you were.",
		Example: "  rewind redo\n  rewind redo 2",
	})
	return cmd
}

// along is what undo and redo are asked.
type along struct {
	api.UndoRequest
	merging
}

func (r *along) fill(a *app, cmd *cobra.Command, args []string) error {
	r.Project, r.Choose = a.project(), a.OutTTY
	if err := r.merging.set(cmd, &r.Merging); err != nil {
		return err
	}
	if err := a.converse(&r.Wish, nil); err != nil {
		return err
	}
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 {
			return usage("%s %q: want a number of steps", cmd.Name(), args[0])
		}
		r.Steps = n
	}
	return nil
}

func newAlong(
	a *app, route api.Route[api.UndoRequest, api.RestoreResponse], cmd *cobra.Command,
) (*cobra.Command, *along) {
	req := &along{UndoRequest: api.UndoRequest{Steps: 1}}
	cmd.Args = takes(0, 1, "one number of steps")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := req.fill(a, cmd, args); err != nil {
			return err
		}
		return doRestore(cmd.Context(), a, route, req.UndoRequest, again{cmd: cmd, args: args, counts: true})
	}
	cmd.Flags().BoolVar(&req.Exact, "exact", false,
		"take files that no checkpoint has and what other sessions changed, too")
	req.flags(cmd)
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
	codeOnlyFlag(cmd, &req.Wish)
	sessionFlag(a, cmd, &req.Session, "along the steps of this `session`")
	return cmd, req
}

func newUndoRestore(a *app) *cobra.Command {
	req := api.UndoRestoreRequest{}
	cmd := &cobra.Command{
		Use:   "undo-restore [operation] [--code-only | --context-only] [--force] [--exact] [--dry-run | --plan <plan>]",
		Short: "Take back a checkout, undo, redo, pick, revert or undo-restore",
		Long: "Brings back the state before a restore. Without a number it reverts the newest one in effect; " +
			"repeating it goes further back. 'rewind ops' lists the numbers. To revert an undo-restore, give " +
			"its own number.\n\n" +
			"What the restore did to the conversation is taken back with it. The new session is deleted " +
			"unless somebody has used it meanwhile. A session that was cut in place gets its end back.",
		Example: "  rewind undo-restore\n  rewind undo-restore 17",
		Args:    takes(0, 1, "one number of an operation"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project = a.project()
			if err := a.converse(&req.Wish, nil); err != nil {
				return err
			}
			if len(args) > 0 {
				n, err := strconv.ParseUint(args[0], 10, 64)
				if err != nil || n < 1 {
					return usage("undo-restore %q: want the number of an operation", args[0])
				}
				req.Operation = n
			}
			return doRestore(cmd.Context(), a, api.UndoRestore, req, again{})
		},
	}
	cmd.Flags().BoolVar(&req.Exact, "exact", false,
		"take files that no checkpoint has and what was changed since, too")
	codeOnlyFlag(cmd, &req.Wish)
	contextOnlyFlag(cmd, &req.Wish)
	cmd.Flags().BoolVar(&req.Force, "force", false,
		"give a session its end back although the agent seems to have it open")
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
	return cmd
}
