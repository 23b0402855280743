package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

type compareOptions struct {
	api.CompareRequest
	patch, stat, nameOnly bool
}

func newCompare(a *app) *cobra.Command {
	o := compareOptions{}
	cmd := &cobra.Command{
		Use: "compare {<session> | <checkpoint> | <dir>[:<name>]} [...] [-p | --stat | --name-only] [--session <session>]\n" +
			"  [-- <path>...]",
		Short: "Compare two branches: what each did, and what collides",
		Long: "Finds the newest state that two branches have in common, and shows what each did since: " +
			"checkpoints, turns with their prompts, files. For each file that both changed it says whether " +
			"the changes are the same, merge cleanly or collide. A number between 0 and 1 says how far the " +
			"two are apart. A session, by its id or title, stands for its newest state. A single name is " +
			"compared with the project's current state; fork:<session> alone with the newest state of that " +
			"session. A directory is another worktree (see 'rewind worktrees'): alone it is that worktree's " +
			"current state, with a name the checkpoint of that name there.",
		Example: "  rewind compare 1a2b3c4d 5e6f7a8b\n  rewind compare turn:4 fork:5e6f7a8b --stat\n  rewind compare fork:5e6f7a8b -p\n" +
			"  rewind compare ../try",
		Args: func(cmd *cobra.Command, args []string) error {
			if names, _ := afterDash(cmd, args); len(names) == 0 || len(names) > 2 {
				return usage("compare takes one or two sessions or checkpoints; put paths after '--'")
			}
			return nil
		},
		ValidArgsFunction: completeBranches(a, 2, &o.Session),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, paths := afterDash(cmd, args)
			o.Project, o.Paths, o.Choose, o.Context = a.project(), paths, a.OutTTY, patchContext
			for i, to := range []*api.Text{&o.A, &o.B} {
				if i < len(names) {
					*to = a.branchName(names[i])
				}
			}
			o.NoHunks = !o.patch
			return runCompare(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.patch, "patch", "p", false, "what each side changed, as a patch")
	f.BoolVar(&o.stat, "stat", false, "how many lines of which files each side changed")
	f.BoolVar(&o.nameOnly, "name-only", false, "only the paths that a side changed")
	sessionFlag(a, cmd, &o.Session, "turns and @ are those of this `session`")
	return cmd
}

// branchName is a name of compare as it is sent: of a checkpoint with its time settled, else as it is typed, for it may
// be a title.
func (a *app) branchName(name string) api.Text {
	if sent, err := a.checkpointName(name); err == nil {
		return sent
	}
	return api.Text(name)
}

// completeBranches offers sessions, then turns and checkpoints.
func completeBranches(a *app, most int, session *string) cobra.CompletionFunc {
	places, sessions := completePlaces(a, most, session), completeSessions(a)
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		list, how := places(cmd, args, word)
		if a.dashed || len(args) >= most {
			return list, how
		}
		names, _ := sessions(cmd, args, word)
		return append(names, list...), how
	}
}

func runCompare(ctx context.Context, a *app, o compareOptions) error {
	r, said, err := ask(ctx, a, api.Compare, o.CompareRequest, "comparing")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		if o.nameOnly {
			return comparedNames(w, r)
		}
		a.comparedAncestor(w, r)
		for i, s := range []*api.CompareSide{&r.A, &r.B} {
			fmt.Fprintln(w)
			a.comparedHead(w, "AB"[i:i+1], s, r.Ancestor != nil)
			if o.patch || o.stat {
				if err := a.FileDiffs(w, s.Files, o.patch, o.stat); err != nil {
					return err
				}
				continue
			}
			a.comparedFiles(w, s)
		}
		a.comparedConflicts(w, r)
		return nil
	})
}

// comparedNames prints the paths that either side changed; where nothing is common to them, those that both have and
// that differ.
func comparedNames(w io.Writer, r api.CompareResponse) error {
	var paths []string
	for _, f := range append(slices.Clone(r.A.Files), r.B.Files...) {
		paths = append(paths, string(f.Path))
	}
	for _, c := range r.Conflicts {
		paths = append(paths, string(c.Path))
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if _, err := fmt.Fprintln(w, term.Quote(p)); err != nil {
			return err
		}
	}
	return nil
}

// comparedAncestor tells what two branches have in common.
func (a *app) comparedAncestor(w io.Writer, r api.CompareResponse) {
	head := func(text string) string { return a.Styled(term.Bold, text) }
	c := r.Ancestor
	if c == nil {
		fmt.Fprintf(w, "%s: nothing; 'rewind diff' with the two checkpoints below tells how their files differ\n",
			head("in common"))
	} else {
		what := render.Cause(api.Checkpoint{Message: c.Message, Event: c.Event})
		if c.Turn > 0 {
			what = naming.TurnWords(c.Turn, naming.Whose(c.Session))
		}
		fmt.Fprintf(w, "%s: %s\n", head("in common"), a.fit(term.Sanitize(what), len("in common: ")))
		fmt.Fprintf(w, "  checkpoint %s, %s\n", a.Styled(term.ID, c.Short), a.Time(c.Time))
		if git := gitWords(&api.Lineage{Commit: c.Commit, Branch: c.Branch}); git != "" {
			fmt.Fprintf(w, "  git %s\n", term.Sanitize(git))
		}
	}
	if r.NoFork != "" {
		fmt.Fprintf(w, "  not where they were forked: %s\n", term.Sanitize(string(r.NoFork)))
	}
}

// fit cuts a text to what a terminal has beside the rest of the line, which takes so many columns.
func (a *app) fit(text string, rest int) string {
	if a.Width == 0 {
		return text
	}
	return term.Truncate(text, max(a.Width-rest, 8))
}

// comparedHead tells what a side is, and the turns that it took.
func (a *app) comparedHead(w io.Writer, name string, s *api.CompareSide, since bool) {
	who := render.SessionWords(s.Session)
	if s.Agent == "" {
		who = "saved by hand"
	}
	if s.Worktree != "" {
		who += " in " + term.Quote(a.near(string(s.Worktree)))
	}
	fmt.Fprintf(w, "%s at %s", a.Styled(term.Bold, name+": "+who), a.Styled(term.ID, s.Tip.Short))
	rest := term.Width(name+": "+who+" at "+s.Tip.Short) + 4
	if title := term.Sanitize(string(s.Title)); title != "" && (a.Width == 0 || a.Width > rest+8) {
		fmt.Fprintf(w, "  %s", a.fit(title, rest))
	}
	fmt.Fprintln(w)
	switch {
	case !since:
		return
	case s.Checkpoints == 0 && len(s.Files) == 0:
		fmt.Fprintln(w, "  nothing since")
	default:
		text := fmt.Sprintf("  %s, %s", render.Count(s.Checkpoints, "checkpoint"), render.Count(len(s.Files), "file"))
		fmt.Fprintln(w, text+a.plusMinus(s.Added, s.Removed))
	}
	for _, t := range s.Turns {
		of := term.Sanitize(naming.TurnWords(t.Turn, t.Whose))
		prompt := oneLine(string(t.Prompt))
		if prompt == "" {
			prompt = "(the prompt is not known)"
		}
		fmt.Fprintf(w, "  %s: %s\n", of, a.fit(prompt, len(of)+4))
	}
}

func (a *app) plusMinus(added, removed int) string {
	text := ""
	if added > 0 {
		text += " " + a.Styled(term.Added, fmt.Sprintf("+%d", added))
	}
	if removed > 0 {
		text += " " + a.Styled(term.Removed, fmt.Sprintf("-%d", removed))
	}
	return text
}

// comparedFiles lists what a side changed, and what of it is others'.
func (a *app) comparedFiles(w io.Writer, s *api.CompareSide) {
	list, lines := make([]api.Change, len(s.Files)), make(map[api.Text]string, len(s.Files))
	for i, f := range s.Files {
		list[i] = f.Change
		switch f.Note {
		case "":
			lines[f.Path] += a.plusMinus(f.Added, f.Removed)
		default:
			lines[f.Path] += " " + a.Styled(term.Dim, f.Note)
		}
	}
	a.ChangeLinesWith(w, list, render.ShownPaths, func(c api.Change) string { return lines[c.Path] })
	for _, o := range s.Others {
		by := "from outside"
		if o.By != "" {
			by = "by " + render.SessionWords(o.By)
		}
		first := ""
		for i, p := range o.Paths {
			if i == 3 {
				first += fmt.Sprintf(" and %d more", len(o.Paths)-i)
				break
			}
			first += " " + term.Quote(string(p))
		}
		fmt.Fprintf(w, "  %s\n", a.Styled(term.Dim, "of that "+by+":"+first))
	}
}

// comparedConflicts tells of what both sides changed, what collides first, and how far they are apart.
func (a *app) comparedConflicts(w io.Writer, r api.CompareResponse) {
	fmt.Fprintln(w)
	for _, kind := range []struct {
		is   value.OverlapVerdict
		head string
	}{
		{value.OverlapCollide, "collide:"},
		{value.OverlapClean, "both changed, and merge cleanly:"},
		{value.OverlapSame, "both changed in the same way:"},
	} {
		n := 0
		for _, c := range r.Conflicts {
			if c.Verdict != kind.is {
				continue
			}
			if n++; n == 1 {
				style := term.Bold
				if kind.is == value.OverlapCollide {
					style = term.Warn
				}
				fmt.Fprintln(w, a.Styled(style, kind.head))
			}
			if n <= render.ShownPaths {
				fmt.Fprintln(w, "  "+overlapLine(c))
			}
		}
		if n > render.ShownPaths {
			fmt.Fprintf(w, "  ... and %d more\n", n-render.ShownPaths)
		}
	}
	switch {
	case r.A.Tip.Tree == r.B.Tip.Tree:
		fmt.Fprintln(w, "nothing differs")
	case len(r.Conflicts) == 0:
		fmt.Fprintln(w, "no file was changed by both")
	}
	fmt.Fprintf(w, "divergence: %.2f, from 0, the same, to 1, nothing alike\n", r.Divergence)
}

func overlapLine(c api.Overlap) string {
	line := term.Quote(string(c.Path))
	if c.Was != "" {
		line += " (was " + term.Quote(string(c.Was)) + ")"
	}
	if c.Verdict != value.OverlapCollide {
		return line
	}
	line += ": " + render.CollideWords(c.Reason)
	if c.Places > 0 {
		line += ", " + render.Count(c.Places, "place")
	}
	return line
}
