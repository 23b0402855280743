package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxRefusedTail is how much of the end of a session file is read for what a person did not allow.
const maxRefusedTail = 64 << 10

// Refusal is what the end of a conversation says of calls that a person did not allow, so that they never ran.
type Refusal struct {
	Calls []string // the agent's ids of them
	Over  bool     // the person has stopped the turn with that, and nothing came since
}

// Claude Code's words, 2.1.328: the answer that a tool's call gets, and the record behind it. A call that Esc has cut
// short in the middle gets the same answer; its record says toolDenialKind, and not toolDenialBeforeRun as that of a
// refused one does (seen). Of versions that write neither the words are believed.
const (
	claudeRejected    = "tool use was rejected"
	claudeInterrupted = "[Request interrupted by user"
)

// Refused reads the end of a conversation for calls that were not allowed. Of agents that do not write that into their
// files it says nothing.
func Refused(agent Agent, src Source) (r Refusal, err error) {
	if agent != Claude {
		return r, nil
	}
	from := max(src.Size-maxRefusedTail, 0)
	tail := make([]byte, src.Size-from)
	if _, err := src.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return r, err
	}
	if !bytes.Contains(tail, []byte(claudeRejected)) && !bytes.Contains(tail, []byte(claudeInterrupted)) {
		return r, nil
	}
	for line := range bytes.Lines(tail) {
		if bytes.HasSuffix(line, []byte("\n")) && bytes.HasPrefix(line, []byte("{")) {
			r.take(claudeSaid(line))
		}
	}
	return r, nil
}

// take takes in a record.
func (r *Refusal) take(said claudeRecord) {
	if said.Type != "user" && said.Type != "assistant" {
		return
	}
	ran := said.Denial != "" && !said.BeforeRun
	r.Over = false
	for _, b := range said.blocks {
		rejected := b.IsError && bytes.Contains(b.Content, []byte(claudeRejected))
		switch {
		case b.Type == "tool_result" && rejected && !ran:
			r.Calls = append(r.Calls, b.Call)
		case b.Type == "text" && strings.HasPrefix(b.Text, claudeInterrupted):
			r.Over = true
		}
	}
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Call    string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
	Content json.RawMessage `json:"content"`
}

// claudeRecord is what is read of a record.
type claudeRecord struct {
	Type      string `json:"type"`
	Side      bool   `json:"isSidechain"`
	Denial    string `json:"toolDenialKind"`
	BeforeRun bool   `json:"toolDenialBeforeRun"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`

	blocks []claudeBlock // none where the content is a text
}

// claudeSaid reads a record; the zero one where it is none, or a subagent's.
func claudeSaid(line []byte) (l claudeRecord) {
	if json.Unmarshal(line, &l) != nil || l.Side {
		return claudeRecord{}
	}
	if json.Unmarshal(l.Message.Content, &l.blocks) != nil {
		l.blocks = nil
	}
	return l
}
