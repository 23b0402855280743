package render

import (
	"fmt"
	"io"

	"rewind/api"
	"rewind/internal/naming"
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

// UncapturedHead is what is said of files that a restore does not take back, before their paths: who edited them, and
// which.
func UncapturedHead(u api.Uncaptured) string {
	by := term.Sanitize(naming.TurnWords(u.Turn, u.Whose))
	if u.Turn == 0 {
		by = SessionWords(u.Session)
	}
	return "stay as they are, not captured, edited by " + by
}

// tellUncaptured names, at a restore, the files that agents edited behind its target and that no checkpoint has as they
// were.
func (pr *Printer) tellUncaptured(list []api.Uncaptured) {
	var heads []string
	paths := map[string][]string{}
	for _, u := range list {
		head := UncapturedHead(u)
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
