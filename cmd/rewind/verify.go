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

func newVerify(a *app) *cobra.Command {
	req := api.VerifyRequest{}
	repair := false
	cmd := &cobra.Command{
		Use:   "verify [--quick | --repair]",
		Short: "Check the store, every object and operation; repair it",
		Long: "Reads and checks every byte of the store and lists every fault. --quick only checks that all objects which refs\n" +
			"and operations need are there, without reading file contents. --repair repairs what can be repaired. It makes\n" +
			"indexes anew, and stores again what the working tree and the session files still have. It names what is lost,\n" +
			"with its checkpoints. Nothing is deleted: replaced files are kept in a quarantine in the store's directory.",
		Example: "  rewind verify\n  rewind verify --quick\n  rewind verify --repair",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project = a.project()
			if repair && req.Quick {
				return usage("--quick and --repair: a repair reads everything")
			}
			if repair {
				return runRepair(cmd.Context(), a, api.RepairRequest{Project: req.Project})
			}
			return runVerify(cmd.Context(), a, req)
		},
	}
	cmd.Flags().BoolVar(&req.Quick, "quick", false, "structure only")
	cmd.Flags().BoolVar(&repair, "repair", false, "repair what can be repaired")
	return cmd
}

func runVerify(ctx context.Context, a *app, req api.VerifyRequest) error {
	r, said, err := ask(ctx, a, api.Verify, req, "verifying")
	if err != nil {
		return err
	}
	if !said {
		a.Notices(r.Notices)
		a.faults(&r)
		if len(r.Faults) == 0 {
			fmt.Fprintf(a.Out, "no faults: %s checked\n", render.Count(r.Checked, "object"))
		}
		a.forkFindings(r.Forks)
	}
	if n := len(r.Faults); n > 0 {
		hint := "what is not damaged can still be read and restored; 'rewind verify --repair' repairs what can be repaired"
		if r.Checked == 0 {
			hint = "the store does not open, and nothing in it was changed; 'rewind verify --repair' makes it anew of what can be read"
		}
		return &api.Error{Word: api.WordCorrupt, Message: "the store has " + render.Count(n, "fault"), Hint: hint}
	}
	return stayLost(&r)
}

// stayLost is what a store ends with whose repair could not bring everything back.
func stayLost(r *api.VerifyResponse) error {
	ops := 0
	for _, s := range r.LostOps {
		ops += int(s.Last - s.First + 1)
	}
	var parts []string
	if n := len(r.Lost); n > 0 {
		parts = append(parts, render.Count(n, "object"))
	}
	if ops > 0 {
		parts = append(parts, render.Count(ops, "operation"))
	}
	if len(parts) == 0 {
		return nil
	}
	e := &api.Error{Word: api.WordPartial, Message: strings.Join(parts, " and ") + " of the store stay lost"}
	if len(r.Affected) > 0 {
		e.Hint = "'rewind checkout <checkpoint> -- <path>' restores the paths that are whole"
	}
	return e
}

func runRepair(ctx context.Context, a *app, req api.RepairRequest) error {
	r, said, err := ask(ctx, a, api.Repair, req, "repairing")
	if err != nil {
		return err
	}
	if !said {
		a.Notices(r.Notices)
		a.repaired(&r)
	}
	if n := len(r.Faults); n > 0 {
		return &api.Error{Word: api.WordCorrupt, Message: render.Count(n, "fault") + " could not be repaired"}
	}
	return stayLost(&r.VerifyResponse)
}

func (a *app) repaired(r *api.RepairResponse) {
	for _, f := range r.Found {
		fmt.Fprintln(a.Out, "found: "+term.Sanitize(string(f)))
	}
	if r.Rebuilt {
		fmt.Fprintln(a.Out, "the database was made anew of what could be read")
	}
	for _, d := range r.Done {
		fmt.Fprintln(a.Out, term.Sanitize(string(d)))
	}
	a.faults(&r.VerifyResponse)
	if r.Quarantine != "" {
		fmt.Fprintf(a.Out, "kept in quarantine: %s\n", term.Sanitize(string(r.Quarantine)))
	}
	switch {
	case len(r.Faults) > 0 || stayLost(&r.VerifyResponse) != nil:
	case r.Operation == 0 && !r.Rebuilt && len(r.Done) == 0:
		fmt.Fprintf(a.Out, "nothing to repair: %s checked\n", render.Count(r.Checked, "object"))
	default:
		fmt.Fprintf(a.Out, "no faults are left: %s checked\n", render.Count(r.Checked, "object"))
	}
}

// faults lists what is wrong, what is known to be lost, and which checkpoints cannot be restored whole.
func (a *app) faults(r *api.VerifyResponse) {
	for _, f := range r.Faults {
		fmt.Fprintln(a.Out, term.Sanitize(string(f)))
	}
	for _, l := range r.Lost {
		fmt.Fprintf(a.Out, "known lost: %s %.12s, %s\n", l.Kind, l.ID, term.Sanitize(string(l.Place)))
	}
	for _, s := range r.LostOps {
		fmt.Fprintf(a.Out, "known lost: operations %d to %d, with the checkpoints they made\n", s.First, s.Last)
	}
	if len(r.Affected) == 0 {
		return
	}
	fmt.Fprintf(a.Out, "%s cannot be restored whole:\n", render.Count(len(r.Affected), "checkpoint"))
	for _, c := range r.Affected {
		fmt.Fprintf(a.Out, "  %.12s: %s\n", c.Checkpoint, term.Sanitize(affectedText(c)))
	}
}

// forkFindings lists forks that cannot be gone back to whole.
func (a *app) forkFindings(list []api.Check) {
	for _, c := range list {
		fmt.Fprintf(a.Out, "%s %s: %s\n", a.Styled(term.Warn, "fork"), term.Sanitize(render.ShortSession(c.Name)),
			term.Sanitize(string(c.Text)))
		fmt.Fprintf(a.Out, "  %s\n", term.Sanitize(string(c.Remedy)))
	}
}

func affectedText(c api.Affected) string {
	var parts []string
	if c.Whole {
		parts = append(parts, "its record is lost")
	}
	if len(c.Paths) > 0 {
		text := strings.Join(quoted(value.Strings(c.Paths)), ", ")
		if c.More > 0 {
			text += fmt.Sprintf(" and %d more", c.More)
		}
		parts = append(parts, text)
	}
	if c.Conversation {
		parts = append(parts, "its conversation")
	}
	if c.Note {
		parts = append(parts, "the list of what it left out")
	}
	return strings.Join(parts, "; ")
}

// quoted are paths as a person reads them; the empty one is the whole tree.
func quoted(paths []string) []string {
	for i, p := range paths {
		if p == "" {
			paths[i] = "all files"
		} else {
			paths[i] = fmt.Sprintf("%q", p)
		}
	}
	return paths
}
