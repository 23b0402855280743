package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rewind/internal/torture"
	"rewind/transcript"
)

// conversationCase is a command line that is killed in the middle of changing session files.
type conversationCase struct {
	name   string
	agent  transcript.Agent
	then   []string // what was run before
	args   []string
	argsOf func(*talker) []string // args, of what was run before
	points int                    // in CI
	rare   bool                   // only in the long form

	standings bool // what it changes is how sessions stand
	leaves    bool // some point must leave a temporary file
}

func killConversations(t *testing.T, cases []conversationCase) {
	var leftovers atomic.Int64 // temporary files that the kills left
	t.Cleanup(func() {
		if leftovers.Load() == 0 {
			t.Error("no point left a temporary file")
		}
	})
	for _, c := range cases {
		if c.rare && !torture.Full() {
			continue
		}
		t.Run(string(c.agent)+" "+c.name, func(t *testing.T) {
			t.Parallel()
			leftovers.Add(killConversation(t, c))
		})
	}
}

// killConversation kills a command before its calls that change something. What must hold afterwards: session files and
// project are as before or as after, each of them; or the restore is half done, every change is refused, and it can be
// brought to either end. It returns how many temporary files were left.
func killConversation(t *testing.T, c conversationCase) (leftovers int64) {
	k := newTalker(t, c.agent, c.then...)
	k.standings = c.standings
	if c.argsOf != nil {
		c.args = c.argsOf(k)
	}
	before := k.state()
	code, calls := k.run(0, c.args...)
	after := k.state()
	if code != 0 || before == after {
		t.Fatalf("rewind %s: exit code %d, changed: %v", strings.Join(c.args, " "), code, before != after)
	}
	if c.standings { // it has few calls, and how many varies from run to run
		k.reset()
		_, again := k.run(0, c.args...)
		calls = min(calls, again)
	}
	list := latePoints(c.points, calls)
	if torture.Full() {
		list = points(2*calls, calls)
	}
	var count kills
	kill := func(n int, back bool) {
		k.reset()
		code, _ := k.run(n, c.args...)
		count.add(code == 137, afterConversation(k, c, back, n, before, after))
	}
	for i, n := range list {
		back := count.states["aborted"] < count.states["continued"]
		if torture.Full() { // each call twice
			back = (i+i/calls)%2 == 1
		}
		kill(n, back)
	}
	missing := func() bool { return c.args[0] != "fork" && count.states["continued"]*count.states["aborted"] == 0 }
	// few calls lie between the journal and the end, and the very last ones leave nothing
	for n := calls; n > 0 && (missing() || c.leaves && k.leftovers == 0); n-- {
		if !slices.Contains(list, n) && (missing() || n <= calls*9/10) {
			kill(n, count.states["aborted"] < count.states["continued"])
		}
	}
	count.check(t, calls)
	if missing() {
		t.Error("no point left a restore half done")
	}
	return k.leftovers
}

// latePoints are about want points of which most lie in the last half of the calls: what comes first opens the store.
func latePoints(want, calls int) []int {
	list := points(want/4, calls)
	for _, n := range points(want-want/4, calls/2) {
		list = append(list, calls-calls/2+n)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// afterConversation checks a home in which a command was killed and says how it was found; what is half done is taken
// back, or carried on.
func afterConversation(k *talker, c conversationCase, back bool, n int, before, after string) (state string) {
	t := k.t
	t.Helper()
	k.whole(n, before, after)
	now := k.state()
	half := k.halfDone()
	switch {
	case half && c.args[0] == "fork":
		t.Errorf("killed at call %d: a fork is half done", n)
	case half:
		for _, change := range [][]string{{"save"}, {"fork", "turn:1"}, {"checkout", "turn:1"}, {"undo-restore"}} {
			if code, out := k.try(change...); code != 20 {
				t.Errorf("killed at call %d: %v exits with %d while half done, want 20\n%s", n, change, code, out)
			}
		}
		k.is(n, "looking at it", now)
		if back {
			state = "aborted"
			k.must("checkout", "--abort")
			k.is(n, "--abort", before)
		} else {
			state = "continued"
			k.must("checkout", "--continue")
			k.is(n, "--continue", after)
		}
		k.whole(n, before, after)
	case now == before:
		state = "untouched"
	case now == after:
		state = "finished"
		if c.args[0] == "checkout" || c.args[0] == "switch" {
			k.must("undo-restore")
			k.is(n, "undo-restore", before)
		}
	case c.args[0] == "fork" && k.sidesAlone(before):
		state = "no session yet"
	default:
		t.Errorf("killed at call %d: neither before nor after, and not half done:\n%s", n, difference(before, now))
	}
	k.must("verify")
	k.must("sessions")
	if _, err := os.Stat(k.file); err == nil { // not deleted, as it was asked for
		k.forks(n)
	}
	return state
}

// TestKillForkT10 kills what makes a new session, and what takes it away again.
func TestKillForkT10(t *testing.T) {
	t.Parallel()
	fork, checkout, undo := []string{"fork", "turn:1"}, []string{"checkout", "turn:1"}, []string{"undo-restore"}
	killConversations(t, []conversationCase{
		{name: "fork", agent: transcript.Claude, args: fork, points: 8, leaves: true},
		{name: "fork", agent: transcript.Codex, args: fork, rare: true},
		{name: "fork", agent: transcript.Droid, args: fork, points: 8},
		{name: "checkout", agent: transcript.Claude, args: checkout, points: 8},
		{name: "checkout", agent: transcript.Codex, args: checkout, rare: true},
		{name: "checkout", agent: transcript.Droid, args: checkout, points: 8},
		{name: "undo-restore", agent: transcript.Claude, then: checkout, args: undo, points: 7},
		{name: "undo-restore", agent: transcript.Droid, then: checkout, args: undo, rare: true},
	})
}

// A new session that somebody has gone on with is kept whole when the restore that made it is taken back: what lies
// beside its file, too.
func TestUsedForkKeepsItsSettings(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"undo-restore", "checkout turn:1"} {
		k := newTalker(t, transcript.Droid, "checkout", "turn:1")
		was, _ := k.sessions()
		for path := range was {
			if path == k.file || filepath.Ext(path) != ".jsonl" {
				continue
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_,
				err = f.WriteString(
				`{"type":"message","id":"x","timestamp":"2026-11-22T10:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"go on"}]}}` + "\n")
			must(t, err, f.Close())
		}
		k.must(strings.Fields(then)...)
		now, _ := k.sessions()
		for path := range was {
			if now[path] == nil {
				t.Errorf("%s takes %s away", then, path)
			}
		}
	}
}
