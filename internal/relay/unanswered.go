package relay

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// unansweredName is a file of the home: a line for each event whose daemon was there and did not answer in time.
const unansweredName = "hook-unanswered"

const (
	maxUnanswered    = 64 << 10 // bytes of that file, from which on events are not counted any more
	maxUnansweredDir = 1024     // bytes of a working directory that is noted
)

// Unanswered is one event that got no answer. The daemon may have it all the same, but not the state in which the agent
// was then.
type Unanswered struct {
	At    time.Time // to a second
	Agent string
	Event string // the word on the hook's command line
	PID   int    // of who did not answer; 0: not known
	Dir   string // the hook's working directory; "": not known
}

// RecordUnanswered appends it to the file of a home. Nothing is waited for, no lock is taken: a line goes to the file's
// end whole, beside those of others that wait in the same moment. Where there is no home nothing is left.
func RecordUnanswered(home string, u Unanswered) {
	f, err := os.OpenFile(filepath.Join(home, unansweredName),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return
	}
	if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() && fi.Size() < maxUnanswered {
		_, _ = f.WriteString(u.line())
	}
	_ = f.Close()
}

// line is time, agent, event, process and directory. None but the last can have a blank.
func (u Unanswered) line() string {
	word := func(s string) string {
		if s = strings.Join(strings.Fields(s), ""); s == "" {
			return "-"
		}
		return s
	}
	dir := u.Dir
	if len(dir) > maxUnansweredDir || strings.ContainsAny(dir, "\n\r") {
		dir = ""
	}
	return u.At.UTC().Format(time.RFC3339) + " " + word(u.Agent) + " " + word(u.Event) + " " + strconv.Itoa(u.PID) + " " + dir + "\n"
}

// ReadUnanswered is what lies in a home, the oldest first; full: there may have been more. Lines that are none are
// passed over.
func ReadUnanswered(home string) (list []Unanswered, full bool) {
	b, err := readUnanswered(filepath.Join(home, unansweredName))
	if err != nil {
		return nil, false
	}
	for line := range strings.Lines(string(b)) {
		if u, ok := parseUnanswered(line); ok {
			list = append(list, u)
		}
	}
	return list, len(b) >= maxUnanswered
}

func readUnanswered(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, 2*maxUnanswered)) // several may have written the last line that fits
}

func parseUnanswered(line string) (u Unanswered, ok bool) {
	words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
	if len(words) < 5 || !strings.HasSuffix(line, "\n") {
		return u, false
	}
	at, err := time.Parse(time.RFC3339, words[0])
	pid, err2 := strconv.Atoi(words[3])
	return Unanswered{at, words[1], words[2], pid, words[4]}, err == nil && err2 == nil
}

// ForgetUnanswered takes some of them away: a person knows. What comes meanwhile stays.
func ForgetUnanswered(home string, known func(Unanswered) bool) {
	path := filepath.Join(home, unansweredName)
	aside := path + "-" + strconv.Itoa(os.Getpid())
	if err := os.Rename(path, aside); err != nil {
		return
	}
	b, err := readUnanswered(aside)
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if u, ok := parseUnanswered(line); ok && !known(u) {
				RecordUnanswered(home, u)
			}
		}
	}
	_ = os.Remove(aside)
}
