package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

type grepOptions struct {
	api.GrepRequest
	files, count, numbers bool
	around                int
}

func newGrep(a *app) *cobra.Command {
	o := grepOptions{}
	cmd := &cobra.Command{
		Use:   "grep [options] <regexp> [-- <path>...]",
		Short: "Search the files of all checkpoints, and what was said",
		Long: "Searches the files of every checkpoint. Each matching line is shown once, with its number in the " +
			"newest checkpoint that has it, and the checkpoints since which and until which the file has it. " +
			"With --conversation it searches what was said, by session, turn and speaker. The expression is " +
			"RE2's and matches within one line. No match is exit code 1 without output, as with grep.",
		Example: "  rewind grep parseConfig\n  rewind grep -w -F 'a.b' -- src '*.go'\n  rewind grep --conversation 'rate limit'\n" +
			"  rewind grep --now TODO",
		Args: func(cmd *cobra.Command, args []string) error {
			if patterns, paths := afterDash(cmd, args); len(patterns) != 1 {
				if len(patterns) == 0 && len(paths) == 1 { // one that begins with a dash
					return nil
				}
				return usage("grep takes one expression; put paths after '--'")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			patterns, paths := afterDash(cmd, args)
			if len(patterns) == 0 {
				patterns, paths = args, nil
			}
			o.Project, o.Pattern, o.Paths = a.project(), api.Text(patterns[0]), paths
			o.Code = o.Code || !o.Conversation
			if o.around > 0 {
				o.Before, o.After = max(o.Before, o.around), max(o.After, o.around)
			}
			negative := o.Limit < 0 || o.Before < 0
			if negative || o.After < 0 || o.around < 0 {
				return usage("a number of matches or lines must not be negative")
			}
			return runGrep(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Code, "code", false, "search the files (default; with --conversation: both)")
	f.BoolVar(&o.Conversation, "conversation", false, "search what was said")
	f.BoolVar(&o.Now, "now", false, "only the files as they are now")
	f.BoolVarP(&o.IgnoreCase, "ignore-case", "i", false, "upper and lower case are the same")
	f.BoolVarP(&o.Word, "word-regexp", "w", false, "only whole words")
	f.BoolVarP(&o.Fixed, "fixed-strings", "F", false, "the pattern is a text, no expression")
	f.BoolVarP(&o.files, "files-with-matches", "l", false, "only the paths")
	f.BoolVarP(&o.count, "count", "c", false, "only how many different lines of which paths")
	f.BoolVarP(&o.numbers, "line-number", "n", true, "the lines' numbers")
	f.IntVarP(&o.After, "after-context", "A", 0, "`n` lines after each match, too")
	f.IntVarP(&o.Before, "before-context", "B", 0, "`n` lines before it")
	f.IntVar(&o.around, "context", 0, "`n` lines before and after it")
	f.VarP(&around{&o.around, &a.dir}, "directory", "C", "a number: as --context; else: run as if started in `dir`")
	f.BoolVarP(&o.All, "all", "a", false, "safety checkpoints, too")
	sessionFlag(a, cmd, &o.Session, "only checkpoints and conversation of this `session`")
	f.IntVar(&o.Limit, "limit", 0, "at most this many matches; 0: 10,000")
	return cmd
}

// around is -C: lines around a match, as grep has it, and the directory that it is for every command. A number is never
// a directory: './3' is.
type around struct {
	lines *int
	dir   *string
}

func (c *around) Set(s string) error {
	if n, err := strconv.Atoi(s); err == nil {
		*c.lines = n
	} else {
		*c.dir = s
	}
	return nil
}

func (c *around) String() string { return "" }
func (c *around) Type() string   { return "string" }

// errNoMatch ends a search that found nothing, as grep's does: exit 1, and nothing is said.
var errNoMatch = errors.New("nothing matches")

func runGrep(ctx context.Context, a *app, o grepOptions) error {
	r, err := call(ctx, a, api.Grep, o.GrepRequest, "searching")
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		a.Notices(r.Notices)
		err = a.paged(func(w io.Writer) error { return a.grepped(w, r, o) })
		if r.More {
			a.Say("there are more matches; name paths, or another --limit")
		}
		for _, u := range r.Unread {
			a.Say("note: not searched: %s", term.Sanitize(string(u)))
		}
		a.unsearched(r.Unsearched)
	}
	if err == nil && len(r.Matches)+len(r.Said) == 0 {
		return errNoMatch
	}
	return err
}

func (a *app) grepped(w io.Writer, r api.GrepResponse, o grepOptions) error {
	for i := 0; i < len(r.Matches); {
		path, n := r.Matches[i].Path, 1
		for i+n < len(r.Matches) && r.Matches[i+n].Path == path {
			n++
		}
		list := r.Matches[i : i+n]
		name := a.Styled(term.Bold, term.Quote(string(path)))
		switch {
		case o.files:
			fmt.Fprintln(w, name)
		case o.count:
			fmt.Fprintf(w, "%s:%d\n", name, n)
		default:
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, name)
			for k := range list {
				a.matchLines(w, &list[k], o.numbers)
			}
		}
		i += n
	}
	return a.saidLines(w, r, o)
}

// matchLines prints a match with what stands around it, and below it since when and until when it is there.
func (a *app) matchLines(w io.Writer, m *api.Match, numbers bool) {
	row := func(n int, sep string, text api.Text, cut bool) {
		head := ""
		if numbers {
			head = a.Styled(term.Hunk, fmt.Sprint(n)) + sep + " "
		}
		tail := ""
		if cut {
			tail = " ..."
		}
		fmt.Fprintln(w, head+term.SanitizeText(string(text))+tail) // one line: tabs stay, as in a diff
	}
	for i, l := range m.Before {
		row(m.Line-len(m.Before)+i, "-", l, false)
	}
	if m.Binary {
		fmt.Fprintln(w, a.Styled(term.Dim, "no text, but it matches"))
	} else {
		row(m.Line, ":", m.Text, m.Cut)
	}
	for i, l := range m.After {
		row(m.Line+1+i, "-", l, false)
	}
	if m.Older > 0 {
		fmt.Fprintln(w, a.Styled(term.Dim, fmt.Sprintf("    before that: %d other times", m.Older)))
	}
	for i, s := range m.Spans {
		lines := []string{term.Sanitize(spanWords(s, m.Now && i == len(m.Spans)-1))}
		if a.Width > 0 && term.Width(lines[0]) > a.Width-4 {
			lines = wrap(lines[0], a.Width-6)
		}
		fmt.Fprintln(w, a.Styled(term.Dim, "    "+strings.Join(lines, "\n      ")))
	}
}

// spanWords say since when and until when a line is there.
func spanWords(s api.FoundSpan, now bool) string {
	first, last := momentWords(s.First), momentWords(s.Last)
	if now && s.Gone == nil {
		return fmt.Sprintf("since %s (%s)", first, s.First.Short)
	}
	text := fmt.Sprintf("%s to %s (%s to %s)", first, last, s.First.Short, s.Last.Short)
	switch {
	case s.First.ID == s.Last.ID:
		text = fmt.Sprintf("%s (%s)", first, s.First.Short)
	case first == last:
		text = fmt.Sprintf("%s (%s to %s)", first, s.First.Short, s.Last.Short)
	}
	switch {
	case s.Gone != nil && now:
		return text + ", and now again"
	case s.Gone != nil:
		return text + ", gone since " + momentWords(*s.Gone) + " (" + s.Gone.Short + ")"
	}
	return text + ", not there now"
}

// momentWords are what a person knows a moment by.
func momentWords(m api.Moment) string { return momentName(m) + render.MergedWords(m.Merged) }

func momentName(m api.Moment) string {
	switch {
	case m.Message != "":
		return fmt.Sprintf("%q", term.Truncate(string(m.Message), shownTitle))
	case m.Event == "init":
		return "the first checkpoint"
	case m.Agent != "" && m.Turn > 0:
		text := string(m.Agent) + " " + naming.TurnWords(m.Turn, m.Whose)
		switch {
		case m.Outside:
			return outsideWords(m.Event) + text
		case m.Event == "scan" && m.Tool != nil:
			text += ", " + render.During(m.Tool, m.Target)
		}
		return text
	}
	return strings.TrimSpace(string(m.Agent) + " " + m.Event)
}

// outsideWords say where beside a turn nobody's call changed something, by the event that found it.
func outsideWords(event string) string {
	switch event {
	case "prompt":
		return "outside, before "
	case "pre-tool-use", "post-tool-use", "stop":
		return "outside, during "
	}
	return "outside, after "
}

func (a *app) saidLines(w io.Writer, r api.GrepResponse, o grepOptions) error {
	session := ""
	for i := range r.Said {
		m := &r.Said[i]
		head := string(m.Agent) + " " + strings.TrimPrefix(m.Session, string(m.Agent)+"/")
		if o.files || o.count {
			n := 1
			for i+n < len(r.Said) && r.Said[i+n].Session == m.Session {
				n++
			}
			if head == session {
				continue
			}
			session = head
			if head = a.Styled(term.Bold, term.Sanitize(head)); o.count && !o.files {
				head += fmt.Sprintf(":%d", n)
			}
			fmt.Fprintln(w, head)
			continue
		}
		if head != session {
			if i > 0 || len(r.Matches) > 0 {
				fmt.Fprintln(w)
			}
			session = head
			fmt.Fprintln(w, a.Styled(term.Bold, term.Sanitize(head)))
		}
		tail := ""
		if m.Cut {
			tail = " ..."
		}
		who := term.Sanitize(naming.TurnWords(m.Turn, m.Whose) + ", " + m.Who + ":")
		fmt.Fprintf(w, "%s %s%s\n", a.Styled(term.Hunk, who), term.Sanitize(string(m.Text)), tail)
	}
	return nil
}
