// Command smart-checkpoint is what an agent's hooks call: it hands the hook's payload to the daemon and the daemon's
// answer to the agent. Whatever happens it exits with 0 before its deadline, since anything else can block the agent,
// and it writes nothing to standard output that is not the answer. The one exception is its guard, which is registered
// only when asked for: it exits with 2 to refuse a tool call.
package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// release is the version of a release build (-ldflags "-X main.release=v1.2.3"), of this binary and of rewind alike.
var release string

func version() string {
	if release != "" {
		return release
	}
	return "devel"
}

// signalsAfter is when signals begin to be caught. That costs a quarter of what the whole process does, mostly a
// thread; by then a hook has usually ended, and no agent's patience is as short.
const signalsAfter = 10 * time.Millisecond

func main() {
	started := time.Now()
	defer func() {
		if p := recover(); p != nil {
			say("internal error: " + panicText(p))
		}
	}()
	// The last guard: where a file system or a pipe hangs, nothing else has an end.
	guard := time.AfterFunc(defaultDeadline, func() { os.Exit(0) })
	o, err := parseArgs(os.Args[1:])
	switch {
	case err != nil:
		say(err.Error() + "; " + usage)
		newPayload(started.Add(drainFor)).drain()
		return
	case o.version:
		writeAll(stdout, []byte("smart-checkpoint "+version()+"\n"))
		return
	}
	guard.Reset(time.Until(started.Add(o.deadline)))
	time.AfterFunc(signalsAfter, exitOnSignal)
	bin, daemon := besideThis() // asked for once: it is a system call
	keepHome(bin)
	if o.event == guardWord {
		os.Exit(judge(o, started))
	}
	newHook(o, bin, daemon, started).run()
}

// keepHome is for a home that is not where it is by default: a hook that was registered for it belongs to it, whether
// the agent was started where REWIND_HOME is set or not. This program is in its directory "system" then. In the usual
// place nothing is looked at.
func keepHome(bin string) {
	dir := filepath.Dir(bin)
	home := filepath.Dir(dir)
	if os.Getenv("REWIND_HOME") != "" || filepath.Base(dir) != "system" || home == filepath.Join(os.Getenv("HOME"), ".rewind") {
		return
	}
	if _, err := os.Lstat(filepath.Join(home, "lock")); err == nil {
		_ = os.Setenv("REWIND_HOME", home)
	}
}

// exitOnSignal ends the process with success when an agent's patience has run out.
func exitOnSignal() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	<-c
	os.Exit(0)
}

func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "unknown"
}
