package clients

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/transcript"
)

// folders are the directories of a tree of session files, as of one look.
type folders struct {
	dirs  []string
	names map[string][]string // of what is in them, ascending
}

// fewPlaces is up to how many sessions are looked for one by one; for more the directories are listed.
const fewPlaces = 4

// files finds session files of an agent whose last element matches name, as filepath.Glob does, with each directory
// read once in a look.
func (l *Processes) files(in, name string) (list []string) {
	at := l.folders[in]
	if at == nil {
		at = &folders{names: map[string][]string{}}
		at.dirs, _ = filepath.Glob(in) // the pattern is a good one
		if l.folders == nil {
			l.folders = map[string]*folders{}
		}
		l.folders[in] = at
	}
	l.asked++
	plainly := !strings.ContainsAny(name, "*?[\\")
	for _, dir := range at.dirs {
		if plainly && l.asked <= fewPlaces {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				list = append(list, filepath.Join(dir, name))
			}
			continue
		}
		names, known := at.names[dir]
		if !known {
			names = namesIn(dir)
			at.names[dir] = names
		}
		if plainly {
			if _, there := slices.BinarySearch(names, name); there {
				list = append(list, filepath.Join(dir, name))
			}
			continue
		}
		for _, n := range names {
			if ok, _ := filepath.Match(name, n); ok {
				list = append(list, filepath.Join(dir, n))
			}
		}
	}
	return list
}

func namesIn(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	slices.Sort(names)
	return names
}

// sessionPlace is where a session is.
type sessionPlace struct {
	files  []string              // its files, links followed
	folder func(cwd string) bool // whether a program that works in cwd would write there; nil: not known
}

// locate finds a session's files.
func (l *Processes) locate(agent transcript.Agent, root, session string) sessionPlace {
	at := map[transcript.Agent][2]string{
		transcript.Claude: {filepath.Join("projects", "*"), session + ".jsonl"},
		transcript.Codex:  {filepath.Join("sessions", "*", "*", "*"), "rollout-*" + session + "*.jsonl"},
		transcript.Gemini: {filepath.Join("tmp", "*", "chats"), "session-*-" + session[:min(8, len(session))] + ".json*"},
		transcript.Droid:  {filepath.Join("sessions", "*"), session + ".jsonl"},
	}[agent]
	var p sessionPlace
	for _, f := range l.files(filepath.Join(escapeGlob(root), at[0]), at[1]) {
		if real := l.real(f); real != "" {
			p.files = append(p.files, real)
		}
	}
	if len(p.files) == 0 {
		return p
	}
	switch dir := filepath.Dir(p.files[0]); agent {
	case transcript.Claude:
		p.folder = func(cwd string) bool { return claudeFolder(cwd) == filepath.Base(dir) }
	case transcript.Droid:
		p.folder = droidFolder(p.files[0])
	case transcript.Gemini:
		dir = filepath.Dir(dir)
		if l.gemini[dir] == nil { // all sessions of a project are in one
			if l.gemini == nil {
				l.gemini = map[string]func(string) bool{}
			}
			l.gemini[dir] = geminiFolder(dir)
		}
		p.folder = l.gemini[dir]
	}
	return p
}

// real is a file's path with links followed, those to its directory once in a look; "": it leads nowhere.
func (l *Processes) real(file string) string {
	dir, name := filepath.Split(file)
	in, known := l.dirs[dir]
	if !known {
		var err error
		if in, err = filepath.EvalSymlinks(dir); err != nil {
			in = ""
		}
		if l.dirs == nil {
			l.dirs = map[string]string{}
		}
		l.dirs[dir] = in
	}
	if in == "" {
		return ""
	}
	file = filepath.Join(in, name)
	switch fi, err := os.Lstat(file); {
	case err != nil:
		return ""
	case fi.Mode().Type() != fs.ModeSymlink:
		return file
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	return ""
}
