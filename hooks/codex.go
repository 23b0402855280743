package hooks

// codex is Codex CLI. Events: those of 0.169; 0.125 knows fewer and passes over the others. Interrupt comes in place of
// Stop when the user stops a turn. Tools: codex-rs/core/src/tools of github.com/openai/codex. What it calls Bash is its
// shell under whatever name. Tools that ask an MCP server for something are Changers: the server is anybody's.
var codex = dialect{
	events: map[string]Kind{
		"SessionStart":      SessionStart,
		"SessionEnd":        SessionEnd,
		"UserPromptSubmit":  Prompt,
		"PreToolUse":        BeforeTool,
		"PostToolUse":       AfterTool,
		"Stop":              Stop,
		"Interrupt":         Stop,
		"SubagentStart":     SubagentStart,
		"SubagentStop":      SubagentStop,
		"PreCompact":        Compact,
		"PostCompact":       Compact,
		"PreModelRequest":   Other,
		"PermissionRequest": Other,
	},
	tools: map[string]Class{
		"apply_patch": Editor,

		"update_plan":        Reader,
		"view_image":         Reader,
		"web_search":         Reader,
		"request_user_input": Reader,
		"read_file":          Reader,
		"list_dir":           Reader,
		"grep_files":         Reader,
	},
	adapt: func(ev *Event, _ *payload) {
		if ev.Subagent != "" {
			ev.Transcript = "" // the subagent's; session_id is its parent's
		}
	},
}
