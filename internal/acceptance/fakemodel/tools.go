package fakemodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// toolDecl is a tool that a request offers.
type toolDecl struct {
	Type  string     `json:"type"`
	Name  string     `json:"name"`
	Tools []toolDecl `json:"tools"` // of a namespace
}

// offer is the tools of a request.
type offer struct {
	names  []string
	custom []string          // those that take a string instead of an object
	spaces map[string]string // the namespace of those that are in one
}

func (o *offer) add(tools []toolDecl) {
	for _, t := range tools {
		if t.Type == "namespace" {
			o.add(t.Tools)
			for _, inner := range t.Tools {
				if o.spaces == nil {
					o.spaces = map[string]string{}
				}
				o.spaces[inner.Name] = t.Name
			}
			continue
		}
		name := t.Name
		if name == "" {
			name = t.Type
		}
		o.names = append(o.names, name)
		if t.Type == "custom" {
			o.custom = append(o.custom, t.Name)
		}
	}
}

func (o offer) has(name string) bool { return slices.Contains(o.names, name) }

// object is a JSON object.
type object map[string]any

// call is a concrete call.
type call struct {
	name   string
	input  any // an object; a string when custom
	custom bool
	space  string // the tool's namespace
}

// text is the input as a string.
func (c call) text() string {
	if s, ok := c.input.(string); ok && c.custom {
		return s
	}
	b, err := json.Marshal(c.input)
	if err != nil {
		return "{}" // nothing in a script that was read from JSON
	}
	return string(b)
}

// wording is how a tool of some agent is called for.
type wording struct {
	tool  string
	input func(t Tool, abs string) object
}

// wordings are, per abstract call, the agents' tools, the first that is offered being taken: Claude Code, Droid, Gemini
// CLI, opencode, Codex. An edit of Claude Code and of Droid differ although the tool has one name: Create tells them
// apart.
var wordings = map[string][]wording{
	"write": {
		{"Write", func(t Tool, abs string) object { return object{"file_path": abs, "content": t.Content} }},
		{"Create", func(t Tool, abs string) object { return object{"file_path": abs, "content": t.Content} }},
		{"write_file", func(t Tool, abs string) object { return object{"file_path": abs, "content": t.Content} }},
		{"write", func(t Tool, abs string) object { return object{"filePath": abs, "content": t.Content} }},
	},
	"edit": {
		{"Edit", func(t Tool, abs string) object {
			return object{"file_path": abs, "old_string": t.Old, "new_string": t.New}
		}},
		{"replace", func(t Tool, abs string) object {
			return object{"file_path": abs, "old_string": t.Old, "new_string": t.New, "instruction": "replace text"}
		}},
		{"edit", func(t Tool, abs string) object {
			return object{"filePath": abs, "oldString": t.Old, "newString": t.New}
		}},
	},
	"read": {
		{"Read", func(_ Tool, abs string) object { return object{"file_path": abs} }},
		{"read_file", func(_ Tool, abs string) object { return object{"file_path": abs} }},
		{"read", func(_ Tool, abs string) object { return object{"filePath": abs} }},
	},
	"bash": {
		{"Bash", command},
		{"Execute", func(t Tool, _ string) object {
			return object{
				"command": t.Command, "summary": "run a command", "riskLevelReason": "writes in project",
				"riskLevel": "low",
				"timeout":   60,
			}
		}},
		{"run_shell_command", command},
		{"bash", command},
		{"exec_command", func(t Tool, _ string) object { return object{"cmd": t.Command} }},
		{"shell_command", func(t Tool, _ string) object { return object{"command": t.Command} }},
		{"shell", func(t Tool, _ string) object { return object{"command": []string{"bash", "-lc", t.Command}} }},
	},
	"recall": { // the tool list of rewind's MCP server: Claude Code and Codex, Gemini CLI, Codex with the server as a namespace
		{"mcp__rewind__list", nothing},
		{"mcp_rewind_list", nothing},
		{"list", nothing},
		// Claude Code names the tools of servers, and offers those that were asked for
		{
			"ToolSearch",
			func(Tool, string) object { return object{"query": "select:mcp__rewind__list", "max_results": 1} },
		},
	},
	"agent": {
		{"Agent", subagent("general-purpose")},
		{"Task", subagent("worker")},
		{"task", subagent("general-purpose")},
		{"spawn_agent", func(t Tool, _ string) object { return object{"task_name": "child", "message": t.Prompt} }},
		{
			"invoke_agent",
			func(t Tool, _ string) object { return object{"agent_name": "generalist", "prompt": t.Prompt} },
		},
	},
}

func nothing(Tool, string) object { return object{} }

func command(t Tool, _ string) object {
	return object{"command": t.Command, "description": "run a command"}
}

// subagent has a kind where the script names none.
func subagent(kind string) func(Tool, string) object {
	return func(t Tool, _ string) object {
		return object{"description": t.Description, "prompt": t.Prompt, "subagent_type": cmp.Or(t.Subagent, kind)}
	}
}

// script is a call as JavaScript of Codex's code mode.
func (t Tool) script() string {
	switch t.Do {
	case "recall":
		return "const r = await tools.mcp__rewind__list({}); text(JSON.stringify(r));"
	case "bash":
		return fmt.Sprintf("const r = await tools.exec_command({cmd: %s}); text(r.output ?? r);", quote(t.Command))
	}
	return fmt.Sprintf("const r = await tools.apply_patch(%s); text(r);", quote(t.patch()))
}

// concrete says an abstract call with a tool that the request offers; a call for which there is none names the abstract
// word, which the agent answers with an error that a test sees.
func (t Tool) concrete(o offer, dir string) call {
	if t.Raw != nil {
		var input any
		if err := json.Unmarshal(t.Raw.Input, &input); err != nil {
			input = object{}
		}
		return call{name: t.Raw.Name, input: input, custom: t.Raw.Custom}
	}
	// Codex's code mode: one tool that runs JavaScript.
	if slices.Contains(o.custom, "exec") && !o.has("exec_command") {
		return call{name: "exec", input: t.script(), custom: true}
	}
	abs := t.Path
	if abs != "" && !filepath.IsAbs(abs) {
		abs = filepath.Join(dir, abs)
	}
	for _, w := range wordings[t.Do] {
		if !o.has(w.tool) {
			continue
		}
		input := w.input(t, abs)
		if w.tool == "Edit" && o.has("Create") {
			input = object{"file_path": abs, "old_str": t.Old, "new_str": t.New}
		}
		return call{name: w.tool, input: input, space: o.spaces[w.tool]}
	}
	writes := t.Do == "write" || t.Do == "edit"
	for _, name := range []string{"apply_patch", "ApplyPatch"} {
		if !writes || !o.has(name) {
			continue
		}
		if slices.Contains(o.custom, name) {
			return call{name: name, input: t.patch(), custom: true}
		}
		return call{name: name, input: object{"input": t.patch()}}
	}
	return call{name: t.Do, input: object{}}
}

// patch is a write or an edit in the format of apply_patch.
func (t Tool) patch() string {
	lines := func(mark, s string) string {
		return mark + strings.ReplaceAll(s, "\n", "\n"+mark)
	}
	body := fmt.Sprintf("*** Update File: %s\n@@\n%s\n%s\n", t.Path, lines("-", t.Old), lines("+", t.New))
	if t.Do == "write" {
		body = fmt.Sprintf("*** Add File: %s\n%s\n", t.Path, lines("+", strings.TrimSuffix(t.Content, "\n")))
	}
	return "*** Begin Patch\n" + body + "*** End Patch\n"
}

// quote is a JavaScript string: JSON's are.
func quote(s string) string { return call{input: s}.text() }
