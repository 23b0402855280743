package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"rewind/api"
)

func newUI(a *app) *cobra.Command {
	var stay bool
	cmd := &cobra.Command{
		Use:   "ui [--no-open]",
		Short: "Open the page: look and go back in a browser",
		Long: "Opens the project in your browser: the log with what each turn changed, the tree of sessions, " +
			"and going back by a click. The page comes from the daemon on this machine, to you alone: the " +
			"printed address lets one browser in, once, within two minutes. Nothing leaves the machine.",
		Example: "  rewind ui\n  rewind ui --no-open",
		Args:    takesNone,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUI(cmd.Context(), a, stay) },
	}
	cmd.Flags().BoolVar(&stay, "no-open", false, "only print the address")
	return cmd
}

func runUI(ctx context.Context, a *app, stay bool) error {
	r, said, err := ask(ctx, a, api.UI, api.UIRequest{Project: a.project(), Env: agentEnv()}, "opening")
	if err != nil || said {
		return err
	}
	fmt.Fprintln(a.Out, r.Address)
	if stay {
		a.Say("hint: it lets one browser in, once, within two minutes")
		return nil
	}
	if err := openBrowser(r.Address); err != nil {
		a.Say("hint: no browser was found (%v): open the address yourself, within two minutes", err)
		return nil
	}
	a.Say("opened in your browser; the address works once, 'rewind ui' gives a new one")
	return nil
}

// openBrowser has the desktop open an address; it does not wait for the browser.
func openBrowser(address string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	cmd := exec.Command(name, address)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
