package hooks

import (
	"strings"
)

// claude is Claude Code. Events: those of 2.1.328, of which 2.0.60 knows the classic ones. Tools: the client's tools
// reference (code.claude.com/docs, "Tools available to Claude"), and names of earlier versions.
var claude = dialect{
	events: map[string]Kind{
		"SessionStart":        SessionStart,
		"SessionEnd":          SessionEnd,
		"UserPromptSubmit":    Prompt,
		"PreToolUse":          BeforeTool,
		"PostToolUse":         AfterTool,
		"PostToolUseFailure":  AfterTool,
		"Stop":                Stop,
		"StopFailure":         Stop,
		"SubagentStart":       SubagentStart,
		"SubagentStop":        SubagentStop,
		"PreCompact":          Compact,
		"PostCompact":         Compact,
		"PostToolBatch":       Other,
		"Notification":        Other,
		"UserPromptExpansion": Other,
		"PreModelSwitch":      Other,
		"PostModelSwitch":     Other,
		"PermissionRequest":   Other,
		"PermissionDenied":    Other,
		"Setup":               Other,
		"TeammateIdle":        Other,
		"TaskCreated":         Other,
		"TaskCompleted":       Other,
		"Elicitation":         Other,
		"ElicitationResult":   Other,
		"ConfigChange":        Other,
		"WorktreeCreate":      Other,
		"WorktreeRemove":      Other,
		"InstructionsLoaded":  Other,
		"CwdChanged":          Other,
		"FileChanged":         Other,
		"DirectoryAdded":      Other,
		"MessageDisplay":      Other,
	},
	tools: map[string]Class{
		"Write":        Editor,
		"Edit":         Editor,
		"MultiEdit":    Editor,
		"NotebookEdit": Editor,

		"Read":            Reader,
		"Glob":            Reader,
		"Grep":            Reader,
		"LS":              Reader,
		"NotebookRead":    Reader,
		"WebFetch":        Reader,
		"WebSearch":       Reader,
		"TodoRead":        Reader,
		"TodoWrite":       Reader, // a list in the client
		"TaskCreate":      Reader,
		"TaskGet":         Reader,
		"TaskList":        Reader,
		"TaskUpdate":      Reader,
		"TaskOutput":      Reader, // what a background task has printed
		"BashOutput":      Reader,
		"AskUserQuestion": Reader,
		"EnterPlanMode":   Reader,
		"ExitPlanMode":    Reader,
		"exit_plan_mode":  Reader,
		"ToolSearch":      Reader,
	},
	adapt: func(ev *Event, p *payload) {
		if ev.Kind == Prompt {
			// The end of a background task comes as a prompt that nobody typed.
			ev.Notice = strings.HasPrefix(strings.TrimSpace(ev.Prompt), "<task-notification>")
		}
		if ev.Name == "PostToolUseFailure" {
			ev.Failed = true
		}
	},
}
