// Package page serves what a person looks at in a browser: on 127.0.0.1, to this user alone. It has a listener and a
// door of its own, since the daemon's socket takes no browser in. What a browser asks for becomes requests of the API,
// sent to the daemon's own handler; of a browser's words none is a path, an environment, or HTML.
//
//   - listen.go: the port, kept from one daemon to the next
//   - door.go: who comes in: Host, origin, token, cookie
//   - guests.go: how many connections may ask for nothing
//   - keys.go: launch tokens, and the sessions that they became
//   - look.go, act.go, live.go: what is looked at, what is done, what happens meanwhile
//   - content.go: the bytes of a file
//   - document.go: a document on its way; deeds.go: what was done is not done again
//
// Package view makes the HTML.
package page

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"rewind/api"
	"rewind/server/inprocess"
	"rewind/server/page/view"
	"rewind/server/peers"
)

// Options of a Page.
type Options struct {
	// API answers the API's requests.
	API http.Handler
	// Root is the directory of a project that is known by an id.
	Root func(id string) (string, error)
	// Begin and Done count a request as work that a daemon which ends waits for; Begin is false where it ends.
	Begin func() bool
	Done  func()
	// Notes keep what the next daemon needs of an open page.
	Notes Notes
	Log   *slog.Logger
}

// Notes are small files of this user's alone.
type Notes interface {
	Read(name string) ([]byte, error)
	Write(name string, data []byte) error
	Remove(name string)
}

// Page is the page of one daemon. Nothing listens before it is opened. Safe for concurrent use.
type Page struct {
	o      Options
	client *api.Client
	keys   keys
	deeds  deeds
	ctx    context.Context // ends with the page: streams end, too
	end    context.CancelFunc

	guests   guests
	refusals *peers.Refusals

	mu   sync.Mutex
	http *http.Server
	host string // what a browser has to call it: 127.0.0.1:<port>; "": nothing listens
	base string // the beginning of every path
}

// New makes a page that nobody can open yet.
func New(o Options) *Page {
	ctx, end := context.WithCancel(context.Background())
	p := &Page{o: o, client: &api.Client{Transport: inprocess.Transport{Handler: o.API}}, ctx: ctx, end: end}
	p.refusals = peers.NewRefusals(o.Log)
	p.guests.tooMany = func() {
		p.refusals.Add("a connection to the page", "a program of this user", "too many are open that ask for nothing")
	}
	p.keys.now = time.Now
	p.deeds.notes = o.Notes
	p.deeds.warn = func(err error) { o.Log.Warn("page: write "+deedsName, "error", err) }
	return p
}

// Open gives the address at which a browser that has the token in it comes in, once, to a project. env is the
// environment of who opens it: what the page does is done for that person.
func (p *Page) Open(env api.AgentEnv, project string) (string, error) {
	if err := p.listen(); err != nil {
		return "", fmt.Errorf("page: listen: %w", err)
	}
	token := p.keys.launch(env, project)
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.host + p.base + "/#" + token, nil
}

// path is the beginning of every path.
func (p *Page) path() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.base
}

// End closes the page; what it still sends ends.
func (p *Page) End() {
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.http != nil {
		p.remember()
		_ = p.http.Close()
		p.http, p.host = nil, ""
	}
	p.refusals.End()
}

// routes are all that there is behind the door.
func (p *Page) routes() *http.ServeMux {
	mux := http.NewServeMux()
	look := func(pattern, at string, h func(*visit) (view.Page, error)) {
		mux.Handle("GET "+pattern, p.look(at, false, h))
	}
	atOnce := func(pattern, at string, h func(*visit) (view.Page, error)) {
		mux.Handle("GET "+pattern, p.look(at, true, h))
	}
	atOnce("/projects", "projects", (*visit).projects)
	atOnce("/find", "find", (*visit).findAll)
	atOnce("/p/{project}", "timeline", (*visit).project)
	look("/p/{project}/s/{agent}/{session}", "timeline", (*visit).project)
	look("/p/{project}/c/{checkpoint}", "checkpoint", (*visit).checkpoint)
	look("/p/{project}/s/{agent}/{session}/t/{turn}", "checkpoint", (*visit).checkpoint)
	look("/p/{project}/s/{agent}/{session}/t/{turn}/steps", "steps", (*visit).steps)
	look("/p/{project}/s/{agent}/{session}/t/{turn}/talk", "checkpoint", (*visit).talk)
	look("/p/{project}/s/{agent}/{session}/t/{turn}/said", "checkpoint", (*visit).said)
	look("/p/{project}/c/{checkpoint}/talk", "checkpoint", (*visit).talk)
	atOnce("/p/{project}/tree", "tree", (*visit).tree)
	look("/p/{project}/compare", "compare", (*visit).compare)
	look("/p/{project}/diff", "compare", (*visit).diff)
	atOnce("/p/{project}/ops", "ops", (*visit).ops)
	look("/p/{project}/c/{checkpoint}/files", "files", (*visit).files)
	look("/p/{project}/c/{checkpoint}/file", "file", (*visit).file)
	atOnce("/p/{project}/lanes", "lanes", (*visit).lanes)
	atOnce("/p/{project}/find", "find", (*visit).find)
	mux.HandleFunc("GET /p/{project}/s/{agent}/{session}/t/{turn}/prompt", p.prompt)
	mux.HandleFunc("GET /p/{project}/content", p.content)
	mux.HandleFunc("GET /p/{project}/live", p.live)
	mux.Handle("POST /p/{project}/plan", p.act(false))
	mux.Handle("POST /p/{project}/do", p.act(true))
	return mux
}

func (p *Page) serve(ln net.Listener) {
	welcome := func(ctx context.Context, c net.Conn) context.Context { return p.guests.welcome(ctx, c) }
	p.http = &http.Server{
		Handler: p.door(p.routes()), ReadHeaderTimeout: headerWait, ReadTimeout: bodyWait, IdleTimeout: time.Minute,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(p.o.Log.Handler(), slog.LevelWarn),
		BaseContext:    func(net.Listener) context.Context { return p.ctx },
		ConnContext:    welcome,
		ConnState: func(c net.Conn, s http.ConnState) {
			if s == http.StateClosed || s == http.StateHijacked {
				p.guests.bye(c)
			}
		},
	}
	go func(s *http.Server) { _ = s.Serve(ln) }(p.http)
}
