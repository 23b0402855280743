package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

// toldTurns is how many turns are listed, the newest, if nobody says how many.
const toldTurns = 1000

func newTurns(a *app) *cobra.Command {
	req := api.TurnsRequest{}
	cmd := &cobra.Command{
		Use:   "turns [session] [--session <session>] [--limit <n>]",
		Short: "List a session's turns: prompt, time, messages, checkpoints",
		Long: "Lists the turns of a session, by default of the current one, the oldest first. A turn is a " +
			"prompt with all that answers it; '@' marks the project's turn. Wherever a checkpoint is wanted, " +
			"turn:<n> names the end of a turn, turn:0 the state before the first one, and before:<n> the " +
			"state at a turn's prompt. Of a long session the newest turns are listed.",
		Example:           "  rewind turns\n  rewind turns 1a2b3c4d\n  rewind turns -n 20",
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
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", toldTurns, "at most `n` turns, the newest; 0: all")
	return cmd
}

// turnStyle is the mark and the style of a turn, where the project stands at another.
func turnStyle(turn api.Turn, at uint64) (mark string, style term.Style) {
	style = term.Plain
	if turn.Turn == at && !turn.Cut {
		mark, style = "@", term.Bold
	}
	if turn.Gone || at > 0 && turn.Turn > at {
		style = term.Dim // it lies behind where the project stands
	}
	return mark, style
}

func runTurns(ctx context.Context, a *app, req api.TurnsRequest) error {
	if req.Limit < 0 {
		return usage("--limit %d: must not be negative", req.Limit)
	}
	r, said, err := ask(ctx, a, api.Turns, req, "reading")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if len(r.Turns) == 0 {
		a.Say("no turns yet in %s", term.Sanitize(render.ShortSession(r.Session)))
		return nil
	}
	if r.Left != "" {
		defer func() {
			a.Say("hint: %s behind these in %s, which this one was made of: 'rewind turns %s'",
				render.Count(r.LeftTurns, "turn"),
				term.Sanitize(render.ShortSession(r.Left)), term.Sanitize(render.ShortSession(r.Left)))
		}()
	}
	if r.Loss != "" {
		defer a.hintLost(render.LossWords(r.Loss)+": ", naming.Whose(r.Session))
	}
	if r.More {
		defer a.Say("older ones are not shown (%s); -n 0 shows all", render.Count(int(r.Turns[0].Turn)-1, "turn"))
	}
	if last := r.Turns[len(r.Turns)-1]; a.OutTTY {
		defer a.Say("hint: before:%d is where the prompt of %s was typed", last.Turn,
			term.Sanitize(naming.TurnWords(last.Turn, r.Whose)))
	}
	if r.Whose != "" {
		a.Say("turns of %s", render.SessionWords(r.Session))
	}
	return a.paged(func(w io.Writer) error {
		columns := []term.Column{{}, {}, {}, {Flex: true}, {}, {}, {}}
		narrow := a.Width > 0 && a.Width < render.NarrowList
		if narrow {
			columns = []term.Column{{}, {}, {Flex: true}, {Flex: true}}
		}
		t := a.Table(columns...)
		for _, turn := range r.Turns {
			mark, style := turnStyle(turn, r.At)
			if narrow { // the prompt needs the room, and what became of a turn
				t.Row(term.Cell{Text: mark, Style: term.Bold},
					term.Cell{Text: naming.TurnName(turn.Turn, ""), Style: term.ID},
					term.Cell{Text: render.Words(string(turn.Prompt)), Style: style},
					term.Cell{Text: turnMarks(turn, r)})
				continue
			}
			t.Row(term.Cell{Text: mark, Style: term.Bold},
				term.Cell{Text: naming.TurnName(turn.Turn, ""), Style: term.ID},
				term.Cell{Text: a.Clock(turn.Time), Style: term.Dim},
				term.Cell{Text: render.Words(string(turn.Prompt)), Style: style}, term.Cell{
					Text:  a.messagesWord(turn.Messages),
					Style: term.Dim,
				},
				term.Cell{Text: a.checkpointsWord(turn.Checkpoints), Style: term.Dim},
				term.Cell{Text: turnMarks(turn, r)})
		}
		return t.Flush(w)
	})
}

// turnsFrom is how many columns a terminal has in whose list of turns counts have their words.
const turnsFrom = 100

func (a *app) messagesWord(n int) string { return a.countIn(n, "message", "msg") }

func (a *app) checkpointsWord(n int) string { return a.countIn(n, "checkpoint", "cp") }

func (a *app) countIn(n int, one, short string) string {
	if a.Width > 0 && a.Width < turnsFrom {
		return fmt.Sprintf("%d %s", n, short)
	}
	return render.Count(n, one)
}

// turnMarks says what happened to the conversation in a turn, or behind it.
func turnMarks(t api.Turn, r api.TurnsResponse) string {
	var marks []string
	for _, c := range r.Compactions {
		if uint64(max(c.Turn, 1)) == t.Turn && !t.Cut {
			marks = append(marks, "compacted here")
		}
	}
	breaks := func(b api.Break) bool { return uint64(max(b.Turn, 1)) == t.Turn }
	if !t.Cut && slices.ContainsFunc(r.Breaks, breaks) {
		marks = append(marks, "broken off here")
	}
	switch {
	case t.Cut && t.Checkpoint != "":
		marks = append(marks, fmt.Sprintf("rewound behind it, named by %.8s", t.Checkpoint))
	case t.Gone && r.Loss != "":
		marks = append(marks, "not in its conversation any more")
	case t.Gone:
		marks = append(marks, "rewound behind it")
	}
	if t.Checkpoint == "" && !t.Cut { // else another session's may have it
		marks = append(marks, "code not captured")
	}
	return strings.Join(marks, ", ")
}
