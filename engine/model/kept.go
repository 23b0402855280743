package model

// Taken is what a restore would keep without Exact.
type Taken struct {
	By    string // the other session that changed the paths; "": no checkpoint holds them
	Paths []string
}

// Kept is a path that a restore leaves as it is although the target has it otherwise or not at all.
type Kept struct {
	Path   string
	Dir    bool // with all below it
	Reason KeptReason
	By     string // of KeptSession: the other session
	Shared bool   // of KeptSession: the restoring session may have written it, too
}

// KeptReason says why; the value is the word in the API.
type KeptReason string

// The reasons for keeping a path.
const (
	KeptNew      KeptReason = "new"      // no checkpoint holds it: first seen by this command
	KeptSkipped  KeptReason = "skipped"  // the target did not capture it: ignored then, or over the size limit
	KeptHolds    KeptReason = "holds"    // a directory with kept, ignored or skipped files in it is in the way
	KeptOccupied KeptReason = "occupied" // as holds, and the target has a file there
	KeptBelow    KeptReason = "below"    // it would lie below a kept path
	KeptSession  KeptReason = "session"  // another session changed it after the target
	KeptPurged   KeptReason = "purged"   // the target's content was purged from the store
	KeptLost     KeptReason = "lost"     // the target's content is damaged beyond repair
)

// Covers reports whether a directory that stays says all that is to be said of another path that does.
func (k Kept) Covers(o Kept) bool {
	return k.Dir && k.Reason == o.Reason && k.By == o.By && k.Shared == o.Shared && Below(o.Path, k.Path)
}
