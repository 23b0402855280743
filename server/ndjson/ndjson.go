// Package ndjson writes an answer of the API: lines of JSON, of progress, and then one of a result or an error.
//
// Progress never waits for the client: it is told from within captures, which others wait for. A writer of its own
// takes the newest line when it has written the one before.
package ndjson

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// Lines is one answer. Safe for concurrent use; the end is of one goroutine.
type Lines struct {
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

// New returns the answer that is written to w.
func New(w http.ResponseWriter) *Lines {
	l := &Lines{w: w, enc: json.NewEncoder(w)}
	l.enc.SetEscapeHTML(false)
	return l
}

// Progress tells a line of progress, unless the end was told, or there was one a moment ago and this is not the first
// of something new.
func (l *Lines) Progress(line any, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || !first && time.Since(l.last) < progressEvery {
		return
	}
	l.last = time.Now()
	if l.next == nil {
		l.next, l.writer = make(chan any, 1), make(chan struct{})
		go l.write()
	}
	select {
	case <-l.next: // the client is slow: an older line goes
	default:
	}
	l.next <- line
}

func (l *Lines) write() {
	defer close(l.writer)
	for line := range l.next {
		_ = l.enc.Encode(line) // a client that is gone is noticed by the request's context
		if f, ok := l.w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// Stop ends progress, and reports whether there was any.
func (l *Lines) Stop() bool {
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

// End ends with a line.
func (l *Lines) End(line any) {
	l.Stop()
	_ = l.enc.Encode(line)
}

// Fail ends with the line of an error, and with its status unless something has been sent.
func (l *Lines) Fail(status int, line any) {
	if !l.Stop() {
		l.w.WriteHeader(status)
	}
	l.End(line)
}
