package value

import "time"

// Progress is how far long work has come.
type Progress struct {
	Phase string `json:"phase,omitempty"` // what is being done, in words for a person; "": what was asked for
	Files int    `json:"files"`
	Total int    `json:"total,omitempty"` // of so many; 0: unknown
	Bytes int64  `json:"bytes"`
}

// Activity is a capture or restore of a project that is under way.
type Activity struct {
	What    string    `json:"what,omitempty"`    // the restore that it is, as checkout or undo; "": a capture, or nothing that is known
	Process int       `json:"process,omitempty"` // who waits for it; 0: unknown
	Since   time.Time `json:"since,omitzero"`    // zero: not known
	Files   int       `json:"files"`             // dealt with so far
	Total   int       `json:"total,omitempty"`   // of so many; 0: unknown
	Bytes   int64     `json:"bytes"`
}

// Watcher is what tells captures what may have changed.
type Watcher struct {
	Healthy     bool      `json:"healthy"` // captures rely on it; not: they look at every file meanwhile
	Directories int       `json:"directories"`
	Reason      string    `json:"reason,omitempty"` // why it is not healthy
	Since       time.Time `json:"since"`            // when it became so
	Missed      int       `json:"missed,omitempty"` // changes that it had not reported and a look at every file found
}
