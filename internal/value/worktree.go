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
}
