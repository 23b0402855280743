package fakemodel

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody is what is read of a request: real ones stay below 1 MiB.
const maxBody = 64 << 20

// Request is what an agent has asked.
type Request struct {
	Method, Path string
	Turn         string // the match of the script's turn that answers; "" for requests of the agent's own
	Step         int
	Talk         []Message // nil when it is none of the four protocols
	Tools        []string  // the names that were offered
	Body         []byte
}

// Server answers with a script. It is an http.Handler and may be used at once by many clients.
type Server struct {
	script Script
	dir    string

	mu       sync.Mutex
	requests []Request
}

// New makes a server for a project: relative paths in the script are below dir.
func New(script Script, dir string) *Server { return &Server{script: script, dir: dir} }

// Requests is what was asked so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// exchange is one request, read, and how it is answered.
type exchange struct {
	talk   []Message
	tools  offer
	schema []json.RawMessage // of the answer that it demands
	reply  func(http.ResponseWriter, Step, []call)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client has gone
	}
	path := r.URL.Path
	x, ok := exchange{}, false
	if r.Method == http.MethodPost {
		x, ok, err = read(path, body)
	}
	req := Request{Method: r.Method, Path: path, Talk: x.talk, Tools: x.tools.names, Body: body}
	h, scripted := s.script.pick(x.talk, len(x.tools.names) > 0)
	if scripted {
		req.Turn, req.Step = h.turn.Match, h.index
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	switch {
	case err != nil:
		answer(w, http.StatusBadRequest, object{"error": object{"message": "fakemodel: " + err.Error()}})
	case ok:
		s.play(w, r, x, h.step, scripted)
	case strings.HasSuffix(path, "/count_tokens"):
		answer(w, http.StatusOK, object{"input_tokens": inputTokens})
	case strings.HasSuffix(path, ":countTokens"):
		answer(w, http.StatusOK, object{"totalTokens": inputTokens})
	case strings.HasSuffix(path, "/models"):
		model := object{"id": "fake-model", "object": "model", "created": 0, "owned_by": "fake"}
		answer(w, http.StatusOK, object{"object": "list", "data": []object{model}, "models": []any{}})
	default:
		answer(w, http.StatusNotFound, object{"error": object{"message": "fakemodel: no such route: " + path}})
	}
}

func (s *Server) play(w http.ResponseWriter, r *http.Request, x exchange, step Step, scripted bool) {
	if !scripted {
		aux := s.script.AuxText
		if aux == "" {
			aux = "Fake title"
		}
		aux = fitting(aux, x.schema...)
		step = Step{Text: &aux}
	}
	if step.DelayMS > 0 {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Duration(step.DelayMS) * time.Millisecond):
		}
	}
	if step.Status != 0 {
		answer(w, step.Status, object{"type": "error", "error": object{"type": "api_error", "message": "scripted error"}})
		return
	}
	var calls []call
	for _, t := range step.Tools {
		calls = append(calls, t.concrete(x.tools, s.dir))
	}
	x.reply(w, step, calls)
}

// read tells the protocol by the path and reads the request; ok is false for another path.
func read(path string, body []byte) (x exchange, ok bool, err error) {
	switch {
	case strings.HasSuffix(path, "/v1/messages"):
		var r anthropicRequest
		err = json.Unmarshal(body, &r)
		x.talk = r.conversation()
		x.tools.add(r.Tools)
		x.reply = func(w http.ResponseWriter, s Step, c []call) { anthropic(w, r, s, c) }
	case strings.HasSuffix(path, "/responses"):
		var r responsesRequest
		err = json.Unmarshal(body, &r)
		x.talk, x.schema = r.conversation(), []json.RawMessage{r.Text.Format.Schema}
		x.tools.add(r.Tools)
		for _, it := range r.Input {
			x.tools.add(it.Tools) // additional_tools
		}
		x.reply = func(w http.ResponseWriter, s Step, c []call) { responses(w, r, s, c) }
	case strings.HasSuffix(path, "/chat/completions"):
		var r chatRequest
		err = json.Unmarshal(body, &r)
		x.talk, x.schema = r.conversation(), []json.RawMessage{r.Format.Schema.Schema}
		for _, t := range r.Tools {
			x.tools.add([]toolDecl{t.Function})
		}
		x.reply = func(w http.ResponseWriter, s Step, c []call) { chat(w, r, s, c) }
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		var r geminiRequest
		err = json.Unmarshal(body, &r)
		x.talk, x.schema = r.conversation(), []json.RawMessage{r.Config.JSONSchema, r.Config.Schema}
		for _, t := range r.Tools {
			x.tools.add(t.Functions)
		}
		streamed := strings.Contains(path, ":stream")
		x.reply = func(w http.ResponseWriter, s Step, c []call) { gemini(w, streamed, s, c) }
	default:
		return x, false, nil
	}
	return x, true, err
}
