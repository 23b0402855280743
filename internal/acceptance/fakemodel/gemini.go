package fakemodel

import "net/http"

// gemini writes a reply of the Gemini API; a stream is that reply as its only event.
func gemini(w http.ResponseWriter, streamed bool, step Step, calls []call) {
	parts := []object{}
	if step.Thinking != "" {
		parts = append(parts, object{"text": step.Thinking, "thought": true})
	}
	if step.Text != nil {
		parts = append(parts, object{"text": *step.Text})
	}
	for _, c := range calls {
		parts = append(parts, object{"functionCall": object{"id": newID("fc_"), "name": c.name, "args": c.input}})
	}
	reply := object{
		"candidates": []object{{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{
			"promptTokenCount": step.tokens(), "candidatesTokenCount": outputTokens, "totalTokenCount": step.tokens() + outputTokens,
		},
		"modelVersion": "fake", "responseId": newID("r"),
	}
	if !streamed {
		answer(w, http.StatusOK, reply)
		return
	}
	newStream(w).send("", reply)
}
