package fakemodel

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Role is who said something.
type Role string

// The roles. Others, as system and developer, stand as the request has them.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // what a tool call gave back
)

// Message is a part of a conversation as a request carried it, the same for every protocol.
type Message struct {
	Role Role
	Text string
}

// text is a string, or a list of blocks of which each may have a text.
type text []block

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content text            `json:"content"`
	Sealed  string          `json:"encrypted_content"` // of a message from one agent to another
}

// UnmarshalJSON takes anything: what is neither string nor list is empty.
func (t *text) UnmarshalJSON(b []byte) error {
	*t = nil
	switch {
	case bytes.HasPrefix(b, []byte(`"`)):
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = text{{Type: "text", Text: s}}
	case bytes.HasPrefix(b, []byte("[")):
		var list []json.RawMessage
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		for _, raw := range list {
			var bl block
			if json.Unmarshal(raw, &bl) == nil {
				*t = append(*t, bl)
			}
		}
	}
	return nil
}

func (t text) flat() string {
	var lines []string
	for _, b := range t {
		lines = append(lines, b.Text+b.Sealed)
	}
	return strings.Join(lines, "\n")
}

type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    Role `json:"role"`
		Content text `json:"content"`
	} `json:"messages"`
	Tools []toolDecl `json:"tools"`
}

func (r anthropicRequest) conversation() []Message {
	var out []Message
	for _, m := range r.Messages {
		var said, results []string
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				said = append(said, b.Text)
			case "tool_use":
				said = append(said, "<"+b.Name+" "+string(b.Input)+">")
			case "tool_result":
				results = append(results, b.Content.flat())
			default:
				said = append(said, "["+b.Type+"]")
			}
		}
		if len(results) > 0 {
			out = append(out, Message{ToolRole, strings.Join(results, "\n")})
		}
		if len(said) > 0 {
			out = append(out, Message{m.Role, strings.Join(said, "\n")})
		}
	}
	return out
}

type responsesRequest struct {
	Model  string         `json:"model"`
	Stream bool           `json:"stream"`
	Input  responsesInput `json:"input"`
	Tools  []toolDecl     `json:"tools"`
	Text   struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

type responsesInput []responsesItem

type responsesItem struct {
	Type      string          `json:"type"`
	Role      Role            `json:"role"`
	Content   text            `json:"content"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Tools     []toolDecl      `json:"tools"`
}

// UnmarshalJSON takes a string for one message of the user.
func (in *responsesInput) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		var t text
		err := json.Unmarshal(b, &t)
		*in = responsesInput{{Type: "message", Role: User, Content: t}}
		return err
	}
	return json.Unmarshal(b, (*[]responsesItem)(in))
}

// replyItems are the kinds of items that together make one reply.
var replyItems = []string{"message", "reasoning", "function_call", "custom_tool_call", "local_shell_call"}

func (r responsesRequest) conversation() []Message {
	var out []Message
	open := false // the last message is a reply that may go on
	for _, it := range r.Input {
		switch {
		case it.Type == "additional_tools":
			continue
		case it.Type == "agent_message": // Codex's subagents are asked by it
			out, open = append(out, Message{User, it.Content.flat()}), false
			continue
		case (it.Type == "" || it.Type == "message") && it.Role != Assistant:
			out, open = append(out, Message{it.Role, it.Content.flat()}), false
			continue
		case it.Type != "" && !slices.Contains(replyItems, it.Type):
			out, open = append(out, Message{ToolRole, string(it.Output)}), false
			continue
		}
		said := it.Content.flat()
		if it.Name != "" {
			said = "<" + it.Name + " " + it.Arguments + it.Input + ">"
		}
		if open {
			out[len(out)-1].Text += "\n" + said
		} else {
			out, open = append(out, Message{Assistant, said}), true
		}
	}
	return out
}

type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role      Role `json:"role"`
		Content   text `json:"content"`
		ToolCalls []struct {
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function toolDecl `json:"function"`
	} `json:"tools"`
	Format struct {
		Schema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (r chatRequest) conversation() []Message {
	var out []Message
	for _, m := range r.Messages {
		said := m.Content.flat()
		for _, c := range m.ToolCalls {
			said += "<" + c.Function.Name + " " + c.Function.Arguments + ">"
		}
		out = append(out, Message{m.Role, said})
	}
	return out
}

type geminiRequest struct {
	Contents []struct {
		Role  string `json:"role"`
		Parts []struct {
			Text *string `json:"text"`
			Call *struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
			Response *struct {
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []toolDecl `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		JSONSchema json.RawMessage `json:"responseJsonSchema"`
		Schema     json.RawMessage `json:"responseSchema"`
	} `json:"generationConfig"`
}

func (r geminiRequest) conversation() []Message {
	var out []Message
	for _, c := range r.Contents {
		var said, results []string
		for _, p := range c.Parts {
			switch {
			case p.Response != nil:
				results = append(results, string(p.Response.Response))
			case p.Call != nil:
				said = append(said, "<"+p.Call.Name+" "+string(p.Call.Args)+">")
			case p.Text != nil:
				said = append(said, *p.Text)
			}
		}
		role := User
		if c.Role == "model" {
			role = Assistant
		}
		if len(results) > 0 {
			out = append(out, Message{ToolRole, strings.Join(results, "\n")})
		}
		if len(said) > 0 || role == Assistant {
			out = append(out, Message{role, strings.Join(said, "\n")})
		}
	}
	return out
}
