// Package passage reads what is said in agents' session files as text: unescaped, with the part of the conversation
// that it is of, and with
// where in the file it stands. It is pure over bytes, in bounded memory.
package passage

import (
	"bytes"
	"io"
	"slices"

	"rewind/internal/jsonscan"
	"rewind/transcript"
)

// Part says which part of a conversation a text is.
type Part string

// The parts. Other is what no part is known of: bookkeeping, what the client adds, a line that is no JSON.
const (
	Prompt   Part = "prompt"
	Input    Part = "tool input"
	Output   Part = "tool output"
	Reply    Part = "reply"
	Thinking Part = "thinking"
	Other    Part = "other"
)

const (
	// maxPassage is how many bytes of text one passage has at most, a little more where a string ends.
	maxPassage = 1 << 20
	// passageOverlap is how much of a string that is longer than a passage is in the next one, too.
	passageOverlap = 8 << 10
	// maxPacked is the length in bytes from which a run of base64 is an image or a file, and no text: it is passed
	// over.
	maxPacked = 4 << 10
	// maxKeyed is the length in bytes up to which a string of one line has its key put before it.
	maxKeyed = 512
	// maxDeep is how deep objects and arrays are read. What is deeper is passed over.
	maxDeep = 64
	// maxInner is how many strings of JSON in each other are read as JSON.
	maxInner = 3
	// buffer is how many bytes of a record are held at a time, and maxType how long a type is.
	buffer  = 256 << 10
	maxType = 64
	// placeEvery is how many bytes of a passage lie between two whose places are known, about.
	placeEvery = 1 << 10
)

// A Passage is text of one part of one record, as it was before it was written as JSON: the record's strings, each on
// lines of its own, a short
// one behind its key, as in `"password": "..."`. Strings that are JSON are read as JSON.
type Passage struct {
	Part   Part
	Text   []byte
	places []textPlace
}

// textPlace is where in the source a byte of a passage was read, about: never behind it for a line's first, never
// before it for the last.
type textPlace struct {
	pos int
	at  int64
}

// Range is the bytes of the source that line n of the passage, from 1, was read from; or a few more.
func (p *Passage) Range(n int) (from, to int64) {
	start, end := 0, len(p.Text)
	for ; n > 1; n-- {
		i := bytes.IndexByte(p.Text[start:], '\n')
		if i < 0 {
			break
		}
		start += i + 1
	}
	if i := bytes.IndexByte(p.Text[start:], '\n'); i >= 0 {
		end = start + i
	}
	first := p.places[0]
	for _, at := range p.places {
		if at.pos <= start {
			first = at
		}
		if at.pos >= end {
			return first.at, at.at
		}
	}
	return first.at, p.places[len(p.places)-1].at
}

// Reader reads what is said in a session file.
type Reader struct {
	Wants   func(*transcript.Record) bool            // records that are looked at; nil: all
	Passage func(*transcript.Record, *Passage) error // a passage of a record; valid until it returns
	Done    func(*transcript.Record) error           // all passages of a record were given; nil: nobody asks
	parts   []*Passage                               // of the record that is read, as far as it is
	text    packedText                               // the string that is read
	inner   int                                      // strings of JSON around it
	outer   textRange                                // of the outermost of these, in the source
	give    func(*Passage) error                     // to whom a passage goes
}

type textRange struct{ from, to int64 }

// Read gives the passages of src from the byte at from on, which must be a record's first, as Read gives records.
func (ps *Reader) Read(agent transcript.Agent, src transcript.Source, from int64) error {
	return transcript.Read(agent, src, from, func(r *transcript.Record) error {
		if ps.Wants == nil || ps.Wants(r) {
			if err := ps.record(src, r); err != nil {
				return err
			}
		}
		if ps.Done == nil {
			return nil
		}
		return ps.Done(r)
	})
}

// record gives the passages of a record.
func (ps *Reader) record(src transcript.Source, r *transcript.Record) error {
	ps.parts, ps.inner = ps.parts[:0], 0
	ps.give = func(p *Passage) error { return ps.Passage(r, p) }
	read := io.NewSectionReader(src, r.Offset, r.Size)
	var stop error
	if r.Kind == transcript.Broken {
		stop = ps.raw(read, r.Offset)
	} else {
		s := jsonscan.New(read, int(min(r.Size+1, buffer)), r.Offset)
		w := passageWalk{ps: ps, s: s}
		if err := w.value("", partOf(r), 0); w.stop == nil && err != nil {
			stop = ps.raw(io.NewSectionReader(src, r.Offset, r.Size), r.Offset)
		} else {
			stop = w.stop
		}
	}
	for _, p := range ps.parts {
		if stop == nil && len(p.Text) > 0 {
			stop = ps.give(p)
		}
	}
	return stop
}

// raw gives what is no JSON as it is.
func (ps *Reader) raw(r io.Reader, at int64) error {
	p := &Passage{Part: Other}
	for {
		kept := len(p.Text)
		buf := make([]byte, maxPassage)
		n, err := io.ReadFull(r, buf)
		if n == 0 {
			return nil
		}
		p.Text = append(p.Text, buf[:n]...)
		p.places = []textPlace{{0, at - int64(kept)}, {len(p.Text), at + int64(n)}}
		at += int64(n)
		if gerr := ps.give(p); gerr != nil || err != nil {
			return gerr
		}
		p.Text = append(p.Text[:0], p.Text[max(0, len(p.Text)-passageOverlap):]...)
	}
}

// partOf is the part of what a record says where nothing in it says another.
func partOf(r *transcript.Record) Part {
	switch r.Kind {
	case transcript.Prompt:
		return Prompt
	case transcript.Reply:
		return Reply
	case transcript.Result:
		return Output
	case transcript.Other, transcript.Context, transcript.Compact, transcript.Rewound, transcript.Broken:
	}
	return Other
}

// keyParts are keys whose values are of a part, whatever is around them; wordParts are types and roles of an object
// that say so of the values
// behind them.
var (
	keyParts = map[string]Part{
		"input": Input, "arguments": Input, "args": Input, "tool_input": Input, "parameters": Input,
		"command": Input, "parsed_cmd": Input, "changes": Input,
		"toolUseResult": Output, "tool_response": Output, "functionResponse": Output, "output": Output,
		"resultDisplay": Output, "stdout": Output, "stderr": Output, "aggregated_output": Output,
		"formatted_output": Output, "result": Output,
		"thinking": Thinking, "thoughts": Thinking, "reasoning": Thinking, "reasoning_content": Thinking,
		"last_agent_message": Reply, "lastPrompt": Prompt,
	}
	wordParts = map[string]Part{
		"user": Prompt, "UserMessage": Prompt, "user_message": Prompt, "last-prompt": Prompt, "queue-operation": Prompt,
		"assistant": Reply, "AgentMessage": Reply, "agent_message": Reply, "gemini": Reply, "model": Reply,
		"thinking": Thinking, "reasoning": Thinking, "Reasoning": Thinking, "agent_reasoning": Thinking,
		"tool_result": Output, "function_call_output": Output, "custom_tool_call_output": Output,
		"tool_use": Input, "function_call": Input, "custom_tool_call": Input, "local_shell_call": Input,
	}
	// passed are keys whose values no person and no program has said: ids, and what is encrypted or signed.
	passed = map[string]bool{
		"signature": true, "encrypted_content": true, "uuid": true, "parentUuid": true, "sessionId": true, "requestId": true,
		"timestamp": true, "tool_use_id": true, "call_id": true, "toolUseID": true, "sourceToolAssistantUUID": true,
		"thoughtSignature": true,
		"projectHash":      true, "promptId": true,
	}
)

// passageWalk walks over one JSON value.
type passageWalk struct {
	ps   *Reader
	s    *jsonscan.Scanner
	stop error // of who was given a passage
}

// value reads any value that stands behind a key, in a part.
func (w *passageWalk) value(key string, part Part, depth int) error {
	switch c := w.s.Next(); {
	case c == '"':
		return w.str(key, part)
	case c == '{' && depth < maxDeep:
		return w.s.Object(func(name []byte) error {
			key := string(name)
			if passed[key] {
				return w.s.Skip()
			}
			if to, ok := keyParts[key]; ok {
				return w.value(key, to, depth+1)
			}
			w.ps.text.last = ""
			err := w.value(key, part, depth+1)
			if to, ok := wordParts[w.ps.text.last]; ok {
				part = to
			}
			w.ps.text.last = ""
			return err
		})
	case c == '[' && depth < maxDeep:
		return w.s.Array(func(int) error { return w.value(key, part, depth+1) })
	}
	return w.s.Skip()
}

// str reads a string.
func (w *passageWalk) str(key string, part Part) error {
	ps, t := w.ps, &w.ps.text
	start := w.s.Offset()
	t.begin(w.s, func() error { return ps.give(&Passage{part, t.b, t.places}) })
	err := w.s.Str(t)
	if t.err != nil {
		w.stop = t.err
		return t.err
	}
	if err != nil {
		return err
	}
	t.places = append(t.places, textPlace{len(t.b), w.s.Offset()})
	if key == "type" || key == "role" {
		t.last = string(t.b[:min(len(t.b), maxType)])
		return nil
	}
	if len(t.b) < minSaid {
		return nil
	}
	if ps.inner > 0 {
		t.places = append(t.places[:0], textPlace{0, ps.outer.from}, textPlace{len(t.b), ps.outer.to})
	}
	if w.innerJSON(part, textRange{start, w.s.Offset()}) {
		return nil
	}
	p := w.part(part)
	if len(p.Text)+len(t.b) > maxPassage && len(p.Text) > 0 {
		if w.stop = ps.give(p); w.stop != nil {
			return w.stop
		}
		p.Text, p.places = p.Text[:0], p.places[:0]
	}
	p.add(key, t)
	return nil
}

// minSaid is the length in bytes of the shortest string that is looked at.
const minSaid = 4

// innerJSON reads the string as JSON, and reports whether it is an object or a list.
func (w *passageWalk) innerJSON(part Part, at textRange) bool {
	ps := w.ps
	text := bytes.TrimSpace(ps.text.b)
	if ps.inner >= maxInner || ps.text.given || len(text) < 2 {
		return false
	}
	if ends := string(text[:1]) + string(text[len(text)-1:]); ends != "{}" && ends != "[]" {
		return false
	}
	if ps.inner == 0 {
		ps.outer = at
	}
	text = bytes.Clone(text)
	if s := jsonscan.New(bytes.NewReader(text), min(len(text)+1, buffer), 0); s.Skip() != nil || !s.AtEnd() {
		return false
	}
	kept := ps.text
	ps.text = packedText{}
	ps.inner++
	in := passageWalk{ps: ps, s: jsonscan.New(bytes.NewReader(text), min(len(text)+1, buffer), 0)}
	err := in.value("", part, 0)
	ps.inner--
	kept.last = ""
	ps.text = kept
	w.stop = in.stop
	return err == nil || in.stop != nil
}

// part is the passage of a part that is being filled.
func (w *passageWalk) part(part Part) *Passage {
	ps := w.ps
	if i := slices.IndexFunc(ps.parts, func(p *Passage) bool { return p.Part == part }); i >= 0 {
		return ps.parts[i]
	}
	if n := len(ps.parts); n < cap(ps.parts) && ps.parts[:n+1][n] != nil { // one of a record before
		ps.parts = ps.parts[:n+1]
		p := ps.parts[n]
		p.Part, p.Text, p.places = part, p.Text[:0], p.places[:0]
		return p
	}
	p := &Passage{Part: part}
	ps.parts = append(ps.parts, p)
	return p
}

// add appends a string, behind its key if it is short.
func (p *Passage) add(key string, t *packedText) {
	keyed := key != "" && len(t.b) <= maxKeyed && bytes.IndexByte(t.b, '\n') < 0
	if keyed {
		p.places = append(p.places, textPlace{len(p.Text), t.places[0].at})
		p.Text = append(append(append(p.Text, '"'), key...), `": "`...)
	}
	for _, at := range t.places {
		p.places = append(p.places, textPlace{len(p.Text) + at.pos, at.at})
	}
	p.Text = append(p.Text, t.b...)
	if keyed {
		p.Text = append(p.Text, '"')
	}
	p.Text = append(p.Text, '\n')
}

// packedText takes a string in pieces, and leaves long runs of base64 out: nobody reads an image.
type packedText struct {
	s      *jsonscan.Scanner
	b      []byte
	places []textPlace
	last   string // the type or role that was read last
	run    int    // bytes at the end that could be base64
	packed bool   // they are, and are left out
	given  bool   // a part of it was given as a passage
	full   func() error
	err    error
}

func (t *packedText) begin(s *jsonscan.Scanner, full func() error) {
	t.s, t.b, t.run, t.packed, t.given, t.full, t.err = s, t.b[:0], 0, false, false, full, nil
	t.places = append(t.places[:0], textPlace{0, s.Offset()})
}

// Full implements what jsonscan asks: nothing more of the string is wanted.
func (t *packedText) Full() bool { return t.err != nil }

// Add implements jsonscan.Sink.
func (t *packedText) Add(p []byte) {
	at := t.s.Offset() - int64(len(p))
	for len(p) > 0 && t.err == nil {
		n := min(len(p), placeEvery)
		t.piece(p[:n], at)
		p, at = p[n:], at+int64(n)
	}
}

func (t *packedText) piece(p []byte, at int64) {
	if t.packed {
		n := 0
		for n < len(p) && base64Byte[p[n]] {
			n++
		}
		if p, at = p[n:], at+int64(n); len(p) == 0 {
			return
		}
		t.packed, t.run = false, 0
		t.b = append(t.b, '\n')
		t.places = append(t.places, textPlace{len(t.b), at})
	}
	if last := t.places[len(t.places)-1]; len(t.b)-last.pos >= placeEvery {
		t.places = append(t.places, textPlace{len(t.b), max(at-1, last.at)})
	}
	t.count(p)
	t.b = append(t.b, p...)
	if added := t.b[len(t.b)-len(p):]; bytes.IndexByte(added, 0) >= 0 { // a text with a NUL would be taken for none
		copy(added, bytes.ReplaceAll(added, []byte{0}, []byte{' '}))
	}
	if t.run >= maxPacked {
		t.leaveOut()
		return
	}
	if len(t.b) >= maxPassage {
		t.hand(at + int64(len(p)))
	}
}

// leaveOut takes the run of base64 at the end away, and what comes of it.
func (t *packedText) leaveOut() {
	t.b, t.packed = t.b[:len(t.b)-t.run], true
	for len(t.places) > 1 && t.places[len(t.places)-1].pos > len(t.b) {
		t.places = t.places[:len(t.places)-1]
	}
}

// hand gives what there is of a long string, up to the byte at of the source, as a passage, and keeps its end.
func (t *packedText) hand(at int64) {
	t.places = append(t.places, textPlace{len(t.b), at})
	if t.err = t.full(); t.err != nil {
		return
	}
	from := t.places[max(0, len(t.places)-1-passageOverlap/placeEvery)]
	t.given = true
	t.b = append(t.b[:0], t.b[from.pos:]...)
	t.run = min(t.run, len(t.b))
	t.places = append(t.places[:0], textPlace{0, from.at})
}

// count counts how many bytes at the end could be base64.
func (t *packedText) count(p []byte) {
	for i := len(p) - 1; i >= 0; i-- {
		if !base64Byte[p[i]] {
			t.run = len(p) - 1 - i
			return
		}
	}
	t.run += len(p)
}

var base64Byte = func() (t [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_" {
		t[c] = true
	}
	return t
}()
