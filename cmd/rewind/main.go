// Command rewind is a perfect memory and a perfect undo for work with coding agents. It is a client of the API; what
// it does itself is flags, words and exit codes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"rewind/internal/confine"
	"rewind/internal/detach"
	"rewind/internal/term"
)

func main() { os.Exit(runMain(os.Args[1:], term.System())) }

// interruptGrace is how long further interrupts are taken for echoes of the first: some programs send it to a process
// and to its group.
const interruptGrace = time.Second

// signalsAfter is when signals begin to be caught. That costs an eighth of what a short command does, mostly a thread;
// before that an interrupt ends this process, which whoever works for it takes for one.
const signalsAfter = 10 * time.Millisecond

// cancelOnSignal has the first interrupt take back what runs, and one that comes later end the process at once: the
// answer is lost then.
func cancelOnSignal(cancel context.CancelFunc) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	<-c
	cancel()
	time.Sleep(interruptGrace)
	signal.Stop(c)
}

// runMain runs one command line and returns the exit code. It is never 2: a panic would exit with that.
func runMain(args []string, s *term.Streams) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Err, "rewind: error: internal error: %v\n%s", p, debug.Stack())
			code = 1
		}
	}()
	if len(args) == 1 && args[0] == confine.Word {
		return confine.Main()
	}
	detach.Own()
	detach.Raise() // what is written has to fit, and a limit that may be raised is nobody's will
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer time.AfterFunc(signalsAfter, func() { cancelOnSignal(cancel) }).Stop()
	return execute(ctx, args, s)
}
