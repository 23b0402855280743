package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/relay"
	"rewind/internal/relay/hookwire"
	"rewind/server/rundir"
)

// post sends a hook's payload as the client does.
func (r *running) post(t *testing.T, agent, event, cwd, id string, wait time.Duration, payload io.Reader) (hookwire.Status, string,
	[]byte,
) {
	t.Helper()
	c, err := relay.Dial(r.socket)
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	defer func() { _ = c.Close() }()
	n, _ := strconv.ParseUint(id, 16, 64)
	a, err := c.Post(hookwire.Request{
		Version: "test", Agent: agent, Event: event, Cwd: cwd, ID: n,
		Wait: uint64(wait.Milliseconds()),
	}, payload)
	if err != nil {
		t.Error(err)
		return hookwire.Refused, "", nil
	}
	return a.Status, a.Warn, a.Body
}

func payload(event, tool, session, cwd string) io.Reader {
	return strings.NewReader(fmt.Sprintf(
		`{"session_id":%q,"hook_event_name":%q,"tool_name":%q,"tool_use_id":"t1","cwd":%q,"tool_input":{"command":"SECRET=hunter2"},"prompt":"hunter2"}`,
		session, event, tool, cwd))
}

func (r *running) events(t *testing.T, p api.Project) (n int) {
	t.Helper()
	list, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p, All: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Checkpoints)
}

func (r *running) degraded(t *testing.T, p api.Project) *api.Degraded {
	t.Helper()
	st, err := api.Call(t.Context(), r.client, api.Status, api.StatusRequest{Project: p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return st.Degraded
}

func TestHookCaptures(t *testing.T) {
	home := newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	put(t, p.ProjectDir(), "a", "two")
	status, warn, body := r.post(t, "claude", "post-tool-use", "/", "0000000000000001", time.Minute,
		payload("PostToolUse", "Bash", "s1", p.ProjectDir()))
	if status != hookwire.Done || warn != "" || len(body) != 0 {
		t.Errorf("%d %q %q", status, warn, body)
	}
	if n := r.events(t, p); n != 2 {
		t.Errorf("%d checkpoints", n)
	}
	if d := r.degraded(t, p); d != nil {
		t.Errorf("degraded: %+v", d)
	}
	// Switched off.
	if _, err := api.Call(t.Context(), r.client, api.SetConfig,
		api.SetConfigRequest{Project: p, Key: "hooks.enabled", Values: []string{"false"}}, nil); err != nil {
		t.Fatal(err)
	}
	put(t, p.ProjectDir(), "a", "three")
	r.post(t, "claude", "post-tool-use", p.ProjectDir(), "0000000000000002", time.Minute,
		payload("PostToolUse", "Bash", "s1", ""))
	if n := r.events(t, p); n != 2 {
		t.Errorf("switched off: %d checkpoints", n)
	}
	r.stop(t)
	log, err := os.ReadFile(filepath.Join(home, "run", rundir.LogName))
	if err != nil || strings.Contains(string(log), "hunter2") {
		t.Errorf("the log: %v\n%s", err, log)
	}
}

// Without a project a hook that may change files warns once in a session, and only agents that keep it from the model.
func TestHookWarnsOnce(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	dir := t.TempDir()
	for i, c := range []struct {
		agent, event, tool, session string
		warns                       bool
	}{
		{"claude", "PreToolUse", "Read", "s1", false},
		{"claude", "Stop", "", "s1", false},
		{"claude", "PreToolUse", "Bash", "", false},
		{"claude", "PreToolUse", "Bash", "s1", true},
		{"claude", "PostToolUse", "Bash", "s1", false},
		{"claude", "PostToolUse", "Write", "s2", true},
		{"codex", "PreToolUse", "Bash", "s1", true},
		{"droid", "PreToolUse", "Execute", "s1", true},
		{"other", "PreToolUse", "Bash", "s1", false},
	} {
		status, warn, _ := r.post(t, c.agent, "", dir, "", time.Minute, payload(c.event, c.tool, c.session, ""))
		want := ""
		if c.warns {
			want = "rewind: no checkpoints here: run 'rewind init' in " + dir
		}
		if status != hookwire.Done || warn != want {
			t.Errorf("%d %+v: %d %q, want %q", i, c, status, warn, want)
		}
	}
	_, warn, _ := r.post(t, "claude", "", dir+"\x1b[31m\nodd", "", time.Minute, payload("PreToolUse", "Bash", "s9", ""))
	if strings.ContainsAny(warn, "\x1b\n") {
		t.Errorf("warning %q", warn)
	}
}

// A hook is answered within its deadline while the store cannot be had, and what it asked for is done afterwards,
// flagged.
func TestPromise03HookAnswersWhileTheStoreIsHeld(t *testing.T) {
	home := newHome(t)
	r := start(t, daemonOptions{keep: time.Millisecond})
	p := r.newProject(t)
	for r.status(t).Stores != 0 {
		time.Sleep(time.Millisecond)
	}
	stores, _ := filepath.Glob(filepath.Join(home, "storage", "*"))
	db, err := kv.Open(t.Context(), stores[0], kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, p.ProjectDir(), "a", "two")
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if status, _, _ := r.post(t, "claude", "pre-tool-use", p.ProjectDir(), fmt.Sprintf("%016x", i+1),
				400*time.Millisecond, payload("PreToolUse", "Bash", "s1", "")); status != hookwire.Done {
				t.Errorf("status %d", status)
			}
		})
	}
	wg.Wait()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("answered after %v", took)
	}
	if r.inFlight() == 0 {
		t.Error("the captures do not go on")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for r.inFlight() != 0 {
		time.Sleep(time.Millisecond)
	}
	list, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p, All: true}, nil)
	if err != nil || len(list.Checkpoints) != 2 || !list.Checkpoints[0].Late {
		t.Errorf("%+v, %v", list.Checkpoints, err)
	}
	if d := r.degraded(t, p); d != nil {
		t.Errorf("degraded: %+v", d)
	}
}

// TestPromise03HookDoesNotWaitForLongWork: a person's work holds the worktree; hooks are answered well before their
// deadline, and taken in when it is done.
func TestPromise03HookDoesNotWaitForLongWork(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	held, let, saved := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		var once sync.Once
		saved <- r.d.server.project(context.Background(), p.ProjectDir(), func(e *engine.Engine) error {
			_, err := e.Worktree.Save(context.Background(), "", "slow", func(int, int64) {
				once.Do(func() { close(held); <-let })
			})
			return err
		})
	}()
	<-held
	put(t, p.ProjectDir(), "a", "two")
	const patience = time.Minute // of the client
	begin := time.Now()
	status, _, _ := r.post(t, "claude", "post-tool-use", p.ProjectDir(), "0000000000000001", patience,
		payload("PostToolUse", "Bash", "s1", ""))
	if took := time.Since(begin); status != hookwire.Done || took > patience/2 {
		t.Errorf("status %d after %v", status, took)
	}
	close(let)
	if err := <-saved; err != nil {
		t.Fatal(err)
	}
	for r.inFlight() != 0 {
		time.Sleep(time.Millisecond)
	}
	list, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p, All: true}, nil)
	if err != nil || len(list.Checkpoints) < 2 || list.Checkpoints[0].Event != "post-tool-use" ||
		!list.Checkpoints[0].Late {
		t.Errorf("%+v, %v", list.Checkpoints, err)
	}
}

// A payload that stops coming delays nobody, whichever way it comes.
func TestPromise03HookWithASlowPayload(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	const begun = `{"session_id":"s1",`
	frame, err := hookwire.AppendRequest(nil, hookwire.Request{
		Version: "test", Agent: "claude", Event: "stop", Wait: 200,
		Cwd: p.ProjectDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct{ sent, want string }{
		{
			fmt.Sprintf("POST %s HTTP/1.1\r\nHost: rewind\r\nRewind-Version: test\r\nRewind-Agent: claude\r\nRewind-Event: stop\r\n"+
				"Rewind-Deadline: 200\r\n"+
				"Rewind-Cwd: %s\r\nContent-Length: 1000\r\n\r\n", api.HookPath, url.PathEscape(p.ProjectDir())),
			"HTTP/1.1 200",
		},
		{string(frame) + "\x00\x00\x03\xe8", string(hookwire.AppendAnswer(nil, hookwire.Answer{}))},
	} {
		c, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, way.sent+begun); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, len(way.want))
		if _, err := io.ReadFull(c, b); err != nil || string(b) != way.want {
			t.Errorf("%q, %v", b, err)
		}
		_ = c.Close()
	}
	for r.inFlight() != 0 { // the project's directory goes before the daemon ends
		time.Sleep(time.Millisecond)
	}
}

// Whatever an agent sends, it is answered with 200 and nothing.
func TestT15HookPayloads(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	for name, body := range map[string]io.Reader{
		"nothing": strings.NewReader(""), "no JSON": strings.NewReader("\x00\xff"), "cut": strings.NewReader(`{"session_id":`),
		"deep": strings.NewReader(strings.Repeat("[", 1<<20)), "long": io.LimitReader(zeros{}, 100<<20),
		"ids": strings.NewReader(`{"session_id":"../../x","cwd":"../..","hook_event_name":"Stop","transcript_path":"\u0000"}`),
		"cwd": strings.NewReader(`{"session_id":"s","cwd":"/no/such/directory","hook_event_name":"Stop"}`),
	} {
		status, warn, answer := r.post(t, "claude", "stop", p.ProjectDir(), "zz", time.Minute, body)
		if status != hookwire.Done || warn != "" || len(answer) != 0 {
			t.Errorf("%s: %d %q %q", name, status, warn, answer)
		}
	}
	resp, err := r.raw(t, "POST "+api.HookPath+" HTTP/1.1\r\nHost: rewind\r\nRewind-Version: test\r\n"+
		"Rewind-Agent: %zz\r\nRewind-Cwd: %\r\n"+
		"Rewind-Deadline: -1\r\nContent-Length: 0\r\n\r\n")
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("odd headers: %+v, %v", resp, err)
	}
	for r.inFlight() != 0 {
		time.Sleep(time.Millisecond)
	}
	if n := r.events(t, p); n != 1 {
		t.Errorf("%d checkpoints of an unchanged tree", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// brokenOpener has no store to give.
type brokenOpener struct {
	oneShot
	err error // nil: it panics
}

func (b *brokenOpener) Open(context.Context, *project.Project, bool) (*engine.Engine, func() error, error) {
	if b.err == nil {
		panic("no engine")
	}
	return nil, nil, b.err
}

// What goes wrong is counted and kept where the next process finds it, until a capture works.
func TestPromise03Degraded(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	registry := r.d.server.stores
	for i, broken := range []*brokenOpener{{err: kv.ErrCorrupt}, {}, {err: errors.New("odd")}} {
		r.d.server.stores = broken
		status, _, body := r.post(t, "claude", "stop", p.ProjectDir(), "", time.Minute, payload("Stop", "", "s1", ""))
		if status != hookwire.Done || len(body) != 0 {
			t.Errorf("%d: %d %q", i, status, body)
		}
		for r.inFlight() != 0 {
			time.Sleep(time.Millisecond)
		}
		r.d.server.stores = registry
		d := r.degraded(t, p)
		if d == nil || d.Count != i+1 || d.Error == "" || d.Since.After(d.Last) {
			t.Fatalf("%d: degraded %+v", i, d)
		}
	}
	r.stop(t)
	r = start(t, daemonOptions{})
	if d := r.degraded(t, p); d == nil || d.Count != 3 || d.Error != "odd" {
		t.Errorf("after a restart: %+v", d)
	}
	put(t, p.ProjectDir(), "a", "two")
	r.post(t, "claude", "stop", p.ProjectDir(), "", time.Minute, payload("Stop", "", "s1", ""))
	if d := r.degraded(t, p); d != nil {
		t.Errorf("after a capture: %+v", d)
	}
}

// A panic is an error of its request.
func TestDaemonSurvivesPanics(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	registry := r.d.server.stores
	r.d.server.stores = &brokenOpener{}
	var told *api.Error
	if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); !errors.As(err, &told) ||
		told.Word != api.WordFailed {
		t.Errorf("%v", err)
	}
	r.d.server.stores = registry
	if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); err != nil {
		t.Error(err)
	}
}

// T7: hooks of many clients at once: each is recorded once, also when it is sent twice.
func TestT7Promise04ParallelHooks(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	for round := range 5 {
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				put(t, p.ProjectDir(), fmt.Sprintf("f%d", i), fmt.Sprint(round))
				id := fmt.Sprintf("%08x%08x", round+1, i+1)
				for range 1 + i%2 {
					r.post(t, "claude", "post-tool-use", p.ProjectDir(), id, time.Minute,
						payload("PostToolUse", "Bash", fmt.Sprintf("s%d", i), ""))
				}
			})
		}
		wg.Wait()
	}
	if d := r.degraded(t, p); d != nil {
		t.Errorf("degraded: %+v", d)
	}
	list, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p, All: true}, nil)
	if err != nil || len(list.Checkpoints) < 6 {
		t.Fatalf("%d checkpoints, %v", len(list.Checkpoints), err)
	}
	ops, err := api.Call(t.Context(), r.client, api.Ops, api.OpsRequest{Project: p, All: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, op := range ops.Operations {
		if op.EventID != "" {
			times[op.EventID]++
		}
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("event %s is recorded %d times", id, n)
		}
	}
	if len(times) != 5*64 {
		t.Errorf("%d events are recorded, %d were sent", len(times), 5*64)
	}
	newest := list.Checkpoints[0]
	for _, c := range list.Checkpoints {
		if c.Seq > newest.Seq {
			newest = c
		}
	}
	for i := range 64 {
		var b strings.Builder
		if err := r.client.Cat(t.Context(), api.CatRequest{
			Project: p, Checkpoint: api.Text(newest.ID),
			Path: api.Text(fmt.Sprintf("f%d", i)),
		}, &b); err != nil || b.String() != "4" {
			t.Errorf("f%d is %q, %v", i, b.String(), err)
		}
	}
}

// earlyReply counts answers.
type earlyReply struct{ answers []string }

func (r *earlyReply) SetReadDeadline(time.Time) error { return nil }
func (r *earlyReply) answer(say hookSay)              { r.answers = append(r.answers, say.line) }
func (r *earlyReply) again()                          { r.answers = append(r.answers, "again") }

// Work that says that it takes long is answered at once where it goes on without the agent, and once.
func TestPromise03HookOfLongWork(t *testing.T) {
	for _, goesOn := range []bool{true, false} {
		call, r := newCall(time.Now(), 60_000), &earlyReply{}
		during := -1
		call.answerInTime(r, goesOn, func() hookSay {
			call.takesLong()
			call.takesLong()
			during = len(r.answers)
			return hookSay{line: "warned"}
		})
		want := map[bool]string{true: "1 [\"\"]", false: "0 [\"warned\"]"}[goesOn]
		if got := fmt.Sprintf("%d %q", during, r.answers); got != want || call.late.Load() != goesOn {
			t.Errorf("goes on %v: %s, late %v, want %s", goesOn, got, call.late.Load(), want)
		}
	}
}
