package api

import "rewind/internal/value"

// PurgeRequest takes contents out of the store for good: those that were ever at Paths, those that Blobs names, and
// each one that contains Text or what was Found.
type PurgeRequest struct {
	Project
	Paths  []Text   `json:"paths,omitempty"` // relative to Dir
	Blobs  []string `json:"blobs,omitempty"` // ids of contents, or beginnings of them
	Text   Text     `json:"text,omitempty"`
	Found  []string `json:"found,omitempty"` // names of what was found in conversations: what stands there is such a text
	DryRun bool     `json:"dry_run,omitempty"`
	Env    AgentEnv `json:"env,omitzero"` // beside whose session files what a killed rewind left is removed
}

// PurgeResponse says what was taken out, or would be. It cannot be undone.
type PurgeResponse struct {
	DryRun bool `json:"dry_run"`
	value.Purged
	Elsewhere []PurgeElsewhere `json:"elsewhere,omitempty"` // other worktrees of the family that have it still
	Notices   []string         `json:"notices,omitempty"`
}

// PurgeElsewhere is a worktree whose store has what was asked for, or may have it.
type PurgeElsewhere struct {
	Worktree Text   `json:"worktree,omitempty"` // absent: it was removed, and its store stays
	Store    string `json:"store_id"`
	Contents int    `json:"contents"`
	Why      Text   `json:"why,omitempty"` // why it cannot be searched
}
