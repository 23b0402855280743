//go:build acceptance

package acceptance

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sessionFiles are the transcripts of each agent, below the home directory.
var sessionFiles = map[string]string{
	"claude": ".claude/projects/*/*.jsonl",
	"codex":  ".codex/sessions/*/*/*/rollout-*.jsonl",
	"gemini": ".gemini/tmp/*/chats/session-*.json*",
	"droid":  ".factory/sessions/*/*.jsonl",
}

func (w *world) transcripts() []string {
	w.Helper()
	list, err := filepath.Glob(filepath.Join(w.home, filepath.FromSlash(sessionFiles[w.client.agent])))
	if err != nil || len(list) == 0 {
		w.Fatalf("%s: no transcript: %v", w.client, err)
	}
	return list
}

var (
	sessionField = regexp.MustCompile(`"(?:sessionId|session_id|id)":\s*"([0-9a-f-]{36})"`)
	ansi         = regexp.MustCompile("\x1b(\\[[0-9;?<>=]*[a-zA-Z]|\\][^\x07\x1b]*(\x07|\x1b\\\\))")
)

// session is the agent's id of the session, as its own file has it: Claude Code's is the file's name, the others' the
// first in it.
func (w *world) session() string {
	w.Helper()
	for _, name := range w.transcripts() {
		text := w.read(name)
		if !strings.Contains(text, "TURN") {
			continue
		}
		if w.client.agent == "claude" {
			return strings.TrimSuffix(filepath.Base(name), ".jsonl")
		}
		if m := sessionField.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	w.Fatalf("%s: no transcript has a prompt", w.client)
	return ""
}

// What must not be seen of a hook. TestLoud shows that a hook which speaks or fails is found by them, TestEvents that a
// silent one is not.
var (
	shown = regexp.MustCompile(
		`(?i)rewind: |hooks?\b[^\n]{0,200}\b(failed|error|timed out|blocked|(code|status) [1-9])|clamp|timeout to [0-9]`)
	command = regexp.MustCompile(`smart-checkpoint`)
	noted   = regexp.MustCompile(
		`rewind: |hook_(non_blocking_error|blocking_error|error_during_execution|cancelled|additional_context|system_message)`)
	sent = regexp.MustCompile(
		`(?i)rewind: |smart-checkpoint|<hook_context>|<user-prompt-submit-hook>|hook[_ ](success|additional[_ ]context|feedback|error)`)
)

// noise is what the hooks have left in what the agent showed, wrote down and asked. Of the requests only the
// conversation counts: the instructions of some agents speak of hooks in general. Droid by itself shows the commands of
// the hooks that it runs, and so does Gemini in a terminal; 0.26, as it ends, those of SessionEnd everywhere.
func (w *world) noise() []string {
	w.Helper()
	var found []string
	look := func(where, text string, re *regexp.Regexp) {
		if at := re.FindStringIndex(text); at != nil {
			found = append(found, where+": "+text[max(at[0]-80, 0):min(at[1]+120, len(text))])
		}
	}
	for _, text := range w.output {
		text = ansi.ReplaceAllString(text, "")
		look("shown", text, shown)
		if w.client.agent != "droid" && w.client != geminiOld && (w.client.agent != "gemini" || w.terminals == 0) {
			look("shown", text, command)
		}
	}
	for _, name := range w.transcripts() {
		look("transcript "+filepath.Base(name), w.read(name), noted)
	}
	for _, r := range w.model.Requests() {
		for _, m := range r.Talk {
			look(fmt.Sprintf("request %s, %s", r.Path, m.Role), m.Text, sent)
		}
	}
	return found
}

// checkQuiet proves that the user and the model saw nothing of the hooks.
func (w *world) checkQuiet() {
	w.Helper()
	for _, s := range w.noise() {
		w.Errorf("%s: %s", w.client, s)
	}
}

// TestLoud holds the search for traces of hooks against hooks that leave some.
func TestLoud(t *testing.T) {
	for _, c := range []struct{ name, hook string }{
		{"speaks", "echo 'rewind: hello'"},
		{"fails", "echo 'rewind: broken' >&2; exit 1"},
	} {
		for _, y := range ways {
			if y.mode != "print" && y.client != droid || y.client.version != newest(y.client.agent) {
				continue
			}
			t.Run(c.name+"-"+y.String(), func(t *testing.T) {
				w := newWorld(t, y.client, "basic")
				y.offline(w)
				y.record(w)
				w.write(w.recorder(), strings.Replace(recorder, "exec cat", "cat", 1)+c.hook+"\n")
				y.talk(w, prompts[0])
				found := w.noise()
				if len(found) == 0 {
					t.Error("nothing of it was found")
				}
				t.Logf("%d traces:\n%.1000s", len(found), strings.Join(found, "\n"))
			})
		}
	}
}

// newest is the newest version of an agent in the table.
func newest(agent string) string {
	for _, c := range clients {
		if c.agent == agent {
			return c.version
		}
	}
	return ""
}
