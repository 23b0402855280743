package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/gitworktree"
	"rewind/internal/render"
	"rewind/internal/term"
)

// worktreeWish is what a fork is asked for that goes on in a directory of its own.
type worktreeWish struct {
	dir        string
	link, copy []string
	git        bool
	branch     string
}

func (w *worktreeWish) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.dir, "worktree", "",
		"write the files to this new `dir`; the session goes on there")
	f.StringArrayVar(&w.link, "link", nil, "of --worktree: link this `path` of the project, which no checkpoint has, there; what is written there reaches it")
	f.StringArrayVar(&w.copy, "copy", nil,
		"of --worktree: copy this `directory` of the project, which no checkpoint has, there")
	f.BoolVar(&w.git, "git", false, "of --worktree: make it a worktree of git, too, with no branch")
	f.StringVar(&w.branch, "git-branch", "", "as --git, with a new `branch`")
	_ = cmd.MarkFlagDirname("worktree")
}

// check says what does not go together.
func (w *worktreeWish) check(req api.ForkRequest) error {
	w.git = w.git || w.branch != ""
	switch {
	case w.dir == "" && (w.git || len(w.link)+len(w.copy) > 0):
		return usage("--link, --copy, --git and --git-branch go with --worktree")
	case w.dir != "" && (req.Checkout || req.SelfTest):
		return usage("--worktree leaves the files here as they are: --checkout and --self-test do not go with it")
	}
	return nil
}

func runForkWorktree(ctx context.Context, a *app, req api.ForkRequest, w worktreeWish) error {
	req.Worktree = api.Text(a.absolute(w.dir))
	for _, p := range w.link {
		req.Link = append(req.Link, api.Text(p))
	}
	for _, p := range w.copy {
		req.Copy = append(req.Copy, api.Text(p))
	}
	var repo *gitworktree.Repo
	if w.git {
		var err error
		if repo, err = gitworktree.Of(a.dir); errors.Is(err, gitworktree.ErrNoRepo) {
			return usage("--git: this project is not in a repository of git")
		} else if err != nil {
			return usage("--git: %v", err)
		}
	}
	r, said, err := ask(ctx, a, api.MakeFork, req, "laying out")
	if err != nil {
		return err
	}
	var gitErr error
	if w.git && !req.DryRun {
		gitErr = repo.Add(ctx, string(r.Worktree), w.branch)
	}
	if !said {
		a.Notices(r.Notices)
		a.tellWorktree(r, req)
	}
	if gitErr != nil {
		return &api.Error{
			Code: api.CodeOf(api.WordPartial), Word: api.WordPartial,
			Message: "the worktree is made, but git does not know it: " + gitErr.Error(),
			Hint:    "it works without git; 'git worktree add' makes one of git's elsewhere",
		}
	}
	return nil
}

func (a *app) tellWorktree(r api.ForkResponse, req api.ForkRequest) {
	a.TellForked(r, req)
	if req.DryRun {
		fmt.Fprintf(a.Out, "  in %s\n", term.Quote(string(r.Worktree)))
		return
	}
	fmt.Fprintf(a.Out, "  in %s, %s\n", term.Quote(string(r.Worktree)), render.Count(r.Paths, "path"))
	through := false
	for _, l := range r.Linked {
		verb := "linked"
		if l.Copy {
			verb = "copied"
		}
		if l.Why != "" {
			fmt.Fprintf(a.Out, "  not %s %s: %s\n", verb, term.Quote(string(l.Path)), term.Sanitize(string(l.Why)))
			continue
		}
		fmt.Fprintf(a.Out, "  %s %s\n", verb, term.Quote(string(l.Path)))
		through = through || !l.Copy
	}
	if through {
		a.Say("note: what is written in a linked directory is written into the project's; --copy has one of its own")
	}
	if len(r.Resume) > 0 {
		line := render.ShellLine([]string{"cd", string(r.Cwd)}) + " && " + render.ShellLine(r.Resume)
		fmt.Fprintf(a.Out, "  %s\n", a.Styled(term.Bold, term.Sanitize(line)))
	}
	a.Say("hint: the conversation names files by where they were: say that it goes on in the new directory")
}

// absolute is a path as it was typed, from the command's directory.
func (a *app) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.dir, path)
}

func newWorktrees(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktrees {list | remove <dir>}",
		Short: "List directories of attempts side by side, or remove one",
		Long: "Lists the project and the worktrees that were made of it by 'rewind fork --worktree'.\n" +
			"Each has a session and checkpoints of its own, and began with all those of the project. A line has the directory, agents\n" +
			"at work there, the number of unsaved files, and the current session. Then come the checkpoints, files and lines since\n" +
			"it was made. 'rewind compare <dir>' shows more, 'rewind pick <dir>:turn:<n>' brings one of its changes here.",
		Example: "  rewind worktrees\n  rewind worktrees remove ../other-way",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runWorktrees(cmd.Context(), a) },
	}
	req := api.RemoveWorktreeRequest{}
	remove := &cobra.Command{
		Use: "remove <dir> [--force] [--dry-run]", Short: "Save a worktree's state and remove its directory",
		Long: "Saves the state of a worktree in its store and removes its directory. The store stays:\n" +
			"'rewind stores join' gives it a directory again, 'rewind stores remove' removes it.\n" +
			"Refused if an agent is at work there, or if files would be lost that no checkpoint has.",
		Example: "  rewind worktrees remove ../other-way",
		Args:    takes(1, 1, "one directory"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Worktree = a.project(), api.Text(a.absolute(args[0]))
			return runWorktreesRemove(cmd.Context(), a, req)
		},
	}
	remove.Flags().BoolVar(&req.Force, "force", false,
		"also with files that no checkpoint has, and under an agent that is at work")
	remove.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "say what would be done")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the worktrees", Example: "  rewind worktrees list", Args: takesNone,
			RunE: func(cmd *cobra.Command, _ []string) error { return runWorktrees(cmd.Context(), a) },
		},
		remove,
	)
	return cmd
}

// near is a directory as it is typed from here, where that is for a person and shorter; else as it is.
func (a *app) near(dir string) string {
	if rel, err := filepath.Rel(a.dir, dir); err == nil && a.Width > 0 && len(rel) < len(dir) {
		return rel
	}
	return dir
}

// tellElsewhere says which of a list go on in other worktrees, where a terminal is too narrow for a column of that.
func tellElsewhere[T any](a *app, list []T, of func(T) (root api.Text, id string)) {
	by := map[api.Text][]string{}
	for _, one := range list {
		if root, id := of(one); root != "" {
			by[root] = append(by[root], render.ShortID(id))
		}
	}
	for _, root := range slices.Sorted(maps.Keys(by)) {
		a.Say("in %s: %s", term.Quote(a.near(string(root))), term.Sanitize(strings.Join(by[root], ", ")))
	}
}

// From how many columns on the list of worktrees has what, in the order of its columns.
const (
	treesBranch = 64  // the session on whose branch each stands
	treesWork   = 78  // what was done since it was made
	treesMade   = 110 // when that was
)

func runWorktrees(ctx context.Context, a *app) error {
	r, said, err := ask(ctx, a, api.Worktrees, api.WorktreesRequest{Project: a.project(), State: true}, "reading")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if len(r.Worktrees) < 2 {
		a.Say("no worktrees yet; 'rewind fork turn:<n> --worktree <dir>' makes one")
		return nil
	}
	return a.paged(func(w io.Writer) error {
		has := func(from int) bool { return a.Width == 0 || a.Width >= from }
		columns := []term.Column{{}, {Flex: true}, {Flex: true}}
		for _, from := range []int{treesBranch, treesWork, treesMade} {
			if has(from) {
				columns = append(columns, term.Column{})
			}
		}
		t := a.Table(columns...)
		for i := range r.Worktrees {
			one := &r.Worktrees[i]
			mark, branch, work := "", "", ""
			if one.Here {
				mark = "@"
			}
			if one.State != nil {
				branch, work = render.ShortSession(one.State.Session), worktreeWork(one)
			}
			what := "worktree"
			if !has(treesWork) && work != "" {
				what = work // there is no column of it
			}
			t.Row(term.Cell{Text: mark, Style: term.Bold}, term.Cell{Text: a.near(string(one.Root))},
				term.Cell{Text: worktreeMarks(one, what)}, term.Cell{Text: branch, Style: term.ID},
				term.Cell{Text: work}, term.Cell{Text: a.Time(one.Created), Style: term.Dim})
		}
		return t.Flush(w)
	})
}

// worktreeMarks says what the project is, what is wrong with a worktree, or else what is to be said of one (text), and
// what goes on there.
func worktreeMarks(w *api.Worktree, text string) string {
	switch {
	case w.Wrong != "":
		text = string(w.Wrong)
	case w.Unfinished:
		text = "not finished: remove it"
	case w.Of == "":
		text = "the project"
	}
	if s := w.State; s != nil {
		if len(s.Running) > 0 {
			text += ", running"
		}
		if s.Unsaved > 0 {
			text += fmt.Sprintf(", %d unsaved", s.Unsaved)
		}
	}
	return text
}

// worktreeWork is what was done in a worktree since it was made.
func worktreeWork(w *api.Worktree) string {
	s := w.State
	switch {
	case w.Of == "":
		return ""
	case s.Checkpoints == 0 && s.Files == 0:
		return "nothing since"
	}
	return fmt.Sprintf("%d cp, %s +%d -%d", s.Checkpoints, render.Count(s.Files, "file"), s.Added, s.Removed)
}

func runWorktreesRemove(ctx context.Context, a *app, req api.RemoveWorktreeRequest) error {
	r, said, err := ask(ctx, a, api.RemoveTree, req, "removing")
	if err != nil {
		return err
	}
	if said {
		return nil
	}
	a.Notices(r.Notices)
	verb := "removed"
	if req.DryRun {
		verb = "would remove"
	}
	fmt.Fprintf(a.Out, "%s %s\n", verb, term.Quote(string(r.Worktree.Root)))
	if r.Checkpoint != nil {
		fmt.Fprintf(a.Out, "  its last state is checkpoint %s of store %.8s\n", a.Styled(term.ID, r.Checkpoint.Short),
			r.Worktree.ID)
	}
	if !req.DryRun {
		a.Say("hint: back: rewind stores join %.8s <dir>, and 'rewind checkout @' there", r.Worktree.ID)
	}
	return nil
}
