package switches

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// codex: what the machine requires holds whatever else is said; then the machine's older managed file, the project's
// (of a folder that the person trusts), the person's, the machine's.
func (l *look) codex() {
	const machine = "/etc/codex"
	required := l.read(Machine, filepath.Join(machine, "requirements.toml")).toml()
	if s := required.get("allow_managed_hooks_only"); s != nil && s.Value == "true" {
		l.off(s)
	}
	managed := l.read(Machine, filepath.Join(machine, "managed_config.toml")).toml()
	user := l.read(User, filepath.Join(l.Dir, "config.toml")).toml()
	var project *tables
	if user.trusts(l.Project) {
		project = l.read(Project, l.inProject(".codex", "config.toml")).toml()
	}
	found := []*Switch{required.feature("features"), required.feature("feature_requirements")}
	for _, t := range []*tables{managed, project, user, l.read(Machine, filepath.Join(machine, "config.toml")).toml()} {
		found = append(found, t.feature("features"))
	}
	l.decide(found, "false")
}

// tables is a file that is TOML.
type tables struct {
	*file
	root map[string]any
}

// toml reads a file; nil: Codex would not start with it.
func (f *file) toml() *tables {
	if f == nil {
		return nil
	}
	t := &tables{file: f}
	if toml.Unmarshal(bytes.TrimPrefix(f.data, byteOrderMark), &t.root) != nil {
		return nil
	}
	return t
}

// feature is the switch of hooks in a table: under its name, or under the one that it had.
func (t *tables) feature(table string) *Switch {
	for _, name := range []string{"hooks", "codex_hooks"} {
		if s := t.get(table + "." + name); s != nil {
			return s
		}
	}
	return nil
}

// get is the switch that a boolean is; nil: it is not there, or is none.
func (t *tables) get(setting string) *Switch {
	if t == nil {
		return nil
	}
	at := t.root
	keys := strings.Split(setting, ".")
	for _, key := range keys[:len(keys)-1] {
		at, _ = at[key].(map[string]any)
	}
	on, ok := at[keys[len(keys)-1]].(bool)
	if !ok {
		return nil
	}
	s := &Switch{Setting: setting, Value: "false", Layer: t.Layer, File: t.path, Line: t.line(keys)}
	if on {
		s.Value = "true"
	}
	return s
}

// trusts reports whether the person trusts a folder.
func (t *tables) trusts(root string) bool {
	if t == nil || root == "" {
		return false
	}
	projects, _ := t.root["projects"].(map[string]any)
	entry, _ := projects[root].(map[string]any)
	return entry["trust_level"] == "trusted"
}

// line is the line that has a key; 0: it is written in a way that is not looked for. The library does not tell places.
func (t *tables) line(keys []string) int {
	table, n := "", 0
	want := strings.Join(keys, ".")
	for text := range strings.Lines(string(t.data)) {
		n++
		text = strings.TrimSpace(text)
		if head, ok := strings.CutPrefix(text, "["); ok {
			head, _, _ = strings.Cut(head, "]")
			table = spare(head) + "."
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		full := strings.TrimPrefix(table+spare(name), ".")
		switch {
		case !ok:
		case full == want:
			return n
		case full == keys[0] && strings.HasPrefix(strings.TrimSpace(value), "{"): // in one line
			return n
		}
	}
	return 0
}

// spare is a key without blanks and quotes.
func spare(key string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\"'", r) {
			return -1
		}
		return r
	}, key)
}
