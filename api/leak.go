package api

// Leak is a file that looks like it holds a secret.
type Leak struct {
	Path       Text      `json:"path"`
	Findings   []Finding `json:"findings"`
	Checkpoint string    `json:"checkpoint"`        // the first that was seen to have it
	Contents   int       `json:"contents"`          // of that path that are flagged, and stored
	Skipped    bool      `json:"skipped,omitempty"` // it is not captured any more
}

// Finding is what a rule says of a line.
type Finding struct {
	Rule string `json:"rule"`
	Line int    `json:"line"`
}
