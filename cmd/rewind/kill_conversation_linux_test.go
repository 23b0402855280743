package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/transcript"
)

// talker is a home directory with a project in which an agent's session was played, and the real program. Session files
// are named by their paths in what rewind stores, so there is one home for all kills of a case, and before each of them
// it is laid out anew.
type talker struct {
	someone
	agent     transcript.Agent
	id, file  string // of the session
	folder    string // of the agent, with its session files
	leftovers int64  // temporary files that kills left
	standings bool   // how sessions stand is a part of the state
	served    bool   // a daemon may be there
}

// newTalker plays two turns of an agent and then runs a command line, if there is one.
func newTalker(t *testing.T, agent transcript.Agent, then ...string) *talker {
	t.Helper()
	program, err := realProgram()
	must(t, err)
	k := &talker{someone: someone{t, filepath.Join(memoryDir(t), "home"), program}, agent: agent}
	write(t, k.home, map[string]string{"p/start": "start\n", "p/kept/file": "f\n"})
	k.must("init")
	text, err := os.ReadFile(filepath.Join("testdata", "play", string(agent)))
	must(t, err)
	p := &play{home: k.home, dir: filepath.Join(k.home, "p"), check: func(err error) { must(t, err) }}
	sent := 0
	p.send = func(dir, agent, event, payload string) {
		sent++ // Droid's stops are all the same
		id := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", sent, event, payload))
		for range 2 { // on a busy machine a hook may give up; what comes again is recorded once
			cmd := k.command("hook", "--agent", agent, "--event", event, "--id", fmt.Sprintf("%x", id[:8]))
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(payload)
			must(t, cmd.Run())
		}
	}
	p.run(string(text))
	k.id, k.file = p.id, p.file
	k.folder, _, err = transcript.SessionFile(agent, k.file)
	must(t, err)
	if turns := k.must("turns"); strings.Count(turns, "\n") != 2 || strings.Count(turns, "checkpoint") != 2 {
		t.Fatalf("the session was not taken in:\n%s", turns)
	}
	if len(then) > 0 {
		k.must(then...)
	}
	k.alone()
	k.keep()
	t.Cleanup(k.alone)
	return k
}

// reset lays the home out as it was before the command that is killed.
func (k *talker) reset() {
	k.t.Helper()
	endBelow(k.home, nil)
	k.served = false
	k.someone.reset()
}

// command is a command line in the project that a daemon answers, as people's are. Before something is killed, which
// does all itself, the daemon has to go.
func (k *talker) command(args ...string) *exec.Cmd {
	k.served = true
	cmd := exec.Command(k.program, args...)
	cmd.Dir = filepath.Join(k.home, "p")
	cmd.Env = append(os.Environ(), "HOME="+k.home, "REWIND_HOME=", "REWIND_DAEMON=", "REWIND_AFTERWARDS=off",
		"REWIND_IDLE=2m")
	return cmd
}

// alone ends the daemon. It answers when its stores are closed, and writes to its log after that.
func (k *talker) alone() {
	k.t.Helper()
	if !k.served {
		return
	}
	var v struct{ Daemon struct{ PID int } }
	out, err := k.command("daemon", "stop", "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &v)
	}
	if err != nil {
		k.t.Errorf("daemon stop: %v\n%s", err, out)
	}
	if v.Daemon.PID > 0 {
		eventuallyGone(k.t, v.Daemon.PID)
	}
	k.served = false
}

// run runs a command line alone, killed instead of its nth call that changes something.
func (k *talker) run(n int, args ...string) (code, met int) {
	k.t.Helper()
	k.alone()
	return k.someone.run(n, args...)
}

// try runs a command line in the project.
func (k *talker) try(args ...string) (code int, out string) {
	k.t.Helper()
	b, err := k.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		k.t.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return code, string(b)
}

// must is try for what must succeed.
func (k *talker) must(args ...string) string {
	k.t.Helper()
	code, out := k.try(args...)
	if code != 0 {
		k.t.Fatalf("rewind %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

var (
	anID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	aTime  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(\.\d+Z)?`)
	aDay   = regexp.MustCompile(`/\d{4}/\d\d/\d\d/`)
	hidden = regexp.MustCompile(`^\..*\.rewind-[0-9A-Z]+$`)
)

// plain is text without what differs from one fork to the next: ids, but for the session's own, and times.
func (k *talker) plain(text string) string {
	text = anID.ReplaceAllStringFunc(text, func(id string) string {
		if id == k.id {
			return id
		}
		return "ID"
	})
	return aDay.ReplaceAllString(aTime.ReplaceAllString(text, "TIME"), "/DAY/")
}

// sessions are the files of the agent's folder by their paths, and the temporary ones among them.
func (k *talker) sessions() (files map[string][]byte, temporary []string) {
	k.t.Helper()
	files = map[string][]byte{}
	must(k.t, filepath.WalkDir(k.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if hidden.MatchString(d.Name()) {
			temporary = append(temporary, path)
			return nil
		}
		files[path], err = os.ReadFile(path)
		return err
	}))
	return files, temporary
}

// state describes the project and every session file but temporary ones, a line each: the original exactly, others as
// their agent would tell them apart.
func (k *talker) state() string {
	k.t.Helper()
	code, err := listing(filepath.Join(k.home, "p"))
	must(k.t, err)
	files, _ := k.sessions()
	var lines []string
	for path, b := range files {
		text := string(b)
		if path != k.file {
			text = k.plain(text)
		}
		fi, err := os.Stat(path)
		must(k.t, err)
		rel, err := filepath.Rel(k.home, path)
		must(k.t, err)
		lines = append(lines, fmt.Sprintf("session file %s %s %d bytes %x\n", k.plain(rel), fi.Mode(), len(text),
			sha256.Sum256([]byte(text))))
	}
	if k.standings {
		lines = append(lines, k.standing()...)
	}
	slices.Sort(lines)
	return code + strings.Join(lines, "")
}

// other is the id of a session beside the one that was played.
func (k *talker) other() string {
	k.t.Helper()
	files, _ := k.sessions()
	for path := range files {
		if id := anID.FindString(filepath.Base(path)); id != "" && id != k.id {
			return id
		}
	}
	k.t.Fatal("there is no other session")
	return ""
}

// standing is how each session stands among others.
func (k *talker) standing() (lines []string) {
	k.t.Helper()
	var v struct {
		Sessions []struct{ Session, Standing string }
	}
	must(k.t, json.Unmarshal([]byte(k.must("sessions", "--all", "--json")), &v))
	for _, s := range v.Sessions {
		lines = append(lines, fmt.Sprintf("session %s is %q\n", k.plain(s.Session), s.Standing))
	}
	return lines
}

// whole fails the test unless every session file is as before or as after, what the agent lists is a session that it
// can go on with, and temporary files are hidden from it.
func (k *talker) whole(n int, before, after string) {
	k.t.Helper()
	known := before + after
	for line := range strings.Lines(k.state()) {
		if strings.HasPrefix(line, "session file") && !strings.Contains(known, line) {
			k.t.Errorf("killed at call %d: neither as before nor as after: %s", n, line)
		}
	}
	files, temporary := k.sessions()
	for path, b := range files {
		for line := range bytes.Lines(b) {
			if strings.HasSuffix(path, ".jsonl") && (!json.Valid(line) || line[len(line)-1] != '\n') {
				k.t.Errorf("killed at call %d: %s has half a line:\n%s", n, path, line)
			}
		}
	}
	found, _, err := transcript.Find(k.agent, os.DirFS(k.folder), filepath.Join(k.home, "p"))
	must(k.t, err)
	for _, rel := range found {
		path := filepath.Join(k.folder, rel)
		if slices.Contains(temporary, path) {
			k.t.Errorf("killed at call %d: an agent would list %s", n, path)
		}
		ids := anID.FindAllString(filepath.Base(path), -1)
		if len(ids) != 1 {
			k.t.Fatalf("session file %s", path)
		}
		if settings := strings.TrimSuffix(path, ".jsonl") + ".settings.json"; k.agent == transcript.Droid &&
			files[settings] == nil {
			k.t.Errorf("killed at call %d: Droid lists %s without its settings: it would go on with another model, and less care", n, path)
		}
		if b := files[path]; b != nil {
			if err := transcript.Check(k.agent,
				transcript.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: path}, ids[0]); err != nil {
				k.t.Errorf("killed at call %d: %v", n, err)
			}
		}
	}
	stays := strings.Contains(before, k.id) && strings.Contains(after, k.id) // else it is deleted, or comes back
	if stays && !slices.ContainsFunc(found, func(rel string) bool { return filepath.Join(k.folder, rel) == k.file }) {
		k.t.Errorf("killed at call %d: the agent finds its session no more in %v", n, found)
	}
	k.leftovers += int64(len(temporary))
	for _, path := range temporary { // as if the kill had been yesterday
		old := time.Now().Add(-24 * time.Hour)
		must(k.t, os.Chtimes(path, old, old))
	}
}

// sidesAlone reports whether nothing is new but what belongs beside a session file that is not there yet: nobody looks
// at it.
func (k *talker) sidesAlone(before string) bool {
	k.t.Helper()
	for line := range strings.Lines(k.state()) {
		if !strings.Contains(before, line) && !strings.Contains(line, ".settings.json ") {
			return false
		}
	}
	return true
}

// halfDone tells whether a restore is unfinished.
func (k *talker) halfDone() bool {
	k.t.Helper()
	var v struct {
		HalfDone string `json:"half_done"`
	}
	must(k.t, json.Unmarshal([]byte(k.must("status", "--json")), &v))
	return v.HalfDone != ""
}

// is compares the state of things.
func (k *talker) is(n int, what, want string) {
	k.t.Helper()
	if got := k.state(); got != want {
		k.t.Errorf("killed at call %d: after %s (-want +got):\n%s", n, what, difference(want, got))
	}
}

// forks checks that a fork can be made, and that it takes what a kill has left beside session files with it.
func (k *talker) forks(n int) {
	k.t.Helper()
	was, _ := k.sessions()
	var v struct {
		ID   string `json:"session_id"`
		Path string
	}
	out := k.must("fork", "turn:1", "--session", k.id, "--new", "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Path == "" {
		k.t.Fatalf("fork --json: %v\n%s", err, out)
	}
	files, temporary := k.sessions()
	b := files[v.Path]
	if was[v.Path] != nil {
		k.t.Errorf("killed at call %d: the fork took the place of %s", n, v.Path)
	}
	if err := transcript.Check(k.agent,
		transcript.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: v.Path}, v.ID); err != nil {
		k.t.Errorf("killed at call %d: a later fork: %v", n, err)
	}
	for _, path := range temporary {
		if filepath.Dir(path) == filepath.Dir(v.Path) {
			k.t.Errorf("killed at call %d: a later fork leaves %s", n, path)
		}
	}
	for path, b := range was {
		if !bytes.Equal(files[path], b) {
			k.t.Errorf("killed at call %d: a later fork changed %s", n, path)
		}
	}
}
