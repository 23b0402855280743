package value

// Merge is what became of one path of a change that was brought into the worktree, or taken out of it.
type Merge struct {
	Path    Text         `json:"path"`
	Was     Text         `json:"was,omitempty"` // the path that the change has, where the file was moved since
	Verdict MergeVerdict `json:"verdict"`
	Places  int          `json:"places,omitempty"` // of a text, in conflict or settled
	Reason  MergeReason  `json:"reason,omitempty"` // of a conflict, or of one that was settled
	By      Text         `json:"by,omitempty"`     // whose changes of it stay: a session, or "manual"; of pick and revert none
}

// MergeVerdict is what a merge makes of a path.
type MergeVerdict string

// The verdicts.
const (
	MergeApplied  MergeVerdict = "applied"  // nobody else changed it: it is as the change has it
	MergeAlready  MergeVerdict = "already"  // it was so before
	MergeMerged   MergeVerdict = "merged"   // what others changed in it is there, too
	MergeSettled  MergeVerdict = "settled"  // conflicts were decided as was asked
	MergeConflict MergeVerdict = "conflict" // a text has markers; anything else stays as it was
)

// MergeReason is why a path is in conflict.
type MergeReason string

// The reasons.
const (
	ReasonText       MergeReason = "text"       // both changed the same lines
	ReasonBinary     MergeReason = "binary"     // both changed it, and it is no text
	ReasonTooLarge   MergeReason = "too_large"  // both changed it, and it is too large to be compared
	ReasonLink       MergeReason = "link"       // both changed where a link leads
	ReasonType       MergeReason = "type"       // file, link or directory: the two do not agree
	ReasonMode       MergeReason = "mode"       // both changed the permissions
	ReasonDeleted    MergeReason = "deleted"    // the change alters it, and it is not there
	ReasonModified   MergeReason = "modified"   // the change removes it, and it was changed since
	ReasonAdded      MergeReason = "added"      // the change adds it, and another one is there
	ReasonBlocked    MergeReason = "blocked"    // what should be a directory above it is none
	ReasonUncaptured MergeReason = "uncaptured" // something is there that is not captured: ignored, secret, a repository
	ReasonMoved      MergeReason = "moved"      // the change moves it, and it cannot come to where that has it
	ReasonGone       MergeReason = "gone"       // the content was purged, or lost
)

// Collides reports whether a path is in conflict for two changed the same, and not for it cannot be set.
func (r MergeReason) Collides() bool {
	switch r {
	case ReasonBlocked, ReasonUncaptured, ReasonMoved, ReasonGone:
		return false
	}
	return true
}
