package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"rewind/internal/osfile"
	"rewind/transcript"
)

// Live is what can be seen of an agent's program that runs on a session. The zero value: none is seen.
type Live struct {
	Running bool
	How     string // by what it was seen, for people; holds names of files
	PID     int    // 0: not known
	// Guess says that a program of the agent runs in the session's folder, or may run elsewhere, and that it cannot be
	// seen on which session. Who ends it and asks again is on the safe side.
	Guess bool
	// Server says that it is, or may be, a server of the agent that keeps a session after the person has closed its
	// terminal.
	Server bool
}

// Processes is one look at the processes of this user, for questions about several sessions at one moment. The zero
// value is ready, and looks at the first question that needs it. It is for one goroutine.
type Processes struct {
	taken   bool
	procs   []process
	claude  map[string]*claudeNotes // by the agent's folder
	folders map[string]*folders     // by pattern
	dirs    map[string]string       // of session files, by their path, with links followed
	asked   int                     // sessions whose files were looked for

	gemini map[string]func(cwd string) bool // by the directory of a project, whether a program in cwd writes there
}

// process is one that runs a program of an agent.
type process struct {
	pid   int
	dir   string // of it in the system's list
	agent transcript.Agent
	args  []string
	open  map[string]bool // files; nil: not looked at
	cwd   *string         // nil: not looked at
}

// Running looks whether a program of the agent has the session open, by the signs that the client leaves: Claude's
// <root>/sessions/<pid>.json, Codex's flock on <root>/thread-writer-locks/<id>.lock. Of what leaves none, Linux knows
// the processes of this user: one that has the session's file open, or its id on the command line, is one; one in the
// session's folder is a guess. On other systems that is not seen, and what is not seen is not running.
//
// An error is a sign that is there and could not be read. What this look says holds for a moment: a client may start at
// any time.
func (l *Processes) Running(agent transcript.Agent, root, session string) (Live, error) {
	if !plain(session) {
		return Live{}, fmt.Errorf("look for a running %s: bad session id %q", agent, session)
	}
	var live Live
	var err error
	told := map[int]bool{} // processes that say themselves which session they are on
	guess := true
	switch agent {
	case transcript.Claude:
		live, told, err = l.claudeLive(root, session)
	case transcript.Codex:
		live, err = codexLive(root, session)
		guess = false // a version with locks has none, one without keeps the file open
	case transcript.Gemini, transcript.Droid:
	default:
		return Live{}, nil
	}
	if live.Running && !live.Guess {
		return live, nil
	}
	if found := l.processLive(agent, func() sessionPlace { return l.locate(agent, root, session) }, session, told, guess); found.Running &&
		(!found.Guess || !live.Running) {
		live = found
	}
	if live.Running {
		return live, nil
	}
	return live, err
}

// plain reports whether an id can be part of a file name and of a pattern.
func plain(id string) bool {
	for _, c := range []byte(id) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return id != "" && len(id) <= 128
}

// claudeFolder is the name of Claude's folder of a project. A name of more than 200 characters ends in a hash; that one
// is not found.
func claudeFolder(cwd string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '-'
	}, cwd)
}

// droidFolder goes by what the session says of itself.
func droidFolder(file string) func(string) bool {
	return func(cwd string) bool {
		var head struct {
			Cwd string `json:"cwd"`
		}
		b, err := firstLine(file)
		read := err == nil && json.Unmarshal(b, &head) == nil
		return read && head.Cwd != "" && cwd == head.Cwd
	}
}

// geminiFolder goes by the note that Gemini leaves beside the conversations of a project; versions without it name the
// folder by a hash.
func geminiFolder(dir string) func(string) bool {
	note, err := readSmall(filepath.Join(dir, ".project_root"), 16<<10)
	if err == nil {
		return func(cwd string) bool { return cwd == string(note) }
	}
	return func(cwd string) bool { return hashName(cwd) == filepath.Base(dir) }
}

// escapeGlob makes a path match itself only.
func escapeGlob(path string) string {
	var out []byte
	for _, c := range []byte(path) {
		if os.PathSeparator != '\\' && (c == '*' || c == '?' || c == '[' || c == '\\') {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(out)
}

// locked reports whether somebody holds the file's flock, and who, where the system says. For a moment the file has a
// lock of ours, which others may share; it is never made.
func locked(path string) (held bool, pid int, err error) {
	f, err := osfile.OpenRead(path)
	if err != nil {
		return false, 0, err
	}
	defer f.Close() // releases
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, lockHolder(f), nil
	}
	return false, 0, err
}

// exists reports whether a process runs, whoever's it is.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
