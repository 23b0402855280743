package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/programs"
)

// release is the version of a release build (-ldflags "-X main.release=v1.2.3").
var release string

func version() string { return programs.Version(release) }

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takesNone,
		RunE: func(*cobra.Command, []string) error {
			r := api.About(version())
			if a.json {
				return a.printJSON(r)
			}
			_, err := fmt.Fprintf(a.Out, "rewind %s (API %d, store format %d)\n", r.Version, r.API, r.StoreFormat)
			return err
		},
	}
}
