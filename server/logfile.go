package server

import (
	"log/slog"
	"os"
	"sync"
)

const (
	logName    = "daemon.log"
	oldLogName = "daemon.log.1"
	maxLog     = 4 << 20 // bytes; then it becomes daemon.log.1
)

// logFile is the daemon's log, of two files at most. Losing lines is never an error: a full disk must not stop what matters.
type logFile struct {
	dir  runDir
	max  int64
	mu   sync.Mutex
	f    *os.File
	size int64
}

func openLog(dir runDir, most int64) (*logFile, error) {
	l := &logFile{dir: dir, max: most}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := l.dir.appendTo(logName)
	if err != nil {
		return err
	}
	l.f, l.size = f, 0
	if fi, err := f.Stat(); err == nil {
		l.size = fi.Size()
	}
	return l.dir.private(logName)
}

// Write implements io.Writer for one line.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > l.max && l.size > 0 && l.f != nil {
		_ = l.f.Close()
		l.f = nil
		_ = l.dir.rename(logName, oldLogName)
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
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}

func (l *logFile) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
