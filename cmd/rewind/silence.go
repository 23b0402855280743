package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"rewind/api"
	"rewind/internal/memlimit"
	"rewind/internal/procstate"
	"rewind/internal/relay"
	"rewind/internal/term"
)

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
