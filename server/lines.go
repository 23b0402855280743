package server

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// lines writes a response: progress, then one result or error. Progress never waits for the client: it is told from within captures, which
// others wait for. A writer of its own takes the newest line when it has written the one before.
type lines struct {
	w   http.ResponseWriter
	enc *json.Encoder

	mu     sync.Mutex
	last   time.Time
	ended  bool
	next   chan any      // nil before the first line of progress
	writer chan struct{} // closed when the writer has ended
}

// progressEvery is the shortest time between two progress lines.
const progressEvery = 50 * time.Millisecond

func newLines(w http.ResponseWriter) *lines {
	l := &lines{w: w, enc: json.NewEncoder(w)}
	l.enc.SetEscapeHTML(false)
	return l
}

func (l *lines) progress(line any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || time.Since(l.last) < progressEvery {
		return
	}
	l.last = time.Now()
	if l.next == nil {
		l.next, l.writer = make(chan any, 1), make(chan struct{})
		go l.write()
	}
	select {
	case l.next <- line:
	default: // the client is slow
	}
}

func (l *lines) write() {
	defer close(l.writer)
	for line := range l.next {
		_ = l.enc.Encode(line) // a client that is gone is noticed by the request's context
		if f, ok := l.w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// stop ends progress and reports whether there was any.
func (l *lines) stop() bool {
	l.mu.Lock()
	first := !l.ended
	l.ended = true
	if first && l.next != nil {
		close(l.next)
	}
	l.mu.Unlock()
	if l.next == nil {
		return false
	}
	<-l.writer
	return true
}

func (l *lines) end(line any) {
	l.stop()
	_ = l.enc.Encode(line)
}

// fail ends with an error, whose status it sends unless something has been sent.
func (l *lines) fail(err error) {
	told := tell(err)
	if !l.stop() {
		l.w.WriteHeader(httpStatus(told.Word))
	}
	l.end(errorLine{told})
}
