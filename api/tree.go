package api

import "time"

// TreeRequest asks for the tree of a session's family.
type TreeRequest struct {
	Project
	Session string `json:"session,omitempty"` // a session, or a prefix of its id; empty: the current one, or else the newest
	All     bool   `json:"all,omitempty"`     // all families, that one's first
	From    int    `json:"from,omitempty"`    // with a limit: the first branch that is told, from 0
	Own     bool   `json:"own,omitempty"`     // of forks tell what is their own
	Limit   int    `json:"limit,omitempty"`   // tell at most so many branches, and of all their places; 0: tell all
}

// TreeResponse is a family of sessions. Of root, parent, children, siblings, descendants and path the session that was
// asked for is meant.
type TreeResponse struct {
	Session     string   `json:"session,omitempty"` // that was asked for; empty: there is none
	Root        string   `json:"root,omitempty"`
	Current     string   `json:"current"` // where the project stands: agent/id, or manual
	Parent      string   `json:"parent,omitempty"`
	Children    []string `json:"children"`
	Siblings    []string `json:"siblings"`
	Descendants []string `json:"descendants"`
	Path        []string `json:"path"`             // from the root to the session, both included
	Branches    []Branch `json:"branches"`         // each behind what it was forked from
	From        int      `json:"from,omitempty"`   // the place of the first one; with a limit
	Places      []Place  `json:"places,omitempty"` // of all branches, in order; with a limit
	Others      int      `json:"others"`           // sessions of other families, which are not in it
	Notices     []string `json:"notices,omitempty"`
}

// Place is where a branch is in a tree.
type Place struct {
	Branch string `json:"branch"`
	Parent string `json:"parent,omitempty"`
	Depth  int    `json:"depth,omitempty"`
}

// Branch is a session of a tree, or a branch within one. Parents, children and so on are told by branch.
type Branch struct {
	Branch  string `json:"branch"`     // what a switch takes: the session's name, of a branch within it turn:n@session
	ID      string `json:"session_id"` // the agent's
	Session string `json:"session"`    // agent/id
	Agent   Agent  `json:"agent"`
	Title   Text   `json:"title,omitempty"` // as far as it is known without its file, or how its newest prompt begins
	ForkName
	Parent      string    `json:"parent,omitempty"`
	Children    []string  `json:"children"`
	Depth       int       `json:"depth"` // of the root: 0
	Turns       uint64    `json:"turns"`
	Fork        *Lineage  `json:"fork,omitempty"`
	Checkpoint  string    `json:"checkpoint,omitempty"` // the newest; of a fork that nobody has gone on with that of its fork point
	Git         *Head     `json:"git,omitempty"`        // the user's repository at that checkpoint
	Checkpoints int       `json:"checkpoints"`          // its own, since its fork point; of the root since its beginning, as all below
	Files       int       `json:"files"`                // that they changed, taken together
	Added       int       `json:"added"`                // lines
	Removed     int       `json:"removed"`
	Uncounted   int       `json:"uncounted,omitempty"` // files whose lines are not counted: large, binary, gone, or one of very many
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Current     bool      `json:"current,omitempty"`
	Running     bool      `json:"running,omitempty"`
	Rewound     bool      `json:"rewound,omitempty"` // it stands before its newest checkpoint
	Imported    bool      `json:"imported,omitempty"`
	Loss        string    `json:"loss,omitempty"`       // of its conversation, as of a session
	Standing    string    `json:"standing,omitempty"`   // main: promoted; archived
	Left        []int     `json:"left_turns,omitempty"` // of a branch within a session: its turns; fork.time is when it was left
	Worktree    Text      `json:"worktree,omitempty"`   // the other worktree of the family in which it goes on; absent: here
	Conflicts   []Clash   `json:"conflicts,omitempty"`  // with siblings, and with what it was forked from; the first 8
	Clashes     int       `json:"clashes,omitempty"`    // how many there are
}

// ForkName is what tells a fork from others. A tree and a list have it where it was asked for.
type ForkName struct {
	OwnPrompt Text `json:"own_prompt,omitempty"`     // how the first prompt begins that it was given itself; absent: none was
	Borrowed  bool `json:"borrowed_title,omitempty"` // its title is only that of what it was forked from
}

// Clash is another branch that has changed files which one has changed too, each since its own fork point.
type Clash struct {
	Session string `json:"session"`
	Files   int    `json:"files"`
	Paths   []Text `json:"paths"` // the first 8 of them
}
