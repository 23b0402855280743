package fakemodel

import (
	"encoding/json"
	"strings"
)

// schema is as much of a JSON schema as requests of an agent's own (routing, classification) need for an answer.
type schema struct {
	Type       any               `json:"type"` // a word, or a list of them
	Enum       []any             `json:"enum"`
	Properties map[string]schema `json:"properties"`
	Minimum    *float64          `json:"minimum"`
}

// fitting is a JSON text that fits the first schema there is, or other when there is none.
func fitting(other string, schemas ...json.RawMessage) string {
	for _, raw := range schemas {
		var s schema
		if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
			continue
		}
		if b, err := json.Marshal(s.value()); err == nil {
			return string(b)
		}
	}
	return other
}

func (s schema) value() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind, _ := s.Type.(string)
	if list, ok := s.Type.([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	switch strings.ToLower(kind) {
	case "", "object":
		out := object{}
		for name, p := range s.Properties {
			out[name] = p.value()
		}
		return out
	case "array":
		return []any{}
	case "boolean":
		return false
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	}
	return "fake"
}
