package hooks

import (
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// SettingsFiles returns the files at user level from which the agent reads hooks, the one to prefer first; none for an
// agent that is not known. Env looks up a variable ("" when not set), home is the user's home directory.
//
//	Claude  $CLAUDE_CONFIG_DIR or ~/.claude            settings.json
//	Codex   $CODEX_HOME or ~/.codex                    hooks.json
//	Gemini  ($GEMINI_CLI_HOME or ~)/.gemini            settings.json
//	Droid   ($FACTORY_HOME_OVERRIDE or ~)/.factory     settings.json, hooks.json, hooks/hooks.json when there is no hooks.json
func SettingsFiles(agent Agent, env func(string) string, home string) []string {
	or := func(variable, otherwise string) string {
		if v := env(variable); v != "" {
			return v
		}
		return otherwise
	}
	switch agent {
	case Claude:
		return []string{filepath.Join(or("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude")), "settings.json")}
	case Codex:
		return []string{filepath.Join(or("CODEX_HOME", filepath.Join(home, ".codex")), "hooks.json")}
	case Gemini:
		return []string{filepath.Join(or("GEMINI_CLI_HOME", home), ".gemini", "settings.json")}
	case Droid:
		dir := filepath.Join(or("FACTORY_HOME_OVERRIDE", home), ".factory")
		return []string{filepath.Join(dir, "settings.json"), filepath.Join(dir, "hooks.json"), filepath.Join(dir, "hooks", "hooks.json")}
	}
	return nil
}

// SettingsFile returns the file to register in, and whether the agent is installed: its directory exists. It is the
// first of SettingsFiles, except for Droid, whose hooks.json replaces the events of settings.json one by one: that one
// when it has an event.
func SettingsFile(agent Agent, env func(string) string, home string, exists func(path string) bool,
	read func(path string) ([]byte, error),
) (path string, installed bool) {
	files := SettingsFiles(agent, env, home)
	if len(files) == 0 {
		return "", false
	}
	installed = exists(filepath.Dir(files[0]))
	for _, path := range files[1:] {
		if !exists(path) {
			continue
		}
		b, err := read(path)
		if err != nil {
			break
		}
		if s, err := parseSettings(agent, b); err == nil && hasDroidEvent(s.root.Value.(*hujson.Object)) {
			return path, installed
		}
		break
	}
	return files[0], installed
}

// HookCommand returns the command line of a hook for a POSIX shell: bin, quoted, then word and the agent.
func HookCommand(bin, word string, agent Agent) string {
	return "'" + strings.ReplaceAll(bin, "'", `'\''`) + "' " + word + " --agent " + string(agent)
}
