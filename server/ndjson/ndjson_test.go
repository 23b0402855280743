package ndjson

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client that reads nothing holds up only itself: progress is told from within work that others wait for.
func TestSlowClientDelaysNobody(t *testing.T) {
	block := make(chan struct{})
	w := &stuckWriter{entered: make(chan struct{}, 1), block: block}
	out := New(w)
	for range 100 {
		out.mu.Lock()
		out.last = time.Time{}
		out.mu.Unlock()
		out.Progress("a line", false)
	}
	<-w.entered // the writer waits, and progress did not
	close(block)
	out.End("the end")
	if !strings.HasSuffix(w.text.String(), "\"the end\"\n") || strings.Count(w.text.String(), "\n") > 4 {
		t.Errorf("%q", w.text.String())
	}
}

type stuckWriter struct {
	entered chan struct{}
	block   chan struct{}
	text    bytes.Buffer
}

func (*stuckWriter) Header() http.Header { return http.Header{} }
func (*stuckWriter) WriteHeader(int)     {}
func (w *stuckWriter) Write(p []byte) (int, error) {
	select {
	case w.entered <- struct{}{}:
	default:
	}
	<-w.block
	return w.text.Write(p)
}
