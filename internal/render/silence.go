package render

import (
	"fmt"

	"rewind/internal/procstate"
	"rewind/internal/term"
)

// SilentText says of a daemon that does not answer what is wrong, and what to do.
func SilentText(p procstate.Process) string {
	who := "the daemon"
	if p.PID > 0 {
		who = fmt.Sprintf("process %d", p.PID)
		if p.Name != "" {
			who += fmt.Sprintf(" (%s)", term.Sanitize(p.Name))
		}
	}
	text := who + " does not answer"
	switch p.State {
	case procstate.Stopped:
		text += fmt.Sprintf(": it is stopped; 'kill -CONT %d' lets it go on, 'rewind daemon stop' ends it", p.PID)
	case procstate.Disk:
		text += fmt.Sprintf(": it waits for a disk or a network mount; 'kill -9 %d' ends it as soon as that answers", p.PID)
	case procstate.Alive, procstate.Gone:
		if p.PID > 0 {
			text += fmt.Sprintf("; 'kill -9 %d' ends it", p.PID)
		}
	}
	return text + "; nothing that is stored is lost. Waiting: Ctrl-C ends this command"
}
