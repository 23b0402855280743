package api

import "time"

// PathsRequest lists the checkpoints that changed some paths.
type PathsRequest struct {
	Project
	Paths    []Text `json:"paths,omitempty"`     // files, directories and patterns; none: every path
	NoFollow bool   `json:"no_follow,omitempty"` // a file that was renamed is another one
	Text     Text   `json:"text,omitempty"`      // only what changed how often this occurs in a file
	Changed  Text   `json:"changed,omitempty"`   // only what added or removed a line in which this expression matches
	Filter
	Graph bool `json:"graph,omitempty"` // each checkpoint says which one it goes on from
	All   bool `json:"all,omitempty"`   // safety checkpoints, too
	Limit int  `json:"limit,omitempty"` // 0: all
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

// GrepRequest searches the files of all checkpoints, and what was said.
type GrepRequest struct {
	Project
	Pattern      Text   `json:"pattern"` // an expression of RE2
	Fixed        bool   `json:"fixed,omitempty"`
	IgnoreCase   bool   `json:"ignore_case,omitempty"`
	Word         bool   `json:"word,omitempty"`
	Code         bool   `json:"code,omitempty"`
	Conversation bool   `json:"conversation,omitempty"`
	Once         bool   `json:"once,omitempty"`  // of conversations: what forks have as a copy counts once
	Names        bool   `json:"names,omitempty"` // files whose path matches
	Now          bool   `json:"now,omitempty"`   // only the files as they are now
	Paths        []Text `json:"paths,omitempty"`
	All          bool   `json:"all,omitempty"`     // safety checkpoints, too
	Session      string `json:"session,omitempty"` // only its checkpoints and its conversation
	Before       int    `json:"before,omitempty"`  // lines before a match
	After        int    `json:"after,omitempty"`
	Limit        int    `json:"limit,omitempty"` // at most so many matches; 0: 10,000, which is also the most
}

// GrepResponse is by path, and in a file by line.
type GrepResponse struct {
	Matches []Match `json:"matches"`
	Names   []Match `json:"names,omitempty"` // files whose path matches, without a line
	Said    []Said  `json:"said,omitempty"`  // session by session
	More    bool    `json:"more"`
	Unread  []Text  `json:"unread,omitempty"` // conversations that could not be searched, and why
	Unsearched
	Notices []string `json:"notices,omitempty"`
}

// Match is a line that matches, once for all checkpoints in which the file has it.
type Match struct {
	Path   Text        `json:"path"`
	Line   int         `json:"line,omitempty"` // in the newest of them
	Text   Text        `json:"text"`
	Cut    bool        `json:"cut,omitempty"`    // the line is longer
	Binary bool        `json:"binary,omitempty"` // no text: it matches somewhere
	Before []Text      `json:"before,omitempty"`
	After  []Text      `json:"after,omitempty"`
	Spans  []FoundSpan `json:"spans,omitempty"` // oldest first
	Older  int         `json:"older,omitempty"` // spans that are left out
	Now    bool        `json:"now"`             // it is in the newest state that is known
}

// FoundSpan is a run of checkpoints that have a line.
type FoundSpan struct {
	First Moment  `json:"first"`
	Last  Moment  `json:"last"`
	Gone  *Moment `json:"gone,omitempty"` // the next one, which has it no more
}

// Moment is a checkpoint as a person knows it.
type Moment struct {
	ID      string    `json:"id"`
	Short   string    `json:"short"`
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Agent   Agent     `json:"agent,omitempty"`
	Turn    uint64    `json:"turn,omitempty"`
	Prompt  Text      `json:"prompt,omitempty"`
	Event   string    `json:"event"`
	Tool    *Tool     `json:"tool,omitempty"`
	Target  Text      `json:"target,omitempty"` // of a step that was found during a call, what that was about: a path or a command
	Message Text      `json:"message,omitempty"`
	Safety  bool      `json:"safety,omitempty"`
	Merged  uint64    `json:"merged,omitempty"`  // older steps that gc has merged into it: what is said of it may be true of one of them
	Whose   string    `json:"whose,omitempty"`   // as of a Checkpoint
	Outside bool      `json:"outside,omitempty"` // of a found span, where the line came or went: nobody's call changed the file there
}

// BlameRequest asks where the lines of a file come from.
type BlameRequest struct {
	Project
	Walk
	Path       Text `json:"path"`
	Checkpoint Text `json:"checkpoint,omitempty"` // empty: the current one
	First      int  `json:"first,omitempty"`      // lines from 1, both included; 0: from the beginning, to the end
	Last       int  `json:"last,omitempty"`
	AnySpace   bool `json:"any_space,omitempty"` // white space in a line counts for nothing
}

// BlameResponse is line by line.
type BlameResponse struct {
	Checkpoint Moment       `json:"checkpoint"`
	Path       Text         `json:"path"`
	First      int          `json:"first"`
	Lines      []BlamedLine `json:"lines"`
	Origins    []Origin     `json:"origins"` // each checkpoint that some line comes from
	Notices    []string     `json:"notices,omitempty"`
}

// Commit is one of the user's git repository.
type Commit struct {
	ID      string    `json:"id"`
	Author  Text      `json:"author"`
	Time    time.Time `json:"time"`
	Summary Text      `json:"summary"`
}

// Origin is a checkpoint that brought lines.
type Origin struct {
	Moment
	Path   Text     `json:"path"`             // the file's name then
	By     []string `json:"by,omitempty"`     // the sessions, as agent/id, whose change it was; none: it came from outside
	Before bool     `json:"before,omitempty"` // the first checkpoint: its lines are older than rewind's memory
	Git    *Head    `json:"git,omitempty"`    // of such a one: where the user's git stood then
	// the commit that brought the lines; path and line are that one's, from the repository's top
	Commit *Commit `json:"commit,omitempty"`
	Older  bool    `json:"older,omitempty"`    // it had the lines before: gc has merged the step that brought them into another
	Prior  string  `json:"previous,omitempty"` // the checkpoint before it that has the file
	Was    Text    `json:"previous_path,omitempty"`
}
