package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/sessions"
)

// host is the only Host of a request: a browser, which names where it believes to be, never sends it.
const host = "rewind"

// speaksWith reports whether a request is of our version, or of a kind that is the same in all of them.
func (d *daemon) speaksWith(r *http.Request) bool {
	switch r.URL.Path {
	case api.DaemonStatus.Path, api.DaemonStop.Path:
		return true
	case api.HookPath:
		theirs, err := url.PathUnescape(r.Header.Get(api.HeaderVersion))
		return err == nil && sameVersion(theirs, d.o.version)
	default:
		return r.Header.Get(api.HeaderVersion) == url.PathEscape(d.o.version)
	}
}

// guard is the daemon's door: what no client of ours sends is refused before anything is looked at, and so is a client
// of another version, which ends the daemon. A handler that panics is an error of its request.
func (d *daemon) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(api.HeaderVersion, url.PathEscape(d.o.version))
		if _, browser := r.Header["Origin"]; browser || r.Host != host {
			d.log.Warn("refused: not a client", "host", r.Host)
			http.Error(w, "not a client of rewind", http.StatusForbidden)
			return
		}
		if !d.speaksWith(r) {
			d.stop("a client has version " + printable(r.Header.Get(api.HeaderVersion)))
			http.Error(w, "the daemon of rewind has version "+printable(d.o.version)+", and ends for a client of another one",
				api.StatusOtherVersion)
			return
		}
		defer func() {
			p := recover()
			if p == nil || p == http.ErrAbortHandler {
				return
			}
			d.server.panicked(r.URL.Path, p)
			if r.URL.Path == api.HookPath {
				return // 200
			}
			w.WriteHeader(http.StatusInternalServerError) // where nothing has been sent yet
			_ = json.NewEncoder(w).Encode(errorLine{&api.Error{
				Code: api.CodeOf(api.WordFailed), Word: api.WordFailed,
				Message: "internal error; the daemon's log says where",
			}})
		}()
		next.ServeHTTP(w, r)
	})
}

// peerKey is the key of a request's place for the process that sent it.
type peerKey struct{}

func withPeer(ctx context.Context, process int) context.Context {
	return context.WithValue(ctx, peerKey{}, process)
}

func peerOf(ctx context.Context) int {
	process, _ := ctx.Value(peerKey{}).(int)
	return process
}

// askedBy has a handler take its requests for a process's.
func askedBy(process int, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(withPeer(r.Context(), process)))
	})
}

// fromPerson refuses a request that comes from within an agent's call; it is for what cannot be taken back, and looked
// at before anything else is. dir is the project that it is about. What keeps a store from being asked is for who opens
// it next.
func (s *server) fromPerson(ctx context.Context, dir string) error {
	peer := model.AskerOf(ctx).Peer
	if peer == model.NoPeer {
		return nil
	}
	if err := sessions.CheckPerson(s.home.Dir, peer); err != nil {
		return err
	}
	err := s.read(withoutDamage(ctx), dir, func(e *engine.Engine) error { return e.Sessions.CheckPerson(peer) })
	var within *model.WithinCallError
	if errors.As(err, &within) {
		return err
	}
	return ctx.Err()
}

// recently is for how long a call that nothing is heard of may still be open, at most.
const recently = time.Hour

// fromPersonAnywhere is fromPerson for what is about all projects, or none: dir's, and those whose stores were written
// lately.
func (s *server) fromPersonAnywhere(ctx context.Context, dir string) error {
	if err := s.fromPerson(ctx, dir); err != nil {
		return err
	}
	for _, st := range s.home.Stores() {
		if st.Wrong != "" || st.Used == nil || time.Since(*st.Used) > recently {
			continue
		}
		if err := s.fromPerson(ctx, string(st.Root)); err != nil {
			return err
		}
	}
	return nil
}
