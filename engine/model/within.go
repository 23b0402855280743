package model

import (
	"fmt"

	"rewind/internal/value"
)

// WithinCallError is returned for what cannot be taken back, asked for by a command that an agent started or may have
// started.
type WithinCallError struct {
	Agent value.Agent // whose program started the command; "": none was seen
	PID   int         // of that program
	Call  *value.AtWork
}

func (e *WithinCallError) Error() string {
	const what = "refused from within an agent's call, since nothing brings back what it takes"
	if e.Agent != "" {
		return fmt.Sprintf("%s: %s (process %d) started this command", what, e.Agent, e.PID)
	}
	tool := "a call"
	if n := len(e.Call.Tools); n > 0 && e.Call.Tools[n-1].Name != "" {
		tool = string(e.Call.Tools[n-1].Name)
	}
	return fmt.Sprintf("%s: %s of %s is under way here, and this command does not come from a person's "+
		"terminal", what, tool, e.Call.Session)
}
