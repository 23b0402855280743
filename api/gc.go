package api

import "rewind/internal/value"

// GCRequest thins the history and removes what nothing leads to. Without Keep, Older and MaxSize it is the policy of
// the settings.
type GCRequest struct {
	Project
	DryRun  bool   `json:"dry_run,omitempty"`
	Keep    int    `json:"keep,omitempty"`     // checkpoints of each session
	Older   string `json:"older,omitempty"`    // an age such as 30d
	MaxSize string `json:"max_size,omitempty"` // such as 2GiB
}

// GCResponse is what went, or with a dry run would go.
type GCResponse struct {
	DryRun bool `json:"dry_run,omitempty"`
	value.Collected
	Notices []string `json:"notices,omitempty"`
}
