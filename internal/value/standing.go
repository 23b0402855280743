package value

// Standing is what a person has made of a session among others. Values are stored: never renumber, never reuse.
type Standing byte

// How a session can stand.
const (
	InUse    Standing = iota
	MainLine          // promoted: the main line of its family
	Archived          // left out of lists; nothing of it is gone
	Deleted           // its session file was removed; its checkpoints are there
)

var standings = [...]string{InUse: "", MainLine: "main", Archived: "archived", Deleted: "deleted"}

// Valid reports whether it is one of the above.
func (s Standing) Valid() bool { return int(s) < len(standings) }

// String is the word for it; "" for InUse.
func (s Standing) String() string {
	if !s.Valid() {
		return "unknown"
	}
	return standings[s]
}

// MarshalText makes it its word in JSON.
func (s Standing) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the reverse of MarshalText; a word of a newer program is InUse.
func (s *Standing) UnmarshalText(b []byte) error {
	*s = InUse
	for i, w := range standings {
		if w == string(b) {
			*s = Standing(i)
		}
	}
	return nil
}

// Managed is what was made of a session by an operation that manages sessions: how it stood and stands, how it was
// called and is called. Titles are untrusted text, empty where the operation names none.
type Managed struct {
	Session  string   `json:"session"` // agent/id
	Was      Standing `json:"was,omitempty"`
	Now      Standing `json:"now,omitempty"`
	WasTitle Text     `json:"was_title,omitempty"`
	Title    Text     `json:"title,omitempty"`
}
