package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"rewind/internal/jsonscan"
)

// errPayload is wrapped by every error of Parse: the payload is not one whole JSON object.
var errPayload = errors.New("bad payload")

// bufferSize is how much of a payload is held at a time, in bytes.
const bufferSize = 8 << 10

// payload is what a hook's JSON says, as far as any agent has a use for it.
type payload struct {
	event, source, reason  text
	session, previous, sub text
	transcript, cwd        text
	prompt, message        text
	model                  text
	tool, call             text
	input                  input
	mcp                    bool // the call goes to an MCP server
	interrupted, erred     bool // what tool_response says
}

// input is what tool_input says.
type input struct {
	file, path, notebook text // file_path, path, notebook_path
	command, description text
	patch                patch
	sum                  []byte // SHA-256 of its bytes, white space between tokens left out; nil until it was read whole
}

// read takes what it can from r; after an error it holds what came before the damage. Of keys that come twice the last
// one counts, whatever its value is, as in the JSON.parse of the agents; a value that did not come whole is no value.
func (p *payload) read(r io.Reader) error {
	const mark = "\uFEFF" // put in front by shells of Windows
	s := jsonscan.New(r, bufferSize, 0)
	s.Prefix(mark)
	err := s.Object(func(key []byte) error { return p.member(s, string(key)) })
	if err == nil && !s.AtEnd() {
		err = s.Fail("more than one value")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errPayload, err)
	}
	return nil
}

func (p *payload) member(s *jsonscan.Scanner, key string) error {
	if id := p.id(key); id != nil {
		return into(s, id, text{limit: maxID, id: true})
	}
	switch key {
	case "hook_event_name":
		return into(s, &p.event, text{limit: maxWord})
	case "transcript_path":
		return into(s, &p.transcript, text{limit: maxPath})
	case "cwd":
		return into(s, &p.cwd, text{limit: maxPath})
	case "source":
		return into(s, &p.source, text{limit: maxWord})
	case "reason":
		return into(s, &p.reason, text{limit: maxWord})
	case "prompt":
		return into(s, &p.prompt, text{limit: maxPrompt})
	case "message_id":
		return into(s, &p.message, text{limit: maxName})
	case "model":
		return into(s, &p.model, text{limit: maxName})
	case "tool_name":
		return into(s, &p.tool, text{limit: maxName})
	case "tool_input":
		return p.readInput(s)
	case "tool_response":
		return p.readResponse(s)
	case "mcp_context":
		p.mcp = s.Next() == '{'
	}
	return s.Skip()
}

// id is where an id goes; nil: the member is none.
func (p *payload) id(key string) *text {
	switch key {
	case "session_id":
		return &p.session
	case "previous_session_id":
		return &p.previous
	case "agent_id":
		return &p.sub
	case "tool_use_id":
		return &p.call
	}
	return nil
}

// into reads a string into field, whose limits are as; another kind of value empties it.
func into(s *jsonscan.Scanner, field *text, as text) error {
	if s.Next() != '"' {
		*field = text{}
		return s.Skip()
	}
	if err := s.Str(&as); err != nil {
		return err
	}
	*field = as
	return nil
}

func (p *payload) readInput(s *jsonscan.Scanner) error {
	p.input = input{}
	s.Sum = sha256.New()
	defer func() { s.Sum = nil }()
	if s.Next() != '{' {
		if err := s.Skip(); err != nil {
			return err
		}
	} else if err := s.Object(func(key []byte) error { return p.input.member(s, string(key)) }); err != nil {
		return err
	}
	p.input.sum = s.Sum.Sum(nil)
	return nil
}

func (in *input) member(s *jsonscan.Scanner, key string) error {
	switch key {
	case "file_path":
		return into(s, &in.file, text{limit: maxPath})
	case "path":
		return into(s, &in.path, text{limit: maxPath})
	case "notebook_path":
		return into(s, &in.notebook, text{limit: maxPath})
	case "description":
		return into(s, &in.description, text{limit: maxTarget})
	case "command", "input": // either may be a patch
		return in.readCommand(s)
	}
	return s.Skip()
}

func (in *input) readCommand(s *jsonscan.Scanner) error {
	in.command, in.patch = text{}, patch{}
	if s.Next() != '"' {
		return s.Skip()
	}
	head, patch := text{limit: maxTarget}, newPatch()
	if err := s.Str(both{&head, &patch}); err != nil {
		return err
	}
	patch.end()
	in.command, in.patch = head, patch
	return nil
}

func (p *payload) readResponse(s *jsonscan.Scanner) error {
	p.interrupted, p.erred = false, false
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		switch string(key) {
		case "interrupted":
			p.interrupted = s.Next() == 't'
		case "error":
			p.erred = s.Next() != 'n'
		}
		return s.Skip()
	})
}

// callID is the agent's id of the call. An agent without one gets h- and 16 hex digits of the SHA-256 of the tool's
// name, NUL and the input's hash: the same before and after the call, and of two calls that say the same. There is none
// for an input that did not come whole.
func (p *payload) callID() string {
	if len(p.call.b) > 0 {
		return p.call.safeID()
	}
	if p.input.sum == nil {
		return ""
	}
	sum := sha256.Sum256(append(append(p.tool.b[:len(p.tool.b):len(p.tool.b)], 0), p.input.sum...))
	return "h-" + hex.EncodeToString(sum[:8])
}
