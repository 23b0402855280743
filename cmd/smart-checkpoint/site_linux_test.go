package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/built"
)

// A site is a home with nothing in it but the real programs' work, and a project.
type site struct {
	*testing.T
	bin     string // where the programs are
	base    string
	home    string // REWIND_HOME
	project string
	env     []string
	lost    int // events that were acknowledged and that recorded did not find
}

// unlimited is a deadline in milliseconds within which every hook is answered when its work is done: what is answered
// earlier, without a word on standard error, is recorded.
const unlimited = 60_000

func newSite(t *testing.T, env ...string) *site {
	t.Helper()
	bin, err := realPrograms()
	if err != nil {
		t.Fatal(err)
	}
	base, err := built.Short()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, bin: bin, base: base, home: filepath.Join(base, "r"), project: filepath.Join(base, "p")}
	s.env = append([]string{
		"HOME=" + base, "REWIND_HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"TERM=dumb",
	}, env...)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	t.Cleanup(func() { s.killAll() })
	s.check(os.Mkdir(s.home, 0o700), os.Mkdir(s.project, 0o755))
	return s
}

// check fails the test on the first error.
func (s *site) check(errs ...error) {
	s.Helper()
	for _, err := range errs {
		if err != nil {
			s.Fatal(err)
		}
	}
}

// write makes a file of the project, with its parents.
func (s *site) write(name, text string) {
	path := filepath.Join(s.project, name)
	s.check(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// program is a command of one of them, in the project.
func (s *site) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Env, cmd.Dir = s.env, s.project
	return cmd
}

// rewind runs the command line.
func (s *site) rewind(args ...string) result { return finish(s.program("rewind", args...)) }

// must runs the command line and fails unless it succeeds.
func (s *site) must(args ...string) string {
	s.Helper()
	r := s.rewind(args...)
	if r.code != 0 {
		s.Fatalf("rewind %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// client is the hook's client, with what an agent hands it on standard input.
func (s *site) client(deadline int, event, payload string) *exec.Cmd {
	cmd := s.program("smart-checkpoint", event, "--agent", "claude", "--deadline", strconv.Itoa(deadline))
	cmd.Stdin = strings.NewReader(payload)
	return cmd
}

// tool is one call of the hook after a tool call; it is answered when its work is done.
func (s *site) tool(session, call string) result {
	return finish(s.client(unlimited, "post-tool-use", s.payload(session, call)))
}

// payload is Claude Code's after a call of Bash.
func (s *site) payload(session, call string) string {
	b, err := json.Marshal(map[string]any{
		"session_id": session, "cwd": s.project, "hook_event_name": "PostToolUse", "tool_name": "Bash",
		"tool_input": map[string]string{"command": "true"}, "tool_use_id": call,
	})
	s.check(err)
	return string(b)
}

// acked reports whether a hook that had unlimited time was told that its event is recorded, and fails when it did what
// no hook may.
func (s *site) acked(r result) bool {
	s.Helper()
	if r.code > 0 || r.stdout != "" {
		s.Errorf("a hook: exit %d, %q, %q", r.code, r.stdout, r.stderr)
	}
	return r.code == 0 && r.stderr == "" && r.took < unlimited*time.Millisecond*9/10
}

// mustCapture fails unless a hook worked.
func (s *site) mustCapture(session, call string) {
	s.Helper()
	if r := s.tool(session, call); !s.acked(r) {
		s.Errorf("hook %s: exit %d, %q, after %v", call, r.code, r.stderr, r.took)
	}
}

// inTime fails unless a hook with the usual deadline kept promise 3. The slack is for the machine, with what was seen
// of it.
func (s *site) inTime(r result, machine ...time.Duration) {
	s.Helper()
	if r.code != 0 || r.stdout != "" || strings.Count(r.stderr, "\n") > 2 {
		s.Errorf("a hook: exit %d, %q, %q", r.code, r.stdout, r.stderr)
	}
	limit := defaultDeadline + 500*time.Millisecond
	for _, d := range machine {
		limit += d
	}
	if r.took > limit {
		s.Errorf("a hook took %v of %v", r.took, limit)
	}
}

// entry is an event in the log.
type entry struct {
	Call, Session, Event, Checkpoint string
	Made                             bool // the checkpoint was made by it
}

// events are those in the log, the oldest first.
func (s *site) events() []entry {
	s.Helper()
	type tool struct{ Call string }
	var ops struct {
		Operations []struct {
			Kind, Checkpoint, Event string
			Session                 string `json:"session"`
			EventID                 string `json:"event_id"`
			Tool                    tool
		}
	}
	s.decode(&ops, "ops", "--all", "--limit", "0")
	var list struct {
		Checkpoints []struct {
			ID, Event string
			Tool      tool
		}
	}
	s.decode(&list, "list", "--all", "--limit", "0")
	made := map[string]int{}
	for i, c := range list.Checkpoints {
		made[c.ID] = i
	}
	var out []entry
	for _, op := range slices.Backward(ops.Operations) {
		e := entry{op.Tool.Call, op.Session, op.Event, op.Checkpoint, false}
		switch i, listed := made[op.Checkpoint]; {
		case op.EventID == "": // not of an agent
			continue
		case op.Kind == "checkpoint" && listed:
			e.Made, e.Call, e.Event = true, list.Checkpoints[i].Tool.Call, list.Checkpoints[i].Event
		case op.Kind == "checkpoint":
			s.Errorf("operation of checkpoint %s, which is not listed", op.Checkpoint)
		}
		out = append(out, e)
	}
	return out
}

// decode runs a command with --json.
func (s *site) decode(v any, args ...string) {
	s.Helper()
	s.check(json.Unmarshal([]byte(s.must(append(args, "--json")...)), v))
}

// state is what status says.
type state struct {
	Checkpoints int
	Degraded    *struct {
		Since, Last time.Time
		Count       int
		Error       string
	}
	Changes  []struct{ Path string }
	Activity *struct{ Files int }
	Notices  []string
	Daemon   struct {
		Running bool
		PID     int
	}
}

func (s *site) status() (v state) {
	s.Helper()
	s.decode(&v, "status")
	return v
}

// recorded fails unless every event of want is in the log once, and none twice; what is there besides must be in may.
// It returns the log.
func (s *site) recorded(want []string, may map[string]bool) []entry {
	s.Helper()
	list, times := s.counted()
	missing := func(c string) bool { return times[c] == 0 }
	// an event that stood behind work that took long was answered before it was recorded: its turn comes
	for until := time.Now().Add(30 * time.Second); slices.ContainsFunc(want, missing) && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
		list, times = s.counted()
	}
	for _, c := range want {
		if times[c] == 0 {
			s.lost++
			s.Errorf("%s was acknowledged and is not recorded", c)
		}
	}
	for c, n := range times {
		if n > 1 && c != "" {
			s.Errorf("%s is recorded %d times", c, n)
		}
		if may != nil && !may[c] {
			s.Errorf("%s was never sent", c)
		}
	}
	return list
}

// counted are the events in the log, and how often each call is among them.
func (s *site) counted() ([]entry, map[string]int) {
	s.Helper()
	list, times := s.events(), map[string]int{}
	for _, e := range list {
		times[e.Call]++
	}
	return list, times
}

// holds fails unless the checkpoint of each event has the file that was written before it: a file per event that never
// changes again, in edits/ under the name of the call. At most so many checkpoints are looked at, 0: all.
func (s *site) holds(list []entry, most int) {
	s.Helper()
	byCheckpoint := map[string][]string{}
	var order []string
	for _, e := range list {
		if byCheckpoint[e.Checkpoint] == nil {
			order = append(order, e.Checkpoint)
		}
		byCheckpoint[e.Checkpoint] = append(byCheckpoint[e.Checkpoint], e.Call)
	}
	step := 1
	if most > 0 && len(order) > most {
		step = len(order) / most
	}
	for i := 0; i < len(order); i += step {
		cp := order[i]
		var diff struct {
			Files []struct{ Path, Status string }
		}
		s.decode(&diff, "diff", cp, "--name-only")
		for _, f := range diff.Files { // of the worktree against the checkpoint
			if call, ok := strings.CutPrefix(f.Path, "edits/"); ok && slices.Contains(byCheckpoint[cp], call) {
				s.Errorf("checkpoint %.12s of event %s does not have its edit (%s)", cp, call, f.Status)
			}
		}
	}
}

// edit writes the file that holds looks for.
func (s *site) edit(call string) { s.write("edits/"+call, call) }

// clean fails unless the store is whole, and a hook after one more edit leaves nothing unsaved.
func (s *site) clean() {
	s.Helper()
	s.edit("final")
	s.mustCapture("final", "final")
	s.must("verify")
	if out := s.must("diff", "--name-only"); out != "" {
		s.Errorf("a hook left changes out:\n%s", out)
	}
	if v := s.status(); len(v.Changes) != 0 || v.Degraded != nil {
		s.Errorf("status after a hook: %+v", v)
	}
}

// pids are the processes of this site that run a program with these first arguments.
func (s *site) pids(name string, args ...string) []int {
	var list []int
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		at := filepath.Join("/proc", d.Name())
		exe, _ := os.Readlink(filepath.Join(at, "exe"))
		env, _ := os.ReadFile(filepath.Join(at, "environ"))
		line, _ := os.ReadFile(filepath.Join(at, "cmdline"))
		argv := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if name != "" && filepath.Base(exe) != name ||
			!bytes.Contains(append([]byte{0}, env...), []byte("\x00REWIND_HOME="+s.home+"\x00")) {
			continue
		}
		if len(argv) > len(args) && slices.Equal(argv[1:1+len(args)], args) {
			list = append(list, pid)
		}
	}
	return list
}

// daemons are the daemons that run.
func (s *site) daemons() []int { return s.pids("rewindd", "daemon") }

// daemon is the one that runs. Others, which find it in their place, may need a moment to go.
func (s *site) daemon() int {
	s.Helper()
	list := s.daemons()
	for end := time.Now().Add(10 * time.Second); len(list) != 1; list = s.daemons() {
		if time.Now().After(end) {
			s.Fatalf("daemons: %v", list)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return list[0]
}

// kill ends the daemon as a crash does.
func (s *site) kill() {
	s.Helper()
	pid := s.daemon()
	s.check(syscall.Kill(pid, syscall.SIGKILL))
	s.gone(pid)
}

// stop ends the daemon in order. On a busy machine another that the client has started may come up only then, find the
// place free and serve: it is asked, too.
func (s *site) stop() {
	s.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		s.must("daemon", "stop")
		left := s.daemons()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			s.Fatalf("processes %v do not end", left)
		}
	}
}

// gone waits for the end of a process. One that nobody reaps has ended all the same.
func (s *site) gone(pid int) {
	s.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if !slices.Contains(s.pids(""), pid) {
			return
		}
	}
	s.Fatalf("process %d does not end", pid)
}

// killAll ends whatever is left of the site.
func (s *site) killAll() {
	for range 3 {
		for _, pid := range s.pids("") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// cpu is the processor time that a process has used; false: it has ended.
func (s *site) cpu(pid int) (used time.Duration, ok bool) {
	s.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0, false
	}
	s.check(err)
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	s.check(err)
	system, err := strconv.Atoi(fields[12])
	s.check(err)
	// USER_HZ is 100 on every architecture of Linux that Go knows
	return time.Duration(user+system) * 10 * time.Millisecond, true
}

// noSpin fails when a daemon uses a quarter of a processor for two seconds. One that has nothing to do in its place may
// end meanwhile: it does not spin.
func (s *site) noSpin(pid int) {
	s.Helper()
	before, ok := s.cpu(pid)
	time.Sleep(2 * time.Second)
	after, still := s.cpu(pid)
	if used := after - before; ok && still && used >= 500*time.Millisecond {
		s.Errorf("the daemon used %v in 2s", used)
	}
}
