package render

import (
	"fmt"
	"sync"

	"rewind/internal/procstate"
	"rewind/internal/term"
)

// Silence is what is known of a daemon that has not answered yet. A listener of the API tells it, from a goroutine of
// its own.
type Silence struct {
	Say  func(string) // shows a line, whatever is drawn
	mu   sync.Mutex
	disk int // how often in a row it waited for a disk
}

// diskLooks is how often in a row a daemon that lives must wait for a disk before that is said: a busy disk makes it
// wait for moments.
const diskLooks = 3

// Tell says which process it is that does not answer, once. One that answers another question works, and says so by its
// progress.
func (s *Silence) Tell(pid int, answers bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := procstate.Process{State: procstate.Alive}
	if pid > 0 {
		p = procstate.See(pid)
	}
	if s.disk++; p.State != procstate.Disk {
		s.disk = 0
	}
	if answers && s.disk < diskLooks {
		return false
	}
	s.Say(silentText(p))
	return true
}

// silentText is what is wrong, and what to do.
func silentText(p procstate.Process) string {
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
