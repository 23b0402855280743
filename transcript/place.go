package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
)

// Side is a file that belongs to a session beside its own.
type Side struct {
	From, To string
	Optional bool // it need not be there
}

// place is where an agent keeps its sessions.
type place struct {
	// file takes a session file's path, as elements from the root of the file system. It returns the number of elements
	// of the agent's folder, and the id in the name ("": the name has no whole id). ok is false if the path cannot be a
	// session file's.
	file func(elements []string) (root int, id string, ok bool)
	// fork is the path of a fork of original below the agent's folder, in elements. in is original's.
	fork func(in []string, id string, t time.Time) []string
	// folder is the name of a project's folder, the second of a session file's elements; original is the one of the
	// project of. nil: sessions of all projects lie together.
	folder func(root fs.FS, project, original, of string) (string, error)
	// sides lists side files; nil: none.
	sides func(original, fork string) []Side
	// main is the name of the session file that a file of this name lies beside; nil: none does.
	main func(side string) (name string, ok bool)
	// find gives every file that may be a main session of project, by its name; Find reads the ones that are given.
	// sure: it is known from the name that it is the project's.
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

// SessionFile checks that an absolute path is where agent keeps session files. It returns the agent's folder, whatever
// its name, and the session's id from the file's name; "" if the name has only a part of it. An error is an *Error.
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
	clean := filepath.IsAbs(native) && filepath.Clean(native) == native
	if len(path) > maxPath || !clean || strings.ContainsFunc(path, unicode.IsControl) {
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

// MovedPath is ForkPath of a session that is gone on with in another directory: to, while the original was begun in
// from. files is the agent's folder. Both are absolute, with symbolic links resolved.
func MovedPath(agent Agent, files fs.FS, original, id string, t time.Time, from, to string) (string, error) {
	root, in, _, err := sessionFile(agent, original)
	if err != nil {
		return "", err
	}
	p, err := placeOf(agent)
	if err != nil {
		return "", err
	}
	if p.folder != nil {
		in = slices.Clone(in)
		if in[1], err = p.folder(files, to, in[1], from); err != nil {
			return "", &Error{Name: to, Cause: err}
		}
	}
	return ForkPath(agent, filepath.Join(append([]string{root}, in...)...), id, t)
}

// Sides lists the files that are to be copied with a session file.
func Sides(agent Agent, original, fork string) []Side {
	p, err := placeOf(agent)
	if err != nil || p.sides == nil {
		return nil
	}
	return p.sides(original, fork)
}

// SideOf is the path of the session file that a side file belongs to; ok is false for a path that is none of a side
// file by its name.
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

// claudePlace: <root>/projects/<the project's path>/<id>.jsonl.
var claudePlace = folders("projects", "", func(id string) []string { return []string{"claude", "--resume", id} })

// droidPlace: <root>/sessions/<the project's path>/<id>.jsonl, with <id>.settings.json beside it.
var droidPlace = folders("sessions", ".settings.json",
	func(id string) []string { return []string{"droid", "--resume", id} })

// folders is the place of an agent that has a folder for each project in the folder in, and in that a file <id>.jsonl
// for each session, with an optional <id><side> beside it; "": it has none.
func folders(in, side string, resume func(id string) []string) place {
	p := place{
		file: func(elements []string) (int, string, bool) {
			n := len(elements)
			if n < 4 || elements[n-3] != in {
				return 0, "", false
			}
			id, ok := strings.CutSuffix(elements[n-1], ".jsonl")
			return n - 3, id, ok && ValidID(id)
		},
		fork: func(elements []string, id string, _ time.Time) []string {
			return []string{in, elements[1], id + ".jsonl"}
		},
		find: func(root fs.FS, project string, give func(string, bool) error) error {
			return findInFolders(root, in, project, give)
		},
		folder: folderLike,
		resume: resume,
	}
	if side == "" {
		return p
	}
	const lines = ".jsonl"
	p.sides = func(original, fork string) []Side {
		return []Side{{
			From: strings.TrimSuffix(original, lines) + side, To: strings.TrimSuffix(fork, lines) + side,
			Optional: true,
		}}
	}
	p.main = func(name string) (string, bool) {
		id, ok := strings.CutSuffix(name, side)
		return id + lines, ok
	}
	return p
}

func findInFolders(root fs.FS, in, project string, give func(string, bool) error) error {
	projects, err := fs.ReadDir(root, in)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if !folderOf(p.Name(), project) {
			continue
		}
		dir := path.Join(in, p.Name())
		if !p.IsDir() { // a link, which the agent follows: who looks for sessions behind it is told
			if err := give(dir, false); err != nil {
				return err
			}
			continue
		}
		files, err := fs.ReadDir(root, dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if id, ok := strings.CutSuffix(f.Name(), ".jsonl"); ok && ValidID(id) {
				if err := give(path.Join(dir, f.Name()), false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maxFolder is the length at which Claude cuts a folder's name, and adds a hash.
const maxFolder = 200

// folderOf says whether a folder of that name may be project's: its path with - for what is neither letter nor digit.
// Other projects may have the same.
func folderOf(name, project string) bool {
	want := dashes(project)
	if len(want) > maxFolder {
		return strings.HasPrefix(dashes(name), want[:maxFolder])
	}
	return dashes(name) == want
}

// folderLike names a project's folder as the one of another project is named: with - for what is neither letter nor
// digit, or for slashes alone.
func folderLike(_ fs.FS, project, original, of string) (string, error) {
	name := dashes
	if slashes := func(s string) string { return strings.ReplaceAll(s, "/", "-") }; original == slashes(of) &&
		original != dashes(of) {
		name = slashes
	}
	if len(name(project)) > maxFolder {
		return "", errors.New("its path is too long: what the agent would call its folder of sessions is not known")
	}
	return name(project), nil
}

func dashes(s string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(s)) { // as JavaScript counts
		if c < 0x80 && isAlnum(byte(c)) {
			b.WriteByte(byte(c))
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
