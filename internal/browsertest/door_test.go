package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestT16Door: none of the hostile requests of server/page comes in to the real daemon with a real store, though each
// has the cookie of a browser that was let in: no answer has anything of the project, nothing changes, and neither
// token nor cookie stands in the log.
func TestT16Door(t *testing.T) {
	const secret = "kept between us"
	p := newProject(t)
	p.turn(secret, p.sets("parser.go", "package notes // "+secret+"\n"))
	base, token, _ := strings.Cut(p.address(), "/#")
	u, err := url.Parse(base)
	p.must(err)
	body, _ := json.Marshal(map[string]string{"token": token})
	resp, err := http.Post(base+"/enter", "application/json", bytes.NewReader(body))
	p.must(err)
	var to struct{ To string }
	p.must(json.NewDecoder(resp.Body).Decode(&to), resp.Body.Close())
	cookie := resp.Cookies()[0]
	raw := func(request string) (int, string) {
		c, err := net.DialTimeout("tcp", u.Host, patience)
		p.must(err)
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(c, request+"Cookie: "+cookie.Name+"="+cookie.Value+"\r\nConnection: close\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return http.StatusBadRequest, ""
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	status, answer := raw("GET " + to.To + " HTTP/1.1\r\nHost: " + u.Host + "\r\n")
	if status != http.StatusOK || !strings.Contains(answer, secret) {
		t.Fatalf("the way in is shut: %d, %s", status, answer)
	}
	before := p.rewind("ops", "--all", "--json")
	b, err := os.ReadFile(filepath.Join("..", "..", "server", "page", "testdata", "hostile.json"))
	p.must(err)
	var requests []string
	p.must(json.Unmarshal(b, &requests))
	if len(requests) < 200 {
		t.Fatalf("only %d requests", len(requests))
	}
	names := strings.NewReplacer("{host}", u.Host, "{port}", u.Port(), "{base}", u.Path, "/p/x", strings.TrimPrefix(to.To, u.Path))
	for _, r := range requests {
		if status, answer := raw(names.Replace(r)); status < 400 || strings.Contains(answer, secret) {
			t.Errorf("%d for %.300q: %.300s", status, r, answer)
		}
	}
	if after := p.rewind("ops", "--all", "--json"); after != before {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
	p.must(filepath.WalkDir(filepath.Join(p.home, ".rewind"), func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(token)) || bytes.Contains(b, []byte(cookie.Value)) {
			t.Errorf("a secret of the door stands in %s", path)
		}
		return err
	}))
}
