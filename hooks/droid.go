package hooks

import (
	"slices"
	"strings"
)

// droid is Factory Droid, 0.225. It has no id of a call. A conversation that was rewound goes on under a new session id
// and names the one before. Tools: its documentation of tool categories and hooks (docs.factory.ai).
var droid = dialect{
	events: map[string]Kind{
		"SessionStart":      SessionStart,
		"SessionEnd":        SessionEnd,
		"UserPromptSubmit":  Prompt,
		"PreToolUse":        BeforeTool,
		"PostToolUse":       AfterTool,
		"Stop":              Stop,
		"SubagentStop":      SubagentStop,
		"PreCompact":        Compact,
		"Notification":      Other,
		"PermissionRequest": Other,
	},
	tools: map[string]Class{
		"Create":      Editor,
		"Edit":        Editor,
		"MultiEdit":   Editor,
		"ApplyPatch":  Editor,
		"apply_patch": Editor,

		"Read":      Reader,
		"LS":        Reader,
		"Grep":      Reader,
		"Glob":      Reader,
		"WebSearch": Reader,
		"FetchUrl":  Reader,
		"TodoWrite": Reader, // a list in the client
		"AskUser":   Reader,
	},
	adapt: func(ev *Event, p *payload) {
		if ev.Kind == Prompt {
			// The client's own messages to the model are markup that nobody types. One is in words, which anybody may
			// type: the end of a Task in the background. Its id says what it is.
			text := strings.TrimSpace(ev.Prompt)
			ev.Notice = strings.HasPrefix(p.message.String(), droidTaskEnded) ||
				slices.ContainsFunc(droidNotices, func(tag string) bool { return strings.HasPrefix(text, tag) })
		}
	},
}

const droidTaskEnded = "task-completion:"

var droidNotices = []string{"<task-notification>", "<system-notification>", "<system-reminder>"}
