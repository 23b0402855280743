//go:build acceptance

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// branchesFile, where it is set, is where TestBranches writes its session as a person has seen it.
const branchesFile = "REWIND_ACCEPTANCE_BRANCHES"

// seen is a session at a terminal: commands, and what they wrote.
type seen struct {
	*world
	d    driver
	text strings.Builder
}

// says is a remark in the session.
func (s *seen) says(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	fmt.Fprintf(&s.text, "# %s\n", text)
	s.Logf("# %s", text)
}

var escapeSequence = regexp.MustCompile("\x1b(\\[[0-9;?]*[a-zA-Z]|\\][^\a]*\a|[=>]|\\(B)")

// overwritten is what a progress line has shown before it was taken away.
var overwritten = regexp.MustCompile("(?m)^.*\r")

// shows runs a command in the terminal and returns what it wrote. It must end with this code.
func (s *seen) shows(code int, args ...string) string {
	s.Helper()
	codeFile := filepath.Join(s.home, ".exit-code")
	agents := s.output
	t := s.start(append([]string{"/bin/sh", "-c", `PAGER=cat "$@"; echo $? > "$0"`, codeFile, "rewind"}, args...)...)
	t.ends()
	s.output = agents
	out := strings.ReplaceAll(escapeSequence.ReplaceAllString(s.read(t.log), ""), "\r\n", "\n")
	out = overwritten.ReplaceAllString(out, "")
	words := slices.Clone(args)
	for i, a := range words {
		if strings.ContainsAny(a, " '\"$") {
			words[i] = "'" + a + "'"
		}
	}
	line := fmt.Sprintf("$ rewind %s\n%s\n", strings.Join(words, " "), out)
	s.text.WriteString(line)
	s.Log("\n" + line)
	if got := strings.TrimSpace(s.read(codeFile)); got != fmt.Sprint(code) {
		s.Errorf("rewind %s ends with %s, want %d:\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

// keep writes the session into the file that is named, if one is.
func (s *seen) keep() {
	if path := os.Getenv(branchesFile); path != "" {
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(s.text.String(), s.home, "~")), 0o644); err != nil {
			s.Error(err)
		}
	}
}

// fresh is the session that the list has and these do not.
func (w *world) fresh(known ...string) string {
	w.Helper()
	id := ""
	for _, s := range w.sessions() {
		if !slices.Contains(known, s.ID) {
			if id != "" {
				w.Errorf("sessions %s and %s are both new", id, s.ID)
			}
			id = s.ID
		}
	}
	if id == "" {
		w.Fatal("no session is new")
	}
	return id
}

// drawn is what `rewind tree --json` says of a branch.
type drawn struct {
	ID        string   `json:"session_id"`
	Parent    string   `json:"parent"`
	Left      []int    `json:"left_turns"`
	Fork      *lineage `json:"fork"`
	Worktree  string   `json:"worktree"`
	Current   bool     `json:"current"`
	Conflicts []struct {
		Session string   `json:"session"`
		Paths   []string `json:"paths"`
	} `json:"conflicts"`
}

// tree is the sessions of all families, by id.
func (w *world) tree() map[string]drawn {
	w.Helper()
	list, _ := w.ways()
	return list
}

// ways is the tree, and how many ways were left within each session.
func (w *world) ways() (list map[string]drawn, left map[string]int) {
	w.Helper()
	var r struct {
		Branches []drawn `json:"branches"`
	}
	w.json(&r, "tree", "--all")
	list, left = map[string]drawn{}, map[string]int{}
	for _, b := range r.Branches {
		if b.Left == nil {
			list[b.ID] = b
		} else {
			left[b.ID]++
		}
	}
	return list, left
}

// TestDrivenTree has each agent fork in all ways that it has itself, with rewind at work: the tree says what their
// session files say.
func TestDrivenTree(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		driver
		drive func(*drive)
	}{
		{drivers[0], driveClaude},
		{drivers[3], driveCodex},
		{drivers[5], driveGemini},
		{drivers[7], driveDroid},
	} {
		v.test(t, func(w *world, d driver) {
			w.install()
			w.rewind("init")
			dr := &drive{world: w, by: d, seen: map[string]bool{}}
			v.drive(dr)
			w.rewind("sessions", "--import") // Codex without a terminal calls no hook that nobody has trusted
			tree, left := w.ways()
			ids := map[string]bool{}
			for _, s := range dr.list {
				b, ok := tree[s.ID]
				// a segment of Codex's: the same session goes on, and has left a way
				if ids[s.ID] = true; s.Parent == s.ID {
					if left[s.ID] == 0 {
						w.Errorf("%s: nothing that %s (%s) has left is in the tree", w.client, s.ID, s.Kind)
					}
					continue
				}
				want := ""
				if s.Parent != "" {
					want = w.agent + "/" + s.Parent
				}
				switch {
				case !ok:
					w.Errorf("%s: %s (%s) is not in the tree", w.client, s.ID, s.Kind)
				case b.Parent != want:
					w.Errorf("%s: %s (%s) is forked from %q, want %q", w.client, s.ID, s.Kind, b.Parent, want)
				case want != "" && (b.Fork == nil || b.Fork.Turn != s.Turn):
					w.Errorf("%s: %s (%s) is forked at %+v, want turn %d", w.client, s.ID, s.Kind, b.Fork, s.Turn)
				}
			}
			if len(tree) != len(ids) {
				w.Errorf("%s: the tree has %d branches, of %d sessions", w.client, len(tree), len(ids))
			}
			w.checkQuiet()
		})
	}
}

// TestBranches is a session at the terminal beside a real agent: forks of the agent's own and of rewind's, two
// worktrees in which it works at once, the tree, comparing, picking a change, switching there and back, going to a fork
// point and undoing that, promoting.
func TestBranches(t *testing.T) {
	t.Parallel()
	drivers[0].play(t, "branches", func(w *world, d driver) {
		s := &seen{world: w, d: d}
		defer s.keep()
		s.branches()
	})
}

func (s *seen) branches() {
	s.install()
	s.shows(0, "init")

	s.says("Claude Code, in a terminal: two turns")
	talk := s.d.open(s.world, "")
	talk.say("GREET write a greeter")
	talk.say("COUNT write a counter")
	s.d.leave(talk)
	first := s.fresh()
	s.shows(0, "turns")

	s.says("claude --resume %.8s --fork-session -p 'LOUD make it loud'", first)
	s.forks(first, "LOUD make it loud")
	loud := s.fresh(first)
	s.shows(0, "turns", loud)
	s.shows(0, "list", "--session", loud)
	s.shows(0, "checkout", "turn:3", "--session", loud, "--dry-run")

	s.says("claude --resume %.8s: /branch, 'POLITE make it polite', then Esc Esc in front of it, and 'CURT make it curt'", first)
	s.rewind("switch", first)
	talk = s.d.open(s.world, first)
	talk.press("-l", "/branch")
	talk.settles()
	talk.press("Enter")
	talk.settles()
	talk.say("POLITE make it polite")
	talk.escapes("Restore the code and/or conversation")
	talk.chooses("Up", "  ❯ POLITE make it polite")
	talk.press("Enter")
	talk.chooses("Down", "❯ 2. Restore conversation")
	talk.press("Enter")
	talk.settles()
	talk.press("C-u")
	talk.settles()
	talk.say("CURT make it curt")
	s.d.leave(talk)
	polite := s.fresh(first, loud)

	s.says("forkSession() of the agent's library, in front of COUNT; gone on with")
	sdk := s.library(first, loud, polite)

	s.says("one by rewind, gone on with by claude --resume")
	s.shows(0, "fork", "turn:1@"+first, "--title", "plain")
	plain := s.fresh(first, loud, polite, sdk)
	s.d.must(s.world, plain, "PLAIN make it plain")
	s.rewind("switch", first)
	s.shows(0, "tree")
	tree := s.tree()
	for id, turn := range map[string]int{loud: 2, polite: 2, sdk: 1, plain: 1} {
		if b := tree[id]; b.Fork == nil || *b.Fork != (lineage{"claude/" + first, turn}) {
			s.Errorf("the tree has %s from %+v, want turn %d of %s", id, b.Fork, turn, first)
		}
	}

	s.says("two worktrees side by side, an agent at work in each")
	s.shows(0, "fork", "turn:2@"+first, "--worktree", "../try-fast", "--title", "fast")
	s.shows(0, "fork", "turn:2@"+first, "--worktree", "../try-awk", "--title", "awk")
	there := map[string]*world{}
	ids := map[string]string{}
	for id, b := range s.tree() {
		if b.Worktree != "" {
			w := *s.world
			w.project = b.Worktree
			if !filepath.IsAbs(w.project) {
				w.project = filepath.Join(s.project, w.project)
			}
			there[filepath.Base(b.Worktree)], ids[filepath.Base(b.Worktree)] = &w, id
		}
	}
	if len(there) != 2 {
		s.Fatalf("the tree has the worktrees %v", ids)
	}
	var both sync.WaitGroup
	for dir, prompts := range map[string][]string{
		"try-fast": {"FAST count with wc", "TESTS test it"}, "try-awk": {"AWK count with awk"},
	} {
		both.Go(func() {
			for _, p := range prompts {
				if err := s.d.resume(there[dir], ids[dir], p); err != nil {
					s.Error(err)
				}
			}
		})
	}
	both.Wait()
	s.says("claude has had FAST and TESTS in ../try-fast, AWK in ../try-awk, at the same time")
	s.shows(0, "worktrees")
	s.shows(0, "tree")
	s.shows(0, "compare", "../try-fast")
	s.shows(0, "compare", "../try-fast", "../try-awk")

	s.says("one change across")
	s.shows(0, "pick", "../try-fast:turn:4")
	s.shows(0, "diff", "--stat")
	s.there("test.sh", "the picked change")
	s.gone("fast.txt", "of a turn that was not picked")

	s.says("there and back")
	if out := s.shows(0, "switch", loud); !strings.Contains(out, "claude turn 3") {
		s.Errorf("the fork's first turn is not its third:\n%s", out)
	}
	s.holdsText("greet.sh", "say=HELLO")
	s.shows(0, "switch", "-")
	s.holdsText("greet.sh", "say=hello")

	s.says("to where a fork parted, and back")
	s.shows(0, "checkout", "fork:"+plain[:8])
	s.gone("count.sh", "before it was written")
	s.shows(0, "undo-restore")
	s.there("count.sh", "again")

	s.says("the better one")
	s.shows(0, "compare", loud[:8], polite[:8])
	s.shows(0, "switch", loud[:8])
	s.shows(0, "forks", "promote", loud[:8])
	s.shows(0, "tree")
	s.shows(0, "ops")
	s.shows(0, "status")
	s.shows(0, "verify")
	if r := s.tree()[loud]; !r.Current {
		s.Errorf("%s is not where one is: %+v", loud, r)
	}
	s.checkQuiet()
}

// forks goes on with a session by a fork of the agent's own.
func (s *seen) forks(id, prompt string) {
	s.headless("-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--resume", id, "--fork-session")
}

// library forks the first session behind its first turn by the agent's library, and goes on with it.
func (s *seen) library(of string, known ...string) string {
	s.Helper()
	id, _ := s.forkSession(of, "COUNT write a counter")
	s.d.must(s.world, id, "AGAIN once more")
	if now := s.fresh(append(known, of)...); now != id {
		s.Errorf("the new session is %s, want %s", now, id)
	}
	return id
}

func (s *seen) there(name, why string) {
	s.Helper()
	if !s.exists(name) {
		s.Errorf("%s is not there (%s)", name, why)
	}
}

func (s *seen) gone(name, why string) {
	s.Helper()
	if s.exists(name) {
		s.Errorf("%s is there (%s)", name, why)
	}
}

func (s *seen) holdsText(name, text string) {
	s.Helper()
	if now := s.read(filepath.Join(s.project, name)); !strings.Contains(now, text) {
		s.Errorf("%s has no %q:\n%s", name, text, now)
	}
}
