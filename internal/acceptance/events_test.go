//go:build acceptance

package acceptance

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/events from what the agents fire")

// way is an agent and how it is used.
type way struct {
	client
	mode    string                  // terminal, or print: without one
	offline func(*world)            // makes the agent ask the fake model, and nobody else
	record  func(*world)            // registers the recorder with all events
	talk    func(*world, ...string) // has a conversation of some prompts in one session
}

func (y way) String() string { return y.client.String() + "-" + y.mode }

var (
	geminiHooksOn = map[string]any{"tools": map[string]any{"enableHooks": true}, "hooksConfig": map[string]any{"enabled": true}}

	ways = []way{
		{claude, "terminal", claudeOffline, claudeRecord(claudeEvents), claudeTerminal},
		{claude, "print", claudeOffline, claudeRecord(claudeEvents), claudePrint},
		{claude21, "print", claudeOffline, claudeRecord(claudeClassic), claudePrint},
		{claude20, "print", claudeOffline, claudeRecord(claudeClassic), claudePrint},
		{codex, "terminal", codexOffline("gpt-5.5"), codexRecord, codexTerminal},
		{codex, "print", codexOffline("gpt-5.6-sol"), codexRecord, codexExec("--dangerously-bypass-hook-trust")},
		{codexOld, "print", codexOffline("gpt-5.5"), codexRecord, codexExec()},
		{gemini, "print", geminiOffline, geminiRecord(nil), geminiPrint},
		{geminiOld, "print", geminiOffline, geminiRecord(geminiHooksOn), geminiPrint},
		{droid, "terminal", droidOffline, droidRecord, droidTerminal},
	}
)

// prompts are those of testdata/scripts/basic.json.
var prompts = []string{"TURN-1 please", "TURN-2 please"}

// TestEvents holds what each agent fires in two turns against testdata/events: the events in order, and the fields of
// each.
func TestEvents(t *testing.T) {
	for _, y := range ways {
		t.Run(y.String(), func(t *testing.T) {
			w := newWorld(t, y.client, "basic")
			y.offline(w)
			y.record(w)
			y.talk(w, prompts...)
			w.checkWork()
			w.checkQuiet()
			w.checkEvents(y.String())
		})
	}
}

// TestEventsFailing is TestEvents for a command and an edit that fail: agents differ in what they fire after those.
func TestEventsFailing(t *testing.T) {
	for _, y := range ways {
		if y.version != newest(y.agent) || y.client == claude && y.mode == "terminal" || y.client == codex && y.mode == "terminal" {
			continue
		}
		t.Run(y.String(), func(t *testing.T) {
			w := newWorld(t, y.client, "features")
			y.offline(w)
			y.record(w)
			y.talk(w, "FAIL-TURN please")
			w.checkEvents(y.client.String() + "-failing")
		})
	}
}

// checkEvents holds what was fired against a golden file.
func (w *world) checkEvents(name string) {
	w.Helper()
	got := summary(w.recorded())
	file := filepath.Join("testdata", "events", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			w.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		w.Errorf("%s fires other events than %s says (-update writes it; %v); got:\n%s", w.client, file, err, got)
	}
}

// checkWork holds the project against the script: the agent has really done it.
func (w *world) checkWork() {
	w.Helper()
	for name, want := range map[string]string{"alpha.txt": "three\n", "gamma.txt": "g\n", "delta.txt": "two\n", "README.md": "hello\n"} {
		if got := w.read(filepath.Join(w.project, name)); got != want {
			w.Errorf("%s: %s is %q, want %q", w.client, name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(w.project, "beta.txt")); err == nil {
		w.Errorf("%s: beta.txt is still there", w.client)
	}
}

// unordered are events whose place among the others, and number, is not fixed: parts of an answer as they are shown,
// and in Claude Code 2.0 the end of subagents that it warms up, some of them in a session of their own.
var unordered = []string{"MessageDisplay", "SubagentStop"}

// summary is the text of a golden file: a line an event, beginning with the number of its session; the unordered ones;
// then a line an event's fields.
func summary(list []fired) string {
	var b strings.Builder
	var sessions []string
	line := func(f fired) string {
		n := slices.Index(sessions, f.text("session_id"))
		if n < 0 {
			n, sessions = len(sessions), append(sessions, f.text("session_id"))
		}
		return fmt.Sprintf("%d %s\n", n+1, strings.TrimSpace(f.event+" "+f.detail()))
	}
	fields, loose := map[string]map[string]bool{}, map[string]bool{}
	for _, f := range list {
		if !slices.Contains(unordered, f.event) {
			b.WriteString(line(f))
		}
		if fields[f.event] == nil {
			fields[f.event] = map[string]bool{}
		}
		for name := range f.payload {
			fields[f.event][name] = true
		}
	}
	for _, f := range list {
		if slices.Contains(unordered, f.event) {
			loose["any time: "+line(f)] = true
		}
	}
	for _, l := range slices.Sorted(maps.Keys(loose)) {
		b.WriteString(l)
	}
	b.WriteString("\n")
	for _, event := range slices.Sorted(maps.Keys(fields)) {
		b.WriteString(event + ": " + strings.Join(slices.Sorted(maps.Keys(fields[event])), " ") + "\n")
	}
	return b.String()
}
