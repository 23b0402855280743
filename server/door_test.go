package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/internal/relay"
	"rewind/server/door"
)

// chunked is a body in the form in which the client sends it.
func chunked(parts ...string) string {
	b := ""
	for _, p := range parts {
		b += fmt.Sprintf("%05x\r\n%s\r\n", len(p), p)
	}
	return b + "0\r\n\r\n"
}

// What the door answers by itself is what net/http answers to the same request, which one more field makes its own.
func TestDoorAnswersAsNetHTTP(t *testing.T) {
	newHome(t)
	r := start(t, DaemonOptions{})
	p := r.newProject(t)
	cwd := "Rewind-Cwd: " + relay.Escape(p.ProjectDir()) + "\r\n"
	const us, tool = "Rewind-Version: test\r\nRewind-Agent: claude\r\nRewind-Event: post-tool-use\r\n", `{"session_id":"s%d","hook_event_name":"PostToolUse","tool_name":"Bash"`
	sessions := int64(0)
	for name, c := range map[string]struct {
		fields, body string
		warns        bool
	}{
		"a hook":          {us + cwd, chunked(tool + "}"), false},
		"no cwd":          {us, chunked(), false},
		"in pieces":       {us + cwd, chunked(tool, "}"), false},
		"large":           {us + cwd, chunked(tool+`,"x":"`, strings.Repeat("x", 1<<20-1), `"}`), false},
		"cut by agent":    {us + cwd, chunked(tool), false},
		"no project":      {us + "Rewind-Cwd: /\r\n", chunked(tool + "}"), true},
		"odd values":      {us + "Rewind-Id: %zz\r\nRewind-Deadline: x\r\nRewind-Cwd: %\r\n", chunked(tool + "}"), true},
		"no deadline":     {us + cwd + "Rewind-Deadline: 0\r\n", chunked(tool + "}"), false},
		"field twice":     {us + cwd + "Rewind-Id: 01\r\nRewind-Id: 02\r\n", chunked(tool + "}"), false},
		"foreign field":   {us + cwd + "Origin: null\r\n", chunked(tool + "}"), false},
		"host twice":      {us + cwd + "Host: rewind\r\n", chunked(tool + "}"), false},
		"length and more": {us + cwd + "Content-Length: 3\r\n", chunked(tool + "}"), false},
		"no field":        {us + cwd + "no field\r\n", chunked(tool + "}"), false},
		"folded":          {us + cwd + " Rewind-Id: 1\r\n", chunked(tool + "}"), true},
		"LF alone":        {us + cwd + "Rewind-Id: 1\n\r\n", chunked(tool + "}"), false},
		"long head":       {us + "Rewind-Cwd: /" + strings.Repeat("a", 40<<10) + "\r\n", chunked(tool + "}"), false},
		"too long a head": {us + "Rewind-Cwd: /" + strings.Repeat("a", 80<<10) + "\r\n", chunked(tool + "}"), false},
		"bad chunk":       {us + cwd, "zz\r\n" + tool, false},
		"with a trailer":  {us + cwd, strings.TrimSuffix(chunked(tool+"}"), "\r\n") + "X: y\r\n\r\n", false},
	} {
		// On a busy machine one of the two may be answered before its work is done, without the warning: then both are asked again.
		var answers [2]string
		var warned bool
		for range 5 {
			for i, more := range []string{"", "X: y\r\n"} {
				sessions++
				body := strings.ReplaceAll(c.body, "%d", strconv.FormatInt(36+sessions, 36)) // a session of its own, as long as "%d"
				resp, err := r.raw(t, relay.HookHead+more+c.fields+"\r\n"+body)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				said, _ := io.ReadAll(resp.Body)
				if i == 0 {
					warned = resp.Header.Get(relay.HeaderWarn) != ""
				}
				resp.Header.Del("Date")
				resp.Header.Del("Content-Length")
				answers[i] = fmt.Sprintf("%d %v %s", resp.StatusCode, resp.Header, said)
			}
			if answers[0] == answers[1] && warned == c.warns {
				break
			}
		}
		if answers[0] != answers[1] || warned != c.warns {
			t.Errorf("%s: warned %v, want %v\n%s\nnet/http:\n%s", name, warned, c.warns, answers[0], answers[1])
		}
	}
}

// A client that was answered before it had sent all of its payload hears the answer.
func TestDoorIsHeardBeforeTheEnd(t *testing.T) {
	newHome(t)
	r := start(t, DaemonOptions{})
	c, err := relay.Dial(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	status, _, err := c.Post(relay.HookPath, [][2]string{{relay.HeaderVersion, "another"}}, io.LimitReader(zeros{}, 8<<20))
	if err != nil || status != relay.StatusOtherVersion {
		t.Errorf("%d, %v", status, err)
	}
	r.wait(t)
}

// TestPromise04DoorStaysOpen: connections of which nothing comes, or nothing more, delay nobody; and when they have gone no more goroutines
// are left at the door than it keeps.
func TestPromise04DoorStaysOpen(t *testing.T) {
	newHome(t)
	r := start(t, DaemonOptions{})
	p := r.newProject(t)
	var idle []net.Conn
	for i := range 64 {
		c, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		head := relay.HookHead + "Rewind-Version: test\r\n\r\n00009\r\n"
		if _, err := io.WriteString(c, head[:min(len(head), i*len(head)/40)]); err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	for i := range 8 {
		if status, _, _ := r.post(t, "claude", "stop", p.ProjectDir(), fmt.Sprintf("%016x", i+1), time.Minute, payload("Stop", "", "s1", "")); status != http.StatusOK {
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
