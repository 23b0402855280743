package relay

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// failedName is a file of the home: the newest event that could not be handed over and was lost, as one line of its
// time (RFC 3339), the agent and why.
const failedName = "hook-failed"

const maxFailure = 4096 // bytes of that line

// RecordFailure leaves in a home that an event of an agent was lost, and why, both one line of text: an agent shows
// that to nobody, and a person asks 'rewind status'. id is the event's. Where there is no home nobody has set rewind
// up, and nothing is left.
func RecordFailure(home, id, agent, why string) {
	tmp := filepath.Join(home, failedName+"-"+id)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = f.WriteString(time.Now().UTC().Format(time.RFC3339) + " " + strings.ReplaceAll(agent, " ", "") + " " + why + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp, filepath.Join(home, failedName))
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
}

// LastFailure is the newest that RecordFailure has left in a home; the zero time: there is none.
func LastFailure(home string) (at time.Time, agent, why string) {
	f, err := os.Open(filepath.Join(home, failedName))
	if err != nil {
		return time.Time{}, "", ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFailure))
	line, _, whole := strings.Cut(string(b), "\n")
	words := strings.SplitN(line, " ", 3)
	if err != nil || !whole || len(words) < 3 {
		return time.Time{}, "", ""
	}
	if at, err = time.Parse(time.RFC3339, words[0]); err != nil {
		return time.Time{}, "", ""
	}
	return at, words[1], words[2]
}

// ForgetFailure takes it away: what was wrong was put right.
func ForgetFailure(home string) { _ = os.Remove(filepath.Join(home, failedName)) }
