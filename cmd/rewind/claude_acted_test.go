package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// actor is Claude Code as a script acts it: its hooks, and its session file, in the current directory. Several act in
// one project, each by its name.
type actor struct {
	ts   *testscript.TestScript
	path string // of its memory between two commands

	ID, File, Dir, Parent string
	Call                  *toolUse // that has begun
	Now                   int64    // Unix milliseconds: each record is a second later than the one before
}

// toolUse is a use of a tool.
type toolUse struct {
	ID, Tool string
	Input    map[string]any
}

// cmdClaude: claude NAME WORD [ARGUMENT...] acts:
//
//	start [SOURCE]        a session begins; with SOURCE "clear" its predecessor ends
//	resume SESSION        the session goes on in this window, its program's own start hook included
//	in DIR                it works in another directory from now on
//	prompt TEXT           a person types
//	blocked TEXT          a person types, and another hook refuses it: the conversation never has it
//	notice                a background task has ended
//	write FILE TEXT       a whole call of an editor
//	bash COMMAND          a whole call of a shell
//	begin write|bash ARG  a call begins
//	done                  it ends
//	refused [on]          it was not allowed, and the turn ends with it (Esc), or goes on
//	stop, end             the turn, the session
func cmdClaude(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "claude NAME WORD [ARGUMENT...]")
	a := &actor{ts: ts, path: filepath.Join(ts.Getenv("WORK"), ".claude-"+args[0]+".json")}
	if b, err := os.ReadFile(a.path); err == nil {
		ts.Check(json.Unmarshal(b, a))
	}
	a.act(args[1], append(args[2:], "", ""))
	b, err := json.Marshal(a)
	ts.Check(err)
	ts.Check(os.WriteFile(a.path, b, 0o600))
	ts.Setenv(strings.ToUpper(args[0]), a.ID)
}

func (a *actor) act(word string, args []string) {
	switch word {
	case "start":
		a.start(args[0])
	case "resume":
		a.ID = args[0]
		a.File = filepath.Join(filepath.Dir(a.File), a.ID+".jsonl")
		a.Parent = a.newest()
		a.hook("SessionStart", map[string]any{"source": "resume"})
	case "in":
		dir, err := filepath.EvalSymlinks(a.ts.MkAbs(args[0]))
		a.ts.Check(err)
		a.Dir = dir
	case "prompt", "notice":
		a.prompt(word, args[0])
	case "blocked":
		a.hook("UserPromptSubmit", map[string]any{"prompt": args[0]})
	case "write", "bash":
		a.begin(word, args[0])
		a.does(word, args)
		a.done()
	case "begin":
		a.begin(args[0], args[1])
	case "done":
		a.done()
	case "refused":
		a.refused(args[0] == "on")
	case "stop":
		a.said("text", "Done.", nil)
		a.hook("Stop", map[string]any{"stop_hook_active": false})
	case "end":
		a.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})
	default:
		a.ts.Fatalf("claude does not %s", word)
	}
}

func (a *actor) start(source string) {
	if source == "" {
		source = "startup"
	}
	if source == "clear" {
		a.hook("SessionEnd", map[string]any{"reason": "clear"})
	}
	dir, err := filepath.EvalSymlinks(a.ts.MkAbs("."))
	a.ts.Check(err)
	a.Dir, a.ID, a.Parent = dir, newID(), ""
	a.File = filepath.Join(a.ts.Getenv("HOME"), ".claude/projects", noWord.ReplaceAllString(dir, "-"), a.ID+".jsonl")
	a.Now = max(a.Now, time.Now().Add(-time.Hour).UnixMilli())
	a.hook("SessionStart", map[string]any{"source": source})
}

// newest is the id of the record that the session file ends with.
func (a *actor) newest() string {
	b, err := os.ReadFile(a.File)
	a.ts.Check(err)
	var last string
	for _, m := range itsUUID.FindAllSubmatch(b, -1) {
		last = string(m[1])
	}
	return last
}

var itsUUID = regexp.MustCompile(`"uuid":"([^"]+)"`)

func (a *actor) prompt(word, text string) {
	if word == "notice" {
		text = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
	}
	a.hook("UserPromptSubmit", map[string]any{"prompt": text})
	a.record("user", map[string]any{"role": "user", "content": text}, nil)
}

// begin has the model ask for a tool, and the tool begin.
func (a *actor) begin(word, argument string) {
	c := &toolUse{ID: "toolu_" + newID()[:8]}
	switch word {
	case "write":
		c.Tool, c.Input = "Write", map[string]any{"file_path": filepath.Join(a.Dir, argument)}
	case "bash":
		c.Tool, c.Input = "Bash", map[string]any{"command": argument}
	default:
		a.ts.Fatalf("claude has no tool %s", word)
	}
	a.Call = c
	a.said("tool_use", "", c)
	a.hook("PreToolUse", c.payload())
}

func (a *actor) does(word string, args []string) {
	if word == "bash" {
		a.ts.Check(a.ts.Exec("sh", "-c", `cd "$0" && eval "$1"`, a.Dir, args[0]))
		return
	}
	path := filepath.Join(a.Dir, args[0])
	a.ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	a.ts.Check(os.WriteFile(path, []byte(args[1]+"\n"), 0o644))
}

func (a *actor) done() {
	payload := a.Call.payload()
	payload["tool_response"] = map[string]any{"stdout": ""}
	a.hook("PostToolUse", payload)
	a.result("done")
}

// refused writes what Claude does after Esc at a permission question, or after an answer that has it go on; no hook
// says so.
func (a *actor) refused(on bool) {
	a.result("The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file " +
		"edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to " +
		"tell you how to proceed.")
	if on {
		return
	}
	a.record("user", map[string]any{"role": "user", "content": []any{map[string]any{
		"type": "text", "text": "[Request interrupted by user for tool use]",
	}}}, nil)
}

func (a *actor) result(text string) {
	more := map[string]any{"toolUseResult": text}
	if text != "done" {
		more = map[string]any{
			"toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected", "toolDenialBeforeRun": true,
		}
	}
	a.record("user", map[string]any{"role": "user", "content": []any{map[string]any{
		"type": "tool_result", "tool_use_id": a.Call.ID, "content": text, "is_error": text != "done",
	}}}, more)
	a.Call = nil
}

func (c *toolUse) payload() map[string]any {
	return map[string]any{"tool_name": c.Tool, "tool_input": c.Input, "tool_use_id": c.ID}
}

// said is a message of the model's.
func (a *actor) said(kind, text string, c *toolUse) {
	content, reason := map[string]any{"type": kind, "text": text}, "end_turn"
	if c != nil {
		content, reason = map[string]any{"type": kind, "id": c.ID, "name": c.Tool, "input": c.Input}, "tool_use"
	}
	a.record("assistant", map[string]any{
		"id": "msg_" + newID()[:8], "type": "message", "role": "assistant", "model": "m", "content": []any{content},
		"stop_reason": reason,
	}, nil)
}

// record appends to the session file.
func (a *actor) record(kind string, message, more map[string]any) {
	id := newID()
	a.Now += 1000
	record := map[string]any{
		"parentUuid": nil, "isSidechain": false, "type": kind, "message": message, "uuid": id, "userType": "external",
		"timestamp": time.UnixMilli(a.Now).UTC().Format("2006-01-02T15:04:05.000Z"), "cwd": a.Dir, "sessionId": a.ID,
		"version": "2.1.328", "gitBranch": "main",
	}
	if a.Parent != "" {
		record["parentUuid"] = a.Parent
	}
	for k, v := range more {
		record[k] = v
	}
	a.Parent = id
	b, err := json.Marshal(record)
	a.ts.Check(err)
	a.ts.Check(os.MkdirAll(filepath.Dir(a.File), 0o700))
	f, err := os.OpenFile(a.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	a.ts.Check(err)
	_, err = f.Write(append(b, '\n'))
	a.ts.Check(err)
	a.ts.Check(f.Close())
}

// events are the words of rewind's hook for Claude's.
var events = map[string]string{
	"SessionStart": "session-start", "UserPromptSubmit": "prompt", "PreToolUse": "pre-tool-use",
	"PostToolUse": "post-tool-use", "Stop": "stop", "SessionEnd": "session-end",
}

func (a *actor) hook(event string, more map[string]any) {
	payload := map[string]any{"session_id": a.ID, "transcript_path": a.File, "cwd": a.Dir, "hook_event_name": event}
	for k, v := range more {
		payload[k] = v
	}
	b, err := json.Marshal(payload)
	a.ts.Check(err)
	path := a.path + ".payload"
	a.ts.Check(os.WriteFile(path, b, 0o600))
	const tells = `cd "$0" && exec rewind hook --deadline 60000 --agent claude --event "$1" <"$2"`
	a.ts.Check(a.ts.Exec("sh", "-c", tells, a.Dir, events[event], path))
}

func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	h := hex.EncodeToString(b)
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:])
}
