package transcript

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
)

// errFound ends a reading that knows enough.
var errFound = errors.New("found")

// Find lists the session files of conversations that were begun in project, an absolute path with symbolic links resolved, as paths in root,
// the agent's folder. It reads no more of each than it takes to see that, and leaves out files that cannot be read. Sessions of subagents are
// not among them. Files whose name ends in .zst must be given unpacked by root. A folder that is not there has none.
func Find(agent Agent, root fs.FS, project string) ([]string, error) {
	p, err := placeOf(agent)
	if err != nil {
		return nil, err
	}
	var found []string
	err = p.find(root, project, func(path string, sure bool) error {
		if sure || begunIn(agent, root, path, project) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Name: project, Cause: err}
	}
	return found, nil
}

// begunIn says whether the first record of a session file that says where it was written says project.
func begunIn(agent Agent, root fs.FS, path, project string) bool {
	f, err := root.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	src, err := source(f, path)
	if err != nil {
		return false
	}
	d, err := dialectOf(agent, src)
	if err != nil {
		return false
	}
	cwd := ""
	_ = d.lines(src, 0, newLine(0, false), func(l *line) error { // what cannot be read further says nothing
		if l.Cwd == "" || l.Side && d.chain { // a subagent's lines may stand in the file of its session
			return nil
		}
		if !l.Side {
			cwd = l.Cwd
		}
		return errFound
	})
	return cwd == project
}

// source is the front of a file as a Source. A file that is packed must come unpacked from its fs.FS, and then is no io.ReaderAt.
func source(f fs.File, name string) (Source, error) {
	if r, ok := f.(io.ReaderAt); ok {
		info, err := f.Stat()
		if err != nil {
			return Source{}, err
		}
		return Source{ReaderAt: r, Size: min(info.Size(), maxHead), Name: name}, nil
	}
	head, err := io.ReadAll(io.LimitReader(f, maxHead))
	return Source{ReaderAt: bytes.NewReader(head), Size: int64(len(head)), Name: name}, err
}
