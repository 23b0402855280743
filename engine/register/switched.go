package register

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"rewind/hooks"
	"rewind/hooks/switches"
	"rewind/internal/osfile"
	"rewind/internal/value"
)

// maxSwitches is the size in bytes up to which a file is read for what it says of hooks: one that lies in a project is
// read at every status.
const maxSwitches = 4 << 20

// Switched reads what an agent's configuration says of its hooks in a project, which may be "".
func Switched(agent hooks.Agent, env value.AgentEnv, root string, ours []hooks.Registration) switches.Verdict {
	p := switches.Places{Var: env.Var, Dir: Locate(agent, env).Dir, Project: root, Darwin: runtime.GOOS == "darwin"}
	var commands []string
	for _, r := range ours {
		commands = append(commands, r.Command)
	}
	return switches.Look(agent, p, disk{}, commands)
}

// disk reads the files of agents. Links are followed, as agents follow them; nothing but a plain file is opened.
type disk struct{}

// Read implements switches.Disk.
func (disk) Read(path string) ([]byte, error) {
	if !filepath.IsAbs(path) { // anybody's
		return nil, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		var b []byte
		if b, err = osfile.ReadSmall(real, maxSwitches); err == nil {
			return b, nil
		}
	}
	if absent(err) {
		return nil, nil
	}
	return nil, PathCause(err)
}

// absent reports whether a file is not there, be it that something on its way is none of a directory.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// List implements switches.Disk.
func (disk) List(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// SwitchedText says by which file and line hooks are off, and what to do about it.
func SwitchedText(s *switches.Switch) (text, remedy string) {
	place := s.File
	if s.Line > 0 {
		place += ":" + strconv.Itoa(s.Line)
	}
	text = s.Setting + " in " + place + " switches all hooks off"
	if s.Old {
		text += " in Gemini CLI 0.26"
	}
	if s.Layer == switches.Machine {
		return text, "ask who manages this machine to change " + place + "; until then only 'rewind save' captures"
	}
	return text, "change " + s.Setting + " in " + place
}
