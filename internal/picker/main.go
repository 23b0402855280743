package picker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// fps is how often a second the screen is drawn at most: a key waits for 8 ms.
const fps = 120

// optionsFD is the file that a picker reads its options from, and behind them the first rows, or null. Its end says
// that who started it has gone.
const optionsFD = 3

// Main is the process of a picker, on the terminal of who started it. It returns its exit code.
func Main(program, version string) (code int) {
	s := term.System()
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Err, "rewind: error: internal error: %v\n%s", p, debug.Stack())
			code = 1
		}
	}()
	var o options
	from := os.NewFile(optionsFD, "options")
	dec := json.NewDecoder(from)
	if err := dec.Decode(&o); err != nil {
		fmt.Fprintln(s.Err, "rewind: error: 'rewind' starts this")
		return api.CodeOf(api.WordUsage)
	}
	if mode, err := term.ParseColorMode(o.Color); err == nil {
		s.SetColor(mode)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	t := &transport{version: version, own: &api.Child{Path: program, Version: version, Command: "rewind"}}
	defer t.own.Wait()
	first := &primed{source: client{&api.Client{Transport: t}}, rows: make(chan *api.ListResponse, 1)}
	go func() {
		var rows *api.ListResponse
		if dec.Decode(&rows) == nil {
			first.rows <- rows
		}
		close(first.rows)
		_, _ = io.Copy(io.Discard, io.MultiReader(dec.Buffered(), from)) // until who started this has gone
		stop()
	}()
	m := newModel(ctx, first, s, o)
	if o.Plain || s.Dumb() {
		t.silent = func(text string) { fmt.Fprintln(s.Err, "rewind: note: "+text) }
		return (&plain{model: m, in: s.In}).run()
	}
	m.first = first.soon(ctx)
	prog := tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(fps))
	t.silent = func(text string) { prog.Send(silent(text)) }
	go watch(ctx, telling{t}, m.project(), func() { prog.Send(tick{}) })
	_, err := prog.Run()
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(s.Err, "rewind: error: %v\n", err)
		return 1
	}
	if code = m.farewell(); code == 0 && ctx.Err() != nil {
		code = api.CodeOf(api.WordInterrupted)
	}
	if len(m.run) > 0 && ctx.Err() == nil {
		args := append([]string{"rewind", "-C", o.Dir}, m.run...)
		err := syscall.Exec(string(o.Env.Rewind), args, os.Environ()) // returns only where it failed
		fmt.Fprintf(s.Err, "rewind: error: %s: %v\n", term.Quote(string(o.Env.Rewind)), err)
		return 1
	}
	return code
}

// farewell tells on the terminal what was done, as the commands do that would have done it, and returns the exit code.
func (m *model) farewell() (code int) {
	pr := &render.Printer{Streams: m.screen}
	for _, o := range m.outcomes {
		if o.undone { // a session that it made is no more
			continue
		}
		o.tell(pr)
		code = 0
		if o.restore == nil {
			continue
		}
		var e *api.Error
		if errors.As(render.Partial(*o.restore), &e) {
			fmt.Fprintf(pr.Err, "rewind: %s %s\n", pr.StyledErr(term.Error, "error:"), term.SanitizeText(e.Message))
			code = api.CodeOf(e.Word)
		}
	}
	return code
}

// transport takes requests to the daemon, or where there can be none to a process of its own.
type transport struct {
	version string
	own     *api.Child
	silent  func(text string) // shows that the daemon does not answer
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Set(api.HeaderProcess, strconv.Itoa(os.Getpid()))
	s, err := t.socket()
	if err != nil {
		return t.own.RoundTrip(req)
	}
	resp, err := s.RoundTrip(req)
	if errors.Is(err, api.ErrNoDaemon) {
		return t.own.RoundTrip(req)
	}
	return resp, err
}
