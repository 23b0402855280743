package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rewind/internal/osfile"
)

// maxNote is the size in bytes from which a small file of an agent is none.
const maxNote = 1 << 20

// claudeNote is what a running Claude says of itself in <root>/sessions/<pid>.json.
type claudeNote struct {
	PID       int    `json:"pid"`
	SessionID string `json:"sessionId"`
	StartedAt int64  `json:"startedAt"` // unix milliseconds
	ProcStart string `json:"procStart"` // Linux: clock ticks from boot to the start of the process
	PIDDomain string `json:"pidDomain"` // Linux: "linux:<machine id>:pid:[<inode of the namespace>]"

	path string // of the note
}

// claudeNotes is what the running Claudes of one folder say.
type claudeNotes struct {
	list []claudeNote // of those that run, or that cannot be looked up here
	told map[int]bool // the living processes that say on which session they are
	err  error
}

// notes reads what the running Claudes say, once in a look.
func (l *Processes) notes(root string) *claudeNotes {
	if n := l.claude[root]; n != nil {
		return n
	}
	if l.claude == nil {
		l.claude = map[string]*claudeNotes{}
	}
	n := &claudeNotes{told: map[int]bool{}}
	l.claude[root] = n
	dir := filepath.Join(root, "sessions")
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.err = fmt.Errorf("look for a running claude: %w", err)
	}
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		pid, err := strconv.Atoi(name)
		if !ok || err != nil || pid <= 0 {
			continue
		}
		note := claudeNote{path: filepath.Join(dir, e.Name())}
		if b, err := readSmall(note.path, maxNote); err != nil || json.Unmarshal(b, &note) != nil || note.PID != pid {
			continue // being written, or nothing that a Claude left
		}
		if !note.foreign() {
			if !note.alive() {
				continue
			}
			n.told[pid] = true
		}
		n.list = append(n.list, note)
	}
	return n
}

// claudeLive finds a session in what the running Claudes say. told are the living processes that say on which session
// they are.
func (l *Processes) claudeLive(root, session string) (live Live, told map[int]bool, err error) {
	notes := l.notes(root)
	if notes.err != nil {
		return Live{}, nil, notes.err
	}
	for _, note := range notes.list {
		if note.SessionID != session || live.Running && !live.Guess {
			continue
		}
		live = Live{Running: true, How: fmt.Sprintf("claude process %d says so in %s", note.PID, note.path), PID: note.PID}
		if note.foreign() {
			live = Live{Running: true, How: "a claude of another machine or container says so in " + note.path, Guess: true}
		}
	}
	return live, notes.told, nil
}

// alive reports whether the process of the note is running, and is the one that wrote it: pids are used again.
func (n claudeNote) alive() bool {
	p, ok := startOf(n.PID)
	if !ok {
		return false
	}
	if ticks, err := strconv.ParseUint(n.ProcStart, 10, 64); err == nil && p.ticks != 0 {
		return p.ticks == ticks
	}
	const slack = 2 * time.Second // the clock was set a little
	return n.StartedAt == 0 || p.at.IsZero() || !p.at.After(time.UnixMilli(n.StartedAt).Add(slack))
}

// foreign reports whether the note's pid is one of another machine or container, which cannot be looked up here.
func (n claudeNote) foreign() bool {
	here := pidDomain()
	return n.PIDDomain != "" && here != "" && n.PIDDomain != here
}

// started is when a process began.
type started struct {
	ticks uint64 // Linux: clock ticks from boot; 0: not known
	at    time.Time
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	f, err := osfile.OpenRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("not a regular file"))
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errors.New("too large")
	}
	return b, err
}

func hashName(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
