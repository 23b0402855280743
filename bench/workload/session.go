package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"rewind/transcript"
)

// A Session is a conversation as Claude Code 2.1.328 writes it down: turns of a prompt, calls of tools with their
// results and a reply, the text in them like source.
type Session struct {
	id, cwd string
	ids     string // how what names a record begins: no two conversations have one in common
	w       *writer
	r       *rand.Rand
	last    string // uuid of the newest record
	n       int    // records
}

// NewSession begins a session; the same seed gives the same records.
func NewSession(id, cwd string, seed uint64) *Session {
	r := rand.New(rand.NewPCG(seed, 's'))
	return &Session{id: id, cwd: cwd, ids: fmt.Sprintf("%08x", uint32(seed)), r: r, w: newWriter(r, vocabulary(1))}
}

// sessionBegin is when every session begins; its records follow each other by seconds.
var sessionBegin = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// Turn is a whole turn of at least size bytes, and of at least one call. Results are log-normal in size, near 3 KiB.
func (s *Session) Turn(size int) []byte {
	b := s.record("user", map[string]any{"role": "user", "content": s.text(80)},
		`"promptId":"b8152fcd-af32-426f-b06f-33e7f7387984","origin":{"kind":"human"},"promptSource":"typed",`)
	for calls := 0; calls == 0 || len(b) < size; calls++ {
		call := fmt.Sprintf("toolu_%s%08d", s.ids, s.n)
		b = append(b, s.reply(map[string]any{
			"type": "tool_use", "id": call, "name": "Bash",
			"input": map[string]string{"command": s.text(60)},
		}, "tool_use")...)
		text := s.text(min(int(3000*math.Exp(s.r.NormFloat64())), 64<<10))
		b = append(b, s.record("user", map[string]any{
			"role":    "user",
			"content": []any{map[string]string{"tool_use_id": call, "type": "tool_result", "content": text}},
		}, "")...)
	}
	return append(b, s.reply(map[string]any{"type": "text", "text": s.text(300)}, "end_turn")...)
}

// Reply is one record of exactly size bytes, at least 1,000.
func (s *Session) Reply(size int) []byte {
	last, n, text := s.last, s.n, s.text(size)
	for {
		s.last, s.n = last, n
		b := s.reply(map[string]any{"type": "text", "text": text}, "end_turn")
		if over := len(b) - size; over > 0 {
			text = text[:len(text)-over]
			continue
		}
		return append(append(b[:len(b)-1], bytes.Repeat([]byte{' '}, size-len(b))...), '\n')
	}
}

// WriteSession makes a session file of at least size bytes and gives its session, whose records come next, and the
// number of its turns.
func WriteSession(path, id, cwd string, size int64, seed uint64) (s *Session, turns int, err error) {
	s = NewSession(id, cwd, seed)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, 0, fmt.Errorf("workload: session: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("workload: session: %w", err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	for n := int64(0); n < size && err == nil; turns++ {
		var m int
		m, err = out.Write(s.Turn(int(min(size-n, 40<<10))))
		n += int64(m)
	}
	if err == nil {
		err = out.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, 0, fmt.Errorf("workload: session: %w", err)
	}
	return s, turns, nil
}

func (s *Session) reply(content map[string]any, stop string) []byte {
	id := fmt.Sprintf("msg_%s%08d", s.ids, s.n)
	return s.record("assistant", map[string]any{
		"id": id, "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": []any{content}, "stop_reason": stop,
		"stop_sequence": nil,
		"usage":         map[string]int{"input_tokens": 10, "output_tokens": 5},
	}, `"requestId":"req_`+id[4:]+`",`)
}

// record is a line; more are members of it, each with a comma behind.
func (s *Session) record(typ string, message map[string]any, more string) []byte {
	m, _ := json.Marshal(message) // cannot fail: strings and numbers
	parent := "null"
	if s.last != "" {
		parent = `"` + s.last + `"`
	}
	s.n++
	s.last = fmt.Sprintf("%s-0000-4000-8000-%012d", s.ids, s.n)
	at := sessionBegin.Add(time.Duration(s.n) * time.Second).Format("2006-01-02T15:04:05.000Z")
	cwd, _ := json.Marshal(s.cwd)
	return fmt.Appendf(nil,
		`{"parentUuid":%s,"isSidechain":false,%s"type":"%s","message":%s,"uuid":"%s","timestamp":"%s","userType":"external","entrypoint":"cli","cwd":%s,"sessionId":"%s","version":"2.1.328","gitBranch":"main"}`+"\n",
		parent, more, typ, m, s.last, at, cwd, s.id)
}

func (s *Session) text(size int) string {
	return string(s.w.text(languages[s.r.IntN(len(languages))], max(size, 2)))
}

var anID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Repeat makes a session file of at least size bytes by writing the records of a small one over and over, without its
// first head records. Each round has ids of its own, goes on behind the one before, and belongs to the session id.
func Repeat(sample []byte, id string, head, size int) []byte {
	var ids []int // where ids end that differ
	for _, at := range anID.FindAllIndex(sample, -1) {
		if string(sample[at[0]:at[1]]) != id {
			ids = append(ids, at[1])
		}
	}
	first, last := bytes.Index(sample, []byte(`"parentUuid":null`)), bytes.LastIndex(sample, []byte(`"uuid":"`))
	begin := 0 // of a round that is not the first
	for range head {
		begin += bytes.IndexByte(sample[begin:], '\n') + 1
	}
	out := make([]byte, 0, size+2*len(sample))
	round, parent := bytes.Clone(sample), ""
	for n := 0; len(out) < size; n++ {
		for _, end := range ids {
			copy(round[end-8:end], fmt.Sprintf("%08x", n))
		}
		at := 0
		if n > 0 {
			at = begin
		}
		if n > 0 && first >= at && last >= 0 {
			out = fmt.Appendf(append(out, round[at:first]...), `"parentUuid":"%s"`, parent)
			at = first + len(`"parentUuid":null`)
		}
		out = append(out, round[at:]...)
		if last >= 0 {
			parent = string(anID.Find(round[last:]))
		}
	}
	return out
}

// A Sample is a small session file that an agent wrote.
type Sample struct {
	Agent transcript.Agent
	Path  string // from the module's root
	Head  int    // records that begin a file and do not come again
}

// Samples are an ordinary session of each agent: two turns with calls of tools.
func Samples() []Sample {
	return []Sample{
		{transcript.Claude, "transcript/testdata/claude/2.1.328-2turns-resumed.jsonl", 0},
		{transcript.Codex, "transcript/testdata/codex/0.169.0-2turns.jsonl", 1},
		{transcript.Gemini, "transcript/testdata/gemini/0.61.0-2turns-resumed.jsonl", 1},
		{transcript.Droid, "transcript/testdata/droid/0.225.2-2turns.jsonl", 1},
	}
}
