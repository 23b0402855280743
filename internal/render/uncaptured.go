package render

import (
	"fmt"
	"io"
	"slices"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// uncapturedWords say why no checkpoint has a file that an agent edited, where the word for it does not.
var uncapturedWords = map[string]string{
	value.ReasonOutside: "outside of the project", "size": "over the size limit", "ignored": "ignored, first seen after that edit",
	"built-in": "in what is never captured", "pipe": "a pipe", "socket": "a socket", "device": "a device",
}

// UncapturedPath is a file that an agent edited and no checkpoint has, with the reason.
func UncapturedPath(u api.Uncaptured) string {
	why := uncapturedWords[u.Reason]
	if why == "" {
		why = u.Reason
	}
	if u.Project != "" {
		why = "in the project " + term.Quote(string(u.Project)) + ", which has it"
	}
	return term.Quote(string(u.Path)) + " (" + why + ")"
}

// uncapturedBy says whose edits of a list those are: of which turn, and with several sessions of which one.
func uncapturedBy(u api.Uncaptured, list []api.Uncaptured) string {
	by := fmt.Sprintf("turn %d", u.Turn)
	if u.Turn == 0 {
		return SessionWords(u.Session)
	}
	if slices.ContainsFunc(list, func(o api.Uncaptured) bool { return o.Session != u.Session }) {
		by += " of " + SessionWords(u.Session)
	}
	return by
}

// UncapturedHead is what is said of files of a list that a restore does not take back, before their paths: who edited
// them, and which.
func UncapturedHead(u api.Uncaptured, list []api.Uncaptured) string {
	return "stay as they are, not captured, edited by " + uncapturedBy(u, list)
}

// tellUncaptured names, at a restore, the files that agents edited behind its target and that no checkpoint has as they
// were.
func (pr *Printer) tellUncaptured(list []api.Uncaptured) {
	var heads []string
	paths := map[string][]string{}
	for _, u := range list {
		head := UncapturedHead(u, list)
		if paths[head] == nil {
			heads = append(heads, head)
		}
		paths[head] = append(paths[head], UncapturedPath(u))
	}
	for _, head := range heads {
		pr.lines(pr.Out, head, paths[head])
	}
}

// ShowUncaptured names the files that a turn edited and no checkpoint has as they were.
func (pr *Printer) ShowUncaptured(w io.Writer, list []api.Uncaptured) {
	if len(list) == 0 {
		return
	}
	var paths []string
	for _, u := range list {
		paths = append(paths, UncapturedPath(u))
	}
	fmt.Fprintln(w)
	pr.lines(w, pr.Styled(term.Bold, "edited by this turn, not captured"), paths)
}

// lines prints texts below their heading.
func (pr *Printer) lines(w io.Writer, head string, texts []string) {
	fmt.Fprintf(w, "%s:\n", head)
	for i, text := range texts {
		if i == ShownNames {
			fmt.Fprintf(w, "  ... and %d more\n", len(texts)-i)
			return
		}
		fmt.Fprintf(w, "  %s\n", text)
	}
}
