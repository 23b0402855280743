//go:build acceptance

package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
)

// drivenDir, where it is set, is where TestDriven keeps the session files of each agent with what is true of them:
// testdata of the detection of forks is made so.
const drivenDir = "REWIND_ACCEPTANCE_DRIVEN"

// drive notes what an agent is driven to make.
type drive struct {
	*world
	by   driver
	list []enginetest.DrivenSession
	seen map[string]bool
}

// made notes the session files that are new: one, which is of this kind.
func (d *drive) made(kind, parent string, turn int) string {
	d.Helper()
	var fresh []string
	for _, f := range d.transcripts() {
		if !d.seen[f] && strings.Contains(d.read(f), "please") {
			fresh = append(fresh, f)
		}
	}
	if len(fresh) != 1 {
		d.Errorf("%s: %s made %d session files: %q", d.client, kind, len(fresh), fresh)
		if len(fresh) == 0 {
			return ""
		}
	}
	f := fresh[len(fresh)-1]
	d.seen[f] = true
	rel, err := filepath.Rel(d.home, f)
	if err != nil {
		d.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(f), ".jsonl")
	if d.agent != "claude" {
		id = sessionField.FindStringSubmatch(d.read(f))[1]
	}
	d.list = append(d.list, enginetest.DrivenSession{File: rel, ID: id, Kind: kind, Parent: parent, Turn: turn})
	return id
}

// keep writes the session files and what is true of them.
func (d *drive) keep() {
	d.Helper()
	for _, s := range d.list {
		d.Logf("%-28s %s of %s turn %d  %s", s.Kind, s.ID, s.Parent, s.Turn, s.File)
	}
	dir := os.Getenv(drivenDir)
	if dir == "" {
		return
	}
	dir = filepath.Join(dir, d.client.String())
	for _, s := range d.list {
		d.write(filepath.Join(dir, s.File), d.read(filepath.Join(d.home, s.File)))
	}
	if b, err := os.ReadFile(filepath.Join(d.home, ".gemini", "projects.json")); err == nil {
		d.write(filepath.Join(dir, ".gemini", "projects.json"), string(b))
	}
	all, err := enginetest.ReadDriven(dir)
	if err == nil {
		all.Project, all.Sessions = d.project, d.list
		all.Shorten()
		all.Move("/home/dev/proj")
		err = os.RemoveAll(dir)
	}
	if err == nil {
		err = all.Write(dir)
	}
	if err != nil {
		d.Error(err)
	}
}

// TestDriven has each agent fork in all ways that it has itself, up to forks of forks of forks, and do what is no fork.
func TestDriven(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		driver
		drive func(*drive)
	}{
		{drivers[0], driveClaude},
		{drivers[1], driveClaude},
		{drivers[2], driveClaude},
		{driver{client: claude10, offline: claudeOffline}, driveClaude1},
		{drivers[3], driveCodex},
		{drivers[4], driveCodexOld},
		{driver{client: codex58, offline: codexOffline("gpt-5.5")}, driveCodexOld},
		{drivers[5], driveGemini},
		{drivers[6], driveGemini},
		{drivers[7], driveDroid},
	} {
		v.test(t, func(w *world, d driver) {
			d2 := &drive{world: w, by: d, seen: map[string]bool{}}
			defer d2.keep()
			v.drive(d2)
		})
	}
}

// empty takes away what the agent has written, so that it changes something when it does the same again.
func (d *drive) empty() {
	d.Helper()
	d.world.must("rm", "-f", "alpha.txt", "beta.txt", "gamma.txt", "delta.txt")
}

// print has one turn without a terminal.
func (d *drive) print(prompt string, args ...string) {
	d.Helper()
	d.headless(append([]string{"-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash"}, args...)...)
}

func driveClaude(d *drive) {
	d.by.begin(d.world, prompts[0])
	p := d.made("first", "", 0)
	d.print(prompts[1], "--resume", p) // a resumed session
	f := d.fork("--fork-session", p, 2, "NEXT-FORK please")
	d.print(nextInOrig, "--resume", p) // the parent grows beside it
	for depth, prompt := range []string{"NEXT-MORE please", "NEXT-LIVE please", "NEXT-INSIDE please", "NEXT-BACK please"} {
		f = d.fork(fmt.Sprintf("--fork-session, %d deep", depth+2), f, 3+depth, prompt)
	}
	d.fork("--fork-session of a parent that had grown", p, 3, "NEXT-CUT please")
	d.print(prompts[0]) // word for word
	again := d.made("rerun", "", 0)
	d.print(prompts[0])
	d.made("rerun", "", 0)

	// a copy under another name, gone on with
	copied := "11111111-2222-4333-8444-555555555555"
	d.write(filepath.Join(filepath.Dir(d.file(again)), copied+".jsonl"), d.read(d.file(again)))
	d.print("NEXT-CUT please", "--resume", copied)
	d.made("copied file", again, 1)

	// compacted, then forked
	d.print(prompts[0])
	c := d.made("compacted", "", 0)
	d.print("/compact", "--resume", c)
	d.fork("--fork-session right behind a compaction", c, 1, "NEXT-MORE please")
	d.print(prompts[1], "--resume", c)
	d.fork("--fork-session of a compacted one", c, 2, "NEXT-FORK please")

	if d.client != claude20 {
		t := d.by.open(d.world, "")
		t.say(prompts[0])
		t.press("-l", "/clear")
		t.settles()
		t.press("Enter")
		t.settles()
		cleared := d.made("before /clear", "", 0)
		t.say(prompts[0])
		d.by.leave(t)
		d.made("after /clear", "", 0)
		_ = cleared
	}
	if d.client != claude {
		return
	}
	t := d.by.open(d.world, p)
	t.press("-l", "/branch")
	t.settles()
	t.press("Enter")
	t.settles()
	t.say("NEXT-BACK please")
	d.by.leave(t)
	b := d.made("/branch", p, 3)
	d.fork("--fork-session of a /branch", b, 4, "NEXT-LIVE please")

	d.empty()
	t = d.by.open(d.world, "")
	t.say(prompts[0])
	t.say(prompts[1])
	back["claude"](t)
	t.settles()
	t.press("C-u")
	t.settles()
	t.say("NEXT-MORE please")
	d.by.leave(t)
	esc := d.made("Esc-Esc in the file", "", 0)
	d.fork("--fork-session of one with a turn gone", esc, 3, "NEXT-FORK please")
	d.sdk(p, prompts[1])
	d.sdk(f, "")
}

// fork is a fork with --fork-session.
func (d *drive) fork(kind, of string, turn int, prompt string) string {
	d.Helper()
	d.print(prompt, "--resume", of, "--fork-session")
	return d.made(kind, of, turn)
}

// sdk forks by the agent's library, in front of a prompt or the whole, and goes on with that.
func (d *drive) sdk(of, before string) {
	d.Helper()
	id, n := d.forkSession(of, before)
	d.made("forkSession", of, n)
	d.print("NEXT-LIVE please", "--resume", id)
	d.fork("--fork-session of a forkSession", id, n+1, "NEXT-MORE please")
}

// forkSession forks a session by the agent's library, in front of a prompt or the whole. It returns the new id and the
// turns it took.
func (w *world) forkSession(of, before string) (id string, turns int) {
	w.Helper()
	dir, err := clientsDir()
	if err != nil {
		w.Fatal(err)
	}
	up, last := "", ""
	for l := range strings.Lines(w.read(w.file(of))) {
		var v struct {
			Type, UUID string
			Message    struct{ Content any }
		}
		_ = json.Unmarshal([]byte(l), &v)
		if s, ok := v.Message.Content.(string); ok && v.Type == "user" && isPrompt(s) {
			if s == before {
				up = last
				break
			}
			turns++
		}
		if v.Type == "assistant" && v.UUID != "" {
			last = v.UUID
		}
	}
	script := fmt.Sprintf("import {forkSession} from %q; "+
		"console.log((await forkSession(%q, {dir: %q, upToMessageId: %q || undefined})).sessionId)",
		"file://"+claudeSDK.path(dir), of, w.project, up)
	return strings.TrimSpace(w.must("node", "--input-type=module", "-e", script)), turns
}

// isPrompt tells a prompt of a script from what an agent puts in its place: it begins with a word in capitals.
func isPrompt(s string) bool {
	word, _, more := strings.Cut(s, " ")
	return more && word == strings.ToUpper(word) && !strings.HasPrefix(word, "<")
}

func driveClaude1(d *drive) {
	d.print(prompts[0])
	p := d.made("first", "", 0)
	d.print(prompts[1], "--resume", p)
	c := d.made("copy on resume", p, 1)
	d.print("NEXT-MORE please", "--resume", c)
	c = d.made("copy of a copy", c, 2)
	d.print("NEXT-LIVE please", "--resume", c)
	d.made("copy of a copy of a copy", c, 3)
	d.print("NEXT-FORK please", "--resume", p)
	d.made("second copy on resume", p, 1)
	d.print(prompts[0])
	d.made("rerun", "", 0)
}

// exec has one turn of Codex without a terminal.
func (d *drive) exec(args ...string) { d.headless(append([]string{"exec"}, args...)...) }

func driveCodex(d *drive) {
	d.exec(prompts[0])
	p := d.made("first", "", 0)
	d.exec("resume", p, prompts[1])
	f := p
	for depth, prompt := range []string{"NEXT-FORK please", "NEXT-MORE please", "NEXT-LIVE please", "NEXT-BACK please"} {
		t := d.world.open(append([]string{"fork", f}, codexTUI...)...)
		codexGreets(t)
		t.say(prompt)
		t.leave("/quit")
		f = d.made(fmt.Sprintf("fork by reference, %d deep", depth+1), f, 2+depth)
	}
	d.exec("resume", p, nextInOrig)
	d.exec("fork", p, "NEXT-CUT please")
	d.made("exec fork of a parent that had grown", p, 3)
	d.exec(prompts[0])
	d.made("rerun", "", 0)
	t := d.by.open(d.world, "")
	t.say(prompts[0])
	t.say(prompts[1])
	s := d.made("before a backtrack", "", 0)
	back["codex"](t)
	t.settles()
	t.press("C-u")
	t.settles()
	t.say("NEXT-MORE please")
	d.by.leave(t)
	d.made("segment of a backtrack", s, 1)
}

func driveCodexOld(d *drive) {
	d.exec(prompts[0])
	p := d.made("first", "", 0)
	d.exec("resume", p, prompts[1])
	d.exec(prompts[0])
	d.made("rerun", "", 0)
	if d.client == codexOld {
		f := p
		for depth, prompt := range []string{"NEXT-FORK please", "NEXT-MORE please"} {
			t := d.world.open(append([]string{"fork", f}, codexTUIOld...)...)
			codexGreets(t)
			t.say(prompt)
			t.leave("/quit")
			f = d.made(fmt.Sprintf("fork, %d deep", depth+1), f, 2+depth)
		}
	}
}

func driveGemini(d *drive) {
	d.by.begin(d.world, prompts[0])
	p := d.made("first", "", 0)
	d.by.must(d.world, p, prompts[1])
	d.by.begin(d.world, prompts[0])
	d.made("rerun", "", 0)
	if d.client == gemini {
		t := d.by.open(d.world, "")
		t.say(prompts[0])
		t.say(prompts[1])
		back["gemini"](t)
		t.settles()
		t.press("C-u")
		t.settles()
		t.say("NEXT-MORE please")
		d.by.leave(t)
		d.made("rewound in the file", "", 0)
	}
}

func driveDroid(d *drive) {
	d.by.begin(d.world, prompts[0])
	p := d.made("first", "", 0)
	d.by.must(d.world, p, prompts[1])
	f := p
	for depth, prompt := range []string{"NEXT-FORK please", "NEXT-MORE please", "NEXT-LIVE please"} {
		t := d.world.open("--fork", f, "--auto", "high")
		droidGreets(t)
		t.say(prompt)
		droidLeave(t)
		f = d.made(fmt.Sprintf("--fork, %d deep", depth+1), f, 2+depth)
	}
	d.by.must(d.world, p, nextInOrig)
	d.empty()
	d.by.begin(d.world, prompts[0])
	r := d.made("rerun", "", 0)
	t := d.by.open(d.world, r)
	t.say(prompts[1])
	back["droid"](t)
	t.settles()
	t.press("C-u")
	t.settles()
	t.say("NEXT-CUT please")
	droidLeave(t)
	d.made("/rewind-conversation", r, 1)
	d.by.begin(d.world, prompts[0])
	c := d.made("rerun", "", 0)
	t = d.by.open(d.world, c)
	t.press("-l", "/compress")
	t.settles()
	t.press("Enter")
	t.chooses("", "Enter to confirm")
	t.press("Enter")
	t.still(4 * steady)
	t.say(prompts[1])
	droidLeave(t)
	d.made("/compress", c, 1)
}
