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

	"rewind/internal/detach"
	"rewind/internal/term"
)

func main() { os.Exit(runMain(os.Args[1:], term.System())) }

// interruptGrace is how long further interrupts are taken for echoes of the first: some programs send it to a process
// and to its group.
const interruptGrace = time.Second

// runMain runs one command line and returns the exit code. It is never 2: a panic would exit with that.
func runMain(args []string, s *term.Streams) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Err, "rewind: error: internal error: %v\n%s", p, debug.Stack())
			code = 1
		}
	}()
	detach.Own()
	detach.Raise() // what is written has to fit, and a limit that may be raised is nobody's will
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	go func() {
		<-ctx.Done()
		time.Sleep(interruptGrace)
		stop() // from here on an interrupt ends the process at once; a restore is then half done
	}()
	return execute(ctx, args, s)
}
