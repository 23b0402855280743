package server

import (
	"encoding/json"
	"net/http"
	"net/url"

	"rewind/api"
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

// guard is the daemon's door: what no client of ours sends is refused before anything is looked at, and so is a client of another version,
// which ends the daemon. A handler that panics is an error of its request.
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
