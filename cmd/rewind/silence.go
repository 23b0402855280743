package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"

	"rewind/api"
	"rewind/internal/memlimit"
	"rewind/internal/procstate"
	"rewind/internal/relay"
	"rewind/internal/term"
)

// silence is what is known of a daemon that has not answered yet. A listener of the API tells it, from a goroutine of its own.
type silence struct {
	say  func(string) // writes a line, whatever is drawn
	mu   sync.Mutex
	disk int // how often in a row it waited for a disk
}

// diskLooks is how often in a row a daemon that lives must wait for a disk before that is said: a busy disk makes it wait for moments.
const diskLooks = 3

// tell says which process it is that does not answer, once. One that answers another question works, and says so by its progress.
func (s *silence) tell(pid int, answers bool) bool {
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
	s.say(silentText(p))
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

// letGoOn lets a daemon that is stopped go on, so that it can end; it reports whether one was.
func letGoOn() bool {
	home, err := relay.Home()
	if err != nil {
		return false
	}
	sock, err := relay.SocketPath(home)
	if err != nil {
		return false
	}
	if _, err := relay.TrustDirs(home); err != nil {
		return false
	}
	c, err := relay.Dial(sock) // who serves it is this user
	if err != nil {
		return false
	}
	pid := c.PID()
	_ = c.Close()
	if pid <= 1 || procstate.See(pid).State != procstate.Stopped {
		return false
	}
	return syscall.Kill(pid, syscall.SIGCONT) == nil
}

// cutText is the error of a daemon that ended before it answered, and why it did as far as that can be seen.
func cutText(err error) *api.Error {
	told := &api.Error{Word: api.WordFailed, Message: api.ErrCut.Error(), Hint: "'rewind ops' shows whether it was done"}
	var cut *api.CutError
	if !errors.As(err, &cut) || !cut.Killed {
		return told
	}
	who := "the daemon"
	if cut.PID > 0 {
		who += fmt.Sprintf(" (process %d)", cut.PID)
	}
	told.Message = who + " was killed before it answered"
	forMemory(told)
	return told
}

// childText is the error of a process of this command's own that ended before it answered.
func childText(ended *api.EndedError) *api.Error {
	told := &api.Error{Word: api.WordFailed, Message: ended.Error(), Hint: "'rewind ops' shows whether it was done"}
	if ended.Code < 0 {
		told.Message = "rewindd was killed before it answered"
		forMemory(told)
	}
	return told
}

// forMemory adds that a process was killed for memory perhaps, where this one's is bounded as that one's was.
func forMemory(told *api.Error) {
	limit := memlimit.Here()
	if limit.Bytes == 0 {
		return
	}
	told.Message += fmt.Sprintf(", perhaps for memory (limit %s", term.Size(limit.Bytes))
	if limit.Kills > 0 {
		told.Message += fmt.Sprintf("; processes that the kernel has killed here: %d", limit.Kills)
	}
	told.Message += ")"
	told.Hint += "; give it more memory, or keep large files out: 'rewind config limits.file_size 20MB', .rewindignore"
}

// note writes a line to standard error above a progress that may be drawn there.
func (a *app) note(text string) {
	text = "rewind: note: " + strings.TrimSpace(text)
	if bar := a.bar.Load(); bar != nil {
		bar.Line(text)
		return
	}
	fmt.Fprintln(a.Err, text)
}
