package transcript

import "rewind/internal/jsonscan"

// message reads a member of a message.
func (p *geminiParser) message(s *jsonscan.Scanner, l *line, m *geminiMessage, key []byte) error {
	switch string(key) {
	case "id":
		return l.id(s, &m.id, 0)
	case "timestamp":
		return l.time(s, &l.Time)
	case "type":
		return l.str(s, &m.kind, maxWord)
	case "content":
		return p.content(s, l, m, false)
	case "displayContent":
		return p.content(s, l, m, true)
	case "toolCalls":
		return p.toolCalls(s, l, m)
	}
	return s.Skip()
}

// content reads a text, a part or a list of parts. What was typed, where the client says so, is preferred to what it
// has made of that.
func (p *geminiParser) content(s *jsonscan.Scanner, l *line, m *geminiMessage, shown bool) error {
	quiet := m.shown && !shown
	if !quiet {
		l.says.Reset()
		m.text = ""
	}
	var err error
	switch s.Next() {
	case '"':
		err = p.say(s, l, quiet)
	case '{':
		err = p.part(s, l, m, quiet)
	case '[':
		err = s.Array(func(int) error {
			switch s.Next() {
			case '"':
				return p.say(s, l, quiet)
			case '{':
				return p.part(s, l, m, quiet)
			}
			return s.Skip()
		})
	default:
		return s.Skip()
	}
	if !quiet {
		m.text = l.says.String()
		m.shown = shown && m.text != ""
	}
	return err
}

func (p *geminiParser) say(s *jsonscan.Scanner, l *line, quiet bool) error {
	if quiet {
		return s.Skip()
	}
	return l.say(s)
}

// part reads a part of a content: a text, a thought, a call or a result.
func (p *geminiParser) part(s *jsonscan.Scanner, l *line, m *geminiMessage, quiet bool) error {
	before, cut, thought := len(l.says.B), l.says.Cut, false
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "text":
			return p.say(s, l, quiet)
		case "thought":
			return l.flag(s, &thought)
		case "functionCall":
			return p.call(s, l, m)
		case "functionResponse":
			id := ""
			if err := members(s, "id", func() error { return l.id(s, &id, 0) }); err != nil {
				return err
			}
			if id == "" {
				id = "?" // an answer to nothing that is known, but no prompt
			}
			if len(m.responses) < maxCalls {
				m.responses = append(m.responses, id)
			}
			return nil
		}
		return s.Skip()
	})
	if thought {
		l.says.B, l.says.Cut = l.says.B[:before], cut
	}
	return err
}

// call reads {"id","name","args","result","status"} of a functionCall or a toolCall. A call has its answer with it once
// it is done.
func (p *geminiParser) call(s *jsonscan.Scanner, l *line, m *geminiMessage) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	var c geminiCall
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "id":
			return l.id(s, &c.ID, 0)
		case "name":
			return l.str(s, &c.Name, maxName)
		case "args":
			target, err := l.arguments(s)
			c.Target = target
			return err
		case "result":
			c.done = s.Next() != 'n'
		}
		return s.Skip()
	})
	if err != nil || c.ID == "" {
		return err
	}
	for i := range m.calls {
		if m.calls[i].ID == c.ID {
			c.done = c.done || m.calls[i].done
			m.calls[i] = c
			return nil
		}
	}
	if len(m.calls) < maxCalls {
		m.calls = append(m.calls, c)
	}
	return nil
}

func (p *geminiParser) toolCalls(s *jsonscan.Scanner, l *line, m *geminiMessage) error {
	if s.Next() != '[' {
		return s.Skip()
	}
	return s.Array(func(int) error { return p.call(s, l, m) })
}

// members reads an object of which only the member called name is wanted; another kind of value is skipped.
func members(s *jsonscan.Scanner, name string, value func() error) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		if string(key) == name {
			return value()
		}
		return s.Skip()
	})
}

// set reads {"$set":…}.
func (p *geminiParser) set(s *jsonscan.Scanner, l *line) error {
	l.Type = "$set"
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		switch string(key) {
		case "messages":
			return p.replace(s, l)
		case "sessionId":
			l.Lead = true
			return p.meta(s, l, "sessionId")
		case "summary", "projectHash":
			return p.meta(s, l, string(key))
		case "lastUpdated":
			return l.time(s, &l.Time)
		}
		return s.Skip()
	})
}

// replace reads the messages that are all there are from now on. Turns whose prompts are among them are what they were.
// Where a summary takes the place of what came before, nobody has gone back: no turn is gone. Nor is one yet where
// there is no prompt: everything may come again.
func (p *geminiParser) replace(s *jsonscan.Scanner, l *line) error {
	if s.Next() != '[' {
		return s.Skip()
	}
	l.Type, l.Lead, l.Reset, l.Again = "$set.messages", true, true, l.Again[:0]
	set := geminiReplaced{open: map[string]bool{}}
	var calls []Call
	summary := false
	err := s.Array(func(i int) error {
		if s.Next() != '{' {
			return s.Skip()
		}
		in := p.inner
		in.begin(0, 0)
		var m geminiMessage
		if err := s.Object(func(key []byte) error { return p.message(s, in, &m, key) }); err != nil {
			return err
		}
		switch {
		case m.id == "":
		case m.kind == "gemini":
			for _, c := range m.calls {
				if !c.done && len(calls) < maxOpen {
					set.open[c.ID] = true
					calls = append(calls, c.Call)
				} else {
					delete(set.open, c.ID)
				}
			}
		case m.kind != "user":
		case len(m.responses) > 0:
			for _, id := range m.responses {
				delete(set.open, id)
			}
		case geminiInjected(m.text):
			summary = summary || geminiSummary(m.text)
		case len(l.Again) < maxAgain:
			set.prompts = append(set.prompts, m.id)
			l.Again = append(l.Again, prompted{ID: m.id, Text: oneLine(m.text, maxSummary), Time: in.Time})
		}
		if key := p.hash(m.id); len(set.known) < maxMessages && !(len(set.known) > 0 && set.known[len(set.known)-1].key == key) {
			set.known = append(set.known, geminiKnown{key: key, prompts: len(set.prompts)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range calls {
		if set.open[c.ID] {
			l.call(c)
		}
	}
	switch {
	case summary:
		l.Kind, l.Reset, l.Again, l.Calls = Compact, false, l.Again[:0], l.Calls[:0]
	case len(l.Again) == 0: // the rest is about to come
		l.Reset, l.Calls = false, l.Calls[:0]
	}
	set.empty = l.Kind != Compact && !l.Reset
	p.replaced = &set
	return nil
}
