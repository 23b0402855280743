package api

// MendRequest asks for what lies in rewind's own directory and is another user's. Only a process that is started for it
// answers, no daemon.
type MendRequest struct {
	DryRun bool `json:"dry_run,omitempty"` // it is only listed
}

// MendResponse is what in rewind's own directory belonged to another user than the directory, and what became of it.
type MendResponse struct {
	Home    Text        `json:"home"`
	Owner   string      `json:"owner"` // to whom it was given back
	DryRun  bool        `json:"dry_run,omitempty"`
	Given   []MendEntry `json:"given"`   // have become the owner's
	Removed []MendEntry `json:"removed"` // of the run directory, where nothing is needed
	Aside   []MendEntry `json:"aside"`   // moved out of the way, by their new names
	Left    []MendEntry `json:"left"`
	Error   *Error      `json:"error,omitempty"` // what ended it early
}

// MendEntry is one of them.
type MendEntry struct {
	Path  Text   `json:"path"` // below home
	Owner string `json:"owner"`
	Why   string `json:"why,omitempty"` // why it was left
}
