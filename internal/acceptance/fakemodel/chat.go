package fakemodel

import (
	"net/http"
	"time"
)

// chat writes a reply of the Chat Completions API; the stream ends with [DONE].
func chat(w http.ResponseWriter, r chatRequest, step Step, calls []call) {
	var list []object
	for i, c := range calls {
		list = append(list, object{
			"index": i, "id": newID("call_"), "type": "function", "function": object{"name": c.name, "arguments": c.text()},
		})
	}
	finish := "stop"
	if len(list) > 0 {
		finish = "tool_calls"
	}
	head := object{"id": newID("chatcmpl-"), "created": time.Now().Unix(), "model": r.Model}
	usage := object{"prompt_tokens": step.tokens(), "completion_tokens": outputTokens, "total_tokens": step.tokens() + outputTokens}
	if !r.Stream {
		message := object{"role": "assistant", "content": step.Text}
		if len(list) > 0 {
			message["tool_calls"] = list
		}
		answer(w, http.StatusOK, head.with(object{
			"object": "chat.completion", "usage": usage,
			"choices": []object{{"index": 0, "finish_reason": finish, "message": message}},
		}))
		return
	}
	s := newStream(w)
	send := func(delta object, finish any, more object) {
		choices := []object{{"index": 0, "delta": delta, "finish_reason": finish}}
		s.send("", head.with(object{"object": "chat.completion.chunk", "choices": choices}).with(more))
	}
	send(object{"role": "assistant", "content": ""}, nil, nil)
	if step.Text != nil {
		send(object{"content": *step.Text}, nil, nil)
	}
	if len(list) > 0 {
		send(object{"tool_calls": list}, nil, nil)
	}
	send(object{}, finish, object{"usage": usage})
	s.raw("", "[DONE]")
}
