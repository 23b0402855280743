package fakemodel

import "net/http"

// anthropic writes a reply of the Messages API, and its events in their documented order: message_start, per content
// block start, delta and stop, message_delta, message_stop.
func anthropic(w http.ResponseWriter, r anthropicRequest, step Step, calls []call) {
	content := []object{}
	if step.Thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": step.Thinking, "signature": "ZmFrZXNpZw=="})
	}
	if step.Text != nil {
		content = append(content, object{"type": "text", "text": *step.Text})
	}
	for _, c := range calls {
		content = append(content, object{"type": "tool_use", "id": newID("toolu_"), "name": c.name, "input": c.input})
	}
	stop := "end_turn"
	if len(calls) > 0 {
		stop = "tool_use"
	}
	message := object{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": object{
			"input_tokens": step.tokens(), "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": outputTokens,
		},
	}
	if !r.Stream {
		answer(w, http.StatusOK, message)
		return
	}
	s := newStream(w)
	send := func(kind string, o object) {
		o["type"] = kind
		s.send(kind, o)
	}
	message["content"], message["stop_reason"] = []object{}, nil
	send("message_start", object{"message": message})
	for i, c := range content {
		var empty object
		var deltas []object
		switch c["type"] {
		case "text":
			empty = object{"type": "text", "text": ""}
			deltas = []object{{"type": "text_delta", "text": c["text"]}}
		case "thinking":
			empty = object{"type": "thinking", "thinking": "", "signature": ""}
			deltas = []object{
				{"type": "thinking_delta", "thinking": c["thinking"]},
				{"type": "signature_delta", "signature": c["signature"]},
			}
		default:
			empty = object{"type": "tool_use", "id": c["id"], "name": c["name"], "input": object{}}
			deltas = []object{{"type": "input_json_delta", "partial_json": call{input: c["input"]}.text()}}
		}
		send("content_block_start", object{"index": i, "content_block": empty})
		for _, d := range deltas {
			send("content_block_delta", object{"index": i, "delta": d})
		}
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": outputTokens},
	})
	send("message_stop", object{})
}
