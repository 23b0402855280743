package hooks

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// CodexTrusted reports whether the user has trusted our hooks in Codex, as far as config.toml shows it: a record for
// each of them
//
//	[hooks.state."<hooksFile>:<event in snake case>:<index of the group>:<index in the group>"]
//	trusted_hash = "sha256:..."
//
// that is not switched off by enabled = false. What was hashed is Codex's own affair, so a record may be out of date:
// then Codex asks again. Nothing is known when file has no hook of ours or cannot be read. HooksFile is the path as
// Codex spells it, file what is in it.
func CodexTrusted(configTOML []byte, hooksFile string, file []byte) (trusted, known bool) {
	s, err := parseSettings(Codex, file)
	if err != nil {
		return false, false
	}
	found, err := s.entries(never)
	if err != nil || len(found) == 0 {
		return false, false
	}
	records := hookStates(string(configTOML))
	for _, e := range found {
		r := records[fmt.Sprintf("%s:%s:%d:%d", hooksFile, snake(e.Event), e.i, e.j)]
		if !r.hash || r.off {
			return false, true
		}
	}
	return true, true
}

type hookState struct{ hash, off bool }

// hookStates reads the tables [hooks.state."..."] in the form in which Codex writes them.
func hookStates(toml string) map[string]hookState {
	states := map[string]hookState{}
	key, quoted := "", ""
	for line := range strings.Lines(toml) {
		line = strings.TrimSpace(line)
		inside := quoted != ""
		for _, q := range []string{`"""`, "'''"} {
			if (quoted == "" || quoted == q) && strings.Count(line, q)%2 == 1 {
				quoted = map[bool]string{true: "", false: q}[quoted == q]
				break
			}
		}
		if inside {
			continue
		}
		if strings.HasPrefix(line, "[") {
			key = stateKey(line)
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if key == "" || !ok {
			continue
		}
		state := states[key]
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "trusted_hash":
			state.hash = strings.HasPrefix(strings.TrimLeft(value, `"'`), "sha256:")
		case "enabled":
			state.off = strings.HasPrefix(value, "false")
		}
		states[key] = state
	}
	return states
}

// stateKey returns the quoted key of a table header [hooks.state."key"], "" for another one.
func stateKey(header string) string {
	rest, ok := strings.CutPrefix(header, "[hooks.state.")
	if !ok || rest == "" {
		return ""
	}
	if rest[0] == '\'' {
		key, _, _ := strings.Cut(rest[1:], "'")
		return key
	}
	q, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return ""
	}
	key, _ := strconv.Unquote(q)
	return key
}

// snake turns SessionStart into session_start.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
