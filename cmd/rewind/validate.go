package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

func newValidate(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check that checkpoints are taken: hooks, daemon, disk",
		Long: "Checks everything that checkpoints depend on. For every installed agent: are its hooks there, complete for the tier,\n" +
			"trusted and not switched off, and when did its last event come. Also the daemon, the store, an unfinished checkout,\n" +
			"the space on disk, and the system's limit of watches. Exits with 1 if there is a finding.",
		Example: "  rewind validate\n  rewind validate --json",
		Args:    takesNone,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runValidate(cmd.Context(), a) },
	}
}

func newDoctor(a *app) *cobra.Command {
	o := mendOptions{}
	cmd := &cobra.Command{
		Use:   "doctor [--mend [--yes] [--dry-run]]",
		Short: "List what is wrong, each with its remedy; mend it",
		Long: "The findings of 'rewind validate', each with what to do about it. It changes nothing and exits with 0.\n\n" +
			"--mend is for a ~/.rewind with files of root's: some command ran as root with this user's HOME. Run as root, with\n" +
			"REWIND_HOME set to that directory, it gives them back to the owner, and names them. Run by the owner it does what\n" +
			"is possible without root: the files of the daemon. It follows no link. A file that has another name elsewhere, is\n" +
			"no plain file or is a third user's is left and named (exit code 15).",
		Example: "  rewind doctor\n  sudo env REWIND_HOME=/home/alice/.rewind rewind doctor --mend",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.mend {
				return runMend(cmd.Context(), a, o)
			}
			if o.yes || o.dryRun {
				return usage("--yes and --dry-run go with --mend")
			}
			return runDoctor(cmd.Context(), a)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.mend, "mend", false, "give files in ~/.rewind that are root's back to its owner")
	f.BoolVarP(&o.yes, "yes", "y", false, "with --mend: do not ask")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "with --mend: only list them")
	return cmd
}

func (a *app) validate(ctx context.Context) (api.ValidateResponse, error) {
	r, err := call(ctx, a, api.Validate, api.ValidateRequest{Project: a.project(), Env: agentEnv()}, "checking")
	if err == nil && a.noDaemonCheck(r.Checks) {
		r.Findings++
	}
	return r, err
}

// noDaemonCheck makes it a finding that no daemon could be started for the last request, which whoever answered it
// could not know.
func (a *app) noDaemonCheck(checks []api.Check) bool {
	i := slices.IndexFunc(checks, func(c api.Check) bool { return c.Name == "daemon" })
	no := a.transport.noDaemon
	if no == nil || i < 0 {
		return false
	}
	checks[i].Level, checks[i].Text = value.LevelFinding, api.Text("cannot run: "+no.Error())
	checks[i].Remedy = "see what stands in the way; until then each command starts a rewindd of its own"
	return true
}

func runValidate(ctx context.Context, a *app) error {
	r, err := a.validate(ctx)
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		a.Notices(r.Notices)
		for _, c := range r.Checks {
			a.check(a.Out, c)
		}
	}
	if r.Findings > 0 {
		return &api.Error{
			Word: api.WordFailed, Message: render.Count(r.Findings, "finding"),
			Hint: "'rewind doctor' lists them with their remedies",
		}
	}
	return nil
}

func runDoctor(ctx context.Context, a *app) error {
	r, err := a.validate(ctx)
	if err != nil {
		return err
	}
	r.Checks = slices.DeleteFunc(r.Checks, func(c api.Check) bool { return c.Level != value.LevelFinding })
	if a.json {
		return a.printJSON(r)
	}
	a.Notices(r.Notices)
	for _, c := range r.Checks {
		fmt.Fprintf(a.Out, "%s: %s\n", c.Name, a.checkText(c))
		if c.Remedy != "" {
			fmt.Fprintf(a.Out, "  %s\n", term.SanitizeText(string(c.Remedy)))
		}
	}
	if len(r.Checks) == 0 {
		fmt.Fprintln(a.Out, "nothing is wrong")
	}
	return nil
}

// check prints one row.
func (a *app) check(w io.Writer, c api.Check) {
	style := term.Plain
	if c.Level == value.LevelFinding {
		style = term.Warn
	}
	fmt.Fprintf(w, "%s %-11s %s\n", a.Styled(style, fmt.Sprintf("%-7s", c.Level)), c.Name, a.checkText(c))
	if c.Remedy != "" {
		fmt.Fprintf(w, "%19s %s\n", "", "remedy: "+term.SanitizeText(string(c.Remedy)))
	}
}

func (a *app) checkText(c api.Check) string {
	text := term.SanitizeText(string(c.Text))
	if c.Last != nil {
		text += ", last heard of " + a.Time(*c.Last)
	}
	return text
}

// statusChecks are the rows that status has of it: findings and, where all is asked for, each agent in a word or two.
func (a *app) statusChecks(w io.Writer, checks []api.Check, verbose bool) {
	for _, c := range checks {
		switch {
		case slices.Contains([]string{"daemon", "degraded", "half done", "project"}, c.Name):
			// status has rows of its own
		case c.Level == value.LevelFinding:
			fmt.Fprintf(w, "%-11s %s\n", c.Name, a.Styled(term.Warn, a.checkText(c)))
			if c.Remedy != "" {
				fmt.Fprintf(w, "%-11s %s\n", "", term.SanitizeText(string(c.Remedy)))
			}
		case c.Name == "restores":
			fmt.Fprintf(w, "%-11s %s\n", c.Name, term.SanitizeText(string(c.Text)))
		case c.Name == "killed":
			fmt.Fprintf(w, "%-11s %s\n", c.Name, a.checkText(c))
		case !verbose:
		case slices.Contains(value.Agents(), api.Agent(c.Name)):
			text := "hooks are registered, never heard of here"
			if c.Last != nil {
				text = "last heard of " + a.Time(*c.Last)
			}
			fmt.Fprintf(w, "%-11s %s\n", c.Name, text)
		case c.Name == "hooks" || c.Name == "limits":
			fmt.Fprintf(w, "%-11s %s\n", c.Name, term.SanitizeText(string(c.Text)))
		}
	}
}
