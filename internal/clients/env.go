package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/hooks"
	"rewind/transcript"
)

// Env is the environment of the person who asks, not of the process that answers.
type Env struct {
	Home string            // the user's home directory
	Vars map[string]string // the variables by which agents move their own: CLAUDE_CONFIG_DIR, CODEX_HOME, CODEX_SQLITE_HOME, ...
	Path string            // PATH
}

func (e Env) get(name string) string { return e.Vars[name] }

// Root is the agent's folder, "" of one that is not known.
func (e Env) Root(agent transcript.Agent) string {
	files := hooks.SettingsFiles(agent, e.get, e.Home)
	if len(files) == 0 {
		return ""
	}
	return filepath.Dir(files[0])
}

// program finds a program on the person's PATH; "" if there is none. Relative directories on it do not count: they lead anywhere.
func (e Env) program(name string) string {
	for _, dir := range filepath.SplitList(e.Path) {
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
func (e Env) environ(more ...string) []string {
	var out []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(kept, name) {
			out = append(out, v)
		}
	}
	for name, v := range e.Vars {
		out = append(out, name+"="+v)
	}
	out = append(out, "HOME="+e.Home, "PATH="+e.Path)
	return append(out, more...) // of two with one name the later one counts
}
