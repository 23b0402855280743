package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

// converse fills in what a restore does to the conversation. With paths it does nothing: they are about files alone.
func (a *app) converse(c *api.Wish, paths []api.Text) error {
	about := c.InPlace || c.Force || c.Title != ""
	switch {
	case c.CodeOnly && c.ContextOnly:
		return usage("--code-only and --context-only exclude each other: without both, code and conversation go back")
	case c.CodeOnly && about:
		return usage("--code-only leaves the conversation alone: --in-place, --force and --title do not go with it")
	case len(paths) > 0 && (c.ContextOnly || about):
		return usage("with paths the conversation is left alone: leave out --context-only, --in-place, --force and --title, or the paths")
	case c.InPlace && c.Title != "":
		return usage("--title names a new session, and --in-place makes none: leave one of them out")
	}
	if c.CodeOnly || len(paths) > 0 {
		return nil
	}
	c.Env = agentEnv()
	if c.Env.Home != "" {
		return nil
	}
	if c.ContextOnly || about {
		return usage("HOME is not set: where the conversation is cannot be told")
	}
	a.say("note: HOME is not set: the conversation is left alone")
	return nil
}

func codeOnlyFlag(cmd *cobra.Command, c *api.Wish) {
	cmd.Flags().BoolVar(&c.CodeOnly, "code-only", false, "leave the conversation alone")
}

func contextOnlyFlag(cmd *cobra.Command, c *api.Wish) {
	cmd.Flags().BoolVar(&c.ContextOnly, "context-only", false, "only the conversation; leave the files alone")
}

// titleFlag is --title, whose bytes need not be text.
func titleFlag(cmd *cobra.Command, title *api.Text) {
	cmd.Flags().StringVar((*string)(title), "title", "", "the new session's `title`, behind \"[Fork @<turn>] \"; default: that of the old one")
}

// tagFlag is --tag of what goes somewhere else.
func tagFlag(cmd *cobra.Command, tag *api.Text) {
	cmd.Flags().StringVar((*string)(tag), "tag", "", "give the state that is left behind this `tag`")
}

// talked reports whether a restore did something to the conversation.
func talked(r api.RestoreResponse) bool {
	return r.Conversation != nil && r.Conversation.Mode != "none"
}

// tellConversation tells what became of the conversation in a restore, and how to go on with it.
func (a *app) tellConversation(r api.RestoreResponse) {
	t := r.Conversation
	if t == nil {
		return
	}
	text, resume := "", t.Resume
	switch t.Mode {
	case "fork":
		text = forkedText(t, r.DryRun)
	case "in-place":
		text = fmt.Sprintf("cut back to the end of turn %d (the part cut off: rewind undo-restore brings it back)", t.Turn)
		if r.DryRun {
			text = fmt.Sprintf("would be cut back to the end of turn %d", t.Turn)
		}
	case "original":
		text = "as it is, it ends there"
	case "back":
		text = "back as it was"
		if r.DryRun {
			text = "would be as it was"
		}
	default:
		if t.Why != "" {
			a.say("note: the conversation stays as it is: %s", term.Sanitize(string(t.Why)))
		}
	}
	if text != "" {
		fmt.Fprintf(a.Out, "conversation: %s\n", text)
		if !r.DryRun {
			a.resumeLine(resume)
		}
	}
	for _, p := range t.Removed {
		fmt.Fprintf(a.Out, "removed, nobody had used it: %s\n", term.Quote(string(p)))
	}
	for _, p := range t.Kept {
		fmt.Fprintf(a.Out, "kept, somebody has used it: %s\n", term.Quote(string(p)))
	}
	if t.Fork != nil {
		a.forkNotes(*t.Fork)
	}
}

func forkedText(t *api.Conversation, dryRun bool) string {
	if t.Fork == nil {
		return "new session " + term.Sanitize(shortSession(t.Session))
	}
	if dryRun {
		return fmt.Sprintf("would be a new session \"%s\", that ends with turn %d", term.Sanitize(string(t.Fork.Title)), t.Turn)
	}
	return fmt.Sprintf("new session %s \"%s\", ends with turn %d", term.Sanitize(shortID(t.Fork.ID)), term.Sanitize(string(t.Fork.Title)),
		t.Turn)
}

// forkNotes says what a person should know before going on with a fork.
func (a *app) forkNotes(f api.Fork) {
	if f.Why != "" {
		a.say("note: left out %s before that place: %s", count(f.Dropped, "record"), term.Sanitize(string(f.Why)))
	}
	if f.Dangling != "" {
		a.say("note: it ends while %s runs: %s answers that call as interrupted when it is opened", term.Sanitize(f.Dangling),
			term.Sanitize(string(f.Agent)))
	}
	if b := f.Broken; b != nil {
		where := fmt.Sprintf("in turn %d", b.Turn)
		if b.Turn == 0 {
			where = "before its first turn"
		}
		a.say("note: the conversation is broken off %s: line %d of its file goes on from what is not there, and the agent finds nothing "+
			"that came before",
			where, b.Line)
	}
	if f.Compacted {
		a.say("note: the conversation was compacted before that place: the model sees the summary, and what came after it")
	}
	if f.Before {
		a.say("note: the original was compacted after that place: in the fork the model sees again what the summary there left out")
	}
	if !f.Listed && f.Problem != "" {
		a.say("note: %s does not list it: %s; the command opens it all the same", term.Sanitize(string(f.Agent)),
			term.Sanitize(string(f.Problem)))
	}
}

// resumeLine prints the command line that opens a session, ready to be pasted.
func (a *app) resumeLine(args []string) {
	if len(args) > 0 {
		fmt.Fprintf(a.Out, "  %s\n", a.Styled(term.Bold, term.Sanitize(shellLine(args))))
	}
}

// shellPlain is what a POSIX shell takes as it is.
var shellPlain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellLine quotes arguments for a POSIX shell.
func shellLine(args []string) string {
	words := slices.Clone(args)
	for i, w := range words {
		if !shellPlain.MatchString(w) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// shortSession is a session's name with an id that is short enough to be read.
func shortSession(name string) string {
	agent, id, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	return agent + "/" + shortID(id)
}

// sessionWords is a session as a person reads it: its agent, and how its id begins.
func sessionWords(name string) string {
	return term.Sanitize(strings.Replace(shortSession(name), "/", " ", 1))
}

// shortID is how an id of a session begins, as far as that tells it from others: the first 8 of a random one; one that begins with its time
// (UUID version 7) as far as the milliseconds.
func shortID(id string) string {
	if n := len("01a20108-90c4"); len(id) > n+1 && id[n] == '-' && id[n+1] == '7' {
		return id[:n]
	}
	return fmt.Sprintf("%.8s", id)
}

// unplaced reports whether it is not known up to where a fork that an agent made is the same as what it was made of.
func unplaced(l *api.Lineage) bool { return l != nil && l.Kind == "agent" && l.Turn == 0 }

// relation says where a fork comes from.
func relation(l *api.Lineage) string {
	if l == nil {
		return ""
	}
	from := shortSession(l.Session)
	if l.Clone {
		return "clone of " + from
	}
	if unplaced(l) {
		return "fork of " + from
	}
	return fmt.Sprintf("fork of %s at turn %d", from, l.Turn)
}
