package api

import "time"

// Session is an agent's session.
type Session struct {
	Session    string    `json:"session"` // agent/id
	Agent      Agent     `json:"agent"`
	Turn       uint64    `json:"turn"`
	Prompt     Text      `json:"prompt,omitempty"`
	Transcript Text      `json:"transcript,omitempty"`
	Dir        Text      `json:"dir,omitempty"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	Event      string    `json:"event"` // the newest
	Busy       bool      `json:"busy,omitempty"`
	Ended      bool      `json:"ended,omitempty"`
	Captured   int64     `json:"captured_bytes"` // of its conversation; the daemon may be about to capture more
	Running    []Tool    `json:"running,omitempty"`
	Outside    []Text    `json:"outside,omitempty"` // files outside of the project that it edited lately; they are not captured

	NotCaptured []Uncaptured `json:"not_captured,omitempty"` // all that it edited lately and no checkpoint has
}

// StatusRequest asks for the state of the project.
type StatusRequest struct {
	Project
	Env    *AgentEnv `json:"env,omitempty"`    // without glance the answer has the checks of a quick ValidateRequest
	Glance bool      `json:"glance,omitempty"` // only what is known at once: nothing is compared, measured or waited for
}

// TurnAt is a turn of a session; Turn 0 is before its first.
type TurnAt struct {
	Session string `json:"session"`
	Turn    uint64 `json:"turn"`
	Whose   string `json:"whose,omitempty"`  // as of a Checkpoint
	Prompt  Text   `json:"prompt,omitempty"` // how it begins
}

// StatusResponse is the state of the project.
type StatusResponse struct {
	Root         Text        `json:"root"`
	Mode         string      `json:"mode"`
	StoreID      string      `json:"store_id"`
	Store        Text        `json:"store"`
	DiskBytes    int64       `json:"disk_bytes"`
	Checkpoints  int         `json:"checkpoints"`
	Safety       int         `json:"safety"`
	Current      *Checkpoint `json:"current,omitempty"`
	Position     string      `json:"position"`                // the session that goes on from here, by name; manual: no agent's
	At           *TurnAt     `json:"at,omitempty"`            // the turn of it at whose end, or in which, the project stands; absent: no agent's session, and at a glance
	Sessions     []Session   `json:"sessions,omitempty"`      // of agents, the newest first: no more than 20, and those with edits that no checkpoint has
	SessionCount int         `json:"session_count,omitempty"` // how many there are
	SessionBytes int64       `json:"session_bytes,omitempty"` // of their conversations, as far as they are captured
	AtWork       []AtWork    `json:"at_work,omitempty"`       // with a call or a turn under way
	Changes      []Change    `json:"changes"`
	Skips        []Skip      `json:"skips"`
	Leaks        []Leak      `json:"leaks"`                // files in the store that look like they hold a secret
	SaidLeaks    []SaidLeak  `json:"said_leaks,omitempty"` // places in conversations that do, the newest first
	Ahead        int         `json:"ahead"`                // steps that redo can go
	HalfDone     string      `json:"half_done,omitempty"`
	Stages       []Text      `json:"stages,omitempty"` // where bytes of racing edits were kept
	LastOp       *Operation  `json:"last_operation,omitempty"`
	Pruned       *Operation  `json:"pruned,omitempty"` // deleted forks by itself (forks.prune.auto) in the last week, and was not taken back
	Daemon       Daemon      `json:"daemon"`
	Degraded     *Degraded   `json:"degraded,omitempty"` // absent: hooks work, as far as is known
	Watcher      *Watcher    `json:"watcher,omitempty"`  // absent: every capture looks at every file
	Activity     *Activity   `json:"activity,omitempty"` // work under way; the worktree was not compared then
	Notices      []string    `json:"notices,omitempty"`
	Checks       []Check     `json:"checks,omitempty"`
}

// Degraded says that hooks could not do what they are for, since the last capture that worked.
type Degraded struct {
	Since time.Time `json:"since"`
	Last  time.Time `json:"last"`
	Count int       `json:"count"`
	Error Text      `json:"error"` // of the last one
}

// DaemonRequest asks for the daemon itself.
type DaemonRequest struct{}

// Daemon is the process that answers; not Running: it is that of the command itself.
type Daemon struct {
	Running bool       `json:"running"`
	PID     int        `json:"pid,omitempty"`
	Version string     `json:"version,omitempty"`
	Started *time.Time `json:"started,omitempty"`
	Socket  Text       `json:"socket,omitempty"`
	Stores  int        `json:"stores,omitempty"` // how many are open
}
