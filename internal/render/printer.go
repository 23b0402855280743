package render

import (
	"fmt"

	"rewind/internal/term"
)

// A Printer prints the API's answers for people.
type Printer struct {
	*term.Streams
	Quiet bool // nothing of what say tells: what is printed is for a program
	Keys  bool // keys of the picker are named, not flags
}

// Say writes a line of talk.
func (pr *Printer) Say(format string, args ...any) {
	if !pr.Quiet {
		fmt.Fprintf(pr.Err, "rewind: "+format+"\n", args...)
	}
}

// flag is a flag of a command, or the picker's key for it.
func (pr *Printer) flag(flag, key string) string {
	if pr.Keys {
		return key
	}
	return flag
}

// Notices tells what opening the project had to settle.
func (pr *Printer) Notices(list []string) {
	for _, n := range list {
		pr.Say("note: %s", term.Sanitize(n))
	}
}
