package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/internal/kv"
)

// Options of a server.
type Options struct {
	Version  string
	LockWait time.Duration // how long a request waits for a store that another process has open
}

// Server is the handler of the API. Safe for concurrent use.
type Server struct {
	o    Options
	home engine.Home
	mux  *http.ServeMux
	wg   sync.WaitGroup
}

// maxRequest bounds a request's body, in bytes.
const maxRequest = 64 << 20

// New returns the handler, for the home directory that the environment names.
func New(o Options) (*Server, error) {
	home, err := engine.DefaultHome()
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, home: home, mux: http.NewServeMux()}
	handle(s, api.Init, s.init)
	handle(s, api.Save, s.save)
	handle(s, api.List, s.list)
	handle(s, api.Show, s.show)
	handle(s, api.Diff, s.diff)
	handle(s, api.Checkout, s.checkout)
	handle(s, api.Undo, s.undo)
	handle(s, api.Redo, s.redo)
	handle(s, api.UndoRestore, s.undoRestore)
	handle(s, api.Ops, s.ops)
	handle(s, api.Tag, s.tag)
	handle(s, api.Tags, s.tags)
	handle(s, api.Status, s.status)
	handle(s, api.Verify, s.verify)
	handle(s, api.Config, s.config)
	handle(s, api.SetConfig, s.setConfig)
	handle(s, api.Version, s.version)
	s.mux.HandleFunc("GET "+api.CatPath, s.cat)
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.wg.Add(1)
	defer s.wg.Done()
	s.mux.ServeHTTP(w, r)
}

// Wait returns when every request has been answered and has let go of its store.
func (s *Server) Wait() { s.wg.Wait() }

// handler does the work of one route; progress may be called from any goroutine.
type handler[Req, Resp any] func(ctx context.Context, req Req, progress engine.Progress) (Resp, error)

// handle registers a route: a request's JSON in, progress lines and one result or error line out.
func handle[Req, Resp any](s *Server, route api.Route[Req, Resp], h handler[Req, Resp]) {
	s.mux.HandleFunc(route.Method+" "+route.Path, func(w http.ResponseWriter, r *http.Request) {
		out := &lines{w: w, enc: json.NewEncoder(w)}
		out.enc.SetEscapeHTML(false)
		var req Req
		if err := readRequest(r.Body, &req); err != nil {
			out.fail(err)
			return
		}
		resp, err := h(r.Context(), req, func(files int, bytes int64) {
			out.progress(api.Line[Resp]{Progress: &api.Progress{Files: files, Bytes: bytes}})
		})
		if err != nil {
			out.fail(err)
			return
		}
		out.end(api.Line[Resp]{Result: &resp})
	})
}

func readRequest(body io.Reader, req any) error {
	dec := json.NewDecoder(io.LimitReader(body, maxRequest))
	dec.DisallowUnknownFields() // a client that asks for something this server does not know must not get something else
	if err := dec.Decode(req); err != nil {
		return &api.Error{Code: api.CodeOf(api.WordUsage), Word: api.WordUsage, Message: "read request: " + err.Error()}
	}
	return nil
}

// lines writes a response.
type lines struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	enc   *json.Encoder
	begun bool
	ended bool
	last  time.Time
}

// progressEvery is the shortest time between two progress lines.
const progressEvery = 50 * time.Millisecond

func (l *lines) progress(line any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || time.Since(l.last) < progressEvery {
		return
	}
	l.begun, l.last = true, time.Now()
	_ = l.enc.Encode(line) // a client that is gone is noticed by the request's context
	if f, ok := l.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (l *lines) end(line any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	_ = l.enc.Encode(line)
}

func (l *lines) fail(err error) {
	l.mu.Lock()
	begun := l.begun
	l.mu.Unlock()
	told := tell(err)
	if !begun {
		l.w.WriteHeader(httpStatus(told.Word))
	}
	l.end(api.Line[struct{}]{Error: told})
}

// project opens the project of dir for one request.
func (s *Server) project(ctx context.Context, dir string, fn func(*engine.Engine) error) (err error) {
	e, err := engine.Open(ctx, s.home, dir, s.engineOptions())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return fn(e)
}

// read opens the project for a request that changes nothing. A damaged store is opened to salvage what it still has:
// each object is checked when it is read.
func (s *Server) read(ctx context.Context, dir string, fn func(*engine.Engine) error) error {
	err := s.project(ctx, dir, fn)
	if !errors.Is(err, kv.ErrCorrupt) {
		return err
	}
	o := s.engineOptions()
	o.Salvage = true
	e, serr := engine.Open(ctx, s.home, dir, o)
	if serr != nil || e.Damage() == nil {
		if serr == nil {
			err = errors.Join(err, e.Close())
		}
		return err // not the check at open
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	e.Notice("the store is damaged and was opened only to read: " + clean(e.Damage()))
	return fn(e)
}

func (s *Server) engineOptions() engine.Options { return engine.Options{LockWait: s.o.LockWait} }
