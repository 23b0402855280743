package picker

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"time"

	"rewind/api"
	"rewind/internal/procstate"
	"rewind/internal/relay"
	"rewind/internal/render"
)

// How often the log is asked for: at most, while the daemon tells what happens; and where there is none.
const (
	atMost    = 100 * time.Millisecond
	pollEvery = 2 * time.Second
)

// watch calls tell whenever something may have changed in a project, until ctx ends: when the daemon says so, or after
// a while where none does.
func watch(ctx context.Context, rt http.RoundTripper, project api.Project, tell func()) {
	news := make(chan struct{}, 1)
	happened := func() {
		select {
		case news <- struct{}{}:
		default: // it is known
		}
	}
	go func() {
		for ctx.Err() == nil {
			events := api.Events(ctx, &api.Client{Transport: rt}, api.EventsRequest{Project: project})
			for range events { //nolint:errcheck // a stream that ended is asked for again
				happened()
			}
			pause(ctx, pollEvery) // no daemon, another one, or none of this version
			happened()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-news:
			tell()
			pause(ctx, atMost)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// telling is the way to the daemon that tells what happens: a request to it lasts, so that the process that answers
// where there can be no daemon, which takes one at a time, is none.
type telling struct{ *transport }

// RoundTrip implements http.RoundTripper.
func (t telling) RoundTrip(req *http.Request) (*http.Response, error) {
	s, err := t.socket()
	if err != nil {
		return nil, err
	}
	req.Header.Set(api.HeaderProcess, strconv.Itoa(os.Getpid()))
	return s.RoundTrip(req)
}

// socket is the daemon's; api.ErrNoDaemon: there can be none.
func (t *transport) socket() (s api.Socket, err error) {
	home, err := relay.Home()
	if err == nil {
		err = relay.CheckHome(home)
	}
	if err == nil && os.Getenv("REWIND_DAEMON") == "off" {
		err = api.ErrNoDaemon
	}
	silent := procstate.OnSilence(func(p procstate.Process) { t.silent(render.SilentText(p)) })
	return api.Socket{Home: home, Version: t.version, Start: t.own.Path, Silent: silent}, err
}
