package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// payload is what a hook's JSON says, as far as any agent has a use for it.
type payload struct {
	event, source, reason  text
	session, previous, sub text
	transcript, cwd        text
	prompt, model          text
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
	s := &scanner{src: r}
	if s.need(len(mark)) && string(s.buf[:len(mark)]) == mark {
		s.r = len(mark)
	}
	if err := s.object(func(key []byte) error { return p.member(s, string(key)) }); err != nil {
		return err
	}
	if s.next(); s.r < s.w || s.err != io.EOF {
		return s.fail("more than one value")
	}
	return nil
}

func (p *payload) member(s *scanner, key string) error {
	switch key {
	case "hook_event_name":
		return s.into(&p.event, text{limit: maxWord})
	case "session_id":
		return s.into(&p.session, text{limit: maxID, id: true})
	case "previous_session_id":
		return s.into(&p.previous, text{limit: maxID, id: true})
	case "agent_id":
		return s.into(&p.sub, text{limit: maxID, id: true})
	case "tool_use_id":
		return s.into(&p.call, text{limit: maxID, id: true})
	case "transcript_path":
		return s.into(&p.transcript, text{limit: maxPath})
	case "cwd":
		return s.into(&p.cwd, text{limit: maxPath})
	case "source":
		return s.into(&p.source, text{limit: maxWord})
	case "reason":
		return s.into(&p.reason, text{limit: maxWord})
	case "prompt":
		return s.into(&p.prompt, text{limit: maxPrompt})
	case "model":
		return s.into(&p.model, text{limit: maxName})
	case "tool_name":
		return s.into(&p.tool, text{limit: maxName})
	case "tool_input":
		return p.readInput(s)
	case "tool_response":
		return p.readResponse(s)
	case "mcp_context":
		p.mcp = s.next() == '{'
	}
	return s.skip()
}

// into reads a string into field, whose limits are as; another kind of value empties it.
func (s *scanner) into(field *text, as text) error {
	if s.next() != '"' {
		*field = text{}
		return s.skip()
	}
	if err := s.str(&as); err != nil {
		return err
	}
	*field = as
	return nil
}

func (p *payload) readInput(s *scanner) error {
	p.input = input{}
	s.sum = sha256.New()
	defer func() { s.sum = nil }()
	if s.next() != '{' {
		if err := s.skip(); err != nil {
			return err
		}
	} else if err := s.object(func(key []byte) error { return p.input.member(s, string(key)) }); err != nil {
		return err
	}
	p.input.sum = s.sum.Sum(nil)
	return nil
}

func (in *input) member(s *scanner, key string) error {
	switch key {
	case "file_path":
		return s.into(&in.file, text{limit: maxPath})
	case "path":
		return s.into(&in.path, text{limit: maxPath})
	case "notebook_path":
		return s.into(&in.notebook, text{limit: maxPath})
	case "description":
		return s.into(&in.description, text{limit: maxTarget})
	case "command", "input": // either may be a patch
		return in.readCommand(s)
	}
	return s.skip()
}

func (in *input) readCommand(s *scanner) error {
	in.command, in.patch = text{}, patch{}
	if s.next() != '"' {
		return s.skip()
	}
	head, patch := text{limit: maxTarget}, newPatch()
	if err := s.str(both{&head, &patch}); err != nil {
		return err
	}
	patch.end()
	in.command, in.patch = head, patch
	return nil
}

func (p *payload) readResponse(s *scanner) error {
	p.interrupted, p.erred = false, false
	if s.next() != '{' {
		return s.skip()
	}
	return s.object(func(key []byte) error {
		switch string(key) {
		case "interrupted":
			p.interrupted = s.next() == 't'
		case "error":
			p.erred = s.next() != 'n'
		}
		return s.skip()
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
