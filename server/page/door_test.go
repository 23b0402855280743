package page_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rewind/api"
	"rewind/server/page"
	"rewind/server/work"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// notes are in memory: what the next daemon finds.
type notes struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (n *notes) Read(name string) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, ok := n.all[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return b, nil
}

func (n *notes) Write(name string, data []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = map[string][]byte{}
	}
	n.all[name] = data
	return nil
}

func (n *notes) Remove(name string) { n.mu.Lock(); delete(n.all, name); n.mu.Unlock() }

// site is a page that listens, whose API counts what comes through.
type site struct {
	*page.Page
	notes  *notes
	log    *bytes.Buffer
	base   string // http://127.0.0.1:<port>/<base>
	token  string
	asked  []string // routes of the API
	growth uint64   // by how many percent the heap might grow when it was asked last
	mu     sync.Mutex
	client *http.Client
	held   chan struct{} // the API's answers wait for it; nil: for nothing
}

func open(t *testing.T) *site {
	s := &site{notes: &notes{}, log: &bytes.Buffer{}}
	s.start(t)
	address, err := s.Open(api.AgentEnv{Home: "/home/x"}, "")
	if err != nil {
		t.Fatal(err)
	}
	s.base, s.token, _ = strings.Cut(strings.Replace(address, "/#", "#", 1), "#")
	return s
}

func (s *site) start(t *testing.T) {
	tr := &http.Transport{}
	s.client = &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.Page = page.New(page.Options{
		API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			s.asked = append(s.asked, r.URL.Path)
			s.growth = heapGrowth()
			held := s.held
			s.mu.Unlock()
			if held != nil {
				<-held
			}
			_, _ = io.WriteString(w, `{"result":{"stores":[]}}`+"\n")
		}),
		Root:  func(string) (string, error) { return "", &api.Error{Word: api.WordNoProject, Message: "none"} },
		Begin: func() bool { return true }, Done: func() {}, Notes: s.notes, Log: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	t.Cleanup(func() { s.End(); tr.CloseIdleConnections() })
}

// enter gives a token in and returns the cookie; nil: it was refused.
func (s *site) enter(t *testing.T, token string) *http.Cookie {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"token": token, "zone": "Europe/Zurich"})
	req, _ := http.NewRequest(http.MethodPost, s.base+"/enter", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		return c
	}
	return nil
}

func (s *site) get(t *testing.T, path string, cookie *http.Cookie) (status int, body string, h http.Header) {
	t.Helper()
	req, _ := http.NewRequest(http.MethodGet, s.base+path, http.NoBody)
	if cookie != nil {
		req.AddCookie(cookie)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), resp.Header
}

// While the page is answered the heap grows by less, and behind that, or where nobody was let in, by as much as before.
func TestHeapOfAnAnswer(t *testing.T) {
	usual := heapGrowth()
	s := open(t)
	c := s.enter(t, s.token)
	for _, cookie := range []*http.Cookie{c, nil} {
		s.get(t, "/projects", cookie)
		for range 100 { // the answer is there before its handler has returned
			if heapGrowth() == usual {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got := heapGrowth(); got != usual {
			t.Errorf("behind an answer %d %%, before %d", got, usual)
		}
	}
	if s.growth != work.GCPercent || usual == work.GCPercent {
		t.Errorf("during the answer %d %%, before %d", s.growth, usual)
	}
}

// heapGrowth is the percentage by which the heap may grow between two collections of Go's.
func heapGrowth() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// A token lets one browser in, once. Its cookie is for this page alone: HttpOnly, SameSite=Strict, below the page's own path. Neither
// stands
// in the log or the note.
func TestEnter(t *testing.T) {
	s := open(t)
	if status, body, _ := s.get(t, "/projects", nil); status != http.StatusUnauthorized || !strings.Contains(body, "rewind ui") {
		t.Errorf("without a cookie: %d, %q", status, body)
	}
	c := s.enter(t, s.token)
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || len(c.Path) != 10 || !strings.HasSuffix(s.base+"/", c.Path) {
		t.Fatalf("the cookie is %v", c)
	}
	if status, body, _ := s.get(t, "/projects", c); status != http.StatusOK || !strings.Contains(body, "no project yet") {
		t.Errorf("with the cookie: %d, %q", status, body)
	}
	if s.enter(t, s.token) != nil {
		t.Error("a token let two browsers in")
	}
	note, err := s.notes.Read("page.json")
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the note": string(note), "the log": s.log.String()} {
		if strings.Contains(text, s.token) || strings.Contains(text, c.Value) {
			t.Errorf("%s has a secret: %s", what, text)
		}
	}
	// The next daemon listens where this one did, and knows the browser, and when it was here last.
	s.End()
	after, err := s.notes.Read("page.json")
	if err != nil || bytes.Equal(after, note) {
		t.Errorf("the last use is not written down: %s, %v", after, err)
	}
	s.start(t)
	s.Resume()
	if status, _, _ := s.get(t, "/projects", c); status != http.StatusOK {
		t.Errorf("the next daemon: %d", status)
	}
}

// Every answer forbids a browser what the page does not need.
func TestHeaders(t *testing.T) {
	s := open(t)
	for _, path := range []string{"/", "/projects", "/nothing"} {
		_, _, h := s.get(t, path, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if !strings.HasPrefix(h.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		if csp := h.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: %s", path, csp)
		}
	}
}

// TestPromise15Door (T16): none of these requests comes in, though each has the cookie of a browser that was let in:
// names that lead here, other origins, odd paths and methods, changes asked for by GET. None is answered with anything
// of a project, and none reaches the API.
func TestPromise15Door(t *testing.T) {
	s := open(t)
	cookie := s.enter(t, s.token)
	u, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	port := u.Port()
	good := "Host: " + u.Host
	var cases []string
	add := func(format string, args ...any) { cases = append(cases, fmt.Sprintf(format, args...)) }
	for _, host := range []string{
		"localhost:" + port, "127.0.0.1", "127.0.0.1:80", "127.0.0.2:" + port, "[::1]:" + port, "0.0.0.0:" + port, "evil.example",
		"evil.example:" + port, "127.0.0.1.evil.example:" + port, "127.0.0.1:" + port + ".evil.example", "127.1:" + port,
		"2130706433:" + port,
		"0x7f.1:" + port, "LOCALHOST:" + port, "127.0.0.1:" + port + "0", "rewind", "user@127.0.0.1:" + port, "127.0.0.1:" + port + ":1",
	} {
		for _, path := range []string{"/", "/projects", "/p/x", "/enter", "/assets/x/page.js"} {
			add("GET %s%s HTTP/1.1\r\nHost: %s\r\n", u.Path, path, host)
		}
	}
	for _, site := range []string{"cross-site", "same-site", "odd"} {
		for _, mode := range []string{"navigate", "no-cors", "cors", "websocket"} {
			for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
				add("%s %s/projects HTTP/1.1\r\n%s\r\nSec-Fetch-Site: %s\r\nSec-Fetch-Mode: %s\r\nContent-Length: 0\r\n", method, u.Path,
					good, site, mode)
			}
		}
	}
	for _, origin := range []string{
		"null", "http://evil.example", "https://" + u.Host, "http://localhost:" + port, "http://127.0.0.1", "http://127.0.0.1:1", "file://",
		"http://" + u.Host + ".evil.example", "chrome-extension://abc",
	} {
		for _, path := range []string{"/enter", "/p/x/plan", "/p/x/do", "/projects"} {
			add("POST %s%s HTTP/1.1\r\n%s\r\nOrigin: %s\r\nContent-Type: application/json\r\nContent-Length: 0\r\n", u.Path, path, good,
				origin)
		}
	}
	for _, path := range []string{
		"/p/x/do", "/p/x/plan", "/enter", "//p/x", "/../", "/%2e%2e/", "/p/%2e%2e/x", "/p/..%2fx", "/p/x%2fdo", "/p%5cx", "/./projects",
		"/p/x/%2E/do",
		"/assets/../page.js", "/assets/%2e%2e/%2e%2e/door.go", "/assets//page.js", "/assets/x/../../projects", "/assets/0/page.js",
		"/v1/list",
		"/v1/checkout", "/projects/", "/projects%00", "/p/" + strings.Repeat("a", 8000),
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PATCH"} {
			add("%s %s%s HTTP/1.1\r\n%s\r\n", method, u.Path, path, good)
		}
	}
	for _, target := range []string{
		"/", "/projects", "/p/x", "http://" + u.Host + u.Path + "/projects", "http://evil.example/", "/00000000/projects", "*",
		u.Path + "x/projects", u.Path + "-/projects",
	} {
		add("GET %s HTTP/1.1\r\n%s\r\n", target, good)
	}
	if len(cases) < 200 {
		t.Fatalf("only %d requests", len(cases))
	}
	keep(t, strings.NewReplacer(u.Host, "{host}", port, "{port}", u.Path, "{base}"), cases)
	s.mu.Lock()
	s.asked = nil
	s.mu.Unlock()
	for _, c := range cases {
		if status := raw(t, u.Host, c+"Cookie: "+cookie.Name+"="+cookie.Value+"\r\nConnection: close\r\n\r\n"); status < 400 {
			t.Errorf("%d for %q", status, c)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) > 0 {
		t.Errorf("these reached the API: %v", s.asked)
	}
}

var update = flag.Bool("update", false, "write the hostile requests anew")

// keep holds testdata/hostile.json, which is sent to the real daemon, too (internal/browsertest), to be these requests.
func keep(t *testing.T, names *strings.Replacer, cases []string) {
	t.Helper()
	path := filepath.Join("testdata", "hostile.json")
	var named []string
	for _, c := range cases {
		named = append(named, names.Replace(c))
	}
	want, _ := json.MarshalIndent(named, "", " ")
	if *update {
		if err := os.WriteFile(path, append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(bytes.TrimSpace(have), want) {
		t.Errorf("%s has other requests than these: -update", path)
	}
}

// raw sends bytes that no client would, and gives the answer's status; 400 if there was none.
func raw(t *testing.T, host, request string) int {
	t.Helper()
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, request)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		t.Errorf("no answer to %.200q", request)
	}
	if err != nil {
		return http.StatusBadRequest
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
