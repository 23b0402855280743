package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// listedSessions is how many sessions are listed at most when nothing is said of it.
const listedSessions = 100

func newSessions(a *app) *cobra.Command {
	req := api.SessionsRequest{}
	cmd := &cobra.Command{
		Use:   "sessions [--all] [--import] [--limit <n>]",
		Short: "List the agents' sessions, and where forks come from",
		Long: "Lists the sessions of agents in this project, newest first. A fork is below its original; '@' " +
			"marks the current session. --import first adds sessions from before rewind was set up: their " +
			"conversations, not the code of that time.",
		Example: "  rewind sessions\n  rewind sessions --import",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if req.Limit < 0 {
				return usage("--limit %d: must not be negative", req.Limit)
			}
			req.Project, req.Env = a.project(), agentEnv()
			return runSessions(cmd.Context(), a, req)
		},
	}
	cmd.AddCommand(newSessionsRestore(a))
	cmd.Flags().BoolVarP(&req.All, "all", "a", false, "archived and deleted ones, too")
	cmd.Flags().BoolVar(&req.Import, "import", false,
		"take in the agents' sessions of this project that are not known yet")
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", listedSessions, "at most `n` sessions, the newest; 0: all")
	return cmd
}

func runSessions(ctx context.Context, a *app, req api.SessionsRequest) error {
	title := "reading"
	if req.Import {
		title = "importing"
	}
	r, err := call(ctx, a, api.Sessions, req, title)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		a.Notices(r.Notices)
		err = a.sessionTable(r.Sessions)
		a.tellImport(req, r)
		if r.Older > 0 {
			a.Say("older ones are not shown (%s); -n 0 shows all", render.Count(r.Older, "session"))
		}
		a.tellHidden(r.Hidden)
		a.tellLost(r.Sessions)
	}
	if err == nil && len(r.Failed) > 0 {
		err = &api.Error{
			Word: api.WordPartial, Message: render.Count(len(r.Failed), "session file") + " could not be imported",
			Hint: "the lines above say why; the others are there",
		}
	}
	return err
}

func (a *app) tellImport(req api.SessionsRequest, r api.SessionsResponse) {
	for _, p := range r.Passed {
		a.Say("passed over: %s", term.Sanitize(string(p)))
	}
	for _, f := range r.Failed {
		a.Say("not imported: %s", term.Sanitize(string(f)))
	}
	switch {
	case req.Import:
		a.Say("%s imported", render.Count(r.Imported, "session"))
	case len(r.Sessions) == 0 && r.Hidden == 0:
		a.Say("no sessions yet; 'rewind sessions --import' imports the agents' sessions of this project")
	}
}

// tellLost says how what an agent has lost is laid out again.
func (a *app) tellLost(list []api.SessionInfo) {
	i := slices.IndexFunc(list, func(s api.SessionInfo) bool { return s.Loss != "" })
	if i >= 0 {
		a.hintLost("", list[i].ID)
	}
}

// hintLost says how what an agent has lost of a session is laid out again; why is put in front.
func (a *app) hintLost(why, id string) {
	a.Say("hint: %s'rewind sessions restore %s' writes again what was captured of it", why, render.ShortID(id))
}

// newSessionsRestore is sessions restore.
func newSessionsRestore(a *app) *cobra.Command {
	req := api.BringBackRequest{}
	cmd := &cobra.Command{
		Use: "restore <session> [--dry-run]", Short: "Write a conversation again that its agent has lost",
		Long: "Writes the file of a session again that was deleted, or cut without anybody wanting it. It " +
			"becomes the session's own file. If that file has something else in it by now, it becomes a new " +
			"session. A session that its agent has open is refused. 'rewind sessions' marks such sessions, " +
			"'rewind status' names them.",
		Example: "  rewind sessions restore 1a2b3c4d --dry-run\n  rewind sessions restore 1a2b3c4d",
		Args:    takes(1, 1, "one session"), ValidArgsFunction: completeAllSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Env, req.Session = a.project(), agentEnv(), args[0]
			r, said, err := ask(cmd.Context(), a, api.BringBack, req, "writing")
			if err != nil || said {
				return err
			}
			a.tellBroughtBack(r)
			return nil
		},
	}
	cmd.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "say what would be restored, and where")
	return cmd
}

func (a *app) tellBroughtBack(r api.BringBackResponse) {
	a.Notices(r.Notices)
	verb := "restored"
	if r.DryRun {
		verb = "would restore"
	}
	session := a.Styled(term.ID, term.Sanitize(render.ShortSession(r.Session)))
	where := ""
	if r.Fork != nil {
		where = ", as a new session, since its own file has something else: " + term.Sanitize(string(r.Fork.Title))
	}
	fmt.Fprintf(a.Out, "%s %s, %s%s\n", verb, session, render.Count(int(r.Turns), "turn"), where)
	if r.DryRun {
		return
	}
	fmt.Fprintf(a.Out, "  %s\n", term.Quote(string(r.Path)))
	if len(r.Resume) > 0 {
		fmt.Fprintf(a.Out, "  %s\n", a.Styled(term.Bold, term.Sanitize(render.ShellLine(r.Resume))))
	}
	if r.Operation > 0 {
		a.Say("undo this: rewind undo-restore %d", r.Operation)
	}
}

// sizesFrom is how many columns a terminal has whose list of sessions tells sizes: a narrower one needs the room for
// titles, and for what a fork was made of.
const (
	sizesFrom  = 100
	sizeColumn = 5
)

// tellHidden says that a list leaves sessions out.
func (a *app) tellHidden(n int) {
	if n > 0 {
		a.Say("%s archived or deleted; --all shows them", render.Count(n, "session"))
	}
}

func (a *app) sessionTable(list []api.SessionInfo) error {
	if len(list) == 0 {
		return nil
	}
	if a.Width > 0 && a.Width < render.NarrowList {
		defer tellElsewhere(a, list, func(s api.SessionInfo) (api.Text, string) { return s.Worktree, s.ID })
	}
	return a.paged(func(w io.Writer) error {
		columns := []term.Column{{}, {}, {}, {Flex: true}, {}, {}, {Flex: true}}
		sizes := a.Width == 0 || a.Width >= sizesFrom
		if sizes {
			columns = slices.Insert(columns, sizeColumn, term.Column{Right: true})
		}
		narrow := a.Width > 0 && a.Width < render.NarrowList // titles need the room; that forks are indented has to do
		if narrow {
			columns = columns[:4]
		}
		t := a.Table(columns...)
		for _, f := range underParents(list) {
			s, mark := f.SessionInfo, ""
			if s.Current {
				mark = "@"
			}
			row := []term.Cell{
				{Text: mark, Style: term.Bold},
				{Text: strings.Repeat("  ", f.depth) + string(s.Agent), Style: term.Hue(s.Session)},
				{Text: render.ShortID(s.ID), Style: term.ID},
				{Text: render.Words(string(s.Title))},
				{Text: render.Count(s.Turns, "turn")},
				{Text: a.Time(s.Last), Style: term.Dim},
				{Text: a.sessionMarks(s), Style: term.Dim},
			}
			if sizes {
				row = slices.Insert(row, sizeColumn, term.Cell{Text: term.Size(s.Bytes)})
			}
			t.Row(row...)
		}
		return t.Flush(w)
	})
}

// A familySession is a session, and how many forks lie between it and the one that its family begins with.
type familySession struct {
	*api.SessionInfo
	depth int
}

// underParents puts forks behind the session that they were made of, families in the order of the list.
func underParents(list []api.SessionInfo) []familySession {
	forks, at, told := map[string][]int{}, make(map[string]int, len(list)), make([]bool, len(list))
	for i := range list {
		at[list[i].Session] = i
	}
	parent := func(i int) (of int, is bool) {
		if f := list[i].Fork; f != nil {
			of, is = at[f.Session]
		}
		return of, is
	}
	for i := range list {
		if of, is := parent(i); is {
			forks[list[of].Session] = append(forks[list[of].Session], i)
		}
	}
	out := make([]familySession, 0, len(list))
	var put func(i, depth int)
	put = func(i, depth int) {
		if told[i] {
			return
		}
		told[i] = true
		out = append(out, familySession{&list[i], depth})
		for _, k := range forks[list[i].Session] {
			put(k, depth+1)
		}
	}
	root := func(i int) int { // what agents' files say of where they come from may go in a circle
		for range list {
			of, is := parent(i)
			if !is {
				break
			}
			i = of
		}
		return i
	}
	for i := range list {
		put(root(i), 0)
		put(i, 0)
	}
	return out
}

// sessionMarks says what else there is to know of a session.
func (a *app) sessionMarks(s *api.SessionInfo) string {
	var marks []string
	add := func(on bool, text string) {
		if on {
			marks = append(marks, text)
		}
	}
	lost := s.Missing && s.Standing != "deleted"
	add(lost || s.Loss != "", render.LossWords(s.Loss))
	add(s.Running, "running")
	add(s.Worktree != "", "in "+a.near(string(s.Worktree)))
	add(s.Standing == "main", "main line")
	add(s.Standing == "archived" || s.Standing == "deleted", s.Standing)
	add(s.Fork != nil, strings.Replace(render.Relation(s.Fork), " "+string(s.Agent)+"/", " ", 1))
	add(s.Imported, "imported")
	add(s.Problem != "", string(s.Problem))
	return strings.Join(marks, ", ")
}

// sessionFlag is --session.
func sessionFlag(a *app, cmd *cobra.Command, session *string, help string) {
	cmd.Flags().StringVar(session, "session", "", help)
	_ = cmd.RegisterFlagCompletionFunc("session", completeSessions(a))
}

// completeSessions offers the agents' sessions with what they are about.
func completeSessions(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		// there is one at most
		if argument := strings.Contains(cmd.Use, " [session]"); argument && len(args) > 0 || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.sessionNames(cmd.Context(), false), cobra.ShellCompDirectiveNoFileComp
	}
}

// sessionNames are the agents' sessions as a shell offers them; with all archived ones, too.
func (a *app) sessionNames(ctx context.Context, all bool) (out []string) {
	r, err := api.Call(ctx, a.client, api.Sessions,
		api.SessionsRequest{Project: a.project(), Env: agentEnv(), All: all}, nil)
	if err != nil {
		return nil
	}
	for _, s := range r.Sessions {
		out = append(out, s.ID+"\t"+
			term.Sanitize(fmt.Sprintf("%s, %s, %s", s.Agent, term.Ago(a.Now(), s.Last), s.Title)))
	}
	return out
}
