// Package switches is what the configuration of an agent says of its hooks: whether they run at all, and by which file
// and line they do not. Pure: whoever asks reads the files.
//
// Each agent reads several files, and decides by an order of its own which counts; all of that was tried with the real
// programs (docs/hooks.md has the table). Nothing is decided by a file that the agent itself would not take: one that
// is no JSON, or is of a project that the person does not trust.
package switches

import (
	"slices"

	"rewind/internal/value"
)

// Disk is how files are read. Read may refuse whatever is no file of a sensible size; such a one says nothing, and is
// named. List gives the names of the files in a directory, none where there is no such directory.
type Disk interface {
	Read(path string) ([]byte, error)
	List(dir string) []string
}

// Places says where an agent's files are.
type Places struct {
	Var     func(name string) string // of the person's environment; "": not set
	Dir     string                   // the agent's own folder
	Project string                   // the project's root; "": none
	Darwin  bool                     // the machine's own files are where macOS has them
}

// Layer says whose a file is, and so who can change it.
type Layer string

// The layers.
const (
	Machine Layer = "machine" // its administrator's
	Project Layer = "project" // comes with the project, or lies in it
	User    Layer = "user"
)

// A Switch is one setting that decides.
type Switch struct {
	Setting string // as a person reads it in the file: disableAllHooks, hooksConfig.enabled
	Value   string // as it is written there
	Layer   Layer
	File    string
	Line    int // from 1; 0: not known
	Old     bool
}

// Verdict is what the files say together.
type Verdict struct {
	Off    *Switch  // all hooks are switched off by that; nil: they run
	Some   *Switch  // single hooks of ours are, by name
	Unread []Unread // files that are there and could not be read: they may say something else
}

// Unread is a file that could not be read.
type Unread struct {
	File string
	Err  error
}

// Look reads what an agent reads. commands are the command lines of our hooks: some agents switch single ones off by
// them.
func Look(agent value.Agent, p Places, disk Disk, commands []string) Verdict {
	l := &look{Places: p, disk: disk}
	switch agent {
	case value.Claude:
		l.claude()
	case value.Codex:
		l.codex()
	case value.Gemini:
		l.gemini(commands)
	case value.Droid:
		l.droid()
	}
	return l.Verdict
}

// look is one Look under way.
type look struct {
	Places
	Verdict
	disk Disk
	seen []string
}

// file is one file as it was read.
type file struct {
	Layer
	path string
	data []byte
}

// read reads a file once, in the layer in which it is met first: a project may be the person's home. nil: there is
// none, or it cannot be read.
func (l *look) read(layer Layer, path string) *file {
	if path == "" || slices.Contains(l.seen, path) {
		return nil
	}
	l.seen = append(l.seen, path)
	data, err := l.disk.Read(path)
	if err != nil {
		l.Unread = append(l.Unread, Unread{path, err})
	}
	if data == nil {
		return nil
	}
	return &file{layer, path, data}
}

// off notes the switch that turns all hooks off, unless one that counts more has.
func (l *look) off(s *Switch) {
	if s != nil && l.Off == nil {
		l.Off = s
	}
}

// decide ends the question: the first of some settings that is there counts, and turns the hooks off where its value is
// that.
func (l *look) decide(found []*Switch, off string) {
	for _, s := range found {
		if s == nil {
			continue
		}
		if s.Value == off {
			l.off(s)
		}
		return
	}
}
