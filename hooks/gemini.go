package hooks

// gemini is Gemini CLI, 0.26 to 0.61. It has no id of a call, and no event of a subagent. PreCompress fires in front of
// every call of the model: it is no compaction. Tools: packages/core/src/tools/tool-names.ts of
// github.com/google-gemini/gemini-cli; save_memory writes a file, and is a Changer as it does not name it.
var gemini = dialect{
	events: map[string]Kind{
		"SessionStart":        SessionStart,
		"SessionEnd":          SessionEnd,
		"BeforeAgent":         Prompt,
		"AfterAgent":          Stop,
		"BeforeTool":          BeforeTool,
		"AfterTool":           AfterTool,
		"BeforeModel":         Other,
		"AfterModel":          Other,
		"BeforeToolSelection": Other,
		"PreCompress":         Other,
		"Notification":        Other,
	},
	tools: map[string]Class{
		"write_file": Editor,
		"replace":    Editor,

		"read_file":           Reader,
		"read_many_files":     Reader,
		"list_directory":      Reader,
		"glob":                Reader,
		"search_file_content": Reader,
		"grep_search":         Reader,
		"web_fetch":           Reader,
		"google_web_search":   Reader,
		"write_todos":         Reader, // a list in the client
		"ask_user":            Reader,
		"get_internal_docs":   Reader,
	},
	adapt: func(ev *Event, p *payload) {
		if ev.Kind == AfterTool && p.erred {
			ev.Failed = true
		}
		if p.mcp {
			// A server's tool keeps its own name when no tool of the client has it: "glob" may be anybody's.
			ev.Tool.Class, ev.Tool.Paths = Changer, nil
		}
	},
}
