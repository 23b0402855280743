package api

// HookPath is where 'rewind hook' posts a hook's payload to, raw, as the agent wrote it. The answer's body goes to the
// agent as standard output; it is empty unless the agent's protocol wants something.
const HookPath = "/v1/hook"

// Headers of that request and its answer. Values are escaped as url.PathEscape does.
const (
	HeaderAgent    = "Rewind-Agent"    // the word after --agent
	HeaderEvent    = "Rewind-Event"    // the word that names the event on the hook's command line
	HeaderID       = "Rewind-Id"       // 16 hex digits, the same when a hook is sent again: it is recorded once
	HeaderCwd      = "Rewind-Cwd"      // the client's working directory, for payloads that name none
	HeaderBegan    = "Rewind-Began"    // where the session began, where the agent tells its hooks and that is not the working directory
	HeaderDeadline = "Rewind-Deadline" // milliseconds for which the client still waits
	HeaderVersion  = "Rewind-Version"  // of every request: the client's version; of every answer: the daemon's
	HeaderWarn     = "Rewind-Warn"     // of an answer: a line for standard error
)

// StatusOtherVersion answers a client of another version than the daemon's. The daemon then finishes what it has begun
// and stops; the client waits for the socket to go and starts its own.
const StatusOtherVersion = 426

// StatusDraining answers while the daemon stops for another reason; the client starts its own.
const StatusDraining = 503
