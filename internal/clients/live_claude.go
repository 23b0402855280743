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
}

// claudeLive reads what the running Claudes say. told are the living processes that say on which session they are.
func claudeLive(root, session string) (Live, map[int]bool, error) {
	dir := filepath.Join(root, "sessions")
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Live{}, nil, fmt.Errorf("look for a running claude: %w", err)
	}
	var live Live
	told := map[int]bool{}
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		pid, err := strconv.Atoi(name)
		if !ok || err != nil || pid <= 0 {
			continue
		}
		path := filepath.Join(dir, e.Name())
		var note claudeNote
		if b, err := readSmall(path, maxNote); err != nil || json.Unmarshal(b, &note) != nil || note.PID != pid {
			continue // being written, or nothing that a Claude left
		}
		foreign := note.foreign()
		if !foreign && !note.alive() {
			continue
		}
		if !foreign {
			told[pid] = true
		}
		if note.SessionID == session && (!live.Running || live.Guess) {
			live = Live{Running: true, How: fmt.Sprintf("claude process %d says so in %s", pid, path), PID: pid}
			if foreign {
				live = Live{Running: true, How: "a claude of another machine or container says so in " + path, Guess: true}
			}
		}
	}
	return live, told, nil
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
