package api

import (
	"time"

	"rewind/internal/value"
)

// Project is part of every request: any directory in the project. Paths of a request are relative to it.
type Project struct {
	Dir Text `json:"dir"`
}

// ProjectDir is the directory of the request.
func (p Project) ProjectDir() string { return string(p.Dir) }

// Checkpoint is a checkpoint.
type Checkpoint struct {
	ID       string    `json:"id"`
	Short    string    `json:"short"` // shortest unique prefix that is shown
	Seq      uint64    `json:"seq"`   // the order of checkpoints
	Time     time.Time `json:"time"`
	Session  string    `json:"session"` // agent/id, or manual
	Agent    Agent     `json:"agent,omitempty"`
	Turn     uint64    `json:"turn,omitempty"`
	Prompt   Text      `json:"prompt,omitempty"` // how the turn's prompt begins
	Event    string    `json:"event"`            // init, save, undo, safety, or an agent's: prompt, post-tool-use, ...
	Tool     *Tool     `json:"tool,omitempty"`
	By       []string  `json:"by,omitempty"`    // the sessions, as agent/id, whose tool calls ran while this changed; none: nobody's
	Late     bool      `json:"late,omitempty"`  // taken after the agent had been answered: what the event announces may have begun
	Minor    bool      `json:"minor,omitempty"` // folded in lists
	Message  Text      `json:"message,omitempty"`
	Tree     string    `json:"tree"`
	Parents  []string  `json:"parents"`
	Git      *Head     `json:"git,omitempty"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Added    int       `json:"added"`
	Modified int       `json:"modified"`
	Deleted  int       `json:"deleted"`
	Skipped  int       `json:"skipped"`
	Current  bool      `json:"current"`
	Safety   bool      `json:"safety"`
	// in a list: not on the branch, left behind by a later step or on another line of the family
	Aside  bool     `json:"aside,omitempty"`
	Tags   []string `json:"tags,omitempty"`
	Merged uint64   `json:"merged,omitempty"` // older steps that gc has merged into it: what it changed is what they all did
	Notes  []Text   `json:"notes,omitempty"`  // messages that were put on it later, the oldest first
	Target Text     `json:"target,omitempty"` // where asked for, or found during a call: what that was about, a path or a command
	Paths  []Text   `json:"paths,omitempty"`  // where asked for: how what it changed begins
	// where asked for: the row of the list that it goes on from; absent: nothing is before it
	Follows *Link `json:"follows,omitempty"`
	// what its session is called beside its turn; absent: the project has no other session
	Whose string `json:"whose,omitempty"`
}

// Change is how one path differs between two states.
type Change struct {
	Path        Text   `json:"path"`
	Status      string `json:"status"` // added, deleted, modified, mode, type, renamed, uncaptured
	RenamedFrom Text   `json:"renamed_from,omitempty"`
	OldMode     string `json:"old_mode,omitempty"` // git's notation: 100644, 120000, 040000
	NewMode     string `json:"new_mode,omitempty"`
	OldSize     int64  `json:"old_size,omitempty"`
	NewSize     int64  `json:"new_size,omitempty"`
	Gone        string `json:"gone,omitempty"` // purged or lost: one of the contents is not in the store any more
}

// Skip is a path that a snapshot did not capture, or captured with a flag.
type Skip struct {
	Path    Text   `json:"path"`
	Reason  string `json:"reason"`
	Size    int64  `json:"size,omitempty"`
	Changed bool   `json:"changed,omitempty"` // of a secret file: its content is not that of the checkpoint before
}

// InitRequest sets a project up.
type InitRequest struct {
	Project
	Mode   string `json:"mode,omitempty"` // global or project; empty: the existing one, else global
	DryRun bool   `json:"dry_run,omitempty"`
	// Settings accepts settings that lie there and would have rewind remember less: without it they are a refusal.
	Settings bool `json:"settings,omitempty"`
}

// InitResponse says what was set up.
type InitResponse struct {
	Root       Text        `json:"root"`
	Mode       string      `json:"mode"`
	Store      Text        `json:"store"`
	Exists     bool        `json:"exists"`             // it was set up already
	Offers     []Store     `json:"offers,omitempty"`   // stores of no directory, one of which could be this project's
	Doubtful   []string    `json:"doubtful,omitempty"` // of a dry run: settings that lie there and would have rewind remember less
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Skips      []Skip      `json:"skips,omitempty"`
	Notices    []string    `json:"notices,omitempty"`
}

// SaveRequest takes a checkpoint.
type SaveRequest struct {
	Project
	Session string `json:"session,omitempty"` // onto whose branch; empty: the current one's
	Message Text   `json:"message,omitempty"`
}

// SaveResponse is the new checkpoint, or the current one when nothing changed.
type SaveResponse struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Unchanged  bool       `json:"unchanged"`
	Noted      bool       `json:"noted,omitempty"`      // of an unchanged one: the message was put on it
	Uncaptured []Skip     `json:"uncaptured,omitempty"` // still there, but not captured any more
	Skips      []Skip     `json:"skips,omitempty"`
	Notices    []string   `json:"notices,omitempty"`
}

// DiffRequest compares two states; To empty is the worktree, From empty the current checkpoint.
type DiffRequest struct {
	Project
	Walk
	From    Text   `json:"from,omitempty"`
	To      Text   `json:"to,omitempty"`
	Paths   []Text `json:"paths,omitempty"`
	Context int    `json:"context"`
	NoText  bool   `json:"no_text,omitempty"`
	NoHunks bool   `json:"no_hunks,omitempty"` // only how many lines
	Back    bool   `json:"back,omitempty"`     // what going from To back to From changes; renames are told as what goes and what comes
	Since   bool   `json:"since,omitempty"`    // since the fork point of the session; From and To are empty
}

// DiffResponse lists what differs, in the order of a walk.
type DiffResponse struct {
	From    Checkpoint  `json:"from"`
	To      *Checkpoint `json:"to,omitempty"` // absent: the worktree
	Files   []FileDiff  `json:"files"`
	Since   *SinceFork  `json:"since,omitempty"`
	Notices []string    `json:"notices,omitempty"`
}

// FileDiff is one path of a diff.
type FileDiff struct {
	Change
	Note    string `json:"note,omitempty"` // why there are no hunks: binary, too_large, secret, purged, lost
	Added   int    `json:"added"`          // lines
	Removed int    `json:"removed"`
	Hunks   []Hunk `json:"hunks,omitempty"`
	OldID   string `json:"old_id,omitempty"` // with Back: of the content, for a Part
}

// CatRequest asks for a file as it was. A path that begins with "./" or "../" is relative to Dir, any other to the
// root.
type CatRequest struct {
	Project
	Walk
	Checkpoint Text `json:"checkpoint"`
	Path       Text `json:"path"`
}

// EntriesRequest asks for names to choose from: those in a directory of a checkpoint. Path is as in a CatRequest. With
// Touched they are the paths of files that the newest checkpoints changed.
type EntriesRequest struct {
	Project
	Walk
	Checkpoint Text `json:"checkpoint,omitempty"`
	Path       Text `json:"path,omitempty"`
	Touched    bool `json:"touched,omitempty"`
}

// EntriesResponse has them: a directory's with a slash behind, paths relative to Root.
type EntriesResponse struct {
	Root    Text   `json:"root"`
	Entries []Text `json:"entries"`
}

// CheckoutRequest sets the worktree to a checkpoint, or ends an unfinished restore.
type CheckoutRequest struct {
	Project
	Walk
	Wish
	Checkpoint Text   `json:"checkpoint,omitempty"`
	Paths      []Text `json:"paths,omitempty"`
	Parts      []Part `json:"parts,omitempty"` // only these, instead of Paths
	Continue   bool   `json:"continue,omitempty"`
	Abort      bool   `json:"abort,omitempty"`
	Tag        Text   `json:"tag,omitempty"` // for the state before; one that exists is refused
	Merging
}

// Merging is what is to become of what others changed since, too: what goes is taken out of it. Where that does not go
// cleanly the path stays, or with Merge has markers. Steps (undo of no session, redo) take it out with Merge
// alone.
type Merging struct {
	TakeBack bool   `json:"take_back,omitempty"` // of a checkout: what the session's line did goes, and nothing else
	KeepMine bool   `json:"keep_mine,omitempty"` // what a person changed since stays
	Merge    bool   `json:"merge,omitempty"`
	Prefer   string `json:"prefer,omitempty"`  // as in a MergeRequest
	Becomes  int    `json:"becomes,omitempty"` // of a dry run: the answer's Becomes has so many files at most
}

// SwitchRequest sets the worktree to the newest state of a session's branch, and has that session go on.
type SwitchRequest struct {
	Project
	Wish
	Branch Text `json:"branch"`        // a session: its id, or how that begins, or its title; "-": the one before
	Tag    Text `json:"tag,omitempty"` // for the state before; one that exists is refused
	Merging
}

// Part is what is to become of one path, chosen from a diff with Back: all that differs (Whole), or some of it. OldMode
// and OldID are the diff's: where the path is not so any more, nothing is done.
type Part struct {
	Path    Text   `json:"path"` // from the project's root
	OldMode string `json:"old_mode,omitempty"`
	OldID   string `json:"old_id,omitempty"`
	Whole   bool   `json:"whole,omitempty"`
	Mode    bool   `json:"mode,omitempty"`  // the permissions
	Hunks   []Hunk `json:"hunks,omitempty"` // those of the diff, or others that take away no other lines
}

// Wish is what is asked of any restore.
type Wish struct {
	Env         AgentEnv `json:"env"`
	Exact       bool     `json:"exact,omitempty"` // what no checkpoint has, and what other sessions changed, too
	DryRun      bool     `json:"dry_run,omitempty"`
	Plan        string   `json:"plan,omitempty"`         // what a dry run of the same request has answered: this is done, or nothing
	CodeOnly    bool     `json:"code_only,omitempty"`    // the conversation is left alone
	ContextOnly bool     `json:"context_only,omitempty"` // the code is left alone
	InPlace     bool     `json:"in_place,omitempty"`     // the session file itself goes back, instead of a new session
	Force       bool     `json:"force,omitempty"`        // in place although the agent seems to have the session open
	Title       Text     `json:"title,omitempty"`        // of the new session
}

// ForwardRequest goes so many turns forward along the nearest stretch of a session's future.
type ForwardRequest struct {
	Project
	Walk
	Wish
	Turns int  `json:"turns"`
	Tag   Text `json:"tag,omitempty"` // for the state before; one that exists is refused
	Merging
}

// UndoRequest goes Steps back, or forward for redo. An undo of a named session takes back what that did, unless Exact.
type UndoRequest struct {
	Project
	Walk
	Wish
	Merging
	Steps int `json:"steps"`
}

// UndoRestoreRequest reverts a restore; Operation 0 is the newest in effect.
type UndoRestoreRequest struct {
	Project
	Wish
	Operation uint64 `json:"operation,omitempty"`
}

// MergeRequest brings what a change did into the worktree (pick), or takes it out (revert), by a three-way merge.
type MergeRequest struct {
	Project
	Walk
	Env    AgentEnv `json:"env"`
	Change Text     `json:"change,omitempty"` // a turn, a checkpoint, or a range "A..B"
	Of     string   `json:"of,omitempty"`     // of revert, instead of Change: all that this session wrote
	Paths  []Text   `json:"paths,omitempty"`
	Prefer string   `json:"prefer,omitempty"` // ours or theirs: how conflicts are settled; absent: pick writes them, revert only with Merge
	Merge  bool     `json:"merge,omitempty"`  // of revert: conflicts are written; else what a person changed goes and what a session did stays
	DryRun bool     `json:"dry_run,omitempty"`
	Plan   string   `json:"plan,omitempty"` // as in a Wish

	Becomes int `json:"becomes,omitempty"` // as in Merging
}

// RestoreResponse is what a restore did, or with a dry run would do.
type RestoreResponse struct {
	Kind         string        `json:"kind"`
	Target       Checkpoint    `json:"target"`
	DryRun       bool          `json:"dry_run"`
	Whose        string        `json:"whose,omitempty"`     // the session that goes back, as of a Checkpoint; absent: no session names the target, too
	Plan         string        `json:"plan,omitempty"`      // of a dry run, or where one was named: names exactly what would be done
	Parts        bool          `json:"parts,omitempty"`     // of the target only what was chosen
	Operation    uint64        `json:"operation,omitempty"` // 0: nothing was done
	Safety       *Checkpoint   `json:"safety,omitempty"`    // the state before
	Saved        *Checkpoint   `json:"saved,omitempty"`     // unsaved changes that became a step of their own
	Changed      int           `json:"changed"`
	Changes      []Change      `json:"changes"`
	Replaced     []Text        `json:"replaced,omitempty"`   // changed since the newest checkpoint; only Safety has their bytes
	Yours        []Text        `json:"yours,omitempty"`      // a person's, which went: Safety has their bytes
	Returned     []Text        `json:"returned,omitempty"`   // a person had removed them, and they are there again
	TakenBack    Text          `json:"taken_back,omitempty"` // the prompt in front of which it went back, whole
	TakenToo     []Text        `json:"taken_too,omitempty"`  // the other prompts that went out of the conversation, the oldest first
	TakenMore    int           `json:"taken_more,omitempty"` // how many more went behind those
	Kept         []Kept        `json:"kept,omitempty"`
	Taken        []Taken       `json:"taken,omitempty"` // others', and with exact what no checkpoint has
	Conflicts    []Conflict    `json:"conflicts,omitempty"`
	Worktree     Text          `json:"worktree,omitempty"`     // of pick, the other worktree that the change, and the target, are of
	Turn         Text          `json:"turn,omitempty"`         // of pick and revert of a turn, its name, with its session's where there are several
	Merges       []Merge       `json:"merges,omitempty"`       // of pick and revert, of each path of the change: what became of it; of others with Merge, of each from which something was to be taken
	Becomes      []FileDiff    `json:"becomes,omitempty"`      // of a dry run that asks for it: what the files of Merges become, from what they are now
	Mergeable    bool          `json:"mergeable,omitempty"`    // with Merge what goes would be taken out of a path that is kept for another session, or marked there
	KeptDirs     []Text        `json:"kept_dirs,omitempty"`    // directories that could not go: something is in them
	Without      []Without     `json:"without,omitempty"`      // set, but without something
	Missing      []Skip        `json:"missing,omitempty"`      // were there then, never captured, and are not there now
	NotCaptured  []Uncaptured  `json:"not_captured,omitempty"` // files that agents edited behind the target, and that are as they were left: no checkpoint has what they were
	GitThen      *Head         `json:"git_then,omitempty"`
	GitNow       *Head         `json:"git_now,omitempty"`
	GitGone      bool          `json:"git_gone,omitempty"`  // there was a repository of git then, and there is none now
	GitState     string        `json:"git_state,omitempty"` // merge, rebase, ... under way
	Partial      bool          `json:"partial"`             // some paths of the target could not be set
	Conversation *Conversation `json:"conversation,omitempty"`
	Managed      []Managed     `json:"managed,omitempty"`  // of an operation that managed sessions, taken back
	AtWork       []AtWork      `json:"at_work,omitempty"`  // agents that were at work here when it began
	Behind       *Behind       `json:"behind,omitempty"`   // of a dry run: what of the branch lies behind the target; absent: it is its end, or not on it
	KeptFor      Text          `json:"kept_for,omitempty"` // for how long gc keeps the state before: the setting gc.keep_safety

	ContextOnly bool     `json:"context_only,omitempty"` // the files were left alone
	Notices     []string `json:"notices,omitempty"`
}

// OpsRequest lists operations.
type OpsRequest struct {
	Project
	All      bool `json:"all,omitempty"`
	Limit    int  `json:"limit,omitempty"`
	Restores bool `json:"restores,omitempty"` // only those, with what they went from and to

	Env AgentEnv `json:"env,omitzero"` // where the session files are that can_undo asks for
}

// OpsResponse is newest first.
type OpsResponse struct {
	Operations []Operation `json:"operations"`
	Notices    []string    `json:"notices,omitempty"`
}

// Operation is an entry of the log.
type Operation struct {
	Seq        uint64    `json:"seq"`
	Time       time.Time `json:"time"`
	Kind       string    `json:"kind"`
	Session    string    `json:"session,omitempty"` // agent/id, or manual
	Agent      Agent     `json:"agent,omitempty"`
	Checkpoint string    `json:"checkpoint,omitempty"`
	Target     string    `json:"target,omitempty"`
	Safety     string    `json:"safety,omitempty"`
	Paths      []Text    `json:"paths,omitempty"`
	Exact      bool      `json:"exact,omitempty"`
	Undoes     uint64    `json:"undoes,omitempty"`
	Goes       string    `json:"goes,omitempty"` // of a restore: the session that goes on from it, by name; absent: its own
	Changed    int       `json:"changed,omitempty"`
	Kept       int       `json:"kept,omitempty"`
	Message    Text      `json:"message,omitempty"`
	Turn       uint64    `json:"turn,omitempty"`
	Event      string    `json:"event,omitempty"`    // of an agent, that made no checkpoint: prompt, post-tool-use, ...
	EventID    string    `json:"event_id,omitempty"` // 16 hex digits, one for each event of an agent
	Tool       *Tool     `json:"tool,omitempty"`     // of an event
	CanUndo    bool      `json:"can_undo"`
	From       *Moment   `json:"from,omitempty"` // of a restore, where restores were asked for
	To         *Moment   `json:"to,omitempty"`
	Undone     uint64    `json:"undone,omitempty"` // the operation that took it back
	What       string    `json:"what,omitempty"`   // of a restore: code, context, both, in-place, paths, merge, sessions
	Managed    []Managed `json:"managed,omitempty"`
	TookBack   *TurnsOf  `json:"took_back,omitempty"` // the session's turns, of a restore that took some back
}

// TagRequest sets a tag, or deletes it.
type TagRequest struct {
	Project
	Walk
	Tag        Text `json:"tag"`
	Checkpoint Text `json:"checkpoint,omitempty"`
	Force      bool `json:"force,omitempty"`
	Delete     bool `json:"delete,omitempty"`
}

// TagResponse is what the tag names now; absent after a deletion.
type TagResponse struct {
	Tag        string      `json:"tag"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Notices    []string    `json:"notices,omitempty"`
}

// TagsRequest lists the tags.
type TagsRequest struct{ Project }

// TagsResponse is by name.
type TagsResponse struct {
	Tags    []TagResponse `json:"tags"`
	Notices []string      `json:"notices,omitempty"`
}

// VerifyRequest checks the store; Quick leaves out reading every byte.
type VerifyRequest struct {
	Project
	Quick bool `json:"quick,omitempty"`
}

// VerifyResponse lists every fault, and what is lost.
type VerifyResponse struct {
	Checked  int          `json:"checked"`
	Faults   []Text       `json:"faults"`
	Lost     []Lost       `json:"lost,omitempty"` // objects that a repair has marked as lost; no faults any more
	LostOps  []value.Span `json:"lost_operations,omitempty"`
	Affected []Affected   `json:"affected,omitempty"` // checkpoints that cannot be restored whole, newest first
	Forks    []Check      `json:"forks,omitempty"`    // fork points that cannot be gone back to whole, by session; no faults of the store
	Notices  []string     `json:"notices,omitempty"`
}

// RepairRequest repairs the store.
type RepairRequest struct{ Project }

// RepairResponse says what was done, and what is there now.
type RepairResponse struct {
	VerifyResponse
	Found      []Text `json:"found"`                // what was damaged in the store's files
	Rebuilt    bool   `json:"rebuilt,omitempty"`    // the database was made anew
	Done       []Text `json:"done"`                 // what was put right
	Quarantine Text   `json:"quarantine,omitempty"` // the directory that holds what was replaced
	Operation  uint64 `json:"operation,omitempty"`
}

// ConfigRequest lists settings. Outside a project, or with Global, only the global ones count.
type ConfigRequest struct {
	Project
	Global bool `json:"global,omitempty"`
}

// SetConfigRequest sets one; without values it takes the setting out, and the next level counts.
type SetConfigRequest struct {
	Project
	Global bool     `json:"global,omitempty"`
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// ConfigResponse lists every setting by key.
type ConfigResponse struct {
	Settings []Setting `json:"settings"`
}

// VersionRequest asks for the version.
type VersionRequest struct{}

// VersionResponse is the version of the server.
type VersionResponse struct {
	Version     string `json:"version"`
	API         int    `json:"api"`
	StoreFormat int    `json:"store_format"`
}
