package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

type purgeOptions struct {
	api.PurgeRequest
	textFile string
	yes      bool
}

func newPurge(a *app) *cobra.Command {
	o := purgeOptions{}
	cmd := &cobra.Command{
		Use:   "purge [<path>...] [--blob <id>]... [--text-file <file>|-] [--found <name>]...",
		Short: "Take a secret out of all checkpoints and conversations",
		Long: "Deletes every content that was ever at a path, or in a directory, from all checkpoints of all " +
			"sessions. With --text-file it takes a text out of every file and conversation; with --found, a " +
			"secret that 'rewind status' has found in a conversation. The checkpoints stay: such a file is " +
			"then marked purged, and a checkout leaves it alone. The content is never captured again. The " +
			"files of the project and of the agents are not touched. It cannot be undone, so it asks; if " +
			"nobody can be asked, it needs --yes.",
		Example: "  rewind purge config/api.py --dry-run\n" +
			"  rewind purge config/api.py .env.bak\n" +
			"  rewind purge --text-file leaked-key.txt --yes",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Project, o.Paths = a.project(), value.Texts(args)
			if o.textFile != "" {
				text, err := readText(a, o.textFile)
				if err != nil {
					return err
				}
				o.Text = api.Text(text)
			}
			if len(o.Paths)+len(o.Blobs)+len(o.Found) == 0 && o.Text == "" {
				return usage("purge: name a path, --blob, --text-file or --found")
			}
			return runPurge(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Blobs, "blob", nil, "a content by its id, as b3sum prints it")
	f.StringVar(&o.textFile, "text-file", "", "a file with the secret itself; - is standard input")
	f.StringArrayVar(&o.Found, "found", nil, "a finding by its `name`, as 'rewind status' shows it")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "only say what would be purged")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return cmd
}

// maxText is more than a text to look for may have.
const maxText = 64 << 10

// readText reads the text from a file, so that it is in no list of processes and no history of a shell.
func readText(a *app, name string) (string, error) {
	in := a.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", usage("--text-file: %v", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxText))
	if err != nil {
		return "", usage("--text-file: %v", err)
	}
	if strings.TrimSpace(string(b)) == "" {
		return "", usage("--text-file: %s is empty", name)
	}
	return string(b), nil
}

func runPurge(ctx context.Context, a *app, o purgeOptions) error {
	req := o.PurgeRequest
	req.DryRun, req.Env = true, agentEnv()
	r, err := call(ctx, a, api.Purge, req, "searching")
	if err != nil {
		return err
	}
	if !o.DryRun {
		if !o.yes {
			if err := a.confirmPurge(r, o); err != nil {
				return err
			}
		}
		req.DryRun = false
		if r, err = call(ctx, a, api.Purge, req, "purging"); err != nil {
			return err
		}
	}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		a.Notices(r.Notices)
		a.tellPurge(r)
	}
	if len(r.Elsewhere) > 0 && r.Prompts+r.Unread+len(r.Names) == 0 && !o.DryRun {
		return &api.Error{
			Word: api.WordPartial, Message: "other worktrees have it still",
			Hint: "run the same in each of them that is listed above",
		}
	}
	if n := r.Prompts + r.Unread + len(r.Names); n > 0 && !o.DryRun {
		return &api.Error{
			Word: api.WordPartial, Message: "not all of the store is free of it",
			Hint: "the list above says what stays",
		}
	}
	return nil
}

// confirmPurge asks a person; who is none has to have said it.
func (a *app) confirmPurge(r api.PurgeResponse, o purgeOptions) error {
	text := render.PurgeText(r)
	refused := &api.Error{
		Word: api.WordUsage, Message: "purge takes out " + text + "; it cannot be undone",
		Hint: "--yes does it without asking, --dry-run lists it",
	}
	if !a.asks() || o.textFile == "-" { // what was to be the answer is the text
		return refused
	}
	a.tellPurge(r)
	return a.confirm("This takes "+text+" out of the store. It cannot be undone.", refused, "nothing was purged")
}

func (a *app) tellPurge(r api.PurgeResponse) {
	switch {
	case r.Contents+r.Words == 0 && r.Before > 0:
		fmt.Fprintf(a.Out, "purged before: %s\n", render.Count(r.Before, "content"))
	case r.Contents+r.Words == 0:
		fmt.Fprintln(a.Out, "nothing to purge: no file or conversation has it")
	case r.DryRun:
		fmt.Fprintf(a.Out, "would purge %s\n", render.PurgeText(r))
	default:
		fmt.Fprintf(a.Out, "purged %s, for good\n", render.PurgeText(r))
	}
	a.Names("it stood at", r.Paths)
	if len(r.Sessions) > 0 {
		fmt.Fprintln(a.Out, "conversations that had it, and are captured no more:")
		for _, s := range r.Sessions {
			fmt.Fprintf(a.Out, "  %s\n", term.Sanitize(s))
		}
	}
	a.Names("the agents' own session files, which still have it", r.AgentFiles)
	a.Names("still in the project under a name with it: give it another name, save, and purge again", r.Names)
	a.Names("still in the project: a changed version is captured again, so take the secret out first", r.Present)
	a.Names("other files of rewind's that had it, removed", r.Files)
	for _, e := range r.Elsewhere {
		where, what := term.Quote(a.near(string(e.Worktree))), render.Count(e.Contents, "content")
		if e.Worktree == "" {
			where = fmt.Sprintf("store %.8s of a worktree that was removed ('rewind stores remove %.8s' ends it)",
				e.Store, e.Store)
		}
		if e.Why != "" {
			what = "not searched: " + term.Sanitize(string(e.Why))
		}
		fmt.Fprintf(a.Out, "in another worktree, which began with all that is here: %s: %s\n", where, what)
	}
	if r.Prompts > 0 {
		a.Say("note: %s with the text in it: a session, a file of an agent's, or one that is in the project",
			nameCount(r.Prompts))
	}
	if r.Unread > 0 {
		a.Say("note: %s damaged and could not be searched; 'rewind verify' lists what is damaged",
			render.Count(r.Unread, "object"))
	}
}

func nameCount(n int) string {
	if n == 1 {
		return "1 name stays"
	}
	return fmt.Sprintf("%d names stay", n)
}
