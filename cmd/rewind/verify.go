package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

func newVerify(a *app) *cobra.Command {
	req := api.VerifyRequest{}
	cmd := &cobra.Command{
		Use:     "verify [--quick]",
		Short:   "Check the store: every object, reference, ref and operation",
		Long:    "Reads and checks every byte of the store and lists every fault. --quick checks that everything that refs and\noperations lead to is there, without reading file contents.",
		Example: "  rewind verify\n  rewind verify --quick",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project = a.project()
			return runVerify(cmd.Context(), a, req)
		},
	}
	cmd.Flags().BoolVar(&req.Quick, "quick", false, "structure only")
	return cmd
}

func runVerify(ctx context.Context, a *app, req api.VerifyRequest) error {
	r, err := call(ctx, a, api.Verify, req, "verifying")
	if err != nil {
		return err
	}
	switch {
	case a.json:
		if err := a.printJSON(r); err != nil {
			return err
		}
	case len(r.Faults) == 0:
		a.notices(r.Notices)
		fmt.Fprintf(a.Out, "no faults: %s checked\n", count(r.Checked, "object"))
	default:
		a.notices(r.Notices)
		for _, f := range r.Faults {
			fmt.Fprintln(a.Out, term.Sanitize(string(f)))
		}
	}
	if n := len(r.Faults); n > 0 {
		return &api.Error{Word: api.WordCorrupt, Message: "the store has " + count(n, "fault"), Hint: "what is not damaged can still be read and restored; 'rewind save' stores the present state again"}
	}
	return nil
}
