package api

// AgentVariables are the variables that move an agent's settings.
func AgentVariables() []string {
	return []string{
		"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "FACTORY_HOME_OVERRIDE", "CODEX_SQLITE_HOME",
		"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
	}
}

// HooksRequest registers the hooks of agents in their own settings at user level, or takes them out.
type HooksRequest struct {
	Project
	Env     AgentEnv `json:"env"`
	Agents  []Agent  `json:"agents,omitempty"`  // claude, codex, gemini, droid; none: all that are installed
	Remove  bool     `json:"remove,omitempty"`  // take them out
	Refresh bool     `json:"refresh,omitempty"` // only those that have hooks of ours already
	DryRun  bool     `json:"dry_run,omitempty"`
}

// HooksResponse is what was done, or with a dry run would be.
type HooksResponse struct {
	Program Text         `json:"program"` // what hooks call
	Tier    string       `json:"tier"`    // the widest that a project, or the global setting, asks for
	Agents  []AgentHooks `json:"agents"`

	Copied  []string `json:"copied,omitempty"`     // the programs that were put beside Program, for hooks to start them
	CopyErr *Error   `json:"copy_error,omitempty"` // why they were not: hooks start those that are there
}

// AgentHooks is one agent's part of it.
type AgentHooks struct {
	Agent       Agent      `json:"agent"`
	Dir         Text       `json:"dir"` // it is installed when this exists
	Installed   bool       `json:"installed"`
	File        Text       `json:"file"`                   // that has the hooks
	Hooks       int        `json:"hooks"`                  // of ours, afterwards
	SwitchedOff string     `json:"switched_off,omitempty"` // by which setting, file and line all hooks are switched off
	Server      Text       `json:"server,omitempty"`       // the file that lists rewind's MCP server
	Commands    []Text     `json:"commands,omitempty"`     // that a person can type in the agent
	Left        []Text     `json:"left,omitempty"`         // files of commands that somebody has changed: they stay as they are
	Changes     []FileDiff `json:"changes,omitempty"`      // absolute paths, links followed; none: nothing was to be done
	Error       *Error     `json:"error,omitempty"`        // why this agent's hooks are not as they should be; the others' are
}

// RemoveRequest takes away a project's store and marker: into the trash, where it lies for a day. The hooks go with the
// last project.
type RemoveRequest struct {
	Project
	Env    AgentEnv `json:"env"`
	Now    bool     `json:"now,omitempty"` // for good, and not into the trash
	DryRun bool     `json:"dry_run,omitempty"`
}

// RemoveResponse is what went, or with a dry run would go.
type RemoveResponse struct {
	Root        Text           `json:"root"`
	Mode        string         `json:"mode"`
	Store       Text           `json:"store"`
	Checkpoints int            `json:"checkpoints"` // that are lost, safety checkpoints included
	DiskBytes   int64          `json:"disk_bytes"`
	Last        bool           `json:"last"`            // no other project is known
	Hooks       *HooksResponse `json:"hooks,omitempty"` // that went with the last one
	Trash       *Removed       `json:"trash,omitempty"` // where the store lies now; absent: it is gone for good
}

// ValidateRequest looks at everything that checkpoints depend on. Quick leaves out what takes long.
type ValidateRequest struct {
	Project
	Env   AgentEnv `json:"env"`
	Quick bool     `json:"quick,omitempty"`
}

// ValidateResponse is every check.
type ValidateResponse struct {
	Checks   []Check  `json:"checks"`
	Findings int      `json:"findings"`
	Notices  []string `json:"notices,omitempty"`
}
