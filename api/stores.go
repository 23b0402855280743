package api

import "rewind/internal/value"

// StoresRequest asks for all stores.
type StoresRequest struct{ Project }

// StoresResponse lists them by root.
type StoresResponse struct {
	Stores []Store `json:"stores"`
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
	Store  string `json:"store_id"` // or the beginning of it
	DryRun bool   `json:"dry_run,omitempty"`
}

// RemoveStoreResponse says what went, or would.
type RemoveStoreResponse struct {
	Store Store `json:"removed"`
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
