package api

import "rewind/internal/value"

// StoresRequest asks for all stores.
type StoresRequest struct{ Project }

// StoresResponse lists them by root.
type StoresResponse struct {
	Stores []Store   `json:"stores"`
	Trash  []Removed `json:"trash,omitempty"` // removed lately, the last first
}

// JoinRequest gives a store the request's directory, or the git repository that it is in.
type JoinRequest struct {
	Project
	Store string `json:"store_id"` // or the beginning of it
}

// JoinResponse says what became of it.
type JoinResponse struct {
	value.Join
	Notices []string `json:"notices,omitempty"`
}

// RemoveStoreRequest takes a store away that is no project's any more.
type RemoveStoreRequest struct {
	Project
	Store  string `json:"store_id"`      // or the beginning of it
	Now    bool   `json:"now,omitempty"` // for good, and not into the trash
	DryRun bool   `json:"dry_run,omitempty"`
}

// RemoveStoreResponse says what went, or would.
type RemoveStoreResponse struct {
	Store   Store    `json:"removed"`
	Trash   *Removed `json:"trash,omitempty"`    // where it lies now; absent: it is gone for good
	InTrash bool     `json:"in_trash,omitempty"` // it lay there, and is gone for good
}

// RestoreStoreRequest brings a store back that was removed lately.
type RestoreStoreRequest struct {
	Project
	Env    AgentEnv `json:"env"`
	Store  string   `json:"store_id"` // or the beginning of it
	DryRun bool     `json:"dry_run,omitempty"`
}

// RestoreStoreResponse says what came back, or would.
type RestoreStoreResponse struct {
	Removed Removed        `json:"restored"`        // as it lay in the trash
	Store   *Store         `json:"store,omitempty"` // as it is now
	Hooks   *HooksResponse `json:"hooks,omitempty"` // that had gone with it
	Notices []string       `json:"notices,omitempty"`
}

// AdoptRequest takes over a store that lies in the project and is not believed.
type AdoptRequest struct {
	Project
	DryRun bool `json:"dry_run,omitempty"`
}

// AdoptResponse is what lies there.
type AdoptResponse struct {
	value.Adoption
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Notices    []string    `json:"notices,omitempty"`
}

// WorktreesRequest asks for the worktrees of a project's family.
type WorktreesRequest struct {
	Project
	State bool `json:"state,omitempty"` // how each stands, too
}

// WorktreesResponse lists them, the project that all were made of first.
type WorktreesResponse struct {
	Worktrees []Worktree `json:"worktrees"`
	Notices   []string   `json:"notices,omitempty"`
}

// RemoveWorktreeRequest takes the directory of a worktree away, after its state was saved in its store, which stays.
type RemoveWorktreeRequest struct {
	Project
	Worktree Text `json:"worktree"`        // an absolute path
	Force    bool `json:"force,omitempty"` // also with files that no checkpoint has, and under an agent that is at work there
	DryRun   bool `json:"dry_run,omitempty"`
}

// RemoveWorktreeResponse says what went, or would.
type RemoveWorktreeResponse struct {
	Worktree   Worktree    `json:"removed"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"` // its last state
	Lost       []Text      `json:"lost,omitempty"`       // what no checkpoint has, from its root
	Notices    []string    `json:"notices,omitempty"`
}
