package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

func newTurns(a *app) *cobra.Command {
	req := api.TurnsRequest{}
	cmd := &cobra.Command{
		Use:   "turns [session] [--session <session>]",
		Short: "List a session's turns: prompt, time, messages, checkpoints",
		Long: "Lists the turns of a session, by default of the current one, the first one first: a prompt and all that answers it. turn:<n> names\n" +
			"the end of a turn wherever a checkpoint is wanted, turn:0 what was before the first one;\n" +
			"before:<n> is where the prompt of a turn was typed.",
		Example:           "  rewind turns\n  rewind turns 1a2b3c4d",
		Args:              takes(0, 1, "one session"),
		ValidArgsFunction: completeSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose = a.project(), a.OutTTY
			if err := sessionArgument(cmd, args, &req.Session); err != nil {
				return err
			}
			return runTurns(cmd.Context(), a, req)
		},
	}
	sessionFlag(a, cmd, &req.Session, "of this `session`, as the argument")
	return cmd
}

func runTurns(ctx context.Context, a *app, req api.TurnsRequest) error {
	r, said, err := ask(ctx, a, api.Turns, req, "reading")
	if err != nil || said {
		return err
	}
	a.notices(r.Notices)
	if len(r.Turns) == 0 {
		a.say("no turns yet in %s", term.Sanitize(shortSession(r.Session)))
		return nil
	}
	if r.Left != "" {
		defer func() {
			a.say("hint: %s behind these in %s, which this one was made of: 'rewind turns %s'", count(r.LeftTurns, "turn"), term.Sanitize(shortSession(r.Left)), term.Sanitize(shortSession(r.Left)))
		}()
	}
	return a.paged(func(w io.Writer) error {
		t := a.Table(term.Column{}, term.Column{}, term.Column{Flex: true}, term.Column{}, term.Column{}, term.Column{})
		for _, turn := range r.Turns {
			style := term.Plain
			if turn.Gone {
				style = term.Dim
			}
			t.Row(term.Cell{Text: fmt.Sprintf("turn:%d", turn.Turn), Style: term.ID}, term.Cell{Text: a.Time(turn.Time), Style: term.Dim},
				term.Cell{Text: string(turn.Prompt), Style: style}, term.Cell{Text: count(turn.Messages, "message"), Style: term.Dim},
				term.Cell{Text: count(turn.Checkpoints, "checkpoint"), Style: term.Dim}, term.Cell{Text: turnMarks(turn, r)})
		}
		return t.Flush(w)
	})
}

// turnMarks says what happened to the conversation in a turn, or behind it.
func turnMarks(t api.Turn, r api.TurnsResponse) string {
	var marks []string
	for _, c := range r.Compactions {
		if uint64(max(c.Turn, 1)) == t.Turn {
			marks = append(marks, "compacted here")
		}
	}
	if slices.ContainsFunc(r.Breaks, func(b api.Break) bool { return uint64(max(b.Turn, 1)) == t.Turn }) {
		marks = append(marks, "broken off here")
	}
	if t.Gone {
		marks = append(marks, "rewound behind it")
	}
	if t.Checkpoint == "" {
		marks = append(marks, "code not captured")
	}
	return strings.Join(marks, ", ")
}
