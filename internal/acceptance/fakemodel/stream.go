package fakemodel

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
)

// stream writes server-sent events. The first error ends it: the client has gone.
type stream struct {
	w   http.ResponseWriter
	err error
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w}
}

// send writes an event; without a name it has only data.
func (s *stream) send(name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		s.err = err
	}
	s.raw(name, string(b))
}

func (s *stream) raw(name, data string) {
	if s.err != nil {
		return
	}
	out := "data: " + data + "\n\n"
	if name != "" {
		out = "event: " + name + "\n" + out
	}
	if _, s.err = s.w.Write([]byte(out)); s.err != nil {
		return
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

// newID makes an id as the model's services have them: a prefix and 24 hex digits.
func newID(prefix string) string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}

// Tokens that a reply is said to have cost, when the script says nothing else.
const (
	inputTokens  = 10
	outputTokens = 5
)

func (s Step) tokens() int {
	if s.InputTokens > 0 {
		return s.InputTokens
	}
	return inputTokens
}
