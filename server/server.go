// Package server answers the API's requests with the engine: it translates types and errors and decides nothing.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"rewind/api"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/server/ndjson"
	"rewind/server/registry"
	"rewind/server/rundir"
	"rewind/server/work"
)

// serverOptions of a server.
type serverOptions struct {
	version  string
	lockWait time.Duration // how long a request waits for a store that another process has open
	command  string        // the command line that is carried out, for remedies
}

// server is the handler of the API. Safe for concurrent use.
type server struct {
	o        serverOptions
	home     project.Home
	mux      *http.ServeMux
	work     work.Count
	stores   opener
	configs  *project.Configs
	projects project.Projects
	began    sessionHomes
	blind    blindness
	sights   sights
	linking  sync.Mutex // held while a worktree of git's is set up
	run      rundir.Dir
	degraded degraded
	bells    bells
	log      *slog.Logger
	daemon   *daemon         // nil: the server lives for one command
	base     context.Context // of work that outlives its request
}

// maxRequest bounds a request's body, in bytes.
const maxRequest = 64 << 20

// newOneShot returns the handler of a process that lives for one command, for the home directory that the environment
// names: stores are opened for each request.
func newOneShot(o serverOptions) (*server, error) {
	home, err := project.DefaultHome()
	if err != nil {
		return nil, tellHome(err, o.command)
	}
	s := newServer(o, home, rundir.Find(home.Dir), slog.New(slog.DiscardHandler))
	s.stores = oneShot{home, s.engineOptions()}
	return s, nil
}

func newServer(o serverOptions, home project.Home, run rundir.Dir, log *slog.Logger) *server {
	s := &server{
		o: o, home: home, mux: http.NewServeMux(), configs: &project.Configs{}, run: run,
		blind: blindness{home: home.Dir, dir: run}, degraded: degraded{
			home: home.Dir,
			dir:  run,
		}, log: log,
		base: context.Background(),
	}
	s.degraded.ring = s.bells.ring
	for _, of := range []interface{ routes() }{
		setup{s}, states{s}, searches{s}, restores{s}, conversations{s}, health{s}, upkeep{s}, stores{s}, worktrees{s},
	} {
		of.routes()
	}
	handle(s, api.UI, s.ui)
	handle(s, api.DaemonStatus, s.daemonStatus)
	handle(s, api.DaemonStop, s.daemonStop)
	s.mux.HandleFunc("GET "+api.EventsPath, s.events)
	s.mux.HandleFunc("POST "+api.HookPath, intake{s}.hookHTTP)
	return s
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.work.Begin() {
		w.WriteHeader(api.StatusDraining)
		return
	}
	defer s.work.Done()
	s.mux.ServeHTTP(w, r)
}

// wait returns when every request has been answered and has let go of its store.
func (s *server) wait() { <-s.work.Quiet() }

// handler does the work of one route; progress may be called from any goroutine.
type handler[Req, Resp any] func(ctx context.Context, req Req, progress model.Progress) (Resp, error)

// handle registers a route: a request's JSON in, progress lines and one result or error line out.
func handle[Req, Resp any](s *server, route api.Route[Req, Resp], h handler[Req, Resp]) {
	s.mux.HandleFunc(route.Method+" "+route.Path, answer(func(ctx context.Context, req Req, p model.Progress) (Resp, error) {
		in, of := any(req).(interface{ ProjectDir() string })
		if of && in.ProjectDir() != "" { // some ask of no project
			if err := absolute(in.ProjectDir()); err != nil {
				var none Resp
				return none, err
			}
		}
		resp, err := h(ctx, req, p)
		if of && err != nil {
			err = s.asked(ctx, in.ProjectDir(), err)
		}
		return resp, err
	}))
}

func answer[Req, Resp any](h handler[Req, Resp]) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out := ndjson.New(w)
		defer out.Stop()
		var req Req
		if err := readRequest(r.Body, &req); err != nil {
			fail(out, err)
			return
		}
		ctx, damaged := withDamage(r.Context())
		told := func(at api.Progress) {
			out.Progress(api.Line[Resp]{Progress: &at}, at.Phase != "" && at.Files == 0)
		}
		process, _ := strconv.Atoi(r.Header.Get(api.HeaderProcess))
		ctx = model.WithAsker(ctx, model.Asker{Process: process, Peer: peerOf(ctx), Told: told})
		resp, err := h(ctx, req, func(files int, bytes int64) { told(api.Progress{Files: files, Bytes: bytes}) })
		if err != nil {
			fail(out, err)
			return
		}
		out.End(api.Line[Resp]{Result: &resp, Damaged: *damaged})
	}
}

type errorLine struct {
	Error *api.Error `json:"error"`
}

func fail(out *ndjson.Lines, err error) {
	told := tell(err)
	status := httpStatus(told.Word)
	if errors.Is(err, registry.ErrEnding) {
		status = api.StatusDraining // nothing was begun
	}
	out.Fail(status, errorLine{told})
}

func readRequest(body io.Reader, req any) error {
	dec := json.NewDecoder(io.LimitReader(body, maxRequest))
	// a client that asks for something this server does not know must not get something else
	dec.DisallowUnknownFields()
	bad := func(format string, args ...any) error {
		return &api.Error{Code: api.CodeOf(api.WordUsage), Word: api.WordUsage, Message: "read request: " + fmt.Sprintf(format, args...)}
	}
	err := dec.Decode(req)
	var other *json.UnmarshalTypeError
	switch {
	case err == io.EOF:
		return bad("it has no body, want an object of JSON")
	case errors.As(err, &other) && other.Field == "":
		return bad("want an object of JSON, not one %s", other.Value)
	case errors.As(err, &other):
		return bad("field %q does not take one %s", other.Field[strings.LastIndexByte(other.Field, '.')+1:], other.Value)
	case err != nil:
		return bad("%v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return bad("something follows its object")
	}
	return nil
}

func (s *server) engineOptions() project.Options { return project.Options{LockWait: s.o.lockWait} }
