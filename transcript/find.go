package transcript

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// errFound ends a reading that knows enough.
var errFound = errors.New("found")

// Passed is a session file that may be one of a project's and was left out.
type Passed struct {
	Path string // in the agent's folder
	Why  error
}

// Why a file was left out, where nothing went wrong.
var (
	ErrNoFile  = errors.New("it is no plain file")
	ErrLink    = errors.New("it is a link, and links are not followed")
	ErrNothing = errors.New("nothing is in it")
	ErrNowhere = errors.New("it does not say in which directory it was begun")
)

// Find lists the session files of conversations that were begun in project, an absolute path with symbolic links
// resolved, as paths in root, the agent's folder. It reads no more of each than it takes to see that. Sessions of
// subagents, and of other projects, are not among them; files of which it cannot be told are passed over, each with its
// reason. Files whose name ends in .zst must be given unpacked by root. A folder that is not there has none.
func Find(agent Agent, root fs.FS, project string) (found []string, passed []Passed, err error) {
	p, err := placeOf(agent)
	if err != nil {
		return nil, nil, err
	}
	err = p.find(root, project, func(path string, sure bool) error {
		if sure {
			found = append(found, path)
			return nil
		}
		switch cwd, err := begunIn(agent, root, path); {
		case err != nil:
			passed = append(passed, Passed{path, err})
		case cwd == project:
			found = append(found, path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &Error{Name: project, Cause: err}
	}
	return found, passed, nil
}

// openRegular opens a file, and nothing else.
func openRegular(root fs.FS, path string) (fs.File, error) {
	fi, err := fs.Lstat(root, path)
	switch {
	case err != nil:
		return nil, err
	case fi.Mode().Type() == fs.ModeSymlink:
		return nil, ErrLink
	case !fi.Mode().IsRegular():
		return nil, ErrNoFile
	}
	return root.Open(path)
}

// begunIn is the directory that the first record of a session file names that names one; "" of a subagent's.
func begunIn(agent Agent, root fs.FS, path string) (string, error) {
	f, err := openRegular(root, path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	src, err := source(f, path)
	if err != nil {
		return "", err
	}
	d, err := dialectOf(agent, src)
	if err != nil {
		return "", err
	}
	cwd, side := "", false
	err = d.lines(src, 0, newLine(0, false), func(l *line) error {
		if l.Cwd == "" || l.Side && d.chain { // a subagent's lines may stand in the file of its session
			side = side || l.Cwd != ""
			return nil
		}
		side = l.Side
		cwd = l.Cwd
		return errFound
	})
	found := errors.Is(err, errFound)
	switch {
	case side && (found || err == nil):
		return "", nil
	case found:
		return cwd, nil
	case err != nil:
		return "", err
	case src.Size == 0:
		return "", ErrNothing
	}
	return "", ErrNowhere
}

// source is a file as a Source. Of one that is packed, which must come unpacked from its fs.FS and then is no
// io.ReaderAt, it is the front.
func source(f fs.File, name string) (Source, error) {
	if r, ok := f.(io.ReaderAt); ok {
		info, err := f.Stat()
		if err != nil {
			return Source{}, err
		}
		return Source{ReaderAt: r, Size: info.Size(), Name: name}, nil
	}
	head, err := io.ReadAll(io.LimitReader(f, maxHead))
	return Source{ReaderAt: bytes.NewReader(head), Size: int64(len(head)), Name: name}, err
}

var errEnough = errors.New("enough")

// BaseOf is the part of a conversation that stands in another file, as the first record says; nil: there is none.
func BaseOf(agent Agent, src Source) (*Base, error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return nil, err
	}
	var base *Base
	err = d.lines(src, 0, newLine(maxText, false), func(l *line) error {
		base = l.Base
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return base, err
}

// CodexFiles lists the session files of a thread of Codex, those of segments too, as paths in root, Codex's folder. The
// newest name comes first. A segment's id stands for its thread.
func CodexFiles(root fs.FS, id string) ([]string, error) {
	if !ValidID(id) {
		return nil, &Error{Name: id, Cause: errors.New("no id of a session")}
	}
	files := map[string][]string{}
	thread := id
	for _, pattern := range []string{"sessions/*/*/*/rollout-*", "archived_sessions/rollout-*"} {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			return nil, &Error{Name: pattern, Cause: err}
		}
		for i := len(names) - 1; i >= 0; i-- {
			of, segment, ok := codexName(path.Base(names[i]))
			if !ok {
				continue
			}
			if segment == id {
				thread = of
			}
			files[of] = append(files[of], names[i])
		}
	}
	return files[thread], nil
}

// CodexBaseID is the id by which the base of another file (Base.Session) names this session file of Codex, a thread's
// first or a segment.
func CodexBaseID(name string) string {
	thread, segment, _ := codexName(path.Base(filepath.ToSlash(name)))
	if segment != "" {
		return segment
	}
	return thread
}

// Grown is a session file as it stands.
type Grown struct {
	Path string // in the agent's folder
	At   time.Time
	Size int64
}

// Recent lists those of Find that were written after a moment, at most so many, the newest first. Of the others no more
// is asked than when they were written.
func Recent(agent Agent, root fs.FS, project string, since time.Time, most int) ([]Grown, error) {
	p, err := placeOf(agent)
	if err != nil {
		return nil, err
	}
	var found []Grown
	certain := map[string]bool{}
	err = p.find(root, project, func(path string, sure bool) error {
		fi, err := fs.Lstat(root, path)
		if err != nil || !fi.Mode().IsRegular() || !fi.ModTime().After(since) {
			return nil
		}
		found = append(found, Grown{path, fi.ModTime(), fi.Size()})
		certain[path] = sure
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Name: project, Cause: err}
	}
	slices.SortFunc(found, func(a, b Grown) int { return b.At.Compare(a.At) })
	looked := 0
	return slices.DeleteFunc(found, func(g Grown) bool {
		if looked++; looked > most {
			return true
		}
		if certain[g.Path] {
			return false
		}
		cwd, err := begunIn(agent, root, g.Path)
		return err != nil || cwd != project
	}), nil
}
