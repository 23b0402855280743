package api

import "time"

// SessionInfo is a conversation with an agent: one that events came from, that was imported, or that a fork made.
type SessionInfo struct {
	ID       string    `json:"session_id"` // the agent's
	Session  string    `json:"session"`    // agent/id: the name everywhere
	Agent    Agent     `json:"agent"`
	Title    Text      `json:"title,omitempty"`   // as the agent's list shows it
	Path     Text      `json:"path,omitempty"`    // of its session file
	Missing  bool      `json:"missing,omitempty"` // the file is not there any more; what was captured is
	Loss     string    `json:"loss,omitempty"`    // gone, cut: what its file has not any more of what was captured; absent: nothing
	Turns    int       `json:"turns"`
	Messages int       `json:"messages"`
	Bytes    int64     `json:"bytes"` // of the conversation
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Running  bool      `json:"running,omitempty"` // the agent has it open, as far as can be seen
	Current  bool      `json:"current,omitempty"`
	Imported bool      `json:"imported,omitempty"` // no event came from it: its code was not captured
	Newest   string    `json:"newest,omitempty"`   // its newest checkpoint
	Fork     *Lineage  `json:"fork,omitempty"`     // of a fork or clone
	Problem  Text      `json:"problem,omitempty"`  // why its conversation is not captured
	Resume   []string  `json:"resume,omitempty"`   // the command line that opens it
	Standing string    `json:"standing,omitempty"` // main: promoted; archived; deleted
	Worktree Text      `json:"worktree,omitempty"` // the other worktree of the family in which it goes on; absent: here
}

// BringBackRequest has a conversation laid out again that its agent has lost.
type BringBackRequest struct {
	Project
	Session string   `json:"session"`
	Env     AgentEnv `json:"env"`
	DryRun  bool     `json:"dry_run,omitempty"`
}

// BringBackResponse is the session that has it.
type BringBackResponse struct {
	Session   string   `json:"session"` // whose conversation it is
	Path      Text     `json:"path"`    // the file
	Turns     uint64   `json:"turns"`
	Fork      *Fork    `json:"fork,omitempty"` // a new session has it, since something else is in the file of its own
	Resume    []string `json:"resume,omitempty"`
	Operation uint64   `json:"operation,omitempty"` // what undo-restore takes
	DryRun    bool     `json:"dry_run,omitempty"`
	Notices   []string `json:"notices,omitempty"`
}

// SessionsRequest lists sessions, newest first. Import takes in the agents' sessions of this project that are not known
// yet.
type SessionsRequest struct {
	Project
	Env    AgentEnv `json:"env"`
	Import bool     `json:"import,omitempty"`
	All    bool     `json:"all,omitempty"`   // archived and deleted ones, too
	Limit  int      `json:"limit,omitempty"` // at most so many, the newest; 0: all
}

// SessionsResponse is newest first.
type SessionsResponse struct {
	Sessions []SessionInfo `json:"sessions"`
	Imported int           `json:"imported"`
	Hidden   int           `json:"hidden,omitempty"` // archived and deleted ones that are left out
	Older    int           `json:"older,omitempty"`  // that the limit leaves out
	Passed   []Text        `json:"passed,omitempty"` // session files that are none that could be imported, and why
	Failed   []Text        `json:"failed,omitempty"` // session files that could not be imported, and why
	Notices  []string      `json:"notices,omitempty"`
}

// TurnsRequest lists a session's turns.
type TurnsRequest struct {
	Project
	Walk
	Limit int `json:"limit,omitempty"` // at most so many, the newest; 0: all
}

// TurnsResponse is in order.
type TurnsResponse struct {
	Session string `json:"session"`
	Title   Text   `json:"title,omitempty"`
	Turns   []Turn `json:"turns"`
	More    bool   `json:"more"` // earlier ones were left out
	// of a fork that nobody has gone on with: the session that it was made of, if that one has more turns
	Left        string       `json:"left,omitempty"`
	LeftTurns   int          `json:"left_turns,omitempty"` // how many
	Compactions []Compaction `json:"compactions,omitempty"`
	Breaks      []Break      `json:"breaks,omitempty"`
	Notices     []string     `json:"notices,omitempty"`
	At          uint64       `json:"at,omitempty"`     // the turn that the project stands in, or at the end of, left out or not; 0: in none
	OwnAt       uint64       `json:"own_at,omitempty"` // the same of where the session stands: beside other agents the project may stand on one of them
	Whose       string       `json:"whose,omitempty"`  // as of a Checkpoint
	Loss        string       `json:"loss,omitempty"`   // as of a session
}

// FutureRequest asks for the turns behind the point that a session has gone back to.
type FutureRequest struct {
	Project
	Walk
}

// FutureResponse has them in stretches, the nearest first.
type FutureResponse struct {
	Session string   `json:"session"`
	Title   Text     `json:"title,omitempty"`
	At      uint64   `json:"at"` // the turn in which the project stands, or with which the session ends; 0: before the first prompt
	Ahead   []Ahead  `json:"ahead"`
	Notices []string `json:"notices,omitempty"`
}

// Ahead is a stretch of turns that lie behind the point to which somebody has gone back.
type Ahead struct {
	Session string `json:"session"` // whose turns they are
	Title   Text   `json:"title,omitempty"`
	After   uint64 `json:"after"` // the turn of that session behind which they lie
	// code: the code alone went back; fork: this session was forked there; cut: off its file; agent: in the agent
	// itself
	Why       string `json:"why"`
	Operation uint64 `json:"operation,omitempty"` // that cut the file
	Turns     []Turn `json:"turns"`
}

// Turn is a prompt with all that answered it.
type Turn struct {
	Turn        uint64    `json:"turn"` // from 1; turn:N names its end
	Prompt      Text      `json:"prompt"`
	UserMessage string    `json:"user_message,omitempty"`
	LastMessage string    `json:"last_message,omitempty"`
	Time        time.Time `json:"time"`
	Messages    int       `json:"messages"`
	Checkpoints int       `json:"checkpoints"`
	Checkpoint  string    `json:"checkpoint,omitempty"` // the state of the code at its end; none: not captured
	Gone        bool      `json:"gone,omitempty"`       // the conversation was rewound behind it; it can still be forked
	Cut         bool      `json:"cut,omitempty"`        // its number came again: turn:N is another one, and its checkpoint names this one
}

// Compaction is a place where the agent replaced what came before by a summary.
type Compaction struct {
	Turn int `json:"turn"` // in it, or behind it
}

// Break is a place where a session file goes on from something that is not in it: the agent finds nothing of what came
// before.
type Break struct {
	Turn int `json:"turn"` // in it; 0: before the first
	Line int `json:"line"` // of the session file
}

// ForkRequest makes a new session of the beginning of one.
type ForkRequest struct {
	Project
	Walk
	Env        AgentEnv `json:"env"`
	Checkpoint Text     `json:"checkpoint"` // or turn:N
	Title      Text     `json:"title,omitempty"`
	Checkout   bool     `json:"checkout,omitempty"` // the code goes there too
	Exact      bool     `json:"exact,omitempty"`    // of Checkout
	DryRun     bool     `json:"dry_run,omitempty"`
	Plan       string   `json:"plan,omitempty"`      // of Checkout: as in a Wish
	SelfTest   bool     `json:"self_test,omitempty"` // make it, check it, take it away again
	// Worktree is an absolute path: the state is laid out there, and the session goes on there. Of the project's
	// directories that no checkpoint has, it gets links to those of Link, and copies of those of Copy, paths from the
	// root
	Worktree Text   `json:"worktree,omitempty"`
	Link     []Text `json:"link,omitempty"`
	Copy     []Text `json:"copy,omitempty"`
	New      bool   `json:"new,omitempty"` // although one of the same place, title and code that nobody has used would serve
}

// CloneRequest copies a whole session as a new one.
type CloneRequest struct {
	Project
	Walk
	Env   AgentEnv `json:"env"`
	Title Text     `json:"title,omitempty"`
}

// Fork is a session that was made of another, or with a dry run would be. A dry run of a restore makes none: the
// session has no id then, and no path and no command, unless it is there already.
type Fork struct {
	ID        string  `json:"session_id,omitempty"` // the agent's
	Session   string  `json:"session,omitempty"`    // agent/id
	Agent     Agent   `json:"agent"`
	Title     Text    `json:"title"`
	Path      Text    `json:"path,omitempty"`
	From      Lineage `json:"from"`
	Whose     string  `json:"whose,omitempty"` // what the session that it was made of is called beside a turn, as of a Checkpoint
	Messages  int     `json:"messages"`
	Dropped   int     `json:"dropped,omitempty"`   // records between the place asked for and the last safe one
	Why       Text    `json:"why,omitempty"`       // why it does not end at the place asked for
	Dangling  string  `json:"dangling,omitempty"`  // of a clone: the tool that runs at its end; the agent answers that call itself
	Broken    *Break  `json:"broken,omitempty"`    // the newest that the model cannot look behind
	Compacted bool    `json:"compacted,omitempty"` // the model sees a summary of what came before its newest compaction
	// the original was compacted later: the model sees again what it had forgotten there
	Before  bool     `json:"before_compaction,omitempty"`
	Bytes   int64    `json:"bytes"`
	Resume  []string `json:"resume,omitempty"`  // the command line that opens it
	Listed  bool     `json:"listed"`            // the agent's own list shows it
	Problem Text     `json:"problem,omitempty"` // why not
	Checks  []Text   `json:"checks,omitempty"`  // of a self-test: what was found good
}

// ForkResponse is the new session; of a fork with Checkout also what became of the code.
type ForkResponse struct {
	Fork
	Reused   bool             `json:"reused,omitempty"` // it was there, and nobody had used it
	Restore  *RestoreResponse `json:"restore,omitempty"`
	Worktree Text             `json:"worktree,omitempty"` // the directory that was made
	Cwd      Text             `json:"cwd,omitempty"`      // where in it the session goes on
	Paths    int              `json:"paths,omitempty"`    // files, links and directories in it
	Linked   []Linked         `json:"linked,omitempty"`   // of Link and Copy
	Notices  []string         `json:"notices,omitempty"`
}

// Linked is a directory that a worktree has of its project's, or why it does not have it.
type Linked struct {
	Path Text `json:"path"`
	Copy bool `json:"copy,omitempty"` // else it is a link
	Why  Text `json:"why,omitempty"`  // it is not there; "": it is
}

// Conversation is what a restore did to the conversation.
type Conversation struct {
	// fork: a new session; in-place: the session file was set back; original: the session as it is; back: what a
	// restore did was taken back; none
	Mode    string   `json:"mode"`
	Why     Text     `json:"why,omitempty"` // of none and original
	Fork    *Fork    `json:"fork,omitempty"`
	Session string   `json:"session,omitempty"` // the session to go on with
	Resume  []string `json:"resume,omitempty"`
	Path    Text     `json:"path,omitempty"`
	Turn    int      `json:"turn,omitempty"`    // that it ends with now
	Version bool     `json:"version,omitempty"` // of in-place: the file was not cut, but became another version of itself
	Removed []Text   `json:"removed,omitempty"` // session files of forks that nobody had used
	Kept    []Text   `json:"kept,omitempty"`    // session files that somebody has used meanwhile: left as they are
	Whose   string   `json:"whose,omitempty"`   // as of a Checkpoint
}

// ForksRequest lists the forks of a project, or shows one.
type ForksRequest struct {
	Project
	Env  AgentEnv `json:"env"`
	Fork string   `json:"fork,omitempty"` // a session, or a prefix of its id; empty: all
	All  bool     `json:"all,omitempty"`  // archived and deleted ones, too
}

// ForksResponse is newest first.
type ForksResponse struct {
	Forks   []ForkInfo `json:"forks"`
	Hidden  int        `json:"hidden,omitempty"` // archived and deleted ones that are left out
	Notices []string   `json:"notices,omitempty"`
}

// ForkInfo is a fork and where it comes from, the first session last.
type ForkInfo struct {
	SessionInfo
	Branch  string    `json:"branch"` // what a switch takes: the session's name, of a branch within it turn:n@session
	Lineage []Lineage `json:"lineage"`
	Own     int       `json:"own_turns"` // turns that it has beyond those it began with
}

// Message is one message of a conversation, as a person reads it. Its text is untrusted.
type Message struct {
	Who   string     `json:"who"` // user, assistant, tool, system
	Time  time.Time  `json:"time"`
	Text  Text       `json:"text,omitempty"`
	Cut   bool       `json:"cut,omitempty"`  // Text is only the beginning
	At    *int64     `json:"at,omitempty"`   // where it begins, in bytes of the conversation
	Turn  int        `json:"turn,omitempty"` // on a page: the turn in which it was said; absent: it comes before the first
	Calls []ToolCall `json:"calls,omitempty"`
}

// ToolCall is a call of a tool.
type ToolCall struct {
	Name   Text `json:"name"`
	Target Text `json:"target,omitempty"`
	ID     Text `json:"id,omitempty"`
}
