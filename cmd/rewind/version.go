package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"rewind/server"
)

// release is the version of a release build (-ldflags "-X main.release=v1.2.3").
var release string

func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return "devel-" + s.Value[:12]
			}
		}
	}
	return "devel"
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			r := server.About(version())
			if a.json {
				return a.printJSON(r)
			}
			_, err := fmt.Fprintf(a.Out, "rewind %s (API %d, store format %d)\n", r.Version, r.API, r.StoreFormat)
			return err
		},
	}
}
