package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"rewind/api"
	"rewind/internal/relay/hookwire"
	"rewind/server/door"
)

// A hook comes by two ways: from its own client, in hookwire's form, and from 'rewind hook', in the API's HTTP.

// takeHook takes a hook of its own client in. One of another version, or that speaks another number of the protocol,
// ends the daemon.
func (d *daemon) takeHook(x *door.Exchange) {
	defer func() {
		if p := recover(); p != nil {
			d.server.panicked("hook", p)
		}
	}()
	switch {
	case errors.Is(x.Err, hookwire.ErrProtocol):
		d.stop("a hook's client speaks another protocol")
		x.Answer(hookwire.Answer{Status: hookwire.OtherVersion})
		return
	case x.Err != nil:
		d.log.Warn("hook: request", "error", x.Err)
		x.Answer(hookwire.Answer{Status: hookwire.Refused})
		return
	case !sameVersion(x.Version, d.o.version):
		d.stop("a client has version " + printable(x.Version))
		x.Answer(hookwire.Answer{Status: hookwire.OtherVersion})
		return
	}
	w := &d.server.work
	if !w.Begin() {
		x.Answer(hookwire.Answer{Status: hookwire.Draining})
		return
	}
	defer w.Done()
	call := newCall(time.Now(), x.Wait)
	call.agent, call.word, call.cwd, call.began, call.id = x.Agent, x.Event, x.Cwd, x.Began, x.ID
	intake{d.server}.hook(call, x, wireReply{x})
}

type wireReply struct{ *door.Exchange }

func (r wireReply) answer(say hookSay) {
	if say.screen != "" {
		r.Answer(hookwire.Answer{Body: []byte(say.screen)})
		return
	}
	r.Answer(hookwire.Answer{Warn: say.line})
}
func (r wireReply) again() { r.Answer(hookwire.Answer{Status: hookwire.Draining}) }

// hookHTTP is hook for the API's route: the answer is always 200.
func (s intake) hookHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := readHookCall(r.Header, time.Now())
	if err != nil {
		s.log.Warn("hook", "error", err)
	}
	s.hook(call, r.Body, httpReply{http.NewResponseController(w), w})
}

func readHookCall(h http.Header, now time.Time) (*hookCall, error) {
	ms, err := strconv.ParseInt(h.Get(api.HeaderDeadline), 10, 64)
	if err != nil {
		ms = hookDeadline.Milliseconds()
	}
	c := newCall(now, uint64(max(ms, 0)))
	err = nil
	for name, field := range map[string]*string{
		api.HeaderAgent: &c.agent, api.HeaderEvent: &c.word, api.HeaderCwd: &c.cwd, api.HeaderBegan: &c.began,
	} {
		var e error
		if *field, e = url.PathUnescape(h.Get(name)); e != nil {
			err = errors.Join(err, fmt.Errorf("hook: header %s: %w", name, e))
		}
	}
	c.id, _ = strconv.ParseUint(h.Get(api.HeaderID), 16, 64) // 0: unknown
	return c, err
}

type httpReply struct {
	*http.ResponseController
	w http.ResponseWriter
}

func (r httpReply) answer(say hookSay) {
	if say.line != "" {
		r.w.Header().Set(api.HeaderWarn, url.PathEscape(say.line))
	}
	r.w.Header().Set("Content-Length", "0")
	r.w.WriteHeader(http.StatusOK)
	_ = r.Flush() // in process, who waits gives up by itself
}

func (r httpReply) again() { r.w.WriteHeader(api.StatusDraining) }
