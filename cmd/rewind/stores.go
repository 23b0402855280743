package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

func newStores(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stores {list | join <store> [dir] | remove <store> | restore <store>}",
		Short: "List all stores; join one, remove one, bring one back",
		Long: "Lists every known store, with its directory, its size, and what is wrong: a directory that is " +
			"deleted, or that has another store now. A project that was restored from a backup, or came from " +
			"another machine, may have a store here that waits for it: join makes a directory the store's " +
			"project. remove removes a store that no project uses any more. A removed store, by this or by " +
			"'rewind init --remove', stays in a trash for a day: it is listed with the time of its deletion, " +
			"and restore brings it back. The first digits of an id are enough.",
		Example: "  rewind stores\n  rewind stores join 1a2b3c4d\n  rewind stores remove 1a2b3c4d\n  rewind stores restore 1a2b3c4d",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStores(cmd.Context(), a) },
	}
	dryRun, yes, now := false, false, false
	remove := &cobra.Command{
		Use: "remove <store> [--now] [--yes] [--dry-run]", Short: "Remove a store that no project uses",
		Example: "  rewind stores remove 1a2b3c4d\n  rewind stores remove 1a2b3c4d --now",
		Long: "Removes a store whose directory is deleted, or has another store. For the store of a project use " +
			"'rewind init --remove'. The store stays in the trash for a day. With --now it is deleted at " +
			"once, and so is one that is in the trash already. It asks first.",
		Args: takes(1, 1, "one store"), ValidArgsFunction: completeStores(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := api.RemoveStoreRequest{Project: a.project(), Store: args[0], Now: now, DryRun: dryRun}
			return runStoresRemove(cmd.Context(), a, req, yes)
		},
	}
	remove.Flags().BoolVar(&now, "now", false, "for good, and not into the trash")
	remove.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "say what would be done")
	remove.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List all stores", Example: "  rewind stores list", Args: takesNone,
			RunE: func(cmd *cobra.Command, _ []string) error { return runStores(cmd.Context(), a) },
		},
		&cobra.Command{
			Use: "join <store> [dir]", Short: "Make a directory the project of a store",
			Long: "Makes a directory the project of a store whose own directory is deleted. It is dir, or the " +
				"current directory, or the git repository it is in. The directory's former store stays, without a " +
				"directory, and can be joined again.",
			Example: "  rewind stores join 1a2b3c4d\n  rewind stores join 1a2b3c4d ~/src/p",
			Args:    takes(1, 2, "one store, and perhaps one directory"), ValidArgsFunction: completeStores(a),
			RunE: func(cmd *cobra.Command, args []string) error { return runStoresJoin(cmd.Context(), a, args) },
		},
		remove,
		newStoresRestore(a),
	)
	return cmd
}

func newStoresRestore(a *app) *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use: "restore <store> [--dry-run]", Short: "Bring back a store that was removed within the last day",
		Long: "Brings a store back from the trash, with the project's marker and settings, and with the agents' " +
			"hooks if they were removed with it. If the directory is deleted, or has another store by now, " +
			"the store has no directory: 'rewind stores join' gives it one.",
		Example: "  rewind stores restore 1a2b3c4d",
		Args:    takes(1, 1, "one store"), ValidArgsFunction: completeTrash(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStoresRestore(cmd.Context(), a, args[0], dryRun)
		},
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "say what would be brought back")
	return cmd
}

func runStoresRestore(ctx context.Context, a *app, id string, dryRun bool) error {
	req := api.RestoreStoreRequest{Project: a.project(), Env: agentEnv(), Store: id, DryRun: dryRun}
	r, said, err := ask(ctx, a, api.RestoreStore, req, "")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if dryRun {
		fmt.Fprintf(a.Out, "would restore %s\n", removedText(r.Removed))
		return nil
	}
	fmt.Fprintf(a.Out, "restored %s\n", storeText(*r.Store))
	switch {
	case r.Store.Root == "":
		a.Say("hint: 'rewind stores join %.8s [dir]' makes a directory its project", r.Store.ID)
	case r.Store.Wrong != "":
		a.Say("note: %s", term.Sanitize(string(r.Store.Wrong)))
	}
	if r.Hooks != nil {
		return a.showHooks(a.Out, *r.Hooks, api.HooksRequest{})
	}
	return nil
}

func removedText(r api.Removed) string {
	return storeText(api.Store{ID: r.ID, Root: r.Root, DiskBytes: r.DiskBytes})
}

func runStores(ctx context.Context, a *app) error {
	r, said, err := ask(ctx, a, api.Stores, api.StoresRequest{Project: a.project()}, "reading")
	if err != nil || said {
		return err
	}
	if len(r.Stores)+len(r.Trash) == 0 {
		a.Say("no stores yet; 'rewind init' makes one")
		return nil
	}
	return a.paged(func(w io.Writer) error {
		t := a.Table(term.Column{}, term.Column{}, term.Column{Right: true}, term.Column{}, term.Column{Flex: true},
			term.Column{Flex: true})
		for _, s := range r.Stores {
			used, root := "", "-"
			if s.Used != nil {
				used = a.Time(*s.Used)
			}
			if s.Root != "" {
				root = term.Quote(string(s.Root))
			}
			t.Row(term.Cell{Text: shortID(s.ID, ids(r)), Style: term.ID}, term.Cell{Text: s.Mode},
				term.Cell{Text: term.Size(s.DiskBytes)},
				term.Cell{Text: used, Style: term.Dim}, term.Cell{Text: root},
				term.Cell{Text: string(s.Wrong), Style: term.Error})
		}
		for _, s := range r.Trash {
			root := "-"
			if s.Root != "" {
				root = term.Quote(string(s.Root))
			}
			t.Row(term.Cell{Text: shortID(s.ID, ids(r)), Style: term.ID}, term.Cell{Text: "trash"},
				term.Cell{Text: term.Size(s.DiskBytes)},
				term.Cell{Text: a.Time(s.Removed), Style: term.Dim}, term.Cell{Text: root},
				term.Cell{Text: "goes " + a.Time(s.Goes) + "; 'rewind stores restore' brings it back"})
		}
		return t.Flush(w)
	})
}

// ids are those of all stores, the removed ones included.
func ids(r api.StoresResponse) (list []string) {
	for _, s := range r.Stores {
		list = append(list, s.ID)
	}
	for _, s := range r.Trash {
		list = append(list, s.ID)
	}
	return list
}

// shortID is how a list names a store: so many digits, at least eight, that no other begins so. join, remove and
// restore take them.
func shortID(id string, all []string) string {
	for n := 8; n < len(id); n++ {
		if !slices.ContainsFunc(all,
			func(other string) bool { return other != id && strings.HasPrefix(other, id[:n]) }) {
			return id[:n]
		}
	}
	return id
}

func runStoresJoin(ctx context.Context, a *app, args []string) error {
	req := api.JoinRequest{Project: a.project(), Store: args[0]}
	if len(args) > 1 {
		dir := args[1]
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.dir, dir)
		}
		req.Dir = api.Text(dir)
	}
	r, said, err := ask(ctx, a, api.JoinStore, req, "")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	fmt.Fprintf(a.Out, "%s is the project of store %s now\n", term.Quote(string(r.Store.Root)), r.Store.ID)
	if r.Left != "" {
		a.Say("note: store %s, which it had before, has no directory now; 'rewind stores join' gives it one", r.Left)
	}
	a.Say("hint: 'rewind status' shows how the directory differs from its newest checkpoint")
	return nil
}

func runStoresRemove(ctx context.Context, a *app, req api.RemoveStoreRequest, yes bool) error {
	dryRun := req.DryRun
	req.DryRun = true
	r, err := call(ctx, a, api.RemoveStore, req, "")
	if err != nil {
		return err
	}
	if !dryRun {
		if !yes {
			if err := a.confirmStoreRemoval(r.Store, req.Now || r.InTrash); err != nil {
				return err
			}
		}
		req.DryRun, req.Store = false, r.Store.ID
		if r, err = call(ctx, a, api.RemoveStore, req, ""); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(r)
	}
	head := "removed"
	if dryRun {
		head = "would remove"
	}
	fmt.Fprintf(a.Out, "%s %s\n", head, storeText(r.Store))
	a.trashNote(r.Trash)
	return nil
}

func storeText(s api.Store) string {
	root := "of no directory"
	if s.Root != "" {
		root = "of " + term.Quote(string(s.Root))
	}
	return fmt.Sprintf("store %s %s, %s", s.ID, root, term.Size(s.DiskBytes))
}

func (a *app) confirmStoreRemoval(s api.Store, now bool) error {
	text, final := storeText(s), "It cannot be undone"
	if !now {
		final = trashText + ". " + final + " after that"
	}
	refused := &api.Error{
		Word: api.WordUsage, Message: "stores remove takes " + text + "; " + lower(final),
		Hint: "--yes does it without asking",
	}
	return a.confirm("This takes "+text+". "+final+".", refused, "nothing was removed")
}

// completeTrash offers the stores that can be brought back.
func completeTrash(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (out []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		r, err := api.Call(cmd.Context(), a.client, api.Stores, api.StoresRequest{Project: a.project()}, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, s := range r.Trash {
			out = append(out, s.ID+"\t"+term.Sanitize(string(s.Root)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeStores offers stores, those without a directory first.
func completeStores(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		if a.settle() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		r, err := api.Call(cmd.Context(), a.client, api.Stores, api.StoresRequest{Project: a.project()}, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var first, rest []string
		for _, s := range r.Stores {
			line := s.ID + "\t" + term.Sanitize(strings.TrimSpace(string(s.Root)+" "+string(s.Wrong)))
			if s.Orphan {
				first = append(first, line)
			} else {
				rest = append(rest, line)
			}
		}
		return append(first, rest...), cobra.ShellCompDirectiveNoFileComp
	}
}
