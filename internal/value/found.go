package value

import "time"

// Said is a line of a conversation that matches.
type Said struct {
	Session string    `json:"session"`
	Agent   Agent     `json:"agent"`
	Title   Text      `json:"title,omitempty"`
	Turn    uint64    `json:"turn,omitempty"` // 0: before the first
	Who     string    `json:"who"`            // user, assistant, tool, system
	Time    time.Time `json:"time,omitzero"`
	Text    Text      `json:"text"`            // the line
	Cut     bool      `json:"cut,omitempty"`   // it is longer
	Whose   string    `json:"whose,omitempty"` // as of a Checkpoint

	Copies int `json:"copies,omitempty"` // of a search that has copies once: in how many younger sessions it is, too
}

// BlamedLine is a line with where it comes from.
type BlamedLine struct {
	Text   Text `json:"text"`
	Cut    bool `json:"cut,omitempty"` // the line is longer
	Origin int  `json:"origin"`        // of the answer's origins
	Line   int  `json:"line"`          // from 1, in the file as the origin had it
}

// Unsearched are paths of which some version was not searched.
type Unsearched struct {
	TooLarge []Text `json:"too_large,omitempty"`
	Gone     []Text `json:"gone,omitempty"` // purged or lost
}
