package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/hooks"
	"rewind/internal/value"
	"rewind/transcript"
)

// Root is the agent's folder, "" of one that is not known.
func Root(env value.AgentEnv, agent transcript.Agent) string {
	files := hooks.SettingsFiles(agent, env.Var, string(env.Home))
	if len(files) == 0 {
		return ""
	}
	return filepath.Dir(files[0])
}

// program finds a program on the person's PATH; "" if there is none. Relative directories on it do not count: they lead
// anywhere.
func program(env value.AgentEnv, name string) string {
	for _, dir := range filepath.SplitList(string(env.Path)) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// kept are the variables of this process that a program needs wherever it runs.
var kept = []string{"LANG", "TMPDIR", "TEMP", "TMP"}

// environ is the environment of a program of the person's: theirs, and of this process nothing but where the system is.
func environ(env value.AgentEnv, more ...string) []string {
	var out []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(kept, name) {
			out = append(out, v)
		}
	}
	for name, v := range env.Vars {
		out = append(out, name+"="+string(v))
	}
	out = append(out, "HOME="+string(env.Home), "PATH="+string(env.Path))
	return append(out, more...) // of two with one name the later one counts
}
