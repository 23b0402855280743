//go:build acceptance

package acceptance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rewind/internal/acceptance/fakemodel"
)

// What the model must be sent of the two turns, and only of them: words that no file of the project has, so that an
// agent that tells the model of the files does not say them.
var (
	firstTurn  = []string{"TURN-1 please", "Writing alpha.", "echo made-by-bash", "TURN-1 complete."}
	secondTurn = []string{"TURN-2 please", "Second turn.", "rm beta.txt", "TURN-2 complete."}
	bothTurns  = slices.Concat(firstTurn, secondTurn)
)

// sent is the last request that an agent made for a prompt. What a model is asked for without tools is the agent's own,
// and so is what Codex asks, with tools and the prompt in quotation, to have a title for it.
func (w *world) sent(prompt string) (fakemodel.Request, bool) {
	list := w.model.Requests()
	for _, r := range slices.Backward(list) {
		asks := func(m fakemodel.Message) bool {
			return m.Role == fakemodel.User && strings.Contains(m.Text, prompt) && !strings.Contains(m.Text, "task title")
		}
		if len(r.Tools) > 0 && slices.ContainsFunc(r.Talk, asks) {
			return r, true
		}
	}
	return fakemodel.Request{}, false
}

// conversation holds what the model was sent for a prompt against what the conversation must have, in this order, and
// against what nothing of the request may have; and every call of a tool must have its result.
func (w *world) conversation(prompt string, has, lacks []string) (problems []string) {
	r, ok := w.sent(prompt)
	if !ok {
		return []string{fmt.Sprintf("the model was not sent %q", prompt)}
	}
	talk := spoken(r)
	at := 0
	for _, s := range has {
		i := strings.Index(talk[at:], s)
		if i < 0 {
			problems = append(problems, fmt.Sprintf("%q is missing, or out of order", s))
			continue
		}
		at += i + len(s)
	}
	for _, s := range lacks {
		if strings.Contains(talk, s) || strings.Contains(string(r.Body), s) {
			problems = append(problems, fmt.Sprintf("%q is in it", s))
		}
	}
	problems = append(problems, unpaired(r.Body)...)
	if problems != nil {
		problems = append(problems, "what was sent for "+prompt+":\n"+short(talk))
	}
	return problems
}

func spoken(r fakemodel.Request) string {
	var b strings.Builder
	for _, m := range r.Talk {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
	}
	return b.String()
}

// short leaves out what is long in a conversation: the agents' own instructions.
func short(talk string) string {
	var b strings.Builder
	for l := range strings.Lines(talk) {
		fmt.Fprintf(&b, "%.120s\n", strings.TrimRight(l, "\n"))
	}
	return tail(b.String(), 6000)
}

// part is a piece of any protocol's request that may be a call of a tool or the result of one.
type part struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	CallID   string          `json:"call_id"`
	UseID    string          `json:"tool_use_id"`
	Call     json.RawMessage `json:"functionCall"`
	Response json.RawMessage `json:"functionResponse"`
	Content  json.RawMessage `json:"content"`
	Parts    []part          `json:"parts"`
}

// unpaired are the calls without a result and the results without a call in a request.
func unpaired(body []byte) (problems []string) {
	var r struct {
		Messages []part          `json:"messages"`
		Contents []part          `json:"contents"`
		Input    json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return []string{"the request cannot be read: " + err.Error()}
	}
	var input []part
	_ = json.Unmarshal(r.Input, &input) // a string is one prompt
	for _, m := range r.Messages {
		var blocks []part
		_ = json.Unmarshal(m.Content, &blocks) // a string is text
		input = append(input, blocks...)
	}
	open := map[string]int{}
	for _, p := range input {
		switch p.Type {
		case "tool_use":
			open[p.ID]++
		case "tool_result":
			open[p.UseID]--
		case "function_call", "custom_tool_call":
			open[p.CallID]++
		case "function_call_output", "custom_tool_call_output":
			open[p.CallID]--
		}
		if id := p.UseID + p.CallID; open[id] < 0 {
			problems = append(problems, "a result without a call: "+id)
		}
	}
	for id, n := range open {
		if n > 0 {
			problems = append(problems, "a call without a result: "+id)
		}
	}
	return append(problems, unpairedGemini(r.Contents)...)
}

// unpairedGemini: calls have no ids, their results are in the next content. In a session that it resumes, 0.61 sends
// every result twice.
func unpairedGemini(contents []part) (problems []string) {
	calls := 0
	for i, c := range append(contents, part{}) {
		results, next := 0, 0
		for _, p := range c.Parts {
			if p.Response != nil {
				results++
			}
			if p.Call != nil {
				next++
			}
		}
		if results < calls || calls == 0 && results > 0 {
			problems = append(problems, fmt.Sprintf("%d calls, and %d results in content %d", calls, results, i))
		}
		calls = next
	}
	return problems
}

// check reports problems.
func (w *world) check(what string, problems []string) {
	w.Helper()
	if problems != nil {
		w.Errorf("%s: %s:\n%s", w.client, what, strings.Join(problems, "\n"))
	}
}
