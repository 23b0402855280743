package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// shownNames is how many paths of one kind a restore names on the terminal; --json has them all.
const shownNames = 50

// doRestore sends a restore and tells what it did.
func doRestore[Req any](ctx context.Context, a *app, route api.Route[Req, api.RestoreResponse], req Req) error {
	r, said, err := ask(ctx, a, route, req, "comparing")
	if err != nil {
		return err
	}
	if !said {
		a.notices(r.Notices)
		a.tellRestore(r)
	}
	return partial(r)
}

// partial is the error of a restore that left something as it was.
func partial(r api.RestoreResponse) error {
	if !r.Partial {
		return nil
	}
	n := len(r.Conflicts)
	for _, k := range r.Kept {
		if k.Reason.Incomplete() {
			n++
		}
	}
	return &api.Error{
		Word: api.WordPartial, Message: count(n, "path") + " could not be set cleanly",
		Hint: "the list above says why; 'rewind diff " + r.Target.Short + "' shows what still differs",
	}
}

func (a *app) tellRestore(r api.RestoreResponse) {
	if len(r.Managed) > 0 { // nothing else was changed
		for _, m := range r.Managed {
			fmt.Fprintln(a.Out, managedWords(m))
		}
		if r.Operation > 0 {
			a.say("undo: rewind undo-restore %d", r.Operation)
		}
		return
	}
	a.tellTarget(r)
	if r.DryRun || len(r.Changes) <= shownNames {
		a.changeLines(a.Out, r.Changes, shownPaths)
	}
	a.tellReplaced(r)
	if !r.Parts { // each was chosen
		a.tellTaken(r)
	}
	stay := slices.Clone(r.Kept)
	for _, d := range r.KeptDirs {
		stay = append(stay, api.Kept{Path: d, Reason: value.KeptHolds})
	}
	a.tellKept(stay, false)
	a.hintOthers(r)
	a.tellConflicts(r.Conflicts)
	a.tellWithout(r.Without)
	a.tellMissing(r.Missing)
	a.tellConversation(r)
	a.tellAtWork(r)
	a.tellGit(r)
	if r.Operation > 0 && r.Kind != "abort" {
		undo := "rewind undo-restore"
		if r.Kind == "undo-restore" {
			undo += fmt.Sprintf(" %d", r.Operation)
		}
		a.say("undo: %s", undo)
	}
}

// tellTarget says in a line where a restore went.
func (a *app) tellTarget(r api.RestoreResponse) {
	target := fmt.Sprintf("%s (%s, %s)", a.Styled(term.ID, r.Target.Short), a.Time(r.Target.Time), term.Sanitize(what(r.Target)))
	switch {
	case r.ContextOnly:
		fmt.Fprintf(a.Out, "the files stay as they are; the conversation is to be that of %s\n", target)
	case r.DryRun:
		fmt.Fprintf(a.Out, "would go to %s\n", target)
	case r.Parts && r.Operation > 0:
		fmt.Fprintf(a.Out, "took parts of %s: %s changed\n", target, count(max(len(r.Changes)-len(r.Conflicts), 0), "path"))
	case r.Operation == 0 && r.Kind == "switch":
		fmt.Fprintf(a.Out, "nothing to do: the project stands on that session, at %s\n", target)
	case r.Operation == 0 && talked(r):
		fmt.Fprintf(a.Out, "no file to change: the project is at %s\n", target)
	case r.Operation == 0:
		fmt.Fprintf(a.Out, "nothing to do: the project is at %s\n", target)
	case r.Kind == "abort":
		fmt.Fprintf(a.Out, "taken back: the project is as it was before going to %s\n", target)
	default:
		if r.Saved != nil {
			fmt.Fprintf(a.Out, "saved the unsaved changes as %s\n", a.Styled(term.ID, r.Saved.Short))
		}
		fmt.Fprintf(a.Out, "went to %s: %s changed\n", target, count(max(len(r.Changes)-len(r.Conflicts), 0), "path"))
	}
}

// tellTaken says what --exact takes: whose it is and how much, and after it was done which.
func (a *app) tellTaken(r api.RestoreResponse) {
	for _, t := range r.Taken {
		whose := "no checkpoint has"
		if t.By != "" {
			whose = term.Sanitize(shortSession(t.By)) + " changed since"
		}
		if r.DryRun {
			a.names(fmt.Sprintf("--exact would take %s that %s", count(len(t.Paths), "path"), whose), t.Paths)
			continue
		}
		head := fmt.Sprintf("--exact took %s that %s", count(len(t.Paths), "path"), whose)
		if r.Safety != nil {
			head += fmt.Sprintf("; 'rewind cat %s:<path>' has what was there", r.Safety.Short)
		}
		a.names(head, t.Paths)
	}
}

// tellConflicts tells what a restore left alone, and where bytes are that somebody was writing.
func (a *app) tellConflicts(list []api.Conflict) {
	for i, head := range []string{"left as found:", "set, but the file that was there was in use; its bytes are kept:"} {
		first := true
		for _, c := range list {
			if (c.SavedAs != "") != (i == 1) {
				continue
			}
			if first {
				fmt.Fprintln(a.Out, a.Styled(term.Warn, head))
				first = false
			}
			line := "  " + term.Quote(string(c.Path)) + ": " + term.Sanitize(c.Reason)
			if c.SavedAs != "" {
				line += ", in " + term.Quote(string(c.SavedAs))
			}
			fmt.Fprintln(a.Out, line)
		}
	}
}

func (a *app) tellReplaced(r api.RestoreResponse) {
	head := "would replace, changed since the last checkpoint"
	if r.Safety != nil {
		head = fmt.Sprintf("replaced, changed since the last checkpoint; 'rewind cat %s:<path>' has them", r.Safety.Short)
	}
	if !r.DryRun && r.Safety == nil {
		return
	}
	a.names(head, r.Replaced)
}

func (a *app) tellGit(r api.RestoreResponse) {
	if r.GitState != "" {
		a.say("note: a %s is under way in git; rewind moved none of it", r.GitState)
	}
	if r.GitThen != nil && r.GitNow != nil && *r.GitThen != *r.GitNow {
		a.say("note: git was at %s then and stays at %s", headText(r.GitThen), headText(r.GitNow))
	}
}

func headText(h *api.Head) string {
	commit := h.Commit
	if len(commit) > 8 {
		commit = commit[:8]
	}
	if h.Branch == "" {
		return term.Sanitize(commit)
	}
	return term.Sanitize(strings.TrimSpace(h.Branch + " " + commit))
}

func (a *app) names(head string, paths []api.Text) {
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(a.Out, "%s:\n", head)
	for i, p := range paths {
		if i == shownNames {
			fmt.Fprintf(a.Out, "  ... and %d more\n", len(paths)-i)
			return
		}
		fmt.Fprintf(a.Out, "  %s\n", term.Quote(string(p)))
	}
}
