package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

func newBisect(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bisect",
		Short: "Find the first checkpoint at which a command fails",
		Long: "Finds the first checkpoint at which something fails, in few tries. 'run' tries a command. With " +
			"start, good, bad and skip you judge by hand. 'last-good' finds the newest checkpoint at which a " +
			"command passes. Each try is in a scratch directory; the project itself is never touched.\n\n" +
			"The search covers the states on the way back from the bad one, whoever made them. Ignored " +
			"directories at the project's root (node_modules, target, .venv) are there too, as private views " +
			"or copies: writes there do not reach the project. A note says which ones are there, and how. " +
			"--link makes a link to a directory: writes there are writes into the project. --no-link leaves " +
			"these directories out. There is no .git in the scratch directory.",
		Example: "  rewind bisect run -- go test ./...\n  rewind bisect last-good -- npm test\n  rewind bisect start",
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, said, err := ask(cmd.Context(), a, api.Bisect, api.BisectRequest{Project: a.project()}, "")
			if err != nil || said {
				return err
			}
			return a.bisectStands(cmd.Context(), r)
		},
	}
	cmd.AddCommand(newBisectRun(a), newBisectLastGood(a), newBisectStart(a), newBisectMark(a, "good"),
		newBisectMark(a, "bad"), newBisectMark(a, "skip"), newBisectLog(a), newBisectReset(a))
	return cmd
}

func newBisectStart(a *app) *cobra.Command {
	req := api.BisectStartRequest{Hand: true}
	cmd := &cobra.Command{
		Use:   "start [<bad> [<good>...]] [--link <dir>]... [--no-link]",
		Short: "Begin a search by hand, answer by answer",
		Long: "Begins a search for the first checkpoint at which something fails. If a bad and a good one are " +
			"known, a checkpoint between them is written to the scratch directory, and its path is printed. " +
			"Look there, then say 'rewind bisect good', 'bad' or 'skip'. 'rewind bisect reset' ends the " +
			"search.",
		Example: "  rewind bisect start\n  rewind bisect start @ @~40",

		ValidArgsFunction: completePlaces(a, 2, &req.Session),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose = a.project(), a.OutTTY
			for i, arg := range args {
				name, err := a.checkpointName(arg)
				if err != nil {
					return err
				}
				if i == 0 {
					req.Bad = name
				} else {
					req.Good = append(req.Good, name)
				}
			}
			r, said, err := ask(cmd.Context(), a, api.BisectStart, req, "comparing")
			if err != nil || said {
				return err
			}
			a.linkNotes(r, nil)
			return a.bisectStands(cmd.Context(), r)
		},
	}
	linkFlags(cmd, &req)
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	return cmd
}

func newBisectMark(a *app, as string) *cobra.Command {
	req := api.BisectMarkRequest{As: as}
	what := map[string]string{
		"good": "passes", "bad": "fails", "skip": "cannot be judged",
	}[as]
	cmd := &cobra.Command{
		Use:   as + " [<checkpoint>]",
		Short: "Say that a checkpoint " + what,
		Long: "Says that a checkpoint " + what + ": the one in the scratch directory, or the named one. " +
			"If there is neither, it is the project as it is now.",
		Example: "  rewind bisect " + as + "\n  rewind bisect " + as + " turn:3",
		Args:    takes(0, 1, "one checkpoint"),

		ValidArgsFunction: completePlaces(a, 1, &req.Session),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose, req.Said = a.project(), a.OutTTY, a.Now()
			if len(args) > 0 {
				var err error
				if req.Checkpoint, err = a.checkpointName(args[0]); err != nil {
					return err
				}
			}
			r, said, err := ask(cmd.Context(), a, api.BisectMark, req, "comparing")
			if err != nil || said {
				return err
			}
			return a.bisectStands(cmd.Context(), r)
		},
	}
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	return cmd
}

func newBisectReset(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "End the search, and remove its scratch directory",
		Long: "Ends the search that 'rewind bisect start' began, and removes its scratch directory. The project " +
			"is unchanged all the time.",
		Example: "  rewind bisect reset",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, said, err := ask(cmd.Context(), a, api.BisectReset, api.BisectResetRequest{Project: a.project()},
				"removing")
			if err != nil || said {
				return err
			}
			a.Notices(r.Notices)
			if !r.Ended {
				a.Say("no bisection is under way")
			}
			return nil
		},
	}
}

func newBisectLog(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "log",
		Short:   "List the answers so far",
		Long:    "Lists your answers for each checkpoint since 'rewind bisect start', and the result so far.",
		Example: "  rewind bisect log",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, said, err := ask(cmd.Context(), a, api.Bisect, api.BisectRequest{Project: a.project()}, "")
			if err != nil || said {
				return err
			}
			return a.paged(func(w io.Writer) error {
				t := a.Table(term.Column{}, term.Column{}, term.Column{}, term.Column{Flex: true})
				for _, l := range r.Log {
					text, short := "merged with another by gc", fmt.Sprintf("%.12s", l.ID)
					if l.Moment != nil {
						text, short = momentWords(*l.Moment), l.Moment.Short
					}
					if l.Why != "" {
						text += ": " + string(l.Why)
					}
					t.Row(term.Cell{Text: a.Clock(l.Time), Style: term.Dim},
						term.Cell{Text: l.As, Style: verdictStyles[l.As]},
						term.Cell{Text: short, Style: term.ID}, term.Cell{Text: term.Sanitize(text)})
				}
				return t.Flush(w)
			})
		},
	}
}

// verdictStyles are those of what is said of a checkpoint.
var verdictStyles = map[string]term.Style{"good": term.Added, "bad": term.Removed, "skip": term.Dim}

// linkFlags are --link and --no-link.
func linkFlags(cmd *cobra.Command, req *api.BisectStartRequest) {
	var links []string
	cmd.Flags().StringArrayVar(&links, "link", nil,
		"link this `directory` of the project, which no checkpoint has: what is written there reaches it")
	cmd.Flags().BoolVar(&req.NoLinks, "no-link", false, "leave out directories that no checkpoint has")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if req.Links = value.Texts(links); len(links) > 0 && req.NoLinks {
			return usage("--link and --no-link exclude each other")
		}
		return nil
	}
}

// linkNotes says what of the project, and how, is in the scratch directory besides what a checkpoint has, and what is
// not. What was told is not told again; it returns what is told now.
func (a *app) linkNotes(r api.BisectResponse, told []api.BisectLink) []api.BisectLink {
	var linked, private []string
	for _, l := range r.Links {
		if slices.Contains(told, l) {
			continue
		}
		name := term.Quote(string(l.Path))
		switch {
		case l.Why != "":
			as := render.ShellLine([]string{term.Sanitize(string(l.Path))})
			a.Say("note: %s is not there when it is tried: %s; '--link %s' has it, and what is written there reaches the project's", name,
				term.Sanitize(l.Why), as)
		case l.How == "link":
			linked = append(linked, name)
		case l.How != "":
			private = append(private, fmt.Sprintf("%s (%s)", name, l.How))
		}
	}
	if len(private) > 0 {
		a.Say("note: private: %s; what is written there does not reach the project's (--no-link: they are not there)",
			strings.Join(private, ", "))
	}
	if len(linked) > 0 {
		a.Say("note: linked: %s; what is written there, is written into the project's", strings.Join(linked, ", "))
	}
	return r.Links
}

// bisectStands tells a person who leads a bisection what is asked, or what was found.
func (a *app) bisectStands(ctx context.Context, r api.BisectResponse) error {
	a.Notices(r.Notices)
	switch {
	case r.Answer != nil:
		err := a.tellFound(ctx, r, false)
		a.Say("'rewind bisect reset' ends it")
		return err
	case r.Wants != "":
		fmt.Fprintf(a.Out, "waiting for a %s checkpoint: 'rewind bisect %s [<checkpoint>]'\n", r.Wants, r.Wants)
		return nil
	}
	fmt.Fprintf(a.Out, "%s, written to\n  %s\n", a.trying(a.Styled, r), term.Quote(string(r.Dir)))
	a.Say("look there, then 'rewind bisect good', 'bad' or 'skip'; 'rewind bisect reset' ends it")
	return nil
}

// trying says which checkpoint is asked about, and how many there are to come, in the style of the stream that it goes
// to.
func (a *app) trying(styled func(term.Style, string) string, r api.BisectResponse) string {
	c := r.Test
	text := fmt.Sprintf("%s (%s, %s)", styled(term.ID, c.Short), a.Time(c.Time),
		term.Sanitize(render.Words(render.What(*c))))
	if r.Left > 0 && !r.End {
		text += fmt.Sprintf(", %s between, about %s", render.Count(r.Left, "checkpoint"), tries(r.Asks))
	}
	return text
}

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}
