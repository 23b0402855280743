package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rewind/api"
)

// lineOf is one client of serve.
type lineOf struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error // what serve returned
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func serveLine(ctx context.Context, t *testing.T) *lineOf {
	t.Helper()
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	l := &lineOf{t, in, bufio.NewReader(out), make(chan error, 1)}
	go func() {
		l.done <- serve(ctx, "v1", theirs, ours)
		_ = ours.Close()
	}()
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	return l
}

func (l *lineOf) send(method, path, version string, v any) {
	l.t.Helper()
	b, err := json.Marshal(v)
	check(l.t, err)
	req, err := http.NewRequest(method, "http://rewind"+path, bytes.NewReader(b))
	check(l.t, err)
	req.Header.Set(api.HeaderVersion, version)
	req.Header.Set(api.HeaderCommand, url.PathEscape("rewind x"))
	check(l.t, req.Write(l.in))
}

func (l *lineOf) answer() (status int, body string) {
	l.t.Helper()
	resp, err := http.ReadResponse(l.out, nil)
	check(l.t, err)
	b, err := io.ReadAll(resp.Body)
	check(l.t, err)
	return resp.StatusCode, string(b)
}

// TestServe: requests of one client are answered in turn, also one that is not of its version, or makes no sense.
func TestServe(t *testing.T) {
	_, _, p := opened(t)
	l := serveLine(t.Context(), t)
	for _, c := range []struct {
		path, version string
		req           any
		status        int
		body          string
	}{
		{api.Version.Path, "v1", struct{}{}, 200, `"version":"v1"`},
		{api.List.Path, "v2", api.ListRequest{Project: p}, api.StatusOtherVersion, ""},
		{api.List.Path, "v1", map[string]int{"no such": 1}, 400, "unknown field"},
		{api.List.Path, "v1", api.ListRequest{Project: p}, 200, `"checkpoints":[{`},
		{api.DaemonStatus.Path, "v1", struct{}{}, 200, `"running":false`},
	} {
		l.send("GET", c.path, c.version, c.req)
		if status, body := l.answer(); status != c.status || !strings.Contains(body, c.body) {
			t.Errorf("%s of %s: %d %s", c.path, c.version, status, body)
		}
	}
	check(t, l.in.Close(), <-l.done)
}

// TestServeClientGoes: what a client that has gone has asked for is taken back, and its end is waited for.
func TestServeClientGoes(t *testing.T) {
	for _, how := range []string{"client", "signal"} {
		_, _, p := opened(t)
		for i := range 500 {
			check(t, os.WriteFile(filepath.Join(string(p.Dir), strconv.Itoa(i)), []byte{byte(i), byte(i >> 8)}, 0o644))
		}
		ctx, signal := context.WithCancel(t.Context())
		l := serveLine(ctx, t)
		l.send("POST", api.Save.Path, "v1", api.SaveRequest{Project: p})
		if how == "client" {
			_ = l.in.Close()
		} else {
			signal()
		}
		// or it was done already
		if status, body := l.answer(); status != 200 && !strings.Contains(body, `"word":"interrupted"`) {
			t.Errorf("%s: %d %s", how, status, body)
		}
		_ = l.in.Close()
		check(t, <-l.done)
		signal()
	}
}

// TestServeHome: a home that is no home of ours is told of every request, with the command line that was refused.
func TestServeHome(t *testing.T) {
	t.Setenv("REWIND_HOME", "relative")
	l := serveLine(t.Context(), t)
	for range 2 {
		l.send("GET", api.Stores.Path, "v1", struct{}{})
		if status, body := l.answer(); status != 400 || !strings.Contains(body, "not an absolute path") {
			t.Errorf("%d %s", status, body)
		}
	}
	check(t, l.in.Close(), <-l.done)
}
