package value

import "time"

// SessionChoice says which session's line a command walks along.
type SessionChoice struct {
	Session string `json:"session,omitempty"` // a session's name, agent/id, or a prefix of the id; "": the current one
	Choose  bool   `json:"choose,omitempty"`  // when several are at work, take the newest and say so instead of refusing
}

// Lineage is where a fork or clone comes from: its fork point.
type Lineage struct {
	Session    string    `json:"session"`              // the name of the session that it was made of
	Turn       int       `json:"turn"`                 // the last turn that both have, as that session counts
	Message    string    `json:"message,omitempty"`    // the last message of that session that both have
	Checkpoint string    `json:"checkpoint,omitempty"` // id of the checkpoint that it was made at
	Time       time.Time `json:"time"`
	Clone      bool      `json:"clone,omitempty"`
	Kind       string    `json:"kind"`              // fork, clone, checkout, undo, redo: the command that made it; agent: the agent itself
	How        Found     `json:"how,omitempty"`     // how it became known
	Commit     string    `json:"commit,omitempty"`  // where the user's git repository stood at the checkpoint, hex
	Branch     string    `json:"branch,omitempty"`  // and on which branch; "" when detached
	Child      string    `json:"child,omitempty"`   // the name of the fork; in answers alone, as all below
	Depth      int       `json:"depth,omitempty"`   // forks between it and the session that its family begins with; of that: 0
	NoCode     Text      `json:"no_code,omitempty"` // why it has no checkpoint
	GitBy      GitBy     `json:"git_by,omitempty"`  // how the commit was found where no code was captured
	NoGit      []Text    `json:"no_git,omitempty"`  // what of the user's repository could not be read at the checkpoint, below .git
}

// Who makes forks, in a word; Lineage.Maker.
const (
	ForkMade    = "fork"    // a person, by rewind
	ForkClone   = "clone"   // the same, of a whole session
	ForkRestore = "restore" // whatever went back: checkout, undo, redo, ...
	ForkAgent   = "agent"   // the agent itself
)

// ForkMakers are those words.
func ForkMakers() []string { return []string{ForkMade, ForkClone, ForkRestore, ForkAgent} }

// Maker says who made the fork.
func (l *Lineage) Maker() string {
	switch {
	case l.Kind == ForkAgent:
		return ForkAgent
	case l.Clone:
		return ForkClone
	case l.Kind == ForkMade:
		return ForkMade
	}
	return ForkRestore
}

// GitBy is how it became known on which commit a fork of which no code was captured was made.
type GitBy string

// The ways to find that commit; "": it was noted, or nobody asked.
const (
	GitByHeadLog GitBy = "reflog"  // HEAD's log says where it stood then
	GitByBranch  GitBy = "branch"  // the newest one of then of the branch that the agent's record names
	GitUnknown   GitBy = "unknown" // neither tells
)

// Found is how it became known that a session was made of another one.
type Found string

// The ways to find a fork; "": a record of before they were told apart.
const (
	FoundMade    Found = "rewind"  // rewind made it
	FoundHeader  Found = "header"  // its file names the other session
	FoundIDs     Found = "ids"     // it begins with records of the other one, under their ids
	FoundParent  Found = "parent"  // within one file: a message has two children
	FoundRecord  Found = "record"  // within one file: a record says that the person went back
	FoundContent Found = "content" // it begins as the other one does: what was said when, calls, the model's ids of messages
)

// Head is where the user's git repository stood.
type Head struct {
	Commit string `json:"commit,omitempty"` // hex
	Branch string `json:"branch,omitempty"` // "" when detached
}
