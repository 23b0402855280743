package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newFuture(a *app) *cobra.Command {
	req := api.FutureRequest{}
	cmd := &cobra.Command{
		Use:   "future [session] [--session <session>]",
		Short: "List the turns that you went back behind",
		Long: "Lists the turns that you went back behind, with prompts and checkpoints. They are the turns of " +
			"the session's original, even if this session has gone on since; the turns that were cut off its " +
			"file, even if their numbers were used again; and the turns that were thrown away in the agent " +
			"itself. 'rewind forward' goes along the first of these lists.",
		Example:           "  rewind future\n  rewind future 1a2b3c4d",
		Args:              takes(0, 1, "one session"),
		ValidArgsFunction: completeSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose = a.project(), a.OutTTY
			if err := sessionArgument(cmd, args, &req.Session); err != nil {
				return err
			}
			return runFuture(cmd.Context(), a, req)
		},
	}
	sessionFlag(a, cmd, &req.Session, "of this `session`, as the argument")
	return cmd
}

func runFuture(ctx context.Context, a *app, req api.FutureRequest) error {
	r, said, err := ask(ctx, a, api.Future, req, "reading")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if len(r.Ahead) == 0 {
		a.Say("nothing lies behind %s", naming.TurnWords(r.At, term.Sanitize(render.ShortSession(r.Session))))
		return nil
	}
	defer a.Say("hint: 'rewind forward' goes to turn:%d of %s", r.Ahead[0].Turns[0].Turn,
		term.Sanitize(render.ShortSession(r.Ahead[0].Session)))
	return a.paged(func(w io.Writer) error {
		for i := range r.Ahead {
			if err := a.stretch(w, &r.Ahead[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// stretch prints one stretch of turns, with what has left it behind.
func (a *app) stretch(w io.Writer, s *api.Ahead) error {
	where := "behind " + naming.TurnWords(s.After, "") // the session is told before it
	if s.After == 0 {
		where = "from the first prompt on"
	}
	why := map[string]string{
		"code": "where the code went back", "fork": "the session that was gone back in",
		"cut": fmt.Sprintf("cut off by operation %d", s.Operation), "agent": "gone back behind in the agent",
	}[s.Why]
	head := fmt.Sprintf("%s, %s: %s", term.Sanitize(render.ShortSession(s.Session)), where, why)
	if a.Width > 0 && term.Width(head) > a.Width {
		head = term.Truncate(fmt.Sprintf("%s, %s", term.Sanitize(render.ShortSession(s.Session)), where), a.Width)
	}
	fmt.Fprintln(w, a.Styled(term.Bold, head))
	columns := []term.Column{{}, {}, {}, {Flex: true}, {}}
	narrow := a.Width > 0 && a.Width < render.NarrowList
	if narrow { // the prompt needs the room
		columns = []term.Column{{}, {}, {Flex: true}}
	}
	t := a.Table(columns...)
	for _, turn := range s.Turns {
		cells := []term.Cell{
			{Text: "  " + naming.TurnName(turn.Turn, ""), Style: term.ID},
			{Text: fmt.Sprintf("%.8s", turn.Checkpoint), Style: term.ID},
			{Text: a.Clock(turn.Time), Style: term.Dim},
			{Text: render.Words(string(turn.Prompt))},
			{Text: a.checkpointsWord(turn.Checkpoints), Style: term.Dim},
		}
		if turn.Checkpoint == "" {
			cells[1] = term.Cell{Text: "no code", Style: term.Dim}
		}
		if narrow {
			cells = []term.Cell{cells[0], cells[1], cells[3]}
		}
		t.Row(cells...)
	}
	return t.Flush(w)
}

func newForward(a *app) *cobra.Command {
	req := api.ForwardRequest{Turns: 1}
	var m merging
	cmd := &cobra.Command{
		Use: "forward [n] [--code-only | --context-only] [--in-place [--force]] [--tag <tag>] [--session <session>]\n" +
			"      [--exact | --merge [--ours | --theirs]] [--dry-run | --plan <plan>]",
		Short: "Go forward a turn, or n, after going back",
		Long: "Goes to the end of the n-th turn of the first list of 'rewind future', code and conversation, " +
			"like 'rewind checkout' of that turn. It is one operation; 'rewind undo-restore' takes it back. " +
			"'rewind redo' is different: it goes by steps, and along the code alone.",
		Example: "  rewind forward\n  rewind forward 2\n  rewind forward --in-place",
		Args:    takes(0, 1, "one number of turns"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose = a.project(), a.OutTTY
			if req.ContextOnly && req.Exact {
				return usage("--exact is about files, and --context-only leaves them alone")
			}
			if err := m.set(cmd, &req.Merging); err != nil {
				return err
			}
			if len(args) > 0 {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 1 {
					return usage("forward %q: want a number of turns", args[0])
				}
				req.Turns = n
			}
			if err := forceInPlace(&req.Wish); err != nil {
				return err
			}
			if err := a.converse(&req.Wish, nil); err != nil {
				return err
			}
			return doRestore(cmd.Context(), a, api.Forward, req, again{cmd: cmd, args: args, counts: true})
		},
	}
	cmd.Flags().BoolVar(&req.Exact, "exact", false,
		"take what other sessions changed since, too")
	m.flags(cmd)
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
	codeOnlyFlag(cmd, &req.Wish)
	contextOnlyFlag(cmd, &req.Wish)
	inPlaceFlags(cmd, &req.Wish, "give the session itself the turns that were cut off it, instead of making a new one")
	tagFlag(cmd, &req.Tag)
	sessionFlag(a, cmd, &req.Session, "along the future of this `session`")
	return cmd
}
