package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// Side is a file that belongs to a session beside its own.
type Side struct {
	From, To string
	Optional bool // it need not be there
}

// place is where an agent keeps its sessions.
type place struct {
	// file splits a session file's path, given in elements from the root of the file system, into the number of elements of the agent's
	// folder and the id in the name ("": the name has no whole id); ok is false if such a path is none of a session file.
	file func(elements []string) (root int, id string, ok bool)
	// fork is the path of a fork of original below the agent's folder, in elements. in is original's.
	fork func(in []string, id string, t time.Time) []string
	// sides lists side files; nil: none.
	sides func(original, fork string) []Side
	// main is the name of the session file that a file of this name lies beside; nil: none does.
	main func(side string) (name string, ok bool)
	// find gives every file that may be a main session of project, by its name; Find reads the ones that are given. sure: it is known from
	// the name that it is the project's.
	find func(root fs.FS, project string, give func(path string, sure bool) error) error
	// id makes a new session's id; nil: UUID v4.
	id func(t time.Time, random [16]byte) string
	// resume is the command line.
	resume func(id string) []string
}

func placeOf(agent Agent) (place, error) {
	d, err := dialectOf(agent, Source{ReaderAt: strings.NewReader(""), Name: string(agent)})
	if err != nil {
		return place{}, err
	}
	return d.place, nil
}

// SessionFile checks that path, which is absolute, is where agent keeps session files, and returns the agent's folder (whatever it is called
// there) and the session's id as far as the name has it; "" where it has only a part of it. An error is an *Error.
func SessionFile(agent Agent, path string) (root, id string, err error) {
	root, _, id, err = sessionFile(agent, path)
	return root, id, err
}

func sessionFile(agent Agent, path string) (root string, in []string, id string, err error) {
	p, err := placeOf(agent)
	if err != nil {
		return "", nil, "", err
	}
	refuse := func(why string) error { return &Error{Name: path, Cause: errors.New(why)} }
	native := filepath.FromSlash(path)
	if len(path) > maxPath || !filepath.IsAbs(native) || filepath.Clean(native) != native || strings.ContainsFunc(path, unicode.IsControl) {
		return "", nil, "", refuse("no clean absolute path")
	}
	volume := filepath.VolumeName(native)
	elements := strings.Split(strings.TrimPrefix(filepath.ToSlash(native[len(volume):]), "/"), "/")
	n, id, ok := p.file(elements)
	if !ok || n < 1 || n >= len(elements) {
		return "", nil, "", refuse(fmt.Sprintf("no place of a session file of %s", agent))
	}
	root = volume + string(filepath.Separator) + filepath.Join(elements[:n]...)
	return root, elements[n:], id, nil
}

// ForkPath is where the session id goes that is made of the session in the file original at t. An error is an *Error.
func ForkPath(agent Agent, original, id string, t time.Time) (string, error) {
	root, in, _, err := sessionFile(agent, original)
	if err != nil {
		return "", err
	}
	if !ValidID(id) {
		return "", &Error{Name: original, Cause: fmt.Errorf("no id for a fork: %q", oneLine(id, maxTarget))}
	}
	p, err := placeOf(agent)
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{root}, p.fork(in, id, t)...)...), nil
}

// Sides lists the files that are to be copied with a session file.
func Sides(agent Agent, original, fork string) []Side {
	p, err := placeOf(agent)
	if err != nil || p.sides == nil {
		return nil
	}
	return p.sides(original, fork)
}

// SideOf is the path of the session file that a side file belongs to; ok is false for a path that is none of a side file by its name.
func SideOf(agent Agent, side string) (session string, ok bool) {
	p, err := placeOf(agent)
	if err != nil || p.main == nil {
		return "", false
	}
	dir, name := filepath.Split(side)
	name, ok = p.main(name)
	return dir + name, ok
}

// NewID is a new session's id as agent makes them. random is used up: the same is never given twice.
func NewID(agent Agent, t time.Time, random [16]byte) string {
	if p, err := placeOf(agent); err == nil && p.id != nil {
		return p.id(t, random)
	}
	return uuid(random, 4)
}

// ValidID says whether id is a UUID's text: what every agent takes for a session's id.
func ValidID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// Resume is the command line that goes on with a session; nil for an agent that is not known.
func Resume(agent Agent, id string) []string {
	p, err := placeOf(agent)
	if err != nil {
		return nil
	}
	return p.resume(id)
}
