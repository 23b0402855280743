package value

// KeptReason is why a restore leaves a path as it is although its target has it otherwise: the engine decides it, the API carries the word,
// and the command line has a heading for each. "" says that it does not stay.
type KeptReason string

// The reasons.
const (
	KeptUnsaved  KeptReason = "new"      // no checkpoint holds it: first seen by this command
	KeptSkipped  KeptReason = "skipped"  // the target did not capture it: ignored then, or over the size limit
	KeptSession  KeptReason = "session"  // another session changed it after the target
	KeptHolds    KeptReason = "holds"    // a directory with kept, ignored or skipped files in it is in the way
	KeptOccupied KeptReason = "occupied" // as KeptHolds, and the target has a file there
	KeptPurged   KeptReason = "purged"   // the target's content was purged from the store
	KeptLost     KeptReason = "lost"     // the target's content is damaged beyond repair
	KeptBelow    KeptReason = "below"    // it would lie below a kept path
)

// Incomplete reports whether a restore that keeps a path for this reason is done only in part: the target has something there that could
// not be laid out. What stays because it was to stay leaves nothing undone.
func (r KeptReason) Incomplete() bool {
	switch r {
	case KeptOccupied, KeptPurged, KeptLost, KeptBelow:
		return true
	}
	return false
}
