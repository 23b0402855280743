package api

import "rewind/internal/value"

// What can be done with sessions among others.
const (
	DoRename  = "rename"
	DoDelete  = "delete"
	DoArchive = "archive"
	DoRestore = "restore" // out of the archive
	DoPromote = "promote"
)

// Managed is what became of a session; how it stands is main, archived, deleted, or absent.
type Managed = value.Managed

// ManageRequest does one thing with sessions, with all that are named or none: one operation, which undo-restore takes
// back.
type ManageRequest struct {
	Project
	Env      AgentEnv `json:"env"`
	Do       string   `json:"do"`
	Sessions []string `json:"sessions"`            // names, or how ids begin
	Title    Text     `json:"title,omitempty"`     // of rename
	LastCopy bool     `json:"last_copy,omitempty"` // of delete: also what no other session has
	Force    bool     `json:"force,omitempty"`     // also while the agent seems to have it open
	DryRun   bool     `json:"dry_run,omitempty"`
}

// PruneRequest deletes forks: those that fit all that is said. With nothing said it is refused.
type PruneRequest struct {
	Project
	Env      AgentEnv `json:"env"`
	Older    string   `json:"older,omitempty"`     // nothing came from them for this long: 36h, 30d
	Unused   bool     `json:"unused,omitempty"`    // nobody has gone on with them
	Keep     int      `json:"keep,omitempty"`      // all but the newest so many
	Kinds    []string `json:"kinds,omitempty"`     // only those that one of these made: fork, clone, restore, agent; none: whoever did
	LastCopy bool     `json:"last_copy,omitempty"` // also what no other session has
	DryRun   bool     `json:"dry_run,omitempty"`
}

// ManageResponse is what was done, or with a dry run would be.
type ManageResponse struct {
	Do        string    `json:"do"`
	DryRun    bool      `json:"dry_run"`
	Operation uint64    `json:"operation,omitempty"` // 0: nothing was done
	Managed   []Managed `json:"managed"`
	Losses    []Loss    `json:"losses,omitempty"`  // of delete and prune: one for each session that goes
	Left      []Loss    `json:"left,omitempty"`    // of prune: forks that fit, and have turns that nobody else has
	Kept      []Text    `json:"kept,omitempty"`    // session files that were written meanwhile: left as they are
	Problem   Text      `json:"problem,omitempty"` // why the agent's own list does not show the title
	Notices   []string  `json:"notices,omitempty"`
}

// Loss is what goes with a session.
type Loss struct {
	Session     string `json:"session"`
	Title       Text   `json:"title,omitempty"`
	Turns       int    `json:"turns"`       // that no other session has
	Checkpoints int    `json:"checkpoints"` // of its own: they stay until gc lets them go
	Bytes       int64  `json:"bytes"`
}
