package value

import "time"

// Store is a store that this user's REWIND_HOME knows.
type Store struct {
	ID        string     `json:"store_id"`
	Root      Text       `json:"root"` // "": of no directory
	Mode      string     `json:"mode"`
	Store     Text       `json:"store"`
	DiskBytes int64      `json:"disk_bytes"`
	Created   time.Time  `json:"created"`
	Used      *time.Time `json:"used,omitempty"`  // when something in it changed last; nil: not known
	Wrong     Text       `json:"wrong,omitempty"` // what is wrong with it
	Orphan    bool       `json:"orphan"`          // no directory is its project: it can be joined to one, or removed
}

// Removed is a store in the trash.
type Removed struct {
	ID        string    `json:"store_id"`
	Root      Text      `json:"root"` // "": it was of no directory
	Mode      string    `json:"mode"`
	DiskBytes int64     `json:"disk_bytes"`
	Removed   time.Time `json:"removed"`
	Goes      time.Time `json:"goes"` // until when it can be brought back
}

// Collected is what gc removed, or with a dry run would remove.
type Collected struct {
	Checkpoints int    `json:"checkpoints"` // steps
	Safety      int    `json:"safety"`      // safety checkpoints
	Kept        int    `json:"kept"`        // checkpoints of both kinds that are still there
	Young       int    `json:"young"`       // of those: what was asked to go, and stays because it is younger than the grace
	Grace       string `json:"grace"`       // gc.grace
	Objects     int    `json:"objects"`
	Bytes       int64  `json:"bytes"` // of objects, as stored
	DiskBefore  int64  `json:"disk_before"`
	DiskAfter   int64  `json:"disk_after"` // with a dry run: about
	Fits        bool   `json:"fits"`       // the store is not larger than it may be
	Rounds      int    `json:"-"`          // how often the policy was made stricter for the store to fit
}

// Purged is what purge took out for good, or with a dry run would take.
type Purged struct {
	Operation   uint64   `json:"operation,omitempty"` // 0: nothing was taken out
	Contents    int      `json:"contents"`
	Bytes       int64    `json:"bytes"`                   // of the contents
	Before      int      `json:"purged_before,omitempty"` // contents that were asked for and had been purged before
	Paths       []Text   `json:"paths"`                   // where the contents stood, in any checkpoint
	Checkpoints int      `json:"checkpoints"`             // that name one of them; all stay
	Sessions    []string `json:"sessions,omitempty"`      // whose conversations had them, and are captured no more
	Present     []Text   `json:"present,omitempty"`       // files that had them still at the last checkpoint
	AgentFiles  []Text   `json:"agent_files,omitempty"`   // the agents' own files of those sessions, which stay
	Files       []Text   `json:"files,omitempty"`         // other files of rewind's that were removed
	Words       int      `json:"words,omitempty"`         // checkpoints, directories, records and others with the text in their own words, which was taken out
	Names       []Text   `json:"names,omitempty"`         // files of the project with the text in their names, which stay
	Prompts     int      `json:"prompts,omitempty"`       // of such words, those that stay
	Unread      int      `json:"unread,omitempty"`        // damaged objects that could not be searched
}

// Leak is a file that looks like it holds a secret.
type Leak struct {
	Path       Text      `json:"path"`
	Findings   []Finding `json:"findings"`          // by line, then rule
	Checkpoint string    `json:"checkpoint"`        // id of the first that was seen to have it
	Contents   int       `json:"contents"`          // of that path that are flagged, and stored
	Skipped    bool      `json:"skipped,omitempty"` // it is not captured any more
}

// Finding is a place that looks like a secret.
type Finding struct {
	Rule string `json:"rule"` // that says so
	Line int    `json:"line"` // from 1
}

// SaidLeak is a place in a conversation that looks like it holds a secret.
type SaidLeak struct {
	Found     string `json:"found"` // its name, for purge --found
	Session   string `json:"session"`
	Turn      uint64 `json:"turn,omitempty"`
	Record    int    `json:"record"`    // of the session file: its line
	Rule      string `json:"rule"`      // that says so
	Part      string `json:"part"`      // prompt, tool input, tool output, reply, thinking, other
	Operation uint64 `json:"operation"` // that brought it into the store
}

// Span is a range of operations.
type Span struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// Join is a store that gets a directory.
type Join struct {
	Store Store  `json:"joined"`
	Was   Text   `json:"was,omitempty"`  // its directory until now
	Left  string `json:"left,omitempty"` // the store that the directory had until now; it stays, of no directory
}

// Adoption is a store that lies in a project and is not believed, as it looks from outside. What it says of itself may
// be wrong.
type Adoption struct {
	Root      Text      `json:"root"`
	Store     Text      `json:"store"`
	ID        Text      `json:"says_store_id,omitempty"`
	Of        Text      `json:"says_root,omitempty"`
	Created   time.Time `json:"says_created,omitzero"`
	Mode      string    `json:"mode"`
	Changed   time.Time `json:"changed"` // when a file in it changed last
	DiskBytes int64     `json:"disk_bytes"`
	Files     int       `json:"files"`
	Owner     Text      `json:"owner"`
	Why       Text      `json:"why"` // it is not believed
}
