// Package agentfiles decides which paths are those of agents' session files. By a name that a store has kept, one is
// opened, written or removed only here.
//
// A store may be somebody else's: what its journal, its log or its records name is not believed. A path counts when it
// has the shape of an agent's session file, or of what lies beside one. The agent's folder in it must also be that of
// the person who asks (their HOME, CLAUDE_CONFIG_DIR, CODEX_HOME, ...). From that folder, which may be a link
// that the person made, the file is reached by directory handles, and no link is followed. So nothing else of the
// agent's, its settings or hooks, can be reached either.
package agentfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rewind/internal/value"
	"rewind/transcript"
)

// Why a path is refused.
var (
	// ErrForeign: no agent keeps a session file there, whatever its folder is.
	ErrForeign = errors.New("it is no session file of an agent")
	// errElsewhere: it has the shape of one, and lies in another folder than the agent's.
	errElsewhere = errors.New("it does not lie in the agent's own folder")
	// ErrNoFolder: where that is was not said, so that nobody's file can be told from another's. It is an errElsewhere.
	ErrNoFolder = fmt.Errorf("%w", errElsewhere)
	// ErrNotPlain: there is something else than a file with one name, or a directory on the way is none.
	ErrNotPlain = errors.New("it is no plain file")
)

// Folders tells where an agent's own folder is for the person who asks; "" where that is not known.
type Folders func(transcript.Agent) string

// File is the place of a session file, or of one beside it, in an agent's own folder.
type File struct {
	agent  transcript.Agent
	Folder string // the agent's own, as the person's environment says it

	path string
	in   []string // its components below the folder
}

// String is the path by which it was named.
func (f File) String() string { return f.path }

// Shape tells whether some agent would have a session file at path, or a file beside one, whatever its folder is
// called.
func Shape(path string) bool {
	for _, agent := range value.Agents() {
		if _, _, err := split(agent, path); err == nil {
			return true
		}
	}
	return false
}

// split takes a path apart: the agent's folder as the path has it, and what is below.
func split(agent transcript.Agent, path string) (folder string, in []string, err error) {
	main, beside := transcript.SideOf(agent, path)
	if !beside {
		main = path
	}
	folder, _, err = transcript.SessionFile(agent, main)
	if err != nil {
		return "", nil, err
	}
	rest := strings.TrimPrefix(path[len(folder):], string(filepath.Separator))
	return folder, strings.Split(filepath.ToSlash(rest), "/"), nil
}

// Locate finds the agent whose file a path is. The error is an ErrForeign or an errElsewhere.
func (own Folders) Locate(path string) (File, error) {
	err := fmt.Errorf("%s: %w", path, ErrForeign)
	for _, agent := range value.Agents() {
		f, lerr := own.Of(agent, path)
		if lerr == nil {
			return f, nil
		}
		if errors.Is(lerr, errElsewhere) {
			err = lerr
		}
	}
	return File{}, err
}

// Of is Locate where it is known whose file it has to be.
func (own Folders) Of(agent transcript.Agent, path string) (File, error) {
	folder, in, err := split(agent, path)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	mine := own(agent)
	if mine == "" || !filepath.IsAbs(mine) {
		return File{}, fmt.Errorf("%s: %w: where %s has its folder is not known", path, ErrNoFolder, agent)
	}
	if mine = filepath.Clean(mine); mine != folder && !same(mine, folder) {
		return File{}, fmt.Errorf("%s: %w: that of %s is %s", path, errElsewhere, agent, mine)
	}
	return File{agent: agent, Folder: mine, path: path, in: in}, nil
}

// same reports whether two paths are one directory.
func same(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}
