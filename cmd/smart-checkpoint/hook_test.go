package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rewind/internal/relay"
	"rewind/internal/relay/hookwire"
	"rewind/server/door"
)

func TestHook(t *testing.T) {
	b := newTestbed(t)
	sent := make(chan hookwire.Request, 1)
	b.serve(func(x *door.Exchange) {
		body, _ := io.ReadAll(x)
		sent <- x.Request
		x.Answer(hookwire.Answer{Warn: "a\nb\x1b[31m\u202e\xff c", Body: append([]byte("got "), body...)})
	})
	r := b.run(strings.NewReader(`{"a":1}`), "pre tool", "--agent=cl/aude", "--deadline", "5000")
	if r.code != 0 || r.stdout != `got {"a":1}` || r.stderr != "ab[31m c\n" {
		t.Errorf("%+v", r)
	}
	q := <-sent
	if q.ID == 0 || q.Wait < 1000 || q.Wait > 4950 {
		t.Errorf("%+v", q)
	}
	if q.ID, q.Wait = 0, 0; q != (hookwire.Request{Agent: "cl/aude", Event: "pre tool", Version: "devel", Cwd: b.home}) {
		t.Errorf("%+v", q)
	}
	b.env = append(b.env, relay.EnvBegan+"=/began here")
	b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "5000")
	if q := <-sent; q.Began != "/began here" {
		t.Errorf("%+v", q)
	}
}

func TestNewID(t *testing.T) {
	seen := map[uint64]bool{}
	for range 1000 {
		h := newHook(options{}, "", "", time.Now())
		if seen[h.id] {
			t.Fatal(h.id)
		}
		seen[h.id] = true
	}
	for id, want := range map[uint64]string{
		0: "0000000000000000", 0xabc: "0000000000000abc",
		1<<64 - 1: "ffffffffffffffff",
	} {
		if got := hex16(id); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestPromise03Surroundings(t *testing.T) {
	b := newTestbed(t, "PATH=")
	b.serve(func(x *door.Exchange) { _, _ = io.Copy(io.Discard, x) })
	b.silent(b.run(strings.NewReader("{}"), claude...))
	b.silent(b.run(nil, claude...)) // no input at all

	gone := filepath.Join(b.home, "gone")
	_ = os.Mkdir(gone, 0o700)
	cmd := b.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{
		"sh", "-c", `cd gone && /bin/rmdir ../gone && exec "$0" stop --agent claude`,
		filepath.Join(programs, "smart-checkpoint"),
	}
	b.silent(finish(cmd))

	// every standard stream closed, one by one and all
	for _, closed := range []string{"<&-", ">&-", "2>&-", "<&- >&- 2>&-"} {
		cmd := b.command()
		cmd.Path, cmd.Args = "/bin/sh", []string{
			"sh", "-c", `exec "$0" stop --agent claude ` + closed,
			filepath.Join(programs, "smart-checkpoint"),
		}
		b.silent(finish(cmd))
	}

	cmd = b.command(claude...)
	cmd.Stdin, _ = os.Open("/")
	b.oneLine(finish(cmd), "read standard input: is a directory")

	b.env = []string{"PATH="}
	b.oneLine(b.run(strings.NewReader("{}"), claude...), "neither REWIND_HOME nor HOME")
}

func TestPromise03Arguments(t *testing.T) {
	b := newTestbed(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no event"},
		{[]string{"stop"}, "no --agent"},
		{[]string{"stop", "--agent"}, "needs a value"},
		{[]string{"stop", "--agent="}, "no --agent"},
		{[]string{"stop", "start", "--agent", "x"}, "more than one event"},
		{[]string{"stop", "--agent", "x", "--deadline", "soon"}, "--deadline is"},
		{[]string{"stop", "--agent", "x", "--deadline", "-1"}, "--deadline is"},
		{[]string{"stop", "--agent", "x", "--deadline", "99999999999999999999"}, "--deadline is"},
		{[]string{"--help"}, "usage: "},
		{[]string{"--no\nsuch"}, "unknown option --nosuch"},
		{[]string{strings.Repeat("x", 300), "--agent", "x"}, "over 256"},
	} {
		b.oneLine(b.run(strings.NewReader("{}"), c.args...), c.want)
	}
	if r := b.run(nil, "--version"); r.code != 0 || r.stdout != "smart-checkpoint devel\n" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(b.home, "run")); err == nil {
		t.Error("a wrong command line left traces")
	}
}

func TestPromise03HungDaemon(t *testing.T) {
	b := newTestbed(t)
	hold := make(chan struct{})
	b.Cleanup(func() { close(hold) })
	b.raw(func(net.Conn) { <-hold })
	for _, size := range []int{2, 8 << 20} {
		r := b.run(strings.NewReader(strings.Repeat("x", size)), "stop", "--agent", "claude", "--deadline", "300")
		b.late(r, "deadline has passed")
		b.within(r, 300*time.Millisecond)
	}
	if got := b.lines("alone"); len(got) != 0 {
		t.Errorf("a daemon that may have the event, and another process: %q", got)
	}
	list, full := relay.ReadUnanswered(b.home)
	if len(list) != 2 || full {
		t.Fatalf("marks: %+v", list)
	}
	for _, u := range list {
		if u.Agent != "claude" || u.Event != "stop" || u.PID != os.Getpid() || u.Dir != b.home ||
			time.Since(u.At) > time.Minute {
			t.Errorf("mark: %+v", u)
		}
	}
}

// A hook that is answered leaves no mark, and neither does one that was not understood.
func TestAnsweredLeavesNoMark(t *testing.T) {
	b := newTestbed(t)
	b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000")
	b.run(nil, "--no-such")
	if _, err := os.Lstat(filepath.Join(b.home, "hook-unanswered")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

func TestPromise03EndlessInput(t *testing.T) {
	b := newTestbed(t)
	b.serve(func(x *door.Exchange) { _, _ = io.Copy(io.Discard, x) })
	for _, env := range []string{"X=", "REWIND_DAEMON=off"} {
		b.env = append(b.env, env)
		for _, begun := range []string{"", "{"} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = w.WriteString(begun)
			cmd := b.command("stop", "--agent", "claude", "--deadline", "200")
			cmd.Stdin = r
			got := finish(cmd)
			r.Close()
			w.Close()
			b.late(got, "standard input has not ended")
			b.within(got, 200*time.Millisecond)
		}
	}
	if got := b.lines("alone"); len(got) != 0 {
		t.Errorf("half a payload was passed on: %q", got)
	}
}

// An agent that reads nothing of a long answer.
func TestPromise03NobodyReads(t *testing.T) {
	b := newTestbed(t)
	b.serve(func(x *door.Exchange) { x.Answer(hookwire.Answer{Body: make([]byte, 1<<20)}) })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := b.command("stop", "--agent", "claude", "--deadline", "300")
	cmd.Stdout = w
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	w.Close()

	r, w, _ = os.Pipe()
	r.Close() // nobody will
	cmd = b.command(claude...)
	cmd.Stdout = w
	if err := cmd.Run(); err != nil {
		t.Errorf("a closed standard output: %v", err)
	}
	w.Close()
}

func TestPromise03Signals(t *testing.T) {
	b := newTestbed(t)
	b.raw(func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	for _, sig := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGPIPE,
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := b.command("stop", "--agent", "claude", "--deadline", "3000")
		cmd.Stdin = r
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// more than a pipe holds: the program runs, and reads
		if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16+1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * signalsAfter) // an agent's patience is longer
		_ = cmd.Process.Signal(sig)
		if sig == syscall.SIGPIPE {
			w.Close()
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
		r.Close()
		w.Close()
	}
}

func TestPromise03BrokenAnswers(t *testing.T) {
	quickPrograms(t)
	b := newTestbed(t)
	var texts recorder
	var seen recorder
	var mu sync.Mutex
	say := ""
	b.raw(func(c net.Conn) {
		q, err := takes(c)
		if err != nil {
			return
		}
		seen.add(hex16(q.ID))
		mu.Lock()
		text := say
		mu.Unlock()
		io.WriteString(c, text)
	})
	whole := string(hookwire.AppendAnswer(nil, hookwire.Answer{Warn: "w", Body: []byte("answer")}))
	for n := len(whole) % 3; n <= len(whole); n += 3 {
		mu.Lock()
		say = whole[:n]
		mu.Unlock()
		r := b.run(strings.NewReader("{}"), claude...)
		texts.add(r.stdout)
		if n == len(whole) {
			if r.stdout != "answer" || r.stderr != "w\n" || r.code != 0 {
				t.Errorf("whole: %+v", r)
			}
			continue
		}
		// nothing of half an answer; in the end another process does the work
		if r.code != 0 || r.stdout != "alone" || !strings.Contains(r.stderr, "unexpected EOF") {
			t.Errorf("%d bytes: %+v", n, r)
		}
		ids := seen.all()
		if len(ids) < 2 || ids[len(ids)-1] != ids[len(ids)-2] ||
			!strings.Contains(b.lines("alone")[len(b.lines("alone"))-1], ids[len(ids)-1]) {
			t.Errorf("%d bytes: ids %q, %q", n, ids, b.lines("alone"))
		}
	}
	for _, text := range []string{
		"garbage\r\n", "rwhook\x01\n\xff\xff\xff\xff",
		"rwhook\x01\n\x00\x00\x00\x00\x00\x10\x00\x01" + strings.Repeat("x", 2<<20),
	} {
		mu.Lock()
		say = text
		mu.Unlock()
		if r := b.run(strings.NewReader("{}"), claude...); r.code != 0 || r.stdout != "alone" ||
			!strings.Contains(r.stderr, "malformed message") {
			t.Errorf("%.20q: %+v", text, r)
		}
	}
	mu.Lock()
	say = string(hookwire.AppendAnswer(nil, hookwire.Answer{Status: hookwire.Refused, Body: []byte("oops")}))
	mu.Unlock()
	b.oneLine(b.run(strings.NewReader("{}"), claude...), "could not read the request")
}

// takes reads a request to its end.
func takes(c net.Conn) (hookwire.Request, error) {
	head := make([]byte, hookwire.HeaderSize)
	if _, err := io.ReadFull(c, head); err != nil {
		return hookwire.Request{}, err
	}
	n, err := hookwire.Fields(head)
	if err != nil {
		return hookwire.Request{}, err
	}
	fields := make([]byte, n)
	if _, err := io.ReadFull(c, fields); err != nil {
		return hookwire.Request{}, err
	}
	if _, err := io.Copy(io.Discard, &hookwire.Payload{R: c}); err != nil {
		return hookwire.Request{}, err
	}
	return hookwire.DecodeRequest(fields)
}

// A daemon of another version, or one that drains, is waited for; then a new one gets the same event.
func TestPromise04OtherVersion(t *testing.T) {
	for _, status := range []hookwire.Status{hookwire.OtherVersion, hookwire.Draining} {
		b := newTestbed(t)
		b.mkdir()
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: b.sock(), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		var ids recorder
		serveHooks(l, func(x *door.Exchange) {
			ids.add(hex16(x.ID))
			x.Answer(hookwire.Answer{Status: status})
			if len(ids.all()) == 3 { // it takes its time
				_ = l.Close()
			}
		})
		payload := strings.Repeat("p", 100_000)
		r := b.run(strings.NewReader(payload), "stop", "--agent", "claude", "--deadline", "10000")
		if r.code != 0 || r.stdout != "daemon" || r.stderr != "" {
			t.Errorf("%d: %+v", status, r)
		}
		events := b.lines("events")
		if len(events) != 1 || events[0] != ids.all()[0]+" "+payload {
			t.Errorf("%d: %.40q, ids %q", status, events, ids.all())
		}
	}
}

// A daemon of a version that took hooks in HTTP is asked to end, in HTTP, and a new one gets the event. One of a later
// protocol ends by itself.
func TestPromise04OtherProtocol(t *testing.T) {
	for _, size := range []int{2, 8 << 20} {
		b := newTestbed(t)
		b.mkdir()
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: b.sock(), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		var asked recorder
		old := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked.add(r.Method + " " + r.Host + r.URL.Path + " " + string(body))
			_ = l.Close()
		})}
		go func() { _ = old.Serve(l) }()
		payload := strings.Repeat("p", size)
		r := b.run(strings.NewReader(payload), "stop", "--agent", "claude", "--deadline", "10000")
		if r.code != 0 || r.stdout != "daemon" || r.stderr != "" {
			t.Errorf("%d bytes: %+v", size, r)
		}
		if got := asked.all(); len(got) == 0 || got[0] != "POST rewind/v1/daemon/stop {}" {
			t.Errorf("%d bytes: asked %q", size, got)
		}
		if events := b.lines("events"); len(events) != 1 || !strings.HasSuffix(events[0], " "+payload) {
			t.Errorf("%d bytes: %.40q", size, events)
		}
		_ = old.Close()
	}
	b := newTestbed(t)
	b.mkdir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: b.sock(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = takes(c)
		_ = l.Close()
		_, _ = io.WriteString(c, "rwhook\x02\nand more")
		_ = c.Close()
	}()
	if r := b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000"); r.code != 0 ||
		r.stdout != "daemon" ||
		r.stderr != "" {
		t.Errorf("a later protocol: %+v", r)
	}
}

// A daemon of another version that does not go, nor one that speaks HTTP.
func TestPromise03OtherVersionStays(t *testing.T) {
	for _, answer := range []string{
		string(hookwire.AppendAnswer(nil, hookwire.Answer{Status: hookwire.OtherVersion})), "rwhook\x02\n",
		"HTTP/1.1 400 Bad Request\r\n\r\n",
	} {
		for deadline := 400; ; deadline *= 5 { // one that begins late has no time left to say why
			b := newTestbed(t)
			b.raw(func(c net.Conn) {
				if _, err := takes(c); err == nil {
					_, _ = io.WriteString(c, answer)
				}
			})
			r := b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", strconv.Itoa(deadline))
			b.within(r, time.Duration(deadline)*time.Millisecond)
			if silent := r.code == 0 && r.stderr == ""; silent && deadline < 10_000 {
				continue
			}
			if r.code != 0 || !strings.Contains(r.stderr, "about to stop") {
				t.Errorf("%.10q: %+v", answer, r)
			}
			break
		}
	}
}

func TestT03KillInTheMiddle(t *testing.T) {
	b := newTestbed(t, "REWIND_TEST_CRASH=1")
	r := b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000")
	if r.code != 0 || r.stdout != "daemon" || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	sent, events := b.lines("sent"), b.lines("events")
	if len(sent) != 2 || sent[0] != sent[1] || len(events) != 1 || events[0] != sent[0] {
		t.Errorf("sent %q, recorded %q", sent, events)
	}
	if d := b.lines("daemons"); len(d) != 2 {
		t.Errorf("daemons %q", d)
	}
}

func TestPromise04SixtyFourCold(t *testing.T) {
	b := newTestbed(t)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			r := b.run(strings.NewReader("event-"+strconv.Itoa(i)), "stop", "--agent", "claude", "--deadline", "20000")
			if r.code != 0 || r.stdout != "daemon" || r.stderr != "" {
				t.Errorf("%+v", r)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, e := range b.lines("events") {
		_, payload, _ := strings.Cut(e, " ")
		if seen[payload] {
			t.Errorf("%s twice", payload)
		}
		seen[payload] = true
	}
	if len(seen) != 64 || len(b.lines("daemons")) != 1 {
		t.Errorf("%d events, daemons %q", len(seen), b.lines("daemons"))
	}
	t.Logf("%d processes were started", len(b.lines("starts")))
}

// A payload that is too large to be kept is passed through in little memory, and not sent again.
func TestT15LargePayload(t *testing.T) {
	b := newTestbed(t)
	const size = 100 << 20
	var sizes recorder
	refuse := make(chan bool, 1)
	b.serve(func(x *door.Exchange) {
		n, _ := io.Copy(io.Discard, x)
		sizes.add(strconv.FormatInt(n, 10))
		if <-refuse {
			x.Answer(hookwire.Answer{Status: hookwire.Draining})
		}
	})
	for _, refused := range []bool{false, true} {
		refuse <- refused
		cmd := b.command("stop", "--agent", "claude", "--deadline", "20000")
		peak := 0 // KiB resident at most, when all was read
		end := atEnd(func() { peak = mostResident(t, cmd.Process.Pid) })
		cmd.Stdin = io.MultiReader(io.LimitReader(ones{}, size), end)
		r := finish(cmd)
		if refused {
			b.oneLine(r, "too large to be sent again")
		} else {
			b.silent(r)
		}
		if peak > 64<<10 && !underRace() {
			t.Errorf("%d KiB resident", peak)
		}
		t.Logf("%v, %d KiB resident", r.took, peak)
	}
	if got := strings.Join(sizes.all(), " "); got != strconv.Itoa(size)+" "+strconv.Itoa(size) {
		t.Error(got)
	}
}

// atEnd is read last, and has nothing.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// mostResident is what a process had in memory at most, in KiB; 0 where no file says so. (That of wait4 counts what
// its parent had when it was started.)
func mostResident(t *testing.T, pid int) (peak int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil && runtime.GOOS == "linux" {
		t.Error(err)
	}
	if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
		if _, err := fmt.Sscan(rest, &peak); err != nil {
			t.Error(err)
		}
	}
	return peak
}

type ones struct{}

func (ones) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '1'
	}
	return len(b), nil
}
