package api

// PathsRequest lists the checkpoints that changed some paths.
type PathsRequest struct {
	Project
	Paths    []Text `json:"paths,omitempty"`     // files, directories and patterns; none: every path
	NoFollow bool   `json:"no_follow,omitempty"` // a file that was renamed is another one
	Text     Text   `json:"text,omitempty"`      // only what changed how often this occurs in a file
	Changed  Text   `json:"changed,omitempty"`   // only what added or removed a line in which this expression matches
	All      bool   `json:"all,omitempty"`       // safety checkpoints, too
	Session  string `json:"session_id,omitempty"`
	Limit    int    `json:"limit,omitempty"` // 0: all
}

// PathsResponse is newest first.
type PathsResponse struct {
	Checkpoints []PathsCheckpoint `json:"checkpoints"`
	More        bool              `json:"more"` // older ones were left out by the limit
	Unsearched
	Notices []string `json:"notices,omitempty"`
}

// PathsCheckpoint is a checkpoint with what it changed of the paths that were asked for.
type PathsCheckpoint struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Changes    []Change   `json:"changes"`
}

// Unsearched are paths of which some version was not searched.
type Unsearched struct {
	TooLarge []Text `json:"too_large,omitempty"`
	Gone     []Text `json:"gone,omitempty"` // purged or lost
}
