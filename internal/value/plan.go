package value

import (
	"strconv"
	"strings"
)

// PlanPart is a part of what a restore would do.
type PlanPart string

// The parts of a plan.
const (
	PlanPlace        PlanPart = "place"        // where the project goes from and to, whose branch moves, what is asked
	PlanFiles        PlanPart = "files"        // what is expected at each path, and what it becomes
	PlanKept         PlanPart = "kept"         // what stays as it is, and why
	PlanConversation PlanPart = "conversation" // what becomes of the conversation, and of which state of it
)

// PlanChange says how what would be done now differs from a plan that was shown.
type PlanChange struct {
	Plan  string     `json:"plan"`            // the hash of what would be done now
	Parts []PlanPart `json:"parts"`           // what of it changed
	Paths []Text     `json:"paths,omitempty"` // of which paths, where that is still known
}

// maxPathsInWords is how many paths a sentence names.
const maxPathsInWords = 5

// Words say for people what changed: "the files that would be set (\"a\", \"b\")".
func (c *PlanChange) Words() string {
	var list []string
	for _, p := range c.Parts {
		switch p {
		case PlanPlace:
			list = append(list, "where the project goes from or to")
		case PlanFiles:
			list = append(list, "the files that would be set")
		case PlanKept:
			list = append(list, "what would be kept")
		case PlanConversation:
			list = append(list, "the conversation")
		}
	}
	said := strings.Join(list, ", ")
	if len(c.Paths) == 0 {
		return said
	}
	var names []string
	for _, p := range c.Paths[:min(len(c.Paths), maxPathsInWords)] {
		names = append(names, strconv.Quote(string(p)))
	}
	if len(c.Paths) > len(names) {
		names = append(names, "...")
	}
	return said + " (" + strings.Join(names, ", ") + ")"
}
