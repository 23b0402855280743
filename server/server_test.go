package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"rewind/api"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/server/inprocess"
	"rewind/transcript"
)

func TestMain(m *testing.M) {
	if sock := os.Getenv(peerEnv); sock != "" {
		peer(sock)
		return
	}
	goleak.VerifyTestMain(m)
}

// Every error that a caller can act on has its word; what leaves the worktree unfinished beats its cause.
func TestErrorsHaveWords(t *testing.T) {
	for _, c := range []struct {
		err  error
		word string
	}{
		{errors.New("something: odd"), api.WordFailed},
		{fmt.Errorf("x: %w", model.ErrNoProject), api.WordNoProject},
		{model.ErrStoreGone, api.WordNoProject},
		{model.ErrBadRoot, api.WordUsage},
		{&kv.BusyError{}, api.WordBusy},
		{&kv.FormatError{Found: 2, Supported: 1}, api.WordNewerFormat},
		{&kv.FormatError{Supported: 1}, api.WordNewerFormat},
		{&objstore.AmbiguousError{Prefix: "ab", Candidates: []objstore.Key{{1}, {2}}}, api.WordAmbiguous},
		{&model.PathError{Path: "p"}, api.WordNotFound},
		{refs.ErrNotFound, api.WordNotFound},
		{&model.UnsavedError{Paths: []model.Blocked{{Path: ".env", Reason: 's'}}}, api.WordUnsaved},
		{fmt.Errorf("write: %w", syscall.ENOSPC), api.WordNoSpace},
		{&objstore.CorruptError{Kind: objstore.Blob, Cause: errors.New("hash")}, api.WordCorrupt},
		{fmt.Errorf("open: %w", fs.ErrPermission), api.WordPermission},
		{context.Canceled, api.WordInterrupted},
		{&restore.TakenBackError{Cause: syscall.ENOSPC}, api.WordNoSpace},
		{errors.Join(&model.HalfDoneError{}, syscall.ENOSPC), api.WordHalfDone},
		{fmt.Errorf("x: %w", model.ErrConfig), api.WordUsage},
		{fmt.Errorf("x: %w", model.ErrNoConversation), api.WordNotFound},
		{fmt.Errorf("x: %w", transcript.ErrEmpty), api.WordNotFound},
		{fmt.Errorf("x: %w", transcript.ErrNoTurn), api.WordNotFound},
		{fmt.Errorf("x: %w", &model.RunningError{Session: "claude/s"}), api.WordBusy},
		{fmt.Errorf("x: %w", &model.DependentError{}), api.WordFailed},
		{&transcript.Error{Name: "f", Line: 1, Cause: errors.New("odd")}, api.WordFailed},
		{&transcript.Error{Name: "f", Line: 1, Cause: fs.ErrPermission}, api.WordPermission},
	} {
		told := tell(c.err)
		if told.Word != c.word || told.Code != api.CodeOf(c.word) || told.Message == "" {
			t.Errorf("%v: %+v, want %s", c.err, told, c.word)
		}
		if c.word != api.WordFailed && told.Code < 3 {
			t.Errorf("%s has code %d", c.word, told.Code)
		}
	}
	if told := tell(errors.New(`"notes: tree: oak.txt": not found`)); told.Message != `"notes: tree: oak.txt": not found` {
		t.Errorf("message %q", told.Message)
	}
}

func opened(t *testing.T) (*server, *api.Client, api.Project) {
	t.Helper()
	t.Setenv("REWIND_HOME", t.TempDir())
	s, err := newOneShot(serverOptions{version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &api.Client{Transport: inprocess.Transport{Handler: s}}
	p := api.Project{Dir: api.Text(dir)}
	if _, err := api.Call(t.Context(), c, api.Init, api.InitRequest{Project: p}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.wait)
	return s, c, p
}

// A request that this server does not understand is refused, not answered as another one.
func TestRequestsAreStrict(t *testing.T) {
	s, _, _ := opened(t)
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/v1/save", `{"dir":".","unknown":1}`, http.StatusBadRequest},
		{"POST", "/v1/save", `not json`, http.StatusBadRequest},
		{"GET", "/v1/save", `{}`, http.StatusMethodNotAllowed},
		{"POST", "/v1/list", `{}`, http.StatusMethodNotAllowed},
		{"GET", "/v1/nothing", `{}`, http.StatusNotFound},
		{"GET", "/v1/list", `{"dir":"/"}`, http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if w.Code != c.status {
			t.Errorf("%s %s %s: %d, want %d: %s", c.method, c.path, c.body, w.Code, c.status, w.Body)
		}
	}
}

// The same exchange over a real connection: what the in-process transport gives, HTTP gives.
func TestOverHTTP(t *testing.T) {
	s, within, p := opened(t)
	dir := p.ProjectDir()
	if err := os.WriteFile(filepath.Join(dir, "odd\xff\nname"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Call(t.Context(), within, api.Save, api.SaveRequest{Project: p, Message: "m"}, nil); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	overHTTP := &api.Client{Transport: redirect{srv.Listener.Addr().String()}}
	for name, c := range map[string]*api.Client{"in process": within, "http": overHTTP} {
		show, err := api.Call(t.Context(), c, api.Show, api.ShowRequest{Project: p, Checkpoint: "@"}, nil)
		if err != nil || len(show.Changes) != 1 || show.Changes[0].Path != "odd\xff\nname" {
			t.Errorf("%s: show %+v, %v", name, show, err)
		}
		var got bytes.Buffer
		if err := c.Cat(t.Context(), api.CatRequest{Project: p, Checkpoint: "@", Path: "odd\xff\nname"}, &got); err != nil ||
			got.String() != "content" {
			t.Errorf("%s: cat %q, %v", name, got.String(), err)
		}
		var told *api.Error
		if err := c.Cat(t.Context(), api.CatRequest{Project: p, Checkpoint: "@", Path: "nope"}, &got); !errors.As(err, &told) ||
			told.Word != api.WordNotFound {
			t.Errorf("%s: cat of nothing: %v", name, err)
		}
		if _, err := api.Call(t.Context(), c, api.Show, api.ShowRequest{Project: p, Checkpoint: "ffff"}, nil); !errors.As(err, &told) ||
			told.Word != api.WordNotFound {
			t.Errorf("%s: show of nothing: %v", name, err)
		}
	}
}

// redirect sends requests to one address.
type redirect struct{ addr string }

func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Host = r.addr
	t := &http.Transport{DisableKeepAlives: true}
	return t.RoundTrip(req)
}
