package api

import "time"

// CompareRequest compares two branches since what they have in common.
type CompareRequest struct {
	Project
	Walk
	A       Text   `json:"a"`           // a session, its title, or a checkpoint; of another worktree <dir>, or <dir>:<name>
	B       Text   `json:"b,omitempty"` // empty: of fork:x the newest state of x, else "@"
	Paths   []Text `json:"paths,omitempty"`
	Context int    `json:"context"`
	NoHunks bool   `json:"no_hunks,omitempty"` // only how many lines
}

// CompareResponse is how two branches differ.
type CompareResponse struct {
	Ancestor   *Ancestor   `json:"ancestor,omitempty"` // absent: they have nothing in common; neither side has files or steps then
	NoFork     Text        `json:"no_fork,omitempty"`  // why a fork did not lead to the ancestor, where it should have
	A          CompareSide `json:"a"`
	B          CompareSide `json:"b"`
	Conflicts  []Overlap   `json:"conflicts"`  // every path that both changed, in the order of a walk; the verdict says which collide
	Collide    int         `json:"collide"`    // of them
	Divergence float64     `json:"divergence"` // from 0 to 1
	Notices    []string    `json:"notices,omitempty"`
}

// Ancestor is the newest state that two branches go on from.
type Ancestor struct {
	Session    string    `json:"session"` // that the checkpoint is of
	Checkpoint string    `json:"checkpoint"`
	Short      string    `json:"short"`
	Turn       uint64    `json:"turn,omitempty"`
	Event      string    `json:"event"`
	Message    Text      `json:"message,omitempty"`
	Prompt     Text      `json:"prompt,omitempty"`
	Commit     string    `json:"commit,omitempty"` // where the user's git repository stood then
	Branch     string    `json:"branch,omitempty"`
	Time       time.Time `json:"time"`
	Found      string    `json:"found"` // fork: by the forks between the sessions; history: both descend from it
}

// CompareSide is what one branch did since the common ancestor.
type CompareSide struct {
	Session string `json:"session"`
	Agent   Agent  `json:"agent,omitempty"`
	Title   Text   `json:"title,omitempty"`
	ForkName
	Whole       bool          `json:"whole,omitempty"`    // the session was named: up to its newest state
	Worktree    Text          `json:"worktree,omitempty"` // the other worktree of the family that it lies in; absent: here
	Tip         Checkpoint    `json:"tip"`
	Checkpoints int           `json:"checkpoints"`
	IDs         []string      `json:"ids"`   // of those, the oldest first
	Turns       []CompareTurn `json:"turns"` // the oldest first
	Files       []FileDiff    `json:"files"`
	Added       int           `json:"added"` // lines of all files
	Removed     int           `json:"removed"`
	Others      []Wrote       `json:"others,omitempty"` // what of the files somebody else changed, alone or too
}

// CompareTurn is a turn since the common ancestor.
type CompareTurn struct {
	Session     string    `json:"session"`
	Turn        uint64    `json:"turn"`
	Whose       string    `json:"whose,omitempty"`  // as of a Checkpoint
	Prompt      Text      `json:"prompt,omitempty"` // how it begins
	Time        time.Time `json:"time"`
	Checkpoints int       `json:"checkpoints"` // 0: it changed nothing
}

// Wrote are paths that a session changed.
type Wrote struct {
	By    string `json:"by,omitempty"` // absent: they were changed from outside
	Paths []Text `json:"paths"`
}

// SinceFork is what a session did since its fork point.
type SinceFork struct {
	Fork        Lineage     `json:"fork"`
	Current     *Checkpoint `json:"current"` // where the session stands
	Checkpoints int         `json:"checkpoints"`
	Added       int         `json:"added"` // lines
	Removed     int         `json:"removed"`
}
