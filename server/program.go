package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"rewind/api"
	"rewind/internal/detach"
	"rewind/internal/memlimit"
	"rewind/internal/relay"
)

// usage are the command lines of Main.
const usage = `usage: rewindd daemon [--json] [<version>]   serve this user's stores; the version is that of who starts it
       rewindd serve                        answer one client on standard input and output
       rewindd --version
`

// interruptGrace is how long further interrupts are taken for echoes of the first: some programs send it to a process
// and to its group.
const interruptGrace = time.Second

// Main is the program rewindd, of a version; it returns the exit code. Commands and hooks start it: a person does with
// 'rewind daemon'.
func Main(args []string, version string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "rewindd: error: internal error: %v\n%s", p, debug.Stack())
			code = 1
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	go func() {
		<-ctx.Done()
		time.Sleep(interruptGrace)
		stop() // from here on an interrupt ends the process at once; a restore is then half done
	}()
	switch {
	case len(args) == 1 && args[0] == "--version":
		fmt.Fprintf(stdout, "rewindd %s\n", version)
		return 0
	case len(args) == 1 && args[0] == "serve":
		detach.Own()
		// what is written has to fit, and a limit that may be raised is nobody's will
		detach.Raise()
		memlimit.Apply(memlimit.Here())
		// a client that has gone does not end what is taken back
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		if err := serve(ctx, version, stdin, stdout); err != nil {
			fmt.Fprintf(stderr, "rewindd: error: %s\n", printable(err.Error()))
			return 1
		}
		return 0
	case len(args) >= 1 && args[0] == "daemon":
		return daemonMain(ctx, args[1:], version, stderr)
	}
	fmt.Fprint(stderr, usage)
	return api.CodeOf(api.WordUsage)
}

func daemonMain(ctx context.Context, args []string, version string, stderr io.Writer) int {
	asJSON := len(args) > 0 && args[0] == "--json"
	if asJSON {
		args = args[1:]
	}
	var err error
	switch {
	case len(args) > 1:
		err = &api.Error{Word: api.WordUsage, Message: "daemon takes no arguments"}
	case len(args) == 1 && !sameVersion(args[0], version):
		err = fmt.Errorf("rewindd has version %s, and who starts it %s", version, printable(args[0]))
	default:
		err = runDaemon(ctx, version)
	}
	if err == nil {
		return 0
	}
	told := tell(err)
	told.Code = api.CodeOf(told.Word)
	if asJSON {
		_ = json.NewEncoder(stderr).Encode(errorLine{told})
		return told.Code
	}
	fmt.Fprintf(stderr, "rewind: error: %s\n", printable(told.Message))
	if told.Hint != "" {
		fmt.Fprintf(stderr, "rewind: hint: %s\n", printable(told.Hint))
	}
	return told.Code
}

func runDaemon(ctx context.Context, version string) error {
	o := daemonOptions{
		version: version, noWatch: os.Getenv("REWIND_WATCH") == "off",
		noAfterwards: os.Getenv("REWIND_AFTERWARDS") == "off",
	}
	if d, err := time.ParseDuration(os.Getenv("REWIND_IDLE")); err == nil {
		o.idle = d
	}
	if err := detach.Self(relay.Environ()); err != nil { // it serves others than who started it
		return err
	}
	memlimit.Apply(memlimit.Here())
	return serveDaemon(ctx, o)
}

// develHook is what the hook's client says when it was built without a version: it cannot look its revision up as
// cheaply as it has to start.
const develHook = "devel"

// sameVersion reports whether a client that says to have a version has ours. The hook's client says what it was built
// with alone: it cannot look its revision up as cheaply as it has to start.
func sameVersion(theirs, ours string) bool {
	return theirs == ours || theirs == develHook && strings.HasPrefix(ours, develHook)
}
