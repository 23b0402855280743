package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/programs"
	"rewind/internal/relay"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newUninstall(a *app) *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use: "uninstall [--dry-run]", Short: "Take rewind off this machine; checkpoints stay",
		Long: "Takes the hooks out of the agents' settings, ends the daemon, and removes the programs, the link " +
			"to them and the man pages. If hooks cannot be taken out, nothing is removed. The stores stay: it " +
			"says where they are, and which command removes them.",
		Example: "  rewind uninstall --dry-run\n  rewind uninstall",
		Args:    takesNone,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUninstall(cmd.Context(), a, dryRun) },
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "say what would be removed")
	return cmd
}

// installation is what was put on this machine, as far as it is there.
type installation struct {
	Home     string   `json:"home"` // REWIND_HOME
	Programs []string `json:"programs"`
	Link     string   `json:"link,omitempty"`
	Pages    string   `json:"man,omitempty"` // the directory that has man pages of rewind's
}

// uninstalled is what uninstall tells.
type uninstalled struct {
	DryRun  bool              `json:"dry_run"`
	Removed installation      `json:"removed"`
	Hooks   api.HooksResponse `json:"hooks"`
	Stores  []api.Store       `json:"stores"` // they stay
}

// findInstalled finds what 'make install' has put there.
func findInstalled() (in installation, err error) {
	if in.Home, err = relay.Home(); err != nil {
		return in, err
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return in, err
	}
	system := filepath.Join(in.Home, "system")
	in.Programs = programs.There(system)
	link := filepath.Join(user, ".local", "bin", "rewind")
	if to, err := os.Readlink(link); err == nil && to == programs.Path(system, programs.Rewind) {
		in.Link = link
	}
	if dir := filepath.Join(user, ".local", "share", "man", "man1"); isThere(filepath.Join(dir, "rewind.1")) {
		in.Pages = dir
	}
	return in, nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// runUninstall takes the hooks out before the programs that they name, and asks for the stores while somebody can say
// what there is.
func runUninstall(ctx context.Context, a *app, dryRun bool) error {
	out := uninstalled{DryRun: dryRun}
	var err error
	if out.Removed, err = findInstalled(); err != nil {
		return err
	}
	req := api.HooksRequest{Remove: true, DryRun: dryRun}
	if out.Hooks, err = a.setHooks(ctx, req); err == nil {
		err = hooksErrors(out.Hooks)
	}
	if err != nil {
		a.Say("some hooks are left, so nothing was removed; fix what is named, then run 'rewind uninstall' again")
		return err
	}
	stores, err := call(ctx, a, api.Stores, api.StoresRequest{Project: a.project()}, "")
	if err != nil {
		return err
	}
	out.Stores = stores.Stores
	if !dryRun {
		if err := out.Removed.remove(ctx, a); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(out)
	}
	return a.tellUninstalled(out, req)
}

// remove ends the daemon and removes files, the programs last: who is broken off can do it again.
func (in *installation) remove(ctx context.Context, a *app) error {
	if _, err := call(ctx, a, api.DaemonStop, api.DaemonRequest{}, ""); err != nil {
		return err
	}
	if in.Pages != "" {
		if err := a.writeMan(in.Pages, nil); err != nil {
			return err
		}
	}
	if in.Link != "" {
		if err := removeLink(in.Link); err != nil {
			return err
		}
	}
	return programs.Remove(filepath.Join(in.Home, "system"))
}

// removeLink removes a link in the directory that has it.
func removeLink(path string) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Remove(filepath.Base(path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (a *app) tellUninstalled(out uninstalled, req api.HooksRequest) error {
	for _, h := range out.Hooks.Agents {
		if h.Installed && len(h.Changes) > 0 {
			fmt.Fprintf(a.Out, "%-11s %s\n", h.Agent, hooksText(h, req))
		}
	}
	head := "removed"
	if out.DryRun {
		head = "would remove"
	}
	in := &out.Removed
	for _, path := range append(slices.Clone(in.Programs), in.Link, in.Pages) {
		switch path {
		case "":
		case in.Pages:
			fmt.Fprintf(a.Out, "%s the man pages of rewind in %s\n", head, term.Quote(path))
		default:
			fmt.Fprintf(a.Out, "%s %s\n", head, term.Quote(path))
		}
	}
	if len(in.Programs) == 0 {
		a.Say("note: no programs are in %s; they were installed another way: remove them that way",
			term.Quote(filepath.Join(in.Home, "system")))
	}
	if err := a.tellLeft(in.Home, out.Stores); err != nil {
		return err
	}
	if !out.DryRun {
		a.Say("restart the agents that are running")
	}
	return nil
}

// tellLeft names the stores that stay, and how they go.
func (a *app) tellLeft(home string, stores []api.Store) error {
	if len(stores) == 0 {
		return nil
	}
	fmt.Fprintf(a.Out, "your checkpoints stay, %s:\n", render.Count(len(stores), "store"))
	t := a.Table(term.Column{}, term.Column{Right: true}, term.Column{Flex: true})
	for _, s := range stores {
		of := "of no directory"
		if s.Root != "" {
			of = term.Quote(string(s.Root))
		}
		t.Row(term.Cell{}, term.Cell{Text: term.Size(s.DiskBytes)}, term.Cell{Text: of})
	}
	if err := t.Flush(a.Out); err != nil {
		return err
	}
	dirs := render.ShellLine(leftDirs(home, stores))
	_, err := fmt.Fprintf(a.Out, "this removes them, for good:\n  rm -rf %s\n", dirs)
	return err
}

// leftDirs are the directories that a person removes to have nothing of rewind left.
func leftDirs(home string, stores []api.Store) []string {
	list := []string{home}
	for _, s := range stores {
		if s.Mode == "project" {
			list = append(list, filepath.Join(string(s.Root), ".agent", "rewind"))
		}
	}
	return list
}
