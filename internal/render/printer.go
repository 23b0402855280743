package render

import (
	"fmt"

	"rewind/internal/term"
)

// A Printer prints the API's answers for people.
type Printer struct {
	*term.Streams
	Quiet bool // nothing of what say tells: what is printed is for a program
}

// Say writes a line of talk.
func (pr *Printer) Say(format string, args ...any) {
	if !pr.Quiet {
		fmt.Fprintf(pr.Err, "rewind: "+format+"\n", args...)
	}
}

// Notices tells what opening the project had to settle.
func (pr *Printer) Notices(list []string) {
	for _, n := range list {
		pr.Say("note: %s", term.Sanitize(n))
	}
}
