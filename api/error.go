package api

import "time"

// Error is an error as the API tells it. Code is the exit code of the command line (`rewind help exit-codes`), Word its
// name; Hint, if any, is the remedy.
type Error struct {
	Code    int    `json:"code"`
	Word    string `json:"word"`
	Message string `json:"message"` // all of it, for people
	// what was done, or what the subject is: open project, checkpoint, session, config, ...
	Op         string      `json:"op,omitempty"`
	Subject    Text        `json:"subject,omitempty"` // to what, as it is: a path, a name, an id
	Hint       string      `json:"hint,omitempty"`
	Candidates []string    `json:"candidates,omitempty"` // of an ambiguous name: ids of checkpoints, or sessions as agent/id
	Sessions   []Candidate `json:"sessions,omitempty"`   // more of those candidates that are sessions
	Nearest    []string    `json:"nearest,omitempty"`    // of what is not found: names that are there and like it, the most alike first
	Turns      *uint64     `json:"turns,omitempty"`      // of a turn that is out of range: how many there are
	Changed    *PlanChange `json:"changed,omitempty"`    // of changed: how the plan that was named differs from what would be done
}

// Candidate is a session that could be meant.
type Candidate struct {
	Session string    `json:"session"`    // agent/id
	ID      string    `json:"session_id"` // the agent's
	Short   string    `json:"short"`      // how the id begins; enough to name it
	Agent   Agent     `json:"agent"`
	Title   Text      `json:"title,omitempty"`
	Turns   int       `json:"turns"`
	Last    time.Time `json:"last"` // its newest event
}

func (e *Error) Error() string { return e.Message }

// ExitCode is one row of the table of exit codes.
type ExitCode struct {
	Code    int
	Word    string
	Meaning string
}

// The words of errors, which are those of the exit codes.
const (
	WordFailed      = "failed"
	WordUsage       = "usage"
	WordNoProject   = "no_project"
	WordBusy        = "busy"
	WordNotFound    = "not_found"
	WordAmbiguous   = "ambiguous"
	WordUnsaved     = "unsaved"
	WordPartial     = "partial"
	WordCorrupt     = "corrupt"
	WordNewerFormat = "newer_format"
	WordNoSpace     = "no_space"
	WordPermission  = "permission"
	WordHalfDone    = "half_done"
	WordChanged     = "changed"
	WordWithinCall  = "within_call"
	WordInterrupted = "interrupted"
)

// ExitCodes is the table of exit codes. 2 is never assigned: agents read it as "block".
func ExitCodes() []ExitCode {
	return []ExitCode{
		{0, "ok", "done, or nothing to do"},
		{1, WordFailed, "failed for a reason that has no code of its own"},
		{3, WordUsage, "the command line or a setting makes no sense"},
		{10, WordNoProject, "no rewind project here, or its store is missing"},
		{11, WordBusy, "another process has the store, or an agent has the session open"},
		{12, WordNotFound, "no such checkpoint, path, tag, session or operation"},
		{13, WordAmbiguous, "the name stands for several checkpoints"},
		{14, WordUnsaved, "refused: it would lose bytes that cannot be stored; nothing was touched"},
		{15, WordPartial, "done in part: some paths were kept because they changed meanwhile, or some files could not be read"},
		{16, WordCorrupt, "the store is damaged"},
		{17, WordNewerFormat, "the store was written by a newer rewind, or by one of before the first release; nothing was touched"},
		{18, WordNoSpace, "no space left, or a limit of the settings is reached; nothing was changed"},
		{19, WordPermission, "permission denied"},
		{20, WordHalfDone, "a checkout is half done: continue or abort it first"},
		{21, WordChanged, "refused: something is not as it was shown any more; nothing was touched"},
		{22, WordWithinCall, "refused: asked for from within an agent's call, and nothing could bring it back; nothing was touched"},
		{130, WordInterrupted, "interrupted"},
	}
}

// CodeOf is the exit code of a word; 1 for one it does not know.
func CodeOf(word string) int {
	for _, c := range ExitCodes() {
		if c.Word == word {
			return c.Code
		}
	}
	return 1
}
