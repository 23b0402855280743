package value

import "time"

// Worktree is a directory of a family: a project, or one that was made of it to try something else beside it.
type Worktree struct {
	ID         string    `json:"store_id"`
	Root       Text      `json:"root"`
	Of         string    `json:"of,omitempty"` // the store of the project that it was made of; "": of none, it is the first
	Created    time.Time `json:"created"`
	Unfinished bool      `json:"unfinished,omitempty"` // it was being made, and its files are not all there
	Wrong      Text      `json:"wrong,omitempty"`      // why it cannot be worked in: it is gone, or another directory now
	Here       bool      `json:"here,omitempty"`       // it is the one that was asked from

	State *WorktreeState `json:"state,omitempty"` // nil: it was not asked for, or cannot be told, which wrong says
}

// WorktreeState is how a worktree stands.
type WorktreeState struct {
	Session     string   `json:"session"` // on whose branch: agent/id, or manual
	Title       Text     `json:"title,omitempty"`
	Checkpoint  string   `json:"checkpoint,omitempty"` // where on it
	Checkpoints int      `json:"checkpoints"`          // since the worktree was made; of the first of a family 0, as what follows
	Files       int      `json:"files"`                // that differ since
	Added       int      `json:"added"`                // lines of them
	Removed     int      `json:"removed"`
	Running     []string `json:"running,omitempty"` // sessions whose agents are at work there
	Unsaved     int      `json:"unsaved"`           // files that differ from what is saved
}
