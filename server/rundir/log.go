package rundir

import (
	"log/slog"
	"os"
	"sync"
)

// LogName is the log in the run directory.
const LogName = "daemon.log"

const (
	oldLogName = "daemon.log.1"
	maxLog     = 4 << 20 // bytes; then it becomes daemon.log.1
)

// Log is the daemon's log, of two files at most. Losing lines is never an error: a full disk must not stop what
// matters.
type Log struct {
	dir  Dir
	max  int64
	mu   sync.Mutex
	f    *os.File
	size int64
}

// OpenLog opens the log, to write at its end.
func OpenLog(dir Dir) (*Log, error) { return openLog(dir, maxLog) }

func openLog(dir Dir, most int64) (*Log, error) {
	l := &Log{dir: dir, max: most}
	return l, l.open()
}

func (l *Log) open() error {
	f, err := l.dir.appendTo(LogName)
	if err != nil {
		return err
	}
	l.f, l.size = f, 0
	if fi, err := f.Stat(); err == nil {
		l.size = fi.Size()
	}
	return l.dir.private(LogName)
}

// Write implements io.Writer for one line.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > l.max && l.size > 0 && l.f != nil {
		_ = l.f.Close()
		l.f = nil
		_ = l.dir.rename(LogName, oldLogName)
		_ = l.open()
	}
	if l.f == nil {
		return len(p), nil
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

// Close ends the log; what is written later is dropped.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}

// Logger writes a line of text into the log for each record.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
