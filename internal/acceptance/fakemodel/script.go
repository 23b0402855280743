package fakemodel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Script is what the model says. It is not changed after Parse.
type Script struct {
	AuxText string `json:"auxText"` // the reply to requests of the agent's own: titles, summaries
	Turns   []Turn `json:"turns"`
}

// Turn is how one prompt is answered: a step a request.
type Turn struct {
	// Match is a regular expression over the text of a user message. Where it has groups, ${1} and so on stand for them
	// in the texts of steps, and the turn is named by the first word of what it has matched.
	Match     string `json:"match"`
	NeedTools *bool  `json:"needsTools"` // false: answers requests without tools too
	Steps     []Step `json:"steps"`

	pattern *regexp.Regexp
}

// Step is one reply.
type Step struct {
	Thinking    string  `json:"thinking"` // Anthropic and Gemini only
	Text        *string `json:"text"`
	Tools       []Tool  `json:"tools"`
	DelayMS     int     `json:"delay_ms"`
	Status      int     `json:"status"` // an HTTP error instead of a reply
	InputTokens int     `json:"input_tokens"`
}

// Tool is a call in words that no agent uses; concrete says it in those of the tools that a request offers.
type Tool struct {
	Do          string   `json:"do"`   // write, edit, read, bash, recall, agent
	Path        string   `json:"path"` // relative to the project
	Content     string   `json:"content"`
	Old         string   `json:"old"`
	New         string   `json:"new"`
	Command     string   `json:"command"`
	Prompt      string   `json:"prompt"`
	Description string   `json:"description"`
	Subagent    string   `json:"subagent"`
	Raw         *RawCall `json:"raw"` // a concrete call, as it is
}

// RawCall is a call in the agent's own words.
type RawCall struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Custom bool            `json:"custom"` // Responses: input is a string, not an object
}

// Parse reads a script.
func Parse(b []byte) (Script, error) {
	var s Script
	if err := json.Unmarshal(b, &s); err != nil {
		return Script{}, fmt.Errorf("fakemodel: parse script: %w", err)
	}
	for i := range s.Turns {
		t := &s.Turns[i]
		re, err := regexp.Compile(t.Match)
		if err != nil {
			return Script{}, fmt.Errorf("fakemodel: parse script: turn %d: %w", i, err)
		}
		t.pattern = re
	}
	return s, nil
}

// hit is the place in the script that a request has reached.
type hit struct {
	turn  Turn
	index int
	step  Step
}

// pick finds the step that answers a conversation; ok is false for a request of the agent's own.
func (s Script) pick(talk []Message, hasTools bool) (hit, bool) {
	for i := len(talk) - 1; i >= 0; i-- {
		if talk[i].Role != User {
			continue
		}
		// Several prompts may have been folded into one message: the one mentioned last wins.
		best, at := -1, -1
		for n, t := range s.Turns {
			if all := t.pattern.FindAllStringIndex(talk[i].Text, -1); all != nil && all[len(all)-1][0] > at {
				best, at = n, all[len(all)-1][0]
			}
		}
		if best < 0 {
			continue
		}
		t := s.Turns[best]
		if !hasTools && (t.NeedTools == nil || *t.NeedTools) {
			return hit{}, false // a side request that quotes the prompt
		}
		h := hit{turn: t, index: replies(talk[i+1:])}
		if h.index < len(t.Steps) {
			h.step = t.Steps[h.index]
		} else {
			end := "(end of script)"
			h.step = Step{Text: &end}
		}
		h.fill(talk[i].Text)
		return h, true
	}
	return hit{}, false
}

// fill puts the groups of the last match in a message into the step.
func (h *hit) fill(text string) {
	if h.turn.pattern.NumSubexp() == 0 {
		return
	}
	all := h.turn.pattern.FindAllStringSubmatchIndex(text, -1)
	last := all[len(all)-1]
	in := func(s *string) { *s = string(h.turn.pattern.ExpandString(nil, *s, text, last)) }
	h.turn.Match, _, _ = strings.Cut(text[last[0]:last[1]], " ")
	if h.step.Text != nil {
		said := *h.step.Text
		in(&said)
		h.step.Text = &said
	}
	h.step.Tools = slices.Clone(h.step.Tools)
	for i := range h.step.Tools {
		t := &h.step.Tools[i]
		for _, s := range []*string{&t.Path, &t.Content, &t.Old, &t.New, &t.Command, &t.Prompt} {
			in(s)
		}
	}
}

// replies counts runs of assistant messages: some clients split one reply.
func replies(talk []Message) int {
	n := 0
	for i, m := range talk {
		if m.Role == Assistant && (i == 0 || talk[i-1].Role != Assistant) {
			n++
		}
	}
	return n
}
