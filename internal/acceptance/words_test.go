//go:build acceptance

package acceptance

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
)

// What rewind says with --json of conversations: the field names that these tests rely on.
type (
	lineage struct {
		Session string `json:"session"`
		Turn    int    `json:"turn"`
	}

	sessionInfo struct {
		ID      string   `json:"session_id"`
		Title   string   `json:"title"`
		Turns   int      `json:"turns"`
		Running bool     `json:"running"`
		Problem string   `json:"problem"`
		Fork    *lineage `json:"fork"`
	}

	turn struct {
		Turn       int    `json:"turn"`
		Prompt     string `json:"prompt"`
		Checkpoint string `json:"checkpoint"`
	}

	forked struct {
		ID       string   `json:"session_id"`
		Title    string   `json:"title"`
		Path     string   `json:"path"`
		Messages int      `json:"messages"`
		Dropped  int      `json:"dropped"`
		Listed   bool     `json:"listed"`
		Problem  string   `json:"problem"`
		Checks   []string `json:"checks"`
	}

	restored struct {
		Talk struct {
			Mode    string   `json:"mode"`
			Why     string   `json:"why"`
			Fork    *forked  `json:"fork"`
			Resume  []string `json:"resume"`
			Removed []string `json:"removed"`
			Kept    []string `json:"kept"`
		} `json:"conversation"`
	}
)

// json runs a command that must succeed and reads what it says.
func (w *world) json(v any, args ...string) {
	w.Helper()
	out := w.rewind(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		w.Fatalf("rewind %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	w.Logf("rewind %s: %.1500s", strings.Join(args, " "), out)
}

// makes runs a command that makes a session.
func (w *world) makes(args ...string) forked {
	w.Helper()
	var f forked
	w.json(&f, args...)
	return f
}

// goes runs a command that moves the project.
func (w *world) goes(args ...string) restored {
	w.Helper()
	var r restored
	w.json(&r, args...)
	return r
}

// refuses runs a command that must end with a code, and returns what it says.
func (w *world) refuses(code int, args ...string) string {
	w.Helper()
	out, errs, err := w.run(append([]string{filepath.Join(w.home, ".local", "bin", "rewind")}, args...)...)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != code {
		w.Errorf("%s: rewind %s: %v, want exit code %d\n%s%s", w.client, strings.Join(args, " "), err, code, out, errs)
	}
	return out + errs
}

func (w *world) turns(id string) []turn {
	w.Helper()
	var r struct {
		Turns []turn `json:"turns"`
	}
	w.json(&r, "turns", id)
	return r.Turns
}

func (w *world) sessions() []sessionInfo {
	w.Helper()
	var r struct {
		Sessions []sessionInfo `json:"sessions"`
	}
	w.json(&r, "sessions")
	return r.Sessions
}
