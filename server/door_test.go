package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/relay"
	"rewind/internal/relay/hookwire"
	"rewind/server/door"
)

// chunked is a body in the form in which clients of older versions sent it.
func chunked(parts ...string) string {
	b := ""
	for _, p := range parts {
		b += fmt.Sprintf("%05x\r\n%s\r\n", len(p), p)
	}
	return b + "0\r\n\r\n"
}

// oldHead is how the request of a hook began in older versions.
const oldHead = "POST " + api.HookPath +
	" HTTP/1.1\r\nHost: rewind\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n" +
	"Content-Type: application/octet-stream\r\n"

// What a hook's own client is answered is what 'rewind hook' is, which comes by HTTP.
func TestDoorAnswersAsNetHTTP(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	const tool = `{"session_id":"s%d","hook_event_name":"PostToolUse","tool_name":"Bash"`
	sessions := int64(0)
	for name, c := range map[string]struct {
		cwd   string
		wait  uint64
		body  string
		warns bool
	}{
		"a hook":       {p.ProjectDir(), 60000, tool + "}", false},
		"no cwd":       {"", 60000, "", false},
		"large":        {p.ProjectDir(), 60000, tool + `,"x":"` + strings.Repeat("x", 1<<20-1) + `"}`, false},
		"cut by agent": {p.ProjectDir(), 60000, tool, false},
		"no project":   {"/", 60000, tool + "}", true},
		"odd cwd":      {"%\x00\xff\r\n", 60000, tool + "}", false}, // it is no name of a directory
		"no deadline":  {p.ProjectDir(), 0, tool + "}", false},
		"endless":      {p.ProjectDir(), 1<<64 - 1, tool + "}", false},
		"long cwd":     {"/" + strings.Repeat("a", 20<<10), 60000, "{}", false},
	} {
		// On a busy machine one of the two may be answered before its work is done, without the warning: then both are
		// asked again.
		var warns [2]string
		for range 5 {
			body := func() string {
				sessions++
				// a session of its own, as long as "%d"
				return strings.ReplaceAll(c.body, "%d", strconv.FormatInt(36+sessions, 36))
			}
			conn, err := relay.Dial(r.socket)
			if err != nil {
				t.Fatal(err)
			}
			a, err := conn.Post(hookwire.Request{
				Version: "test", Agent: "claude", Event: "post-tool-use", Cwd: c.cwd,
				Wait: c.wait,
			}, strings.NewReader(body()))
			if err != nil || a.Status != hookwire.Done || len(a.Body) > 0 {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
			_ = conn.Close()
			resp, err := r.raw(t, oldHead+
				"Rewind-Version: test\r\nRewind-Agent: claude\r\nRewind-Event: post-tool-use\r\nRewind-Cwd: "+
				url.PathEscape(c.cwd)+
				"\r\nRewind-Deadline: "+strconv.FormatUint(min(c.wait, 1<<62), 10)+"\r\n\r\n"+chunked(body()))
			if err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength != 0 {
				t.Errorf("%s: net/http: %+v, %v", name, resp, err)
				break
			}
			warned, _ := url.PathUnescape(resp.Header.Get(api.HeaderWarn))
			if warns = [2]string{a.Warn, warned}; warns[0] == warns[1] && (warns[0] != "") == c.warns {
				break
			}
		}
		if warns[0] != warns[1] || (warns[0] != "") != c.warns {
			t.Errorf("%s: warned %q, want %v; net/http: %q", name, warns[0], c.warns, warns[1])
		}
	}
}

// What is no hook in the form of this version is told so, and leaves no event.
func TestDoorRefuses(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	put(t, p.ProjectDir(), "a", "two")
	whole, err := hookwire.AppendRequest(nil, hookwire.Request{
		Version: "test", Agent: "claude", Event: "stop", Wait: 60000,
		Cwd: p.ProjectDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := string(hookwire.AppendAnswer(nil, hookwire.Answer{Status: hookwire.Refused}))
	const tool = `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash"}`
	for name, c := range map[string]struct{ sent, want string }{
		"unknown field":     {"rwhook\x01\n\x00\x00\x00\x03\x08\x01x\x00\x00\x00\x00", refused},
		"too long":          {"rwhook\x01\n\x00\x00\x80\x01", refused},
		"no line feed":      {"rwhook\x01\r\x00\x00\x00\x00", refused},
		"cut in the magic":  {"rwho", ""},
		"cut in the length": {string(whole[:10]), ""},
		"cut in the fields": {string(whole[:20]), ""},
		// nobody hears that
		"no payload": {string(whole), string(hookwire.AppendAnswer(nil, hookwire.Answer{}))},
		// nor that
		"cut in a piece": {
			string(whole) + "\x00\x00\x03\xe8" + tool,
			string(hookwire.AppendAnswer(nil, hookwire.Answer{})),
		},
		"no hook at all": {"rw hook HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
	} {
		conn, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, c.sent)
		if err := errors.Join(err, conn.(*net.UnixConn).CloseWrite()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := io.ReadAll(conn)
		if !strings.HasPrefix(string(got), c.want) || c.want == "" && len(got) > 0 || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
		_ = conn.Close()
	}
	for r.inFlight() != 0 {
		time.Sleep(time.Millisecond)
	}
	if n := r.events(t, p); n != 1 {
		t.Errorf("%d checkpoints: what was cut was recorded", n)
	}
	if status, _, _ := r.post(t, "claude", "stop", p.ProjectDir(), "1", time.Minute,
		payload("Stop", "", "s1", "")); status != hookwire.Done {
		t.Errorf("the daemon does not go on: %d", status)
	}
}

// A client of another version ends the daemon, whichever way it speaks: in this form, in that of another number, or in
// the HTTP of older versions, which it is answered in, in words that a person can read.
func TestHookOfAnotherVersion(t *testing.T) {
	other := string(hookwire.AppendAnswer(nil, hookwire.Answer{Status: hookwire.OtherVersion}))
	ours, err := hookwire.AppendRequest(nil, hookwire.Request{Version: "another", Agent: "claude", Event: "stop"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ sent, want string }{
		"this form":      {string(ours) + "\x00\x00\x00\x00", other},
		"another number": {"rwhook\x07\nand whatever may follow", other},
		"HTTP": {
			oldHead + "Rewind-Agent: claude\r\nRewind-Event: stop\r\nRewind-Id: 01\r\nRewind-Deadline: 900\r\n" +
				"Rewind-Version: another\r\n\r\n" + chunked("{}"),
			"HTTP/1.1 426 Upgrade Required\r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			newHome(t)
			r := start(t, daemonOptions{})
			conn, err := net.Dial("unix", r.socket)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), c.want) || name == "HTTP" &&
				!strings.Contains(string(got), "the daemon of rewind has version test") {
				t.Errorf("%q, %v", got, err)
			}
			if !gone(r.socket) {
				t.Error("the socket is still there")
			}
			r.wait(t)
		})
	}
}

// A hook's client that was built without a version is of every daemon's that was, in both forms.
func TestHookOfABuildWithoutVersion(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{version: "devel-0123456789ab"})
	c, err := relay.Dial(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if a, err := c.Post(hookwire.Request{Version: "devel", Agent: "claude", Event: "stop"},
		strings.NewReader("{}")); err != nil ||
		a.Status != hookwire.Done {
		t.Errorf("%+v, %v", a, err)
	}
	if resp, err := r.raw(t, oldHead+"Rewind-Version: devel\r\n\r\n"+chunked("{}")); err != nil ||
		resp.StatusCode != http.StatusOK {
		t.Errorf("%+v, %v", resp, err)
	}
}

// A client that was answered before it had sent all of its payload hears the answer.
func TestDoorIsHeardBeforeTheEnd(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	c, err := relay.Dial(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a, err := c.Post(hookwire.Request{Version: "another"}, io.LimitReader(zeros{}, 8<<20))
	if err != nil || a.Status != hookwire.OtherVersion {
		t.Errorf("%d, %v", a.Status, err)
	}
	r.wait(t)
}

// TestPromise04DoorStaysOpen: connections of which nothing comes, or nothing more, delay nobody; and when they have
// gone no more goroutines are left at the door than it keeps.
func TestPromise04DoorStaysOpen(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	head, err := hookwire.AppendRequest(nil, hookwire.Request{Version: "test", Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	head = append(head, "\x00\x00\x00\x09"...)
	var idle []net.Conn
	for i := range 64 {
		c, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		text := string(head)
		if i%2 == 1 {
			text = oldHead + "Rewind-Version: test\r\n\r\n00009\r\n"
		}
		if _, err := io.WriteString(c, text[:min(len(text), i*len(text)/40)]); err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	for i := range 8 {
		if status, _, _ := r.post(t, "claude", "stop", p.ProjectDir(), fmt.Sprintf("%016x", i+1), time.Minute,
			payload("Stop", "", "s1", "")); status != hookwire.Done {
			t.Errorf("status %d", status)
		}
	}
	for _, c := range idle {
		_ = c.Close()
	}
	for end := time.Now().Add(time.Minute); r.d.door.Waiting() > door.Keeps; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines wait at the door", r.d.door.Waiting())
		}
	}
}
