package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"rewind/api"
	"rewind/server"
)

// transport takes requests to the daemon, and to a handler in this process where there is none and none can be started.
type transport struct {
	off     bool   // REWIND_DAEMON=off: never the daemon
	quiet   bool   // no daemon is started for this command
	command string // the command line, for remedies
	notice  func(string)
	here    func() (*server.Server, error)

	noDaemon error // why the last request did not go to the daemon, unless that was asked for
}

func newTransport(command string) *transport {
	t := &transport{off: os.Getenv("REWIND_DAEMON") == "off", command: command}
	t.here = sync.OnceValues(func() (*server.Server, error) {
		return server.New(server.Options{Version: version(), LockWait: lockWait, Command: command})
	})
	return t
}

// fileOnly are the routes that need no store: a daemon that runs answers them, since it may have to let go of one, but none is started.
var fileOnly = map[string]bool{
	api.Config.Path: true, api.SetConfig.Path: true, api.SetHooks.Path: true, api.Stores.Path: true, api.DaemonStatus.Path: true, api.DaemonStop.Path: true,
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.noDaemon = nil
	if !t.off {
		s, err := t.daemon(!t.quiet && !fileOnly[req.URL.Path])
		if err != nil {
			return nil, err
		}
		resp, err := s.RoundTrip(req)
		if !errors.Is(err, api.ErrNoDaemon) {
			return resp, err
		}
		if s.Start != "" {
			t.noDaemon = err
		}
	}
	srv, err := t.here()
	if err != nil {
		return nil, err
	}
	return api.InProcess{Handler: srv}.RoundTrip(req)
}

// daemon is the way to the daemon; start: one is started if none runs.
func (t *transport) daemon(start bool) (api.Socket, error) {
	home, err := server.Home(t.command)
	if err != nil {
		return api.Socket{}, err
	}
	s := api.Socket{Home: home, Version: version(), Notice: t.notice}
	if start {
		exe, err := os.Executable()
		if err == nil {
			exe, err = filepath.EvalSymlinks(exe) // an upgrade replaces the link's target
		}
		if err == nil {
			s.Start = exe
		}
	}
	return s, nil
}

// wait returns when requests in this process have let go of their stores.
func (t *transport) wait() {
	if srv, err := t.here(); err == nil {
		srv.Wait()
	}
}
