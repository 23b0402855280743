package api

import "time"

// BisectRequest asks where a bisection stands.
type BisectRequest struct {
	Project
	Bisection string `json:"bisection,omitempty"` // as an answer named it; empty: the one that a person leads
}

// BisectStartRequest begins a bisection.
type BisectStartRequest struct {
	Project
	Walk
	Bad     Text   `json:"bad,omitempty"`      // empty: the project as it is
	Good    []Text `json:"good,omitempty"`     // none: the oldest; by hand: to be named
	Hand    bool   `json:"hand,omitempty"`     // a person leads it; else the ends are asked about, too, and its process is who asks
	Newer   bool   `json:"newer,omitempty"`    // not by hand: backwards from bad, for the newest that passes
	Links   []Text `json:"links,omitempty"`    // directories of the project that no checkpoint has: what is written there reaches the project
	NoLinks bool   `json:"no_links,omitempty"` // neither these nor those ignored at the root, which are shown privately

	Mounts BisectMounts `json:"mounts,omitzero"` // of who runs a command
}

// BisectMounts is what who runs a command can mount for it, in a namespace of its own.
type BisectMounts struct {
	Overlay  bool `json:"overlay,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
	Own      bool `json:"own,omitempty"`   // only files of this user and group are known there
	Group    int  `json:"group,omitempty"` // of who asks
}

// BisectMarkRequest answers what was asked.
type BisectMarkRequest struct {
	Project
	Walk
	Bisection  string `json:"bisection,omitempty"`
	Checkpoint Text   `json:"checkpoint,omitempty"` // empty: the one that is tried, or without one the project as it is
	As         string `json:"as"`                   // good, bad or skip
	Why        Text   `json:"why,omitempty"`

	Said time.Time `json:"said,omitzero"` // when that was; where no checkpoint is named, it is refused if another answer came since
}

// BisectResponse is where a bisection stands: it asks (test), waits (wants) or has an answer.
type BisectResponse struct {
	Bisection string         `json:"bisection"`
	Root      Text           `json:"root"`            // of the project
	Dir       Text           `json:"dir,omitempty"`   // the scratch directory, which holds what test does
	Test      *Checkpoint    `json:"test,omitempty"`  // is asked about
	End       bool           `json:"end,omitempty"`   // it is asked to be sure: nothing is known of it
	Seeks     bool           `json:"seeks,omitempty"` // the oldest fails, too: one that passes is looked for, backwards in steps that double
	Left      int            `json:"left"`            // checkpoints that are not told yet, between a bad and a good one
	Asks      int            `json:"asks"`            // about how many of them will be asked about
	Wants     string         `json:"wants,omitempty"` // bad or good: one has to be named first
	Links     []BisectLink   `json:"links,omitempty"`
	Mounts    []Text         `json:"mounts,omitempty"` // of links, those that who runs a command mounts for test
	Answer    *BisectAnswer  `json:"answer,omitempty"`
	Log       []BisectLogged `json:"log,omitempty"` // of a BisectRequest
	Notices   []string       `json:"notices,omitempty"`
}

// BisectLink is a directory of the project that no checkpoint has, and that the scratch directory has, or why not.
type BisectLink struct {
	Path Text   `json:"path"`
	How  string `json:"how,omitempty"` // link, reflink, overlay, read-only or copy; empty: that is not decided yet
	Why  string `json:"why,omitempty"` // it is left out
}

// BisectAnswer is what a bisection has found.
type BisectAnswer struct {
	Bad      *Checkpoint  `json:"bad,omitempty"`  // the first that fails; absent: none does
	Good     *Checkpoint  `json:"good,omitempty"` // the last that passes; absent: none does
	Suspects []Checkpoint `json:"suspects,omitempty"`
	Tried    []Checkpoint `json:"tried,omitempty"` // where none passes: those that fail, the newest first
	Assumed  []string     `json:"assumed,omitempty"`
}

// BisectLogged is an answer as it was given.
type BisectLogged struct {
	Time   time.Time `json:"time"`
	ID     string    `json:"id"`
	Moment *Moment   `json:"moment,omitempty"` // absent: gc has merged it with another
	As     string    `json:"as"`
	Why    Text      `json:"why,omitempty"`
}

// BisectResetRequest ends a bisection.
type BisectResetRequest struct {
	Project
	Bisection string `json:"bisection,omitempty"`
}

// BisectResetResponse says whether there was one.
type BisectResetResponse struct {
	Ended   bool     `json:"ended"`
	Notices []string `json:"notices,omitempty"`
}
