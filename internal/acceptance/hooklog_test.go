//go:build acceptance

package acceptance

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// recorder is a hook that keeps what it is given: a directory per call, numbered in the order in which the calls began,
// for mkdir succeeds once. It prints nothing.
const recorder = `#!/bin/sh
n=0
until mkdir "$1/$n" 2>/dev/null; do n=$((n+1)); done
printf %s "$2" > "$1/$n/event"
exec cat > "$1/$n/payload"
`

// fired is one call of a hook.
type fired struct {
	event   string // as it was registered
	payload map[string]any
}

// text is a field of the payload, "" where it is absent or no string.
func (f fired) text(field string) string {
	s, _ := f.payload[field].(string)
	return s
}

// detail is what the event was about.
func (f fired) detail() string {
	for _, field := range []string{"tool_name", "source", "reason", "prompt", "trigger", "notification_type"} {
		if s := f.text(field); s != "" {
			return s
		}
	}
	return ""
}

func (w *world) recorder() string { return filepath.Join(filepath.Dir(w.home), "recorder") }

func (w *world) hookDir() string { return filepath.Join(filepath.Dir(w.home), "hooks") }

// hookSettings is the part of an agent's settings that calls the recorder at each event: the same shape in all four. A
// tool event has a matcher where the agent wants one.
func (w *world) hookSettings(events []string, timeout int, matcher string) map[string]any {
	w.Helper()
	program := w.recorder()
	w.write(program, recorder)
	if err := os.Chmod(program, 0o700); err != nil {
		w.Fatal(err)
	}
	w.mkdir(w.hookDir())
	hooks := map[string]any{}
	for _, event := range events {
		group := map[string]any{"hooks": []any{map[string]any{
			"type": "command", "name": "record-" + event, "command": program + " " + w.hookDir() + " " + event, "timeout": timeout,
		}}}
		if matcher != "" && (strings.Contains(event, "Tool") || strings.Contains(event, "Permission")) {
			group["matcher"] = matcher
		}
		hooks[event] = []any{group}
	}
	return hooks
}

// recorded is what the hooks were given, in order.
func (w *world) recorded() []fired {
	w.Helper()
	var out []fired
	for n := 0; ; n++ {
		dir := filepath.Join(w.hookDir(), strconv.Itoa(n))
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return out
		}
		f := fired{event: w.read(filepath.Join(dir, "event"))}
		if err := json.Unmarshal([]byte(w.read(filepath.Join(dir, "payload"))), &f.payload); err != nil {
			w.Errorf("%s: payload of %s: %v", w.client, f.event, err)
		}
		out = append(out, f)
	}
}

func (w *world) writeJSON(path string, v any) {
	w.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		w.Fatal(err)
	}
	w.write(path, string(b))
}
