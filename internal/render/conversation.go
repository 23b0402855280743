package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

// talked reports whether a restore did something to the conversation.
func talked(r api.RestoreResponse) bool {
	return r.Conversation != nil && r.Conversation.Mode != "none"
}

// tellConversation tells what became of the conversation in a restore, and how to go on with it.
func (pr *Printer) tellConversation(r api.RestoreResponse) {
	t := r.Conversation
	if t == nil {
		pr.tellPrompt(r)
		return
	}
	text, resume := "", t.Resume
	switch t.Mode {
	case "fork":
		text = forkedText(t, r.DryRun)
	case "in-place":
		text = inPlaceText(t, r.DryRun)
	case "original":
		text = "as it is, it ends there"
	case "back":
		text = "back as it was"
		if r.DryRun {
			text = "would be as it was"
		}
	default:
		if t.Why != "" {
			pr.Say("note: the conversation stays as it is: %s", term.Sanitize(string(t.Why)))
		}
	}
	if text != "" {
		fmt.Fprintf(pr.Out, "conversation: %s\n", text)
	}
	if text != "" && !r.DryRun {
		pr.resumeLine(resume) // before the prompt: below it the command would read as part of it
	}
	pr.tellPrompt(r)
	for _, p := range t.Removed {
		head := "removed, nobody had used it"
		if r.DryRun {
			head = "would be removed, nobody has used it"
		}
		fmt.Fprintf(pr.Out, "%s: %s\n", head, term.Quote(string(p)))
	}
	for _, p := range t.Kept {
		fmt.Fprintf(pr.Out, "kept, somebody has used it: %s\n", term.Quote(string(p)))
	}
	if t.Fork != nil {
		pr.TellForkNotes(*t.Fork)
	}
}

func inPlaceText(t *api.Conversation, dryRun bool) string {
	turn := term.Sanitize(naming.TurnWords(uint64(t.Turn), t.Whose))
	switch {
	case t.Version && dryRun:
		return "its file would become the version that ends with " + turn
	case t.Version:
		return "its file is the version that ends with " + turn + " again (what it was: rewind undo-restore brings it back)"
	case dryRun:
		return "would be cut back to the end of " + turn
	}
	return "cut back to the end of " + turn + " (the part cut off: rewind undo-restore brings it back)"
}

func forkedText(t *api.Conversation, dryRun bool) string {
	if t.Fork == nil {
		return "new session " + term.Sanitize(ShortSession(t.Session))
	}
	turn := term.Sanitize(naming.TurnWords(uint64(t.Turn), t.Whose))
	if dryRun {
		return fmt.Sprintf("would be a new session \"%s\", that ends with %s",
			term.Sanitize(string(t.Fork.Title)), turn)
	}
	return fmt.Sprintf("new session %s \"%s\", ends with %s", term.Sanitize(ShortID(t.Fork.ID)),
		term.Sanitize(string(t.Fork.Title)), turn)
}

// ForkNotes is what a person should know before going on with a fork.
func ForkNotes(f api.Fork) (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if f.From.Checkpoint == "" && f.From.Turn > 0 {
		add(NoCodeWords + ": only the conversation goes on from there")
	}
	if f.Why != "" {
		add("left out %s before that place: %s", Count(f.Dropped, "record"), term.Sanitize(string(f.Why)))
	}
	if f.Dangling != "" {
		add("it ends while %s runs: %s answers that call as interrupted when it is opened", term.Sanitize(f.Dangling),
			term.Sanitize(string(f.Agent)))
	}
	if b := f.Broken; b != nil {
		where := "in " + term.Sanitize(naming.TurnWords(uint64(b.Turn), f.Whose))
		if b.Turn == 0 {
			where = "before its first turn"
		}
		add("the conversation is broken off %s: line %d of its file goes on from what is not there, and the agent finds nothing that came "+
			"before", where, b.Line)
	}
	if f.Compacted {
		add("the conversation was compacted before that place: the model sees the summary, and what came after it")
	}
	if f.Before {
		add("the original was compacted after that place: in the fork the model sees again what the summary there left out")
	}
	if !f.Listed && f.Problem != "" {
		add("%s does not list it: %s; the command opens it all the same", term.Sanitize(string(f.Agent)),
			term.Sanitize(string(f.Problem)))
	}
	return notes
}

// TellForkNotes tells ForkNotes, a line for each.
func (pr *Printer) TellForkNotes(f api.Fork) {
	for _, n := range ForkNotes(f) {
		pr.Say("note: %s", n)
	}
}

// resumeLine prints the command line that opens a session, ready to be pasted.
func (pr *Printer) resumeLine(args []string) {
	if len(args) > 0 {
		fmt.Fprintf(pr.Out, "  %s\n", pr.Styled(term.Bold, term.Sanitize(ShellLine(args))))
	}
}

// shellPlain is what a POSIX shell takes as it is.
var shellPlain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// ShellLine quotes arguments for a POSIX shell.
func ShellLine(args []string) string {
	words := slices.Clone(args)
	for i, w := range words {
		if !shellPlain.MatchString(w) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// WithoutFork is a restore whose fork has been told already.
func WithoutFork(r api.RestoreResponse) api.RestoreResponse {
	if r.Conversation != nil {
		told := *r.Conversation
		told.Mode, told.Why, told.Fork = "none", "", nil
		r.Conversation = &told
	}
	return r
}

// TellForked tells which session was made, or would be.
func (pr *Printer) TellForked(r api.ForkResponse, req api.ForkRequest) {
	f, verb := r.Fork, "forked"
	if req.DryRun {
		verb = "would fork"
	}
	fmt.Fprintf(pr.Out, "%s %s at %s: %s (%s)\n", verb, term.Sanitize(ShortSession(f.From.Session)),
		pr.Styled(term.ID, place(f.From, string(req.Checkpoint))),
		term.Sanitize(string(f.Title)), Count(f.Messages, "message"))
	switch {
	case req.SelfTest:
		for _, c := range f.Checks {
			fmt.Fprintf(pr.Out, "  ok: %s\n", term.Sanitize(string(c)))
		}
		fmt.Fprintln(pr.Out, "  taken away again")
	case !req.DryRun && req.Worktree == "":
		pr.WhereForked(f)
	}
	if r.Reused {
		pr.Say("note: it was there already, and nobody has used it: --new makes another")
	}
	pr.TellForkNotes(f)
}

// WhereForked prints the new session's file and the command that opens it.
func (pr *Printer) WhereForked(f api.Fork) {
	fmt.Fprintf(pr.Out, "  %s\n", term.Quote(string(f.Path)))
	pr.resumeLine(f.Resume)
}

// place says where a fork begins, by the name that it was asked for.
func place(l api.Lineage, name string) string {
	if IsTurn(name) || l.Checkpoint == "" {
		return "the end of " + naming.TurnWords(uint64(l.Turn), "") // the session is told before it
	}
	return fmt.Sprintf("checkpoint %.8s, %s", l.Checkpoint, naming.TurnWords(uint64(l.Turn), ""))
}
