package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"rewind/api"
)

// cutBody ends as the body of a client that died does.
type cutBody struct{ io.Reader }

func (c cutBody) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// A request that its client did not finish is nobody's event: a client that lives sends it again, whole.
func TestT3HookCutByItsClient(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("REWIND_HOME", t.TempDir())
	s, err := newOneShot(serverOptions{version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	do := func(body io.Reader) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, api.HookPath, body)
		r.Header.Set(api.HeaderAgent, "claude")
		r.Header.Set(api.HeaderEvent, "post-tool-use")
		r.Header.Set(api.HeaderCwd, url.PathEscape(dir))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		s.wait()
		warned := w.Header().Get(api.HeaderWarn) != ""
		if _, cut := body.(cutBody); w.Code != http.StatusOK || warned == cut {
			t.Errorf("%d, warned %v", w.Code, warned)
		}
	}
	const payload = `{"session_id":"s","tool_name":"Bash","hook_event_name":"PostToolUse"`
	do(cutBody{strings.NewReader(payload)})
	do(strings.NewReader(payload)) // cut by the agent itself: what is there counts
}
