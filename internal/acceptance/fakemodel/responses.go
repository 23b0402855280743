package fakemodel

import (
	"maps"
	"net/http"
	"time"
)

// with is o and some fields over it.
func (o object) with(fields object) object {
	out := maps.Clone(o)
	maps.Copy(out, fields)
	return out
}

// responses writes a reply of the Responses API: per output item added, its deltas, done; at the end response.completed
// with all of it.
func responses(w http.ResponseWriter, r responsesRequest, step Step, calls []call) {
	items := []object{}
	if step.Text != nil {
		items = append(items, object{
			"type": "message", "id": newID("msg_"), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": *step.Text, "annotations": []any{}}},
		})
	}
	for _, c := range calls {
		item := object{"call_id": newID("call_"), "name": c.name, "status": "completed"}
		if c.custom {
			item = item.with(object{"type": "custom_tool_call", "id": newID("ctc_"), "input": c.text()})
		} else {
			item = item.with(object{"type": "function_call", "id": newID("fc_"), "arguments": c.text()})
		}
		if c.space != "" {
			item["namespace"] = c.space
		}
		items = append(items, item)
	}
	begun := object{
		"id": newID("resp_"), "object": "response", "created_at": time.Now().Unix(), "model": r.Model, "status": "in_progress",
		"output": []any{},
	}
	completed := begun.with(object{
		"status": "completed", "output": items,
		"usage": object{
			"input_tokens": step.tokens(), "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": outputTokens, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": step.tokens() + outputTokens,
		},
	})
	if !r.Stream {
		answer(w, http.StatusOK, completed)
		return
	}
	s, n := newStream(w), 0
	send := func(kind string, o object) {
		s.send(kind, o.with(object{"type": kind, "sequence_number": n}))
		n++
	}
	send("response.created", object{"response": begun})
	for i, item := range items {
		at := object{"output_index": i}
		part := object{"output_index": i, "item_id": item["id"]}
		added := item.with(object{"status": "in_progress"})
		switch item["type"] {
		case "message":
			added["content"] = []any{}
			send("response.output_item.added", at.with(object{"item": added}))
			inText := part.with(object{"content_index": 0})
			send("response.content_part.added",
				inText.with(object{"part": object{"type": "output_text", "text": "", "annotations": []any{}}}))
			send("response.output_text.delta", inText.with(object{"delta": *step.Text}))
			send("response.output_text.done", inText.with(object{"text": *step.Text}))
			send("response.content_part.done", inText.with(object{"part": item["content"].([]object)[0]}))
		case "function_call":
			added["arguments"] = ""
			send("response.output_item.added", at.with(object{"item": added}))
			send("response.function_call_arguments.delta", part.with(object{"delta": item["arguments"]}))
			send("response.function_call_arguments.done", part.with(object{"arguments": item["arguments"]}))
		default:
			added["input"] = ""
			send("response.output_item.added", at.with(object{"item": added}))
		}
		send("response.output_item.done", at.with(object{"item": item}))
	}
	send("response.completed", object{"response": completed})
}
