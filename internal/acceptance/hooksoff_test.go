//go:build acceptance

package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// off is a file that switches an agent's hooks off, and one that switches them on again.
type off struct {
	name   string
	file   string // below the project, or with "~/" in front the home; what is there already is kept in front (TOML) or lost
	text   string
	says   string // part of the finding
	again  string // another file, which counts more; "": the first is removed
	onText string
}

var switchedOff = map[string][]off{
	"claude": {
		{
			"project", ".claude/settings.json", "{\n \"disableAllHooks\": true\n}", "disableAllHooks in ",
			".claude/settings.local.json",
			`{"disableAllHooks": false}`,
		},
		{"local", ".claude/settings.local.json", `{"disableAllHooks": true}`, "disableAllHooks in ", "", ""},
	},
	"codex": {
		{
			"user", "~/.codex/config.toml", "\n[features]\nhooks = false\n", "features.hooks in ", ".codex/config.toml",
			"[features]\nhooks = true\n",
		},
		{"project", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks in ", "", ""},
	},
	"gemini": {
		{
			"project", ".gemini/settings.json", "// on purpose\n{\"hooksConfig\": {\"enabled\": false}}",
			"hooksConfig.enabled in ", "", "",
		},
	},
	"droid": {
		{
			"project", ".factory/settings.json", `{"hooks": {"hooksDisabled": true}}`, "hooks.hooksDisabled in ", ".factory/hooks.json",
			`{"hooksDisabled": false}`,
		},
	},
}

// TestHooksOff: where a file switches the hooks of a real agent off, none is called, and rewind says by which file and
// line; once they are on again, they are called, and nothing is said.
func TestHooksOff(t *testing.T) {
	for _, d := range drivers {
		if d.version != newest(d.agent) {
			continue
		}
		for _, o := range switchedOff[d.agent] {
			t.Run(d.String()+"-"+o.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, d.client, "forks")
				d.onPath(w)
				d.offline(w)
				testHooksOff(w, d, o)
			})
		}
	}
}

func testHooksOff(w *world, d driver, o off) {
	w.install()
	w.rewind("init")
	if d.agent == "codex" { // the user trusts the hooks before they are switched off
		codexOpen(codexTUI)(w, "").leave("/quit")
	}
	path := w.place(o.file)
	before, _ := os.ReadFile(path)
	w.write(path, string(before)+o.text)
	_, was := w.validated()
	w.offTurn(d)
	line, heard := w.validated()
	if heard != was {
		w.Errorf("%s: an event came: %s", w.client, line)
	}
	if !strings.HasPrefix(line, "finding ") || !strings.Contains(line, o.says+path+":") {
		w.Errorf("%s: rewind validate: %s", w.client, line)
	}
	if said := w.rewind("status"); !strings.Contains(said, o.says+path+":") {
		w.Errorf("%s: rewind status:\n%s", w.client, said)
	}

	if o.again != "" {
		w.write(w.place(o.again), o.onText)
	} else if err := os.Remove(path); err != nil {
		w.Fatal(err)
	}
	w.offTurn(d)
	if line, now := w.validated(); now == heard || strings.HasPrefix(line, "finding ") {
		w.Errorf("%s: on again, and validate says: %s", w.client, line)
	}
}

// offTurn has one turn of a new session.
func (w *world) offTurn(d driver) {
	w.Helper()
	if d.agent == "gemini" && time.Now().Second() > 25 { // a session that is resumed in another minute is lost
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	}
	d.begin(w, prompts[0])
}

// place is where a file of switchedOff lies.
func (w *world) place(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(w.home, filepath.FromSlash(rest))
	}
	return filepath.Join(w.project, filepath.FromSlash(name))
}

// validated is what validate says of the agent, and when it was heard of last.
func (w *world) validated() (line, heard string) {
	w.Helper()
	said, errs, _ := w.run(filepath.Join(w.home, ".local", "bin", "rewind"), "validate")
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == w.agent {
			_, heard, _ = strings.Cut(line, "last heard of ")
			return line, heard
		}
	}
	w.Fatalf("rewind validate:\n%s%s", said, errs)
	return "", ""
}
