package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"rewind/api"
	"rewind/internal/procstate"
	"rewind/internal/programs"
	"rewind/internal/relay"
	"rewind/internal/render"
)

// transport takes requests to the daemon, and to a process of this command's own where there is none and none can be
// started.
type transport struct {
	off    bool // REWIND_DAEMON=off: never the daemon
	quiet  bool // no daemon is started for this command
	only   bool // where none runs, nobody else is asked
	notice func(string)
	silent func(text string) // told when the daemon does not answer; nil: nobody is
	own    *api.Child

	noDaemon error // why the last request did not go to the daemon, unless that was asked for
	failed   error // why the process of its own has not answered the last request
}

// newTransport makes the transport of a command line, which remedies name.
func newTransport(command string) *transport {
	return &transport{
		off: os.Getenv("REWIND_DAEMON") == "off", own: &api.Child{
			Path: daemonProgram(), Version: version(), Command: command,
			Stderr: os.Stderr, Serve: serveHere,
		},
	}
}

// self is the path of this program; tests are another one.
var self = os.Executable

// serveHere is in the place of a process of a command's own; nil but in tests.
var serveHere func(in, out *os.File) int

// daemonProgram is rewindd beside this program, links followed: an upgrade replaces a link's target. It is not looked
// for anywhere else: what is installed together belongs together.
func daemonProgram() string {
	path, err := self()
	if err == nil && runtime.GOOS != "linux" { // there the kernel has followed them
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return programs.Daemon
	}
	return programs.Path(filepath.Dir(path), programs.Daemon)
}

// fileOnly are the routes that need no store: a daemon that runs answers them, since it may have to let go of one, but
// none is started.
var fileOnly = map[string]bool{
	api.Config.Path: true, api.SetConfig.Path: true, api.SetHooks.Path: true, api.Stores.Path: true, api.DaemonStatus.Path: true,
	api.DaemonStop.Path: true,
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.noDaemon, t.failed = nil, nil
	req.Header.Set(api.HeaderProcess, strconv.Itoa(os.Getpid()))
	home, err := relay.Home()
	if err == nil {
		err = relay.CheckHome(home)
	}
	if t.off || err != nil || req.URL.Path == api.Mend.Path { // the process of its own says what is wrong with a home
		return t.alone(req)
	}
	s := api.Socket{Home: home, Version: version(), Notice: t.notice}
	if t.silent != nil {
		s.Silent = procstate.OnSilence(func(p procstate.Process) { t.silent(render.SilentText(p)) })
	}
	if !t.quiet && !t.only && !fileOnly[req.URL.Path] {
		s.Start = t.own.Path
	}
	resp, err := s.RoundTrip(req)
	if !errors.Is(err, api.ErrNoDaemon) {
		return resp, err
	}
	if t.only {
		return nil, &api.Error{
			Word: api.WordFailed, Message: "no daemon runs, and none is started for a glance",
			Hint: "any other command starts it; hooks do, too",
		}
	}
	if s.Start != "" {
		t.noDaemon = err
	}
	return t.alone(req)
}

// alone asks the process of its own.
func (t *transport) alone(req *http.Request) (*http.Response, error) {
	resp, err := t.own.RoundTrip(req)
	t.failed = err
	var start *api.StartError
	var other *api.VersionError
	if errors.As(err, &start) || errors.As(err, &other) {
		hint := "rewind's programs are installed together: " + programs.InstallRemedy
		err = &api.Error{Word: api.WordFailed, Message: err.Error(), Hint: hint}
	}
	return resp, err
}
