package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/transcript"
)

// An Origin says who started a process.
type Origin struct {
	Agent transcript.Agent // whose program is among the processes that started it; "": none is seen
	PID   int              // of that program
	// Terminal says that it runs in the session of a terminal, was started by who leads that session, and by no agent:
	// a person, or something that a person started there. false: it is not so, or cannot be seen.
	Terminal bool
}

// kin is a process as the system describes it.
type kin struct {
	pid, parent int
	session     int    // the process that leads its session
	terminal    bool   // the session has a terminal
	name        string // as it calls itself
	exe         string // "": not known
	args        []string
}

// mostKin is how many ancestors are looked at.
const mostKin = 256

// OriginOf looks at a process and its ancestors, as they are now. An agent whose hooks report to another home than this
// one does not count: what it does in a scratch directory is no matter of this home's. A process that has ended, or
// cannot be seen, has the zero Origin.
func OriginOf(pid int, home string) Origin {
	var o Origin
	self, ok := kinOf(pid)
	if !ok {
		return o
	}
	led := false
	for p, n := self, 0; ok && n < mostKin; n++ {
		if agent := p.agent(); agent != "" && reportsTo(environOf(p.pid), home) {
			return Origin{Agent: agent, PID: p.pid}
		}
		led = led || p.pid == self.session
		if p.parent <= 0 || p.parent == p.pid {
			break
		}
		p, ok = kinOf(p.parent)
	}
	o.Terminal = self.terminal && led && !marked(environOf(pid))
	return o
}

// agent is the agent whose program it is; "": it is none's. A directory on the way to a program says nothing: a person
// may be called as an agent is.
func (p *kin) agent() transcript.Agent {
	called := []string{p.name, filepath.Base(strings.TrimSuffix(p.exe, " (deleted)"))}
	if len(p.args) > 0 {
		called = append(called, filepath.Base(p.args[0]))
	}
	called = append(called, scriptNames(p.args)...)
	for agent, names := range programs {
		if slices.ContainsFunc(called, func(name string) bool { return slices.Contains(names, name) }) {
			return agent
		}
	}
	return ""
}

// scriptNames are the names of the script that a shell or an interpreter runs: its own without the ending, and that of
// its package.
func scriptNames(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	switch filepath.Base(args[0]) {
	case "sh", "bash", "dash", "zsh", "ksh", "node", "nodejs", "bun", "deno":
	default:
		return nil
	}
	for _, a := range args[1:] {
		if a == "-c" || a == "-e" { // a text
			return nil
		}
		if strings.HasPrefix(a, "-") {
			continue
		}
		names := []string{strings.TrimSuffix(filepath.Base(a), filepath.Ext(a))}
		if _, pkg, ok := strings.Cut(a, "/node_modules/"); ok { // @google/gemini-cli/bundle/gemini.js
			names = append(names, strings.SplitN(pkg, "/", 3)...)
		}
		return names
	}
	return nil
}

// marks are variables that agents give to the commands they run.
var marks = []string{"CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"}

// marked reports whether a process was given a mark of an agent's, by whomever: a terminal that an agent opened has it,
// too.
func marked(environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return value != "" && slices.Contains(marks, name)
	})
}

// reportsTo reports whether the hooks of a process with that environment report to a home: where REWIND_HOME, or else
// HOME, leads. An environment that cannot be read does.
func reportsTo(environ []string, home string) bool {
	vars := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	its := vars["REWIND_HOME"]
	if its == "" && vars["HOME"] != "" {
		its = filepath.Join(vars["HOME"], ".rewind")
	}
	if its == "" || filepath.Clean(its) == filepath.Clean(home) {
		return true
	}
	a, errA := os.Stat(its)
	b, errB := os.Stat(home)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
