package render

import (
	"fmt"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// ShownNames is how many paths of one kind a restore names on the terminal; --json has them all.
const ShownNames = 50

// TellRestore tells what a restore did or would do, and how to take it back. again is the command that does the same
// and merges; "": there is none.
func (pr *Printer) TellRestore(r api.RestoreResponse, again string) {
	if len(r.Managed) > 0 { // nothing else was changed
		for _, m := range r.Managed {
			fmt.Fprintln(pr.Out, ManagedWords(m))
		}
		if r.Operation > 0 {
			pr.Say("undo this: %s", pr.flag(fmt.Sprintf("rewind undo-restore %d", r.Operation), "u"))
		}
		return
	}
	pr.tellTarget(r)
	if r.DryRun || len(r.Changes) <= ShownNames {
		pr.ChangeLines(pr.Out, r.Changes, ShownPaths)
	}
	pr.TellReplaced(r)
	if !r.Parts { // each was chosen
		pr.tellTaken(r)
	}
	pr.TellMerges(r)
	stay := slices.DeleteFunc(slices.Clone(r.Kept), func(k api.Kept) bool { // else it is told above
		return slices.ContainsFunc(r.Merges, func(m api.Merge) bool { return m.Path == k.Path })
	})
	for _, d := range r.KeptDirs {
		stay = append(stay, api.Kept{Path: d, Reason: value.KeptHolds})
	}
	pr.TellKept(stay, StayingOf(r))
	pr.HintOthers(r, again)
	pr.TellConflicts(r.Conflicts)
	pr.TellWithout(r.Without)
	pr.tellUncaptured(r.NotCaptured)
	pr.tellMissing(r.Missing)
	pr.tellConversation(r)
	pr.TellAtWork(r)
	pr.tellGit(r)
	if r.Operation > 0 && r.Kind != "abort" {
		undo := "rewind undo-restore"
		if r.Kind == "undo-restore" {
			undo += fmt.Sprintf(" %d", r.Operation)
		}
		pr.Say("undo this: %s", pr.flag(undo, "u"))
	}
}

// tellTarget says in a line where a restore went.
func (pr *Printer) tellTarget(r api.RestoreResponse) {
	target := fmt.Sprintf("%s (%s, %s)", pr.Styled(term.ID, r.Target.Short), pr.Time(r.Target.Time),
		term.Sanitize(What(r.Target)))
	switch {
	case r.ContextOnly:
		fmt.Fprintf(pr.Out, "the files stay as they are; the conversation is to be that of %s\n", target)
	case r.DryRun:
		fmt.Fprintf(pr.Out, "would go to %s\n", target)
	case r.Parts && r.Operation > 0:
		fmt.Fprintf(pr.Out, "took parts of %s: %s changed\n", target,
			Count(max(len(r.Changes)-len(r.Conflicts), 0), "path"))
	case r.Operation == 0 && r.Kind == "switch":
		fmt.Fprintf(pr.Out, "nothing to do: the project is on that session already, at %s\n", target)
	case r.Operation == 0 && talked(r):
		fmt.Fprintf(pr.Out, "no file to change: the project is at %s\n", target)
	case r.Operation == 0:
		fmt.Fprintf(pr.Out, "nothing to do: the project is at %s\n", target)
	case r.Kind == "abort":
		fmt.Fprintf(pr.Out, "taken back: the project is as it was before going to %s\n", target)
	default:
		if r.Saved != nil {
			fmt.Fprintf(pr.Out, "saved the unsaved changes as %s\n", pr.Styled(term.ID, r.Saved.Short))
		}
		fmt.Fprintf(pr.Out, "went to %s: %s changed\n", target, Count(max(len(r.Changes)-len(r.Conflicts), 0), "path"))
	}
}

// tellTaken says what --exact takes: whose it is and how much, and after it was done which.
func (pr *Printer) tellTaken(r api.RestoreResponse) {
	for _, t := range r.Taken {
		whose := "no checkpoint has"
		if t.By != "" {
			whose = term.Sanitize(ShortSession(t.By)) + " changed since"
		}
		if r.DryRun {
			pr.Names(fmt.Sprintf("would take %s that %s", Count(len(t.Paths), "path"), whose), t.Paths)
			continue
		}
		head := fmt.Sprintf("took %s that %s", Count(len(t.Paths), "path"), whose)
		if r.Safety != nil {
			head += fmt.Sprintf("; 'rewind cat %s:<path>' has what was there", r.Safety.Short)
		}
		pr.Names(head, t.Paths)
	}
}

// TellConflicts tells what a restore left alone, and where bytes are that somebody was writing.
func (pr *Printer) TellConflicts(list []api.Conflict) {
	for i, head := range []string{
		"left as found:",
		"set, but the file that was there was in use; its bytes are kept:",
	} {
		first := true
		for _, c := range list {
			if (c.SavedAs != "") != (i == 1) {
				continue
			}
			if first {
				fmt.Fprintln(pr.Out, pr.Styled(term.Warn, head))
				first = false
			}
			line := "  " + term.Quote(string(c.Path)) + ": " + term.Sanitize(c.Reason)
			if c.SavedAs != "" {
				line += ", in " + term.Quote(string(c.SavedAs))
			}
			fmt.Fprintln(pr.Out, line)
		}
	}
}

// TellReplaced names what a restore replaces that was not saved, and what of the person's goes, with the checkpoint
// that has them, and what the person had removed.
func (pr *Printer) TellReplaced(r api.RestoreResponse) {
	head := "would replace, changed since the last checkpoint"
	if r.Safety != nil {
		head = fmt.Sprintf("replaced, changed since the last checkpoint; 'rewind cat %s:<path>' has them",
			r.Safety.Short)
	}
	if !r.DryRun && r.Safety == nil {
		return
	}
	yours := func(p api.Text) bool { return slices.Contains(r.Yours, p) }
	pr.Names(head, slices.DeleteFunc(slices.Clone(r.Replaced), yours))
	head = "yours, would go"
	if r.Safety != nil {
		head = fmt.Sprintf("yours; 'rewind cat %s:<path>' has them", r.Safety.Short)
	}
	pr.Names(head, r.Yours)
	head = "you had removed, there again"
	if r.DryRun {
		head = "you had removed, would be there again"
	}
	pr.Names(head, r.Returned)
}

// promptLines is how many lines of a prompt that was taken back are shown.
const promptLines = 5

// tellPrompt tells the prompt that was taken back, so that it can be typed anew.
func (pr *Printer) tellPrompt(r api.RestoreResponse) {
	text := strings.TrimSpace(string(r.TakenBack))
	if text == "" {
		return
	}
	head := "the prompt that was taken back:"
	if r.DryRun {
		head = "the prompt that would be taken back:"
	}
	fmt.Fprintln(pr.Out, head)
	lines := strings.Split(text, "\n")
	pr.firstOf(lines, 0, "more line", "; --json has all of it")
	if len(r.TakenToo) == 0 {
		return
	}
	fmt.Fprintln(pr.Out, "and with it:")
	lines = nil
	for _, p := range r.TakenToo {
		lines = append(lines, term.Truncate(Words(string(p)), shownPrompt))
	}
	pr.firstOf(lines, r.TakenMore, "more prompt", "")
}

// shownPrompt is how much of a prompt tells it from others, in columns.
const shownPrompt = 76

// firstOf prints the first of some lines, how many more there are, those of which only the number is known among them,
// and where.
func (pr *Printer) firstOf(lines []string, unseen int, what, where string) {
	shown := lines
	if len(lines) > promptLines && !pr.Keys { // else they can be scrolled
		shown = lines[:promptLines]
	}
	for _, l := range shown {
		fmt.Fprintln(pr.Out, "  "+term.Sanitize(l))
	}
	if more := len(lines) - len(shown) + unseen; more > 0 {
		fmt.Fprintf(pr.Out, "  ... and %s%s\n", Count(more, what), where)
	}
}

func (pr *Printer) tellGit(r api.RestoreResponse) {
	if r.GitState != "" {
		pr.Say("note: a %s is under way in git; rewind moved none of it", r.GitState)
	}
	if r.GitGone {
		pr.Say("note: %s", GitGoneWords(r.GitThen))
	}
	if r.GitThen != nil && r.GitNow != nil && *r.GitThen != *r.GitNow {
		pr.Say("note: git was at %s then and stays at %s", HeadText(r.GitThen), HeadText(r.GitNow))
	}
}

// GitGoneWords say that the repository which stood at h then is not there any more.
func GitGoneWords(h *api.Head) string {
	return "git's repository was there then, at " + HeadText(h) +
		", and is gone now: rewind has the files, never git's own history; " +
		"clone or fetch it again"
}

// HeadText is where git stood: the branch, and how its commit begins.
func HeadText(h *api.Head) string {
	commit := h.Commit
	if len(commit) > 8 {
		commit = commit[:8]
	}
	if h.Branch == "" {
		return term.Sanitize(commit)
	}
	return term.Sanitize(strings.TrimSpace(h.Branch + " " + commit))
}

// Names prints paths below their heading.
func (pr *Printer) Names(head string, paths []api.Text) {
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(pr.Out, "%s:\n", head)
	for i, p := range paths {
		if i == ShownNames {
			fmt.Fprintf(pr.Out, "  ... and %d more\n", len(paths)-i)
			return
		}
		fmt.Fprintf(pr.Out, "  %s\n", term.Quote(string(p)))
	}
}

// Partial is the error of a restore that left something as it was.
func Partial(r api.RestoreResponse) error {
	if !r.Partial {
		return nil
	}
	if n := conflicts(r.Merges); n > 0 {
		hint := "edit the marked places, or begin again with --ours or --theirs after 'rewind undo-restore'"
		if r.DryRun || r.Operation == 0 {
			hint = "--theirs takes what is to be set, --ours keeps what is here"
		}
		return &api.Error{Word: api.WordPartial, Message: Count(n, "path") + " in conflict", Hint: hint}
	}
	n := len(r.Conflicts)
	for _, k := range r.Kept {
		if k.Reason.Incomplete() {
			n++
		}
	}
	return &api.Error{
		Word: api.WordPartial, Message: Count(n, "path") + " could not be set cleanly",
		Hint: "the list above says why; 'rewind diff " + r.Target.Short + "' shows what still differs",
	}
}
