//go:build acceptance

package acceptance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkpoint is what `rewind list --json` says of one, or `rewind ops --json` of an event that found nothing changed
// and so stands for the checkpoint that was there: the field names that these tests rely on, all of them.
type checkpoint struct {
	ID      string `json:"id"`
	Session string `json:"session"` // agent/id; here the agent's id, or manual
	Agent   string `json:"agent"`
	Turn    int    `json:"turn"`
	Event   string `json:"event"`
	Seq     uint64 `json:"seq"`
	Tool    struct {
		Name string `json:"name"`
		Call string `json:"call"`
	} `json:"tool"`
}

func (c checkpoint) String() string {
	return fmt.Sprintf("%.8s turn %d %s %s %s", c.ID, c.Turn, c.Event, c.Tool.Name, c.Tool.Call)
}

// The events of a checkpoint that an agent caused.
const (
	before = "pre-tool-use"
	after  = "post-tool-use"
	stop   = "stop"
)

var agentEvents = []string{"session-start", "prompt", before, after, stop, "subagent-stop", "session-end"}

// state is what the project's files hold, README.md apart.
type state map[string]string

// work is what testdata/scripts/basic.json has an agent do: tool calls, and what the project holds after each.
var work = []struct {
	turn  int
	do    string
	after state
}{
	{1, "write", state{"alpha.txt": "one\n"}},
	{1, "edit", state{"alpha.txt": "two\n"}},
	{1, "bash", state{"alpha.txt": "three\n", "beta.txt": "made-by-bash\n"}},
	{2, "write", state{"alpha.txt": "three\n", "beta.txt": "made-by-bash\n", "gamma.txt": "g\n"}},
	{2, "bash", state{"alpha.txt": "three\n", "gamma.txt": "g\n", "delta.txt": "two\n"}},
}

// toolNames are the words of each agent's hooks for the calls.
var toolNames = map[string]map[string]string{
	"claude": {"write": "Write", "edit": "Edit", "bash": "Bash"},
	"codex":  {"write": "apply_patch", "edit": "apply_patch", "bash": "Bash"},
	"gemini": {"write": "write_file", "edit": "replace", "bash": "run_shell_command"},
	"droid":  {"write": "Create", "edit": "Edit", "bash": "Execute"},
}

func TestClaude(t *testing.T)    { testAgent(t, claude) }
func TestClaudeOld(t *testing.T) { testAgent(t, claude21, claude20) }
func TestCodex(t *testing.T)     { testAgent(t, codex) }
func TestCodexOld(t *testing.T)  { testAgent(t, codexOld) }
func TestGemini(t *testing.T)    { testAgent(t, gemini) }
func TestGeminiOld(t *testing.T) { testAgent(t, geminiOld) }
func TestDroid(t *testing.T)     { testAgent(t, droid) }

// testAgent does what a user does, with each way to use an agent: install rewind, rewind init, work. Nothing else is
// set up for rewind.
func testAgent(t *testing.T, versions ...client) {
	for _, y := range ways {
		if !slices.Contains(versions, y.client) {
			continue
		}
		t.Run(y.String(), func(t *testing.T) {
			w := newWorld(t, y.client, "basic")
			y.offline(w)
			w.install()
			w.rewind("init")
			y.talk(w, prompts...)
			w.checkWork()
			w.checkSteps()
			w.checkQuiet()
			if diff := w.rewind("diff"); diff != "" {
				t.Errorf("rewind diff after the last turn:\n%s", diff)
			}
		})
	}
}

// install lays the programs out as make install does.
func (w *world) install() {
	w.Helper()
	system := filepath.Join(w.home, ".rewind", "system")
	w.copyPrograms(w.mkdir(system))
	link := filepath.Join(w.mkdir(filepath.Join(w.home, ".local", "bin")), "rewind")
	if err := os.Symlink(filepath.Join(system, "rewind"), link); err != nil {
		w.Fatal(err)
	}
}

// copyPrograms has another process copy what was built: a process that is started here meanwhile would hold the copy
// open for a moment, and it could not be run ("text file busy").
func (w *world) copyPrograms(dir string) {
	w.Helper()
	for _, name := range programs {
		if _, err := os.Stat(filepath.Join(os.Getenv(stage), name)); err != nil {
			w.Fatalf("%s was not built (the beginning of the output says why): %v", name, err)
		}
		w.must("cp", filepath.Join(os.Getenv(stage), name), filepath.Join(dir, name))
		w.must("chmod", "755", filepath.Join(dir, name))
	}
}

// rewind runs a command that must succeed, in the project.
func (w *world) rewind(args ...string) string {
	w.Helper()
	return w.must(append([]string{filepath.Join(w.home, ".local", "bin", "rewind")}, args...)...)
}

// holds holds a checkpoint's files against a state.
func (w *world) holds(c checkpoint, want state) {
	w.Helper()
	for _, name := range []string{"alpha.txt", "beta.txt", "gamma.txt", "delta.txt"} {
		out, _, err := w.run(filepath.Join(w.home, ".local", "bin", "rewind"), "cat", c.ID+":"+name)
		text, there := want[name]
		if there != (err == nil) || there && out != text {
			w.Errorf("%s: %s in %s is %q (%v), want %q", w.client, name, c, out, err, text)
		}
	}
}

// checkpoints is all that rewind list has, with the events that found nothing changed, in the order in which they came.
func (w *world) checkpoints() []checkpoint {
	w.Helper()
	var list struct {
		Checkpoints []checkpoint `json:"checkpoints"`
	}
	if err := json.Unmarshal([]byte(w.rewind("list", "--all", "--limit", "0", "--json")), &list); err != nil {
		w.Fatal(err)
	}
	var log struct {
		Operations []struct {
			checkpoint
			Kind       string `json:"kind"`
			Checkpoint string `json:"checkpoint"`
		} `json:"operations"`
	}
	if err := json.Unmarshal([]byte(w.rewind("ops", "--all", "--limit", "0", "--json")), &log); err != nil {
		w.Fatal(err)
	}
	for _, op := range log.Operations {
		if op.Kind == "event" {
			op.ID = op.Checkpoint
			list.Checkpoints = append(list.Checkpoints, op.checkpoint)
		}
	}
	for i, c := range list.Checkpoints {
		_, id, _ := strings.Cut(c.Session, "/")
		list.Checkpoints[i].Session = cmp.Or(id, c.Session)
	}
	slices.SortFunc(list.Checkpoints, func(a, b checkpoint) int { return cmp.Compare(a.Seq, b.Seq) })
	return list.Checkpoints
}

// checkSteps holds the list of checkpoints, and what they hold, against the work.
func (w *world) checkSteps() {
	w.Helper()
	list := w.checkpoints()
	found, problems := match(list, w.client.agent, w.session())
	if problems != nil {
		w.Errorf("%s:\n%s\nof the checkpoints\n%s", w.client, strings.Join(problems, "\n"), lines(list))
	}
	for _, f := range found {
		w.holds(f.checkpoint, f.holds)
	}
}

func lines(list []checkpoint) string {
	var out []string
	for _, c := range list {
		out = append(out, c.String())
	}
	return strings.Join(out, "\n")
}

// moment is a checkpoint and what it must hold.
type moment struct {
	checkpoint
	holds state
}

// match finds what the work must have left in a list, oldest first: one before and one after each tool call, one at the
// end of each turn, in order, each of the session, the turn and the call. All that the agent caused is of this agent
// and session.
func match(list []checkpoint, agent, session string) (found []moment, problems []string) {
	var steps []checkpoint
	for _, c := range list {
		if !slices.Contains(agentEvents, c.Event) {
			continue
		}
		if c.Session != session || c.Agent != agent {
			problems = append(problems, fmt.Sprintf("%s is of %q, session %q, want %q, session %q", c, c.Agent, c.Session, agent, session))
		}
		steps = append(steps, c)
	}
	at, calls := 0, map[string]bool{}
	find := func(event, tool, call string, turn int, holds state) (checkpoint, bool) {
		i := slices.IndexFunc(steps[at:], func(c checkpoint) bool {
			return c.Event == event && c.Turn == turn && c.Tool.Name == tool && (call == "" || c.Tool.Call == call)
		})
		if i < 0 {
			problems = append(problems, strings.TrimSpace(fmt.Sprintf("missing: turn %d %s %s %s", turn, event, tool, call)))
			return checkpoint{}, false
		}
		at += i + 1
		found = append(found, moment{steps[at-1], holds})
		return steps[at-1], true
	}
	held := state{}
	for i, step := range work {
		tool := toolNames[agent][step.do]
		c, ok := find(before, tool, "", step.turn, held)
		if ok && (c.Tool.Call == "" || calls[c.Tool.Call]) {
			problems = append(problems, c.String()+": its call has no id of its own")
		}
		calls[c.Tool.Call] = true
		find(after, tool, c.Tool.Call, step.turn, step.after)
		held = step.after
		if i+1 == len(work) || work[i+1].turn != step.turn {
			find(stop, "", "", step.turn, held)
		}
	}
	return found, problems
}

// TestMatch holds match against a list that is right, and against every list with one thing wrong.
func TestMatch(t *testing.T) {
	right := func() []checkpoint {
		list := []checkpoint{{Event: "init", Session: "manual"}, {Event: "session-start", Session: "s", Agent: "claude"}}
		add := func(turn int, event, tool, call string) {
			c := checkpoint{ID: fmt.Sprint(len(list)), Session: "s", Agent: "claude", Turn: turn, Event: event}
			c.Tool.Name, c.Tool.Call = tool, call
			list = append(list, c)
		}
		for i, step := range work {
			add(step.turn, before, toolNames["claude"][step.do], fmt.Sprint("call", i))
			add(step.turn, after, toolNames["claude"][step.do], fmt.Sprint("call", i))
			if i+1 == len(work) || work[i+1].turn != step.turn {
				add(step.turn, stop, "", "")
			}
		}
		return list
	}
	found, problems := match(right(), "claude", "s")
	if len(found) != 12 || problems != nil {
		t.Errorf("%d found in a list that is right: %q", len(found), problems)
	}
	for i := 2; i < len(right()); i++ {
		for name, spoil := range map[string]func(list []checkpoint) []checkpoint{
			"missing":          func(l []checkpoint) []checkpoint { return slices.Delete(l, i, i+1) },
			"of another":       func(l []checkpoint) []checkpoint { l[i].Session = "t"; return l },
			"of another agent": func(l []checkpoint) []checkpoint { l[i].Agent = ""; return l },
			"of another turn":  func(l []checkpoint) []checkpoint { l[i].Turn += 2; return l },
			"of another tool":  func(l []checkpoint) []checkpoint { l[i].Tool.Name += "x"; return l },
			"out of place":     func(l []checkpoint) []checkpoint { l[i-1], l[i] = l[i], l[i-1]; return l },
			"of another call":  func(l []checkpoint) []checkpoint { l[i].Tool.Call += "x"; return l },
		} {
			if right()[i].Event == stop && name == "of another call" || i == 2 && name == "out of place" {
				continue // a stop has no call; the first may come before the session's start
			}
			list := right()
			if _, problems := match(spoil(list), "claude", "s"); problems == nil {
				t.Errorf("%s %s is not seen", right()[i], name)
			}
		}
	}
}
