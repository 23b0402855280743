package relay

// EnvBegan is the variable in which Claude Code, Gemini CLI and Droid tell their hooks where the session began.
const EnvBegan = "CLAUDE_PROJECT_DIR"

// StopPath is where a daemon of any version is asked to end.
const StopPath = "/v1/daemon/stop"
