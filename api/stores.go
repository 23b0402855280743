package api

import "time"

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
	Store   Store    `json:"joined"`
	Was     Text     `json:"was,omitempty"`  // its directory until now
	Left    string   `json:"left,omitempty"` // the store that the directory had; it stays, of no directory
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

// AdoptResponse is what lies there, as it looks from outside; what the store says of itself may be wrong.
type AdoptResponse struct {
	Root       Text        `json:"root"`
	Store      Text        `json:"store"`
	ID         Text        `json:"says_store_id,omitempty"`
	Of         Text        `json:"says_root,omitempty"`
	Created    *time.Time  `json:"says_created,omitempty"`
	Mode       string      `json:"mode"`
	Changed    time.Time   `json:"changed"` // when a file in it changed last
	DiskBytes  int64       `json:"disk_bytes"`
	Files      int         `json:"files"`
	Owner      Text        `json:"owner"`
	Why        Text        `json:"why"` // it is not believed
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Notices    []string    `json:"notices,omitempty"`
}
