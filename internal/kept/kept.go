// Package kept says why a restore leaves a path as it is although its target has it otherwise. The engine decides it, the API carries the
// word, and the command line has a heading for each: all three use the reasons that are declared here, and no other.
package kept

// Reason is why a path stays; the value is the word in the API. "" says that it does not stay.
type Reason string

// The reasons.
const (
	Unsaved  Reason = "new"      // no checkpoint holds it: first seen by this command
	Skipped  Reason = "skipped"  // the target did not capture it: ignored then, or over the size limit
	Session  Reason = "session"  // another session changed it after the target
	Holds    Reason = "holds"    // a directory with kept, ignored or skipped files in it is in the way
	Occupied Reason = "occupied" // as Holds, and the target has a file there
	Purged   Reason = "purged"   // the target's content was purged from the store
	Lost     Reason = "lost"     // the target's content is damaged beyond repair
	Below    Reason = "below"    // it would lie below a kept path
)

// Incomplete reports whether a restore that keeps a path for this reason is done only in part: the target has something there that could
// not be laid out. What stays because it was to stay leaves nothing undone.
func (r Reason) Incomplete() bool {
	switch r {
	case Occupied, Purged, Lost, Below:
		return true
	}
	return false
}
