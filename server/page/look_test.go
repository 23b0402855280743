package page_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The beginning of a document is at the browser while the API is still asked for the rest, compressed or not: it
// fetches style and script meanwhile. Behind it comes the document.
func TestBeginsAtOnce(t *testing.T) {
	s := open(t)
	cookie := s.enter(t, s.token)
	for _, packed := range []bool{false, true} {
		held := make(chan struct{})
		s.mu.Lock()
		s.held = held
		s.mu.Unlock()
		req, _ := http.NewRequest(http.MethodGet, s.base+"/projects", http.NoBody)
		req.AddCookie(cookie)
		req.Header.Set("Accept-Encoding", map[bool]string{true: "gzip", false: "identity"}[packed])
		resp, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = resp.Body
		if packed {
			if body, err = gzip.NewReader(resp.Body); err != nil {
				t.Fatal(err)
			}
		}
		var had strings.Builder
		some := make([]byte, 1)
		for !strings.Contains(had.String(), "page.js") {
			n, err := body.Read(some)
			had.Write(some[:n])
			if err != nil {
				t.Fatalf("%v behind %q", err, had.String())
			}
		}
		if strings.Contains(had.String(), "<body") {
			t.Errorf("nothing was waited for: %s", had.String())
		}
		close(held)
		rest, err := io.ReadAll(body)
		if err != nil || !strings.Contains(string(rest), "There is no project yet") || !strings.HasSuffix(string(rest), "</html>\n") {
			t.Errorf("%v: %s", err, rest)
		}
		_ = resp.Body.Close()
	}
}

// A document that is not made soon begins with what stands around it, and an outline; the rest comes behind, with its
// title.
func TestOutline(t *testing.T) {
	s := open(t)
	cookie := s.enter(t, s.token)
	held := make(chan struct{})
	s.mu.Lock()
	s.held = held
	s.mu.Unlock()
	req, _ := http.NewRequest(http.MethodGet, s.base+"/projects", http.NoBody)
	req.AddCookie(cookie)
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var had strings.Builder
	some := make([]byte, 64)
	for !strings.Contains(had.String(), `class="skeleton"`) {
		n, err := resp.Body.Read(some)
		had.Write(some[:n])
		if err != nil {
			t.Fatalf("%v behind %q", err, had.String())
		}
	}
	close(held)
	rest, err := io.ReadAll(resp.Body)
	doc := had.String() + string(rest)
	for _, once := range []string{"<title>Projects</title>", "<body", "<main", "</html>", `class="bar"`} {
		if strings.Count(doc, once) != 1 || err != nil {
			t.Errorf("%s is there %d times (%v): %s", once, strings.Count(doc, once), err, doc)
		}
	}
	if !strings.Contains(string(rest), "There is no project yet") {
		t.Errorf("the rest is %s", rest)
	}
}
