package api

// PurgeRequest takes contents out of the store for good: those that ever stood at Paths, those named by Blobs, and every one that has Text in it.
type PurgeRequest struct {
	Project
	Paths  []Text   `json:"paths,omitempty"` // relative to Dir
	Blobs  []string `json:"blobs,omitempty"` // ids of contents, or beginnings of them
	Text   Text     `json:"text,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}

// PurgeResponse says what was taken out, or would be. It cannot be undone.
type PurgeResponse struct {
	DryRun      bool     `json:"dry_run"`
	Operation   uint64   `json:"operation,omitempty"`
	Contents    int      `json:"contents"`
	Bytes       int64    `json:"bytes"`
	Before      int      `json:"purged_before,omitempty"` // of what was asked for
	Paths       []Text   `json:"paths"`                   // where the contents stood, in any checkpoint
	Checkpoints int      `json:"checkpoints"`             // that name one of them; all stay
	Sessions    []string `json:"sessions,omitempty"`      // whose conversations had them, and are captured no more
	Present     []Text   `json:"present,omitempty"`       // files that had them still at the last checkpoint
	AgentFiles  []Text   `json:"agent_files,omitempty"`   // the agents' own files of those sessions, which stay
	Files       []Text   `json:"files,omitempty"`         // other files of rewind's that were removed
	Prompts     int      `json:"prompts,omitempty"`       // checkpoints, operations and sessions with Text in their own words, which stay
	Unread      int      `json:"unread,omitempty"`        // damaged objects that could not be searched
	Notices     []string `json:"notices,omitempty"`
}
